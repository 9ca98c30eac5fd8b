"""Signals as exceptions, so that every `with` block ends properly and the exit code is right."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP came; carries the shell's exit code for it (promise R78)."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


@contextmanager
def stopping() -> Iterator[None]:
    """Turns the first signal into `Stopped`; the second one ends the process at once."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):  # not on Windows
        numbers.append(signal.SIGHUP)

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the handler's signature
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)
        raise Stopped(number)

    try:
        before = {number: signal.signal(number, stop) for number in numbers}
    except ValueError:  # not in the main thread: a test runs us inside another program
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
