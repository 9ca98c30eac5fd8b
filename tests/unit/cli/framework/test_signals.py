"""Signals that end a command."""

import signal
import sys

import pytest

from svc.cli.framework.signals import Stopped, stopping


def test_a_signal_while_a_class_is_made_ends_the_program_as_any_other() -> None:
    """R78: Python 3.11 has another error stand for what comes then, as in the midst of an import."""

    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGTERM)

    def make() -> None:
        with stopping():
            type("Made", (), {"one": Named()})

    with pytest.raises(Stopped) as stopped:
        make()
    assert stopped.value.exit_code == 143


class HalfMade:
    """Holds what a signal prevents, and says so when it ends."""

    def __init__(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        self.held = 1

    def __del__(self) -> None:
        print(self.held)


def test_an_object_that_a_signal_left_half_made_ends_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R79: Python writes a traceback for it, as for asyncio's event loop, unless it is held."""
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)

    def make() -> None:
        with stopping():
            HalfMade()

    with pytest.raises(Stopped) as stopped:
        make()
    assert stopped.value.exit_code == 143
    del stopped
    assert said == []


def test_what_python_drops_without_a_signal_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mistake of ours in a finalizer is not hidden."""
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    with stopping():
        half = HalfMade.__new__(HalfMade)
        del half
    assert len(said) == 1
