"""Handles the signals that end the program: SIGINT, SIGTERM and SIGHUP, as far as they exist.

A signal handler raises no exception (promise R133): Python may run it between any two steps of the
main thread, even while a lock is being released. The handler of `watch` only notes the signal.
`sleep`, `wait`, `wait_ready` and `raise_if_stopped` then raise `Stopped` in the main thread. If it
calls none of them within a moment, the process is ended.

Worker threads never see `Stopped`: the main thread ends them.

`cli.main` runs every command inside `watch`; whatever waits in the main thread (the client's
sockets, batch workers, prompts) waits by these functions.
"""

import os
import select
import signal
import sys
import time
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Iterator, Mapping
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
    """SIGINT, SIGTERM or SIGHUP came; has the exit code that shells use for it (promise R78).

    `raise_if_stopped` and the waiting functions raise it once, in the main thread.

    Attributes:
        told: whether the person at the terminal has been told already.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.exit_code = 128 + number
        self.told = False


class _SignalNote:
    """The state of the signals within one `watch`."""

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

    def open_bell(self) -> "socket.socket | None":
        """A socket that becomes readable when a signal comes; None if no signal may end a wait.

        It is created for the first wait.
        """
        if self.number is not None or self.held:
            return None
        if self._pair is None:
            with suppress(OSError):  # no descriptor is left: what waits then is cut off
                import socket

                pair = socket.socketpair()
                for each in pair:
                    each.setblocking(False)
                self._pair = pair
                self._before = self.route_to_bell()
        return None if self._pair is None else self._pair[0]

    def route_to_bell(self) -> int:
        """Makes signals wake the bell, if there is one; returns the descriptor woken before."""
        if self._pair is None:
            return -1
        return signal.set_wakeup_fd(self._pair[1].fileno(), warn_on_full_buffer=False)

    def drain(self) -> None:
        """Empties the bell after signals that do not end the program."""
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


@contextmanager
def watch(cut_off: Callable[[int], object]) -> Iterator[None]:
    """Notes the first signal while the block runs; a second signal ends the process at once.

    If no function here has raised `Stopped` after `CUT_OFF_SECONDS`, `cut_off` is called with the
    number of the signal in a thread of its own, and the process ends a moment later.

    Raises:
        Stopped: a signal came, and `Stopped` was not raised within the block.
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
            raise_if_stopped()
        finally:
            _watch = outer
            mine.close()
            _put_back(before, note)
        if mine.number is not None and not mine.raised:  # it came while handlers were put back
            raise Stopped(mine.number)


def _put_back(before: Mapping[int, Any], note: object) -> None:
    """Gives signals the handlers that they had before, unless one of them has come."""
    for number, handler in before.items():
        if signal.getsignal(number) is note:
            signal.signal(number, handler)


@contextmanager
def _take_together_for_one() -> Iterator[None]:
    """Suppresses Python's traceback about a second signal that came together with the first.

    The handler of the first resets all handlers, so that Python reports the second as ignored.
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
    """Ends the process if the main thread has not raised `Stopped` in time."""
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


def raise_if_stopped() -> None:
    """Raises `Stopped`, once, if a signal has come; the main thread calls it between steps."""
    watch = _watch
    if watch is not None and watch.is_due and get_ident() == watch.thread:
        watch.raised = True
        raise Stopped(watch.number or 0)


def _of_this_thread() -> _SignalNote | None:
    watch = _watch
    return watch if watch is not None and get_ident() == watch.thread else None


def sleep(seconds: float) -> None:
    """Waits for a number of seconds; raises Stopped: a signal came."""
    if _of_this_thread() is None:
        time.sleep(seconds)
    else:
        _wait(None, seconds, write=False)


def wait_ready(file: "int | socket.socket", seconds: float | None, *, write: bool = False) -> bool:
    """Waits until a descriptor or socket is readable or writable; False if the time is up.

    On Windows only for sockets.

    Raises:
        Stopped: a signal came.
        OSError, ValueError: the descriptor or socket is closed.
    """
    return _wait(file, seconds, write=write)


def _wait(file: "int | socket.socket | None", seconds: float | None, *, write: bool) -> bool:
    watch = _of_this_thread()
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        bell = None if watch is None else watch.open_bell()
        raise_if_stopped()  # after the bell is set up: an earlier signal has not rung it
        left = None if until is None else max(0.0, until - time.monotonic())
        found = _poll_ready(file, bell, left, write=write)
        raise_if_stopped()
        if file is not None and file in found:
            return True
        if not found:
            return False
        assert watch is not None
        watch.drain()


def _poll_ready(
    file: "int | socket.socket | None",
    bell: "socket.socket | None",
    seconds: float | None,
    *,
    write: bool,
) -> list[Any]:
    """Returns those of `file` and `bell` that are ready; empty if the time is up."""
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
    """Calls `step` with a time limit until its result is true; returns the last result.

    It waits for objects that cannot be polled together with a signal, such as a lock or a thread:
    each call of `step` is short, and a signal is noticed between two calls.

    Raises:
        Stopped: a signal came.
    """
    slice_ = _LONG_SECONDS if _of_this_thread() is None else _SLICE_SECONDS
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        raise_if_stopped()
        left = slice_ if until is None else min(slice_, until - time.monotonic())
        found = step(max(0.0, left))
        raise_if_stopped()
        if found or left <= 0:
            return found


@contextmanager
def defer_stop() -> Iterator[None]:
    """Delays `Stopped` until the end of the block, for a wait that must not be interrupted."""
    watch = _of_this_thread()
    if watch is None:
        yield
        return
    watch.held += 1
    try:
        yield
    finally:
        watch.held -= 1
    raise_if_stopped()


def restore_wakeup() -> None:
    """Makes signals end waits again after an event loop has used the wakeup descriptor."""
    watch = _of_this_thread()
    if watch is not None:
        watch.route_to_bell()
