"""Signals that wait while something is made that must not be made by half."""

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from svc.system.signals import held_back


class StopError(Exception):
    """What this test's handler raises."""


@pytest.fixture(autouse=True)
def raising() -> Iterator[None]:
    """SIGTERM raises, wherever it comes."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise StopError(number)

    before = signal.signal(signal.SIGTERM, stop)
    yield
    signal.signal(signal.SIGTERM, before)


def test_what_is_begun_in_the_block_is_ended_before_a_signal_is_answered() -> None:
    """The handler runs once, behind the block, however often the signal came."""
    made = []

    def make() -> None:
        with held_back():
            signal.raise_signal(signal.SIGTERM)
            made.append("first")
            signal.raise_signal(signal.SIGTERM)
            made.append("second")

    with pytest.raises(StopError):
        make()
    assert made == ["first", "second"]
    with pytest.raises(StopError):
        signal.raise_signal(signal.SIGTERM)


def test_what_ends_the_process_at_once_still_does() -> None:
    """After the first signal the second one ends the process: nothing may hold that back."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with held_back():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_error_of_the_block_goes_on() -> None:
    """It ends the block as it would, and signals are answered as before."""
    with pytest.raises(KeyError), held_back():
        raise KeyError
    assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN)
