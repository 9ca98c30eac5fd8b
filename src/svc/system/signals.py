"""Signals that end the program, as far as the system has them.

No exception is raised out of a signal handler (promise R133): Python runs one between any two steps
of the main thread, also where a lock is about to be given back. The handler of `watch` notes the
signal, and the places that wait look: `sleep`, `wait` and `wait_ready` raise `Stopped`, as does
`look` between steps. What waits in a place that cannot look is cut off after a moment.

Worker threads never see `Stopped`: the main thread tells them to end.
"""

import os
import select
import signal
import sys
import time
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from svc.errors import StopRequest

if TYPE_CHECKING:  # loaded where something is waited for
    import socket

STOPPING: Final[tuple[int, ...]] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
# Windows has one way to end another process, and that is by force.
KILL: Final[int] = getattr(signal, "SIGKILL", signal.SIGTERM)

CUT_OFF_SECONDS: Final = 0.75  # of the one in which a signal ends the program (promise R78)
_LAST_WORDS_SECONDS: Final = 0.15
_SLICE_SECONDS: Final = 0.05
_LONG_SECONDS: Final = 3600.0
_TOGETHER: Final = "ignored due to race condition"  # as Python words it
_POLL_MAX: Final = 2**31 - 1  # milliseconds

T = TypeVar("T")


