"""Signals that end the program, as far as the system has them."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # of 60 ms, and only the listener has a loop
    from asyncio import AbstractEventLoop

STOPPING: Final[tuple[int, ...]] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
# Windows has one way to end another process, and that is by force.
KILL: Final[int] = getattr(signal, "SIGKILL", signal.SIGTERM)


@contextmanager
def heard(
    loop: "AbstractEventLoop", numbers: Sequence[int], stop: Callable[[int], None]
) -> Iterator[None]:
    """Has `stop(number)` called inside the loop when one of the signals comes, also before it runs.

    An exception that a handler raises while a loop runs would be dropped by it. What is ignored
    stays ignored, and what was done about the signals before is done again after the block.
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
        yield
    finally:
        for number, how in before.items():
            if signal.getsignal(number) is not signal.SIG_DFL:  # the first one has come
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
                signal.signal(number, how)


@contextmanager
def held_back() -> Iterator[None]:
    """Has a signal that comes inside the block answered after it, where the program answers it.

    For what must be whole or not begun, as a process that is started and noted down to be ended.
    """
    came: list[int] = []
    before = {number: how for number in STOPPING if callable(how := signal.getsignal(number))}
    try:
        for number in before:
            signal.signal(number, lambda number, _: came.append(number))
    except ValueError:  # not in the main thread, where no signal is answered
        before = {}
    try:
        yield
    finally:
        for number, how in before.items():
            signal.signal(number, how)
        for number in came[:1]:
            signal.raise_signal(number)


def end_at_once(loop: "AbstractEventLoop", numbers: Sequence[int]) -> None:
    """Lets the next of the signals end the process at once."""
    for number in numbers:
        with suppress(NotImplementedError):  # Windows
            loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
