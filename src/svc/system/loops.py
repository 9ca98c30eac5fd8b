"""Handles signals within an asyncio event loop: SIGINT, SIGTERM or SIGHUP calls a function there.

The commands that run an event loop use it: `svc events listen`, `receive`, `replay` and `examine`,
and `svc sandbox start`.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from svc.system.signals import raise_if_stopped, restore_wakeup

if TYPE_CHECKING:  # of 60 ms
    from asyncio import AbstractEventLoop


@contextmanager
def catch_signals(
    loop: "AbstractEventLoop", numbers: Sequence[int], stop: Callable[[int], None]
) -> Iterator[None]:
    """Calls `stop(number)` in the loop when a signal comes, even before the loop runs.

    Ignored signals stay ignored. After the block the earlier handlers are restored.

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
        raise_if_stopped()  # for one that came while they were set
        yield
    finally:
        for number, how in before.items():
            if signal.getsignal(number) is not signal.SIG_DFL:  # the first one has come
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
                signal.signal(number, how)
        restore_wakeup()


def end_at_once(loop: "AbstractEventLoop", numbers: Sequence[int]) -> None:
    """Restores the system's handling of the signals: the next one ends the process at once."""
    for number in numbers:
        with suppress(NotImplementedError):  # Windows
            loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