class Stopped(StopRequest):
    """SIGINT, SIGTERM or SIGHUP came; carries the shell's exit code for it (promise R78).

    `look` and the waiting places raise it once, in the main thread.

    Attributes:
        told: whether the person at the terminal has been told already.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number
        self.told = False


class _SignalNote:
    """What is known of signals while a command runs."""

    def __init__(self) -> None:
        self.thread = get_ident()
        self.number: int | None = None
        self.raised = False
        self.held = 0
        self.over = False
        self._pair: tuple[socket.socket, socket.socket] | None = None
        self._before = -1  # whom signals woke before

    @property
    def is_due(self) -> bool:
        return self.number is not None and not self.raised and not self.held

    def bell(self) -> "socket.socket | None":
        """What can be read once a signal has come; None where none is to end a wait.

        Made for the first wait: what does not wait needs none.
        """
        if self.number is not None or self.held:
            return None
        if self._pair is None:
            with suppress(OSError):  # no descriptor is left: what waits then is cut off
                self._pair = _connect_pair()
                self._before = self.hear()
        return None if self._pair is None else self._pair[0]

    def hear(self) -> int:
        """Has signals ring the bell, if there is one, in place of what they woke before."""
        if self._pair is None:
            return -1
        return signal.set_wakeup_fd(self._pair[1].fileno(), warn_on_full_buffer=False)

    def silence(self) -> None:
        """Takes out what was rung by signals that end nothing."""
        if self._pair is not None:
            with suppress(BlockingIOError):
                self._pair[0].recv(64)

    def close(self) -> None:
        self.over = True
        if self._pair is not None:
            signal.set_wakeup_fd(self._before)
            for end in self._pair:
                end.close()


_watch: _SignalNote | None = None  # of this process, as signals are


def _connect_pair() -> "tuple[socket.socket, socket.socket]":
    import socket

    pair = socket.socketpair()
    for each in pair:
        each.setblocking(False)
    return pair


@contextmanager
def watch(cut_off: Callable[[int], object]) -> Iterator[None]:
    """Has the first signal noted, for the places that wait; the second one ends the process.

    That holds until the block ends: what is done about the first must not hold up the second.
    Where nothing has looked after `CUT_OFF_SECONDS`, `cut_off` is called with the signal's number,
    in a thread of its own, and the process ends a moment later, whatever it is at.

    Raises:
        Stopped: a signal came, and nothing in the block has looked.
    """
    global _watch  # noqa: PLW0603  what is of the process is known to all who wait
    mine = _SignalNote()
    # What nohup has had ignored stays ignored.
    numbers = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature
        mine.number = number
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)
        with suppress(RuntimeError):  # no thread is to be had: the second signal ends it
            start_new_thread(_cut_off, (mine, number, cut_off))

    try:
        before = {number: signal.signal(number, note) for number in numbers}
    except ValueError:  # not in the main thread: a test runs us inside another program
        yield
        return
    outer, _watch = _watch, mine
    with _take_together_for_one():
        try:
            yield
            look()
        finally:
            _watch = outer
            mine.close()
            for number, handler in before.items():
                if signal.getsignal(number) is note:
                    signal.signal(number, handler)


@contextmanager
def _take_together_for_one() -> Iterator[None]:
    """Leaves out what Python says of a signal that came together with the first one.

    It has noted both by then, finds no handler for the second any more, and says that it is
    ignored, with a traceback.
    """
    report = sys.unraisablehook

    def report_others(found: "sys.UnraisableHookArgs") -> None:
        if not (isinstance(found.exc_value, OSError) and _TOGETHER in str(found.exc_value)):
            report(found)

    sys.unraisablehook = report_others
    try:
        yield
    finally:
        sys.unraisablehook = report


def _cut_off(watch: _SignalNote, number: int, say: Callable[[int], object]) -> None:
    """Ends the process where the main thread is held up in a place that does not look."""
    until = time.monotonic() + CUT_OFF_SECONDS
    while time.monotonic() < until:
        time.sleep(_SLICE_SECONDS)
        if watch.raised or watch.over or watch.held:
            return
    with suppress(RuntimeError):
        start_new_thread(say, (number,))  # stderr may be held up too
        time.sleep(_LAST_WORDS_SECONDS)
    if not (watch.raised or watch.over):
        os._exit(128 + number)


def look() -> None:
    """Raises `Stopped`, once, where a signal has come; for the main thread, between steps."""
    watch = _watch
    if watch is not None and watch.is_due and get_ident() == watch.thread:
        watch.raised = True
        raise Stopped(watch.number or 0)


def _of_this_thread() -> _SignalNote | None:
    watch = _watch
    return watch if watch is not None and get_ident() == watch.thread else None


def sleep(seconds: float) -> None:
    """Waits so long; raises Stopped: a signal came."""
    if _of_this_thread() is None:
        time.sleep(seconds)
    else:
        _wait(None, seconds, write=False)


def wait_ready(file: "int | socket.socket", seconds: float | None, *, write: bool = False) -> bool:
    """Waits until a descriptor or socket can be read, or written to; false when the time is up.

    On Windows only for sockets.

    Raises:
        Stopped: a signal came.
        OSError, ValueError: it is closed.
    """
    return _wait(file, seconds, write=write)


def _wait(file: "int | socket.socket | None", seconds: float | None, *, write: bool) -> bool:
    watch = _of_this_thread()
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        bell = None if watch is None else watch.bell()
        look()  # behind the hanging of the bell: what came before has not rung it
        left = None if until is None else max(0.0, until - time.monotonic())
        found = _poll_ready(file, bell, left, write=write)
        look()
        if file is not None and file in found:
            return True
        if not found:
            return False
        assert watch is not None
        watch.silence()


def _poll_ready(
    file: "int | socket.socket | None",
    bell: "socket.socket | None",
    seconds: float | None,
    *,
    write: bool,
) -> list[Any]:
    """Which of the two can be read, the first one written to if asked; none when time is up."""
    if not hasattr(select, "poll"):  # Windows, where files cannot be waited for
        files = [] if file is None else [file]
        bells = [] if bell is None else [bell]
        if not files + bells:
            time.sleep(seconds or 0)
            return []
        reading, writing = (bells, files) if write else (files + bells, [])
        # A connection that is refused is an exception there.
        return [each for part in select.select(reading, writing, writing, seconds) for each in part]
    has: Any = select
    poll, known = has.poll(), {}
    for each, events in ((file, has.POLLOUT if write else has.POLLIN), (bell, has.POLLIN)):
        if each is not None:
            number = each if isinstance(each, int) else each.fileno()
            known[number] = each
            poll.register(number, events)
    # Rounded up: less than a millisecond asked for again and again would be busy.
    limit = None if seconds is None else min(int(seconds * 1000) + (seconds > 0), _POLL_MAX)
    found = poll.poll(limit)
    return [known[number] for number, _ in found]


def wait(step: Callable[[float], T], seconds: float | None) -> T:
    """Calls `step` with how long it may wait, again and again, until it gives something.

    Gives what it gave last, when the time is up. For what cannot be waited for beside a signal, as
    a lock, an event or a thread: in between it is looked.

    Raises:
        Stopped: a signal came.
    """
    slice_ = _LONG_SECONDS if _of_this_thread() is None else _SLICE_SECONDS
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        look()
        left = slice_ if until is None else min(slice_, until - time.monotonic())
        found = step(max(0.0, left))
        look()
        if found or left <= 0:
            return found


@contextmanager
def hold_back() -> Iterator[None]:
    """Has a signal that comes inside the block answered behind it.

    For what waits and must not be cut short, as undoing what was begun.
    """
    watch = _of_this_thread()
    if watch is None:
        yield
        return
    watch.held += 1
    try:
        yield
    finally:
        watch.held -= 1
    look()


def ring_again() -> None:
    """Has signals end waits again, where an event loop has had itself woken by them."""
    watch = _of_this_thread()
    if watch is not None:
        watch.hear()
