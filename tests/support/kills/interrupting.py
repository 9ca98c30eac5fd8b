"""A signal at every place at which Python answers one, in turn."""

import contextlib
import gc
import inspect
import opcode
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

import svc
from svc.system import signals
from svc.system.signals import STOPPING

_OURS: Final = Path(str(svc.__file__)).parent
_BACK: Final = {number for name, number in opcode.opmap.items() if name.startswith("JUMP_BACKWARD")}
_SILENT: Final = (inspect.CO_GENERATOR, "__del__")  # what Python drops there is another story


def not_cut_off() -> AbstractContextManager[object]:
    """Has a process that is traced, which takes its time, not be ended as one that is held up."""
    return patch.object(signals, "CUT_OFF_SECONDS", 3600.0)


@contextmanager
def closed_at_the_end() -> Iterator[None]:
    """Lets go of files and databases whose opening was cut off, as the end of a process does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


class Interruption:
    """Calls `come` once, at the place of a number in modules of the program and in contextlib.

    Only places where it `is_heard` count. Those are the ends of calls of what is written in C, the
    beginnings of functions, and the ends of loops' rounds: elsewhere a signal waits. `rooms` are
    the beginnings of the modules' paths.

    Attributes:
        came: whether it has been called.
        raised: what it raised, which a handler of the program never does (promise R133).
    """

    raised: BaseException | None = None

    def __init__(
        self,
        place: int,
        come: Callable[[], None],
        *rooms: str,
        is_heard: Callable[[], bool] = lambda: True,
    ) -> None:
        self._left = place
        self._come = come
        self._is_heard = is_heard
        self._rooms = (*(f"{_OURS}/{room}" for room in rooms), str(contextlib.__file__))
        self.came = False

    def profile(self, frame: FrameType, event: str, _: Any) -> None:
        begins = event == "call" and not _is_resumed(frame)
        if (begins or event == "c_return") and self._is_watched(frame):
            self._pass()

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if self.came or not self._is_watched(frame):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and frame.f_code.co_code[frame.f_lasti] in _BACK:
            self._pass()
        return self.trace

    def _is_watched(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self._rooms)

    def _pass(self) -> None:
        if self.came or not self._is_heard():
            return
        self._left -= 1
        if self._left == 0:
            self.came = True
            try:
                self._come()
            except BaseException as error:
                self.raised = error
                raise


def _is_resumed(frame: FrameType) -> bool:
    """Whether it is a generator, which also ends by being resumed, or a finalizer."""
    flag, name = _SILENT
    return bool(frame.f_code.co_flags & flag) or frame.f_code.co_name == name


@contextmanager
def sigterm_at(place: int, *rooms: str) -> Iterator[Interruption]:
    """Has the program get the signal in the block, while it answers it itself."""

    def is_heard() -> bool:
        return callable(signal.getsignal(signal.SIGTERM))

    def come() -> None:
        signal.raise_signal(signal.SIGTERM)

    before = {number: signal.getsignal(number) for number in STOPPING}
    try:
        with not_cut_off(), _watching(Interruption(place, come, *rooms, is_heard=is_heard)) as made:
            yield made
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _watching(made: Interruption) -> Iterator[Interruption]:
    before = sys.gettrace()
    sys.settrace(made.trace)
    sys.setprofile(made.profile)
    try:
        yield made
    finally:
        sys.setprofile(None)
        sys.settrace(before)
