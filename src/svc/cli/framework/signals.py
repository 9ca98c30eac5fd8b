"""Signals as exceptions, so that every `with` block ends properly and the exit code is right."""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from svc.errors import StopRequest
from svc.system.signals import STOPPING

_AGAIN_SECONDS: Final = 0.002  # what dropped it has gone on by then


class Stopped(StopRequest):
    """SIGINT, SIGTERM or SIGHUP came; carries the shell's exit code for it (promise R78).

    Attributes:
        told: whether the person at the terminal has been told already.
    """

    def __init__(self, number: int, dropped: Callable[[], None] | None = None) -> None:
        """Takes what is to be done should nobody ever see the exception."""
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number
        self.told = False
        self._dropped = dropped

    def __del__(self) -> None:
        if self._dropped is not None:
            self._dropped()

    def arrived(self) -> None:
        """Notes that it has ended what was to be ended."""
        self._dropped = None


@contextmanager
def stopping() -> Iterator[None]:
    """Turns the first signal into `Stopped`; the second one ends the process at once.

    That holds until the process ends: what is done about the first must not hold up the second.
    Python drops what a handler raises in a finalizer, in the callback of a weak reference and in
    parts of its compiler, and so in the midst of an import: then it is raised again. What the
    signal has cut off half made, as an event loop, ends without a word.
    """
    # What nohup has had ignored stays ignored.
    numbers = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    came: list[int] = []
    stop = _handler(numbers, came)
    try:
        before = {number: signal.signal(number, stop) for number in numbers}
    except ValueError:  # not in the main thread: a test runs us inside another program
        yield
        return
    try:
        with _quietly_once(came), _freed(came):
            yield
    except Stopped as stopped:
        stopped.arrived()
        raise
    except RuntimeError as error:
        # Python 3.11 raises this in place of what came while a class gave its attributes names.
        if not isinstance(error.__cause__, Stopped):
            raise
        error.__cause__.arrived()
        raise error.__cause__ from None
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


def _handler(numbers: Sequence[int], came: list[int]) -> Callable[[int, FrameType | None], None]:
    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the handler's signature
        def again() -> None:
            from threading import Timer

            with suppress(ValueError):  # in another thread: then the signal ends the process
                signal.signal(number, stop)
            Timer(_AGAIN_SECONDS, signal.raise_signal, (number,)).start()

        came.append(number)
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)
        raise Stopped(number, again)

    return stop


@contextmanager
def _quietly_once(came: Sequence[int]) -> Iterator[None]:
    """Has Python say nothing, once a signal came, of exceptions that it drops.

    They are ours, and then raised again, or the end of an object that was never made whole.
    """
    before = sys.unraisablehook

    def tell(found: "sys.UnraisableHookArgs") -> None:
        if not came:
            before(found)

    sys.unraisablehook = tell
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def _freed(came: Sequence[int]) -> Iterator[None]:
    """Ends, with the block, the objects of the calls that a signal has cut off."""
    try:
        yield
    except BaseException as error:
        left = error.__traceback__ if came else None
        while left is not None:
            with suppress(RuntimeError):  # it goes on: one of the callers'
                left.tb_frame.clear()
            left = left.tb_next
        raise
