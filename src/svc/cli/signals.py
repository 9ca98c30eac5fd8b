"""Signals as exceptions, so that every `with` block ends properly and the exit code is right."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from svc.system.signals import STOPPING

if TYPE_CHECKING:  # loaded only where something is sent
    from svc.client.journal.entry import Intent
    from svc.errors import SvcError


class Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP came; carries the shell's exit code for it (promise R78).

    Attributes:
        sending: the recorded request that was being sent, to be named to the user.
        unsent: the path of a request that had not begun to leave.
        ended: how the request had ended, where that was an error.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number
        self.sending: Intent | None = None
        self.unsent: str | None = None
        self.ended: SvcError | None = None


@contextmanager
def stopping() -> Iterator[None]:
    """Turns the first signal into `Stopped`; the second one ends the process at once.

    That holds until the process ends: what is done about the first must not hold up the second.
    """
    # What nohup has had ignored stays ignored.
    numbers = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]

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
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)
