"""Signals that end the program, as far as the system has them."""

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # of 60 ms, and only the listener has a loop
    from asyncio import AbstractEventLoop

STOPPING: Final[tuple[int, ...]] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
# Windows has one way to end another process, and that is by force.
KILL: Final[int] = getattr(signal, "SIGKILL", signal.SIGTERM)


def hear(loop: "AbstractEventLoop", numbers: Sequence[int], stop: Callable[[int], None]) -> None:
    """Has `stop(number)` called inside the loop when one of the signals comes."""

    def pass_on(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature
        loop.call_soon_threadsafe(stop, number)

    for number in numbers:
        try:
            loop.add_signal_handler(number, stop, number)
        except NotImplementedError:  # Windows
            signal.signal(number, pass_on)


def end_at_once(loop: "AbstractEventLoop", numbers: Sequence[int]) -> None:
    """Lets the next of the signals end the process at once."""
    for number in numbers:
        with suppress(NotImplementedError):  # Windows
            loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
