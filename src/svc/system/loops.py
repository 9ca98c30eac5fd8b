"""Signals in an event loop, which has them come to it as its other events do."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from svc.system.signals import look, ring_again

if TYPE_CHECKING:  # of 60 ms
    from asyncio import AbstractEventLoop


@contextmanager
def catch_signals(
    loop: "AbstractEventLoop", numbers: Sequence[int], stop: Callable[[int], None]
) -> Iterator[None]:
    """Has `stop(number)` called inside the loop when one of the signals comes, also before it runs.

    What is ignored stays ignored, and what was done about the signals before is done again after
    the block.

    Raises:
        Stopped: a signal had come before.
    """
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: how for number, how in before.items() if how is not signal.SIG_IGN}

    def pass_on(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature
        loop.call_soon_threadsafe(stop, number)

    for number in before:
        try:
            loop.add_signal_handler(number, stop, number)
        except NotImplementedError:  # Windows
            signal.signal(number, pass_on)
    try:
        look()  # for one that came while they were set
        yield
    finally:
        for number, how in before.items():
            if signal.getsignal(number) is not signal.SIG_DFL:  # the first one has come
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
                signal.signal(number, how)
        ring_again()


def end_at_once(loop: "AbstractEventLoop", numbers: Sequence[int]) -> None:
    """Lets the next of the signals end the process at once."""
    for number in numbers:
        with suppress(NotImplementedError):  # Windows
            loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
