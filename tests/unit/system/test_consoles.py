"""What terminals and pipes are told on Windows, as far as that can be seen from here."""

import ctypes
import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from support.on_terminal import TtyStream
from svc.system.consoles import forget_what_was_typed, set_encoding, takes_color


class Console:
    """The two calls of a stand-in for the Windows kernel."""

    def __init__(self, mode: int | None, *, knows_escapes: bool = True) -> None:
        self.mode = mode
        self._knows_escapes = knows_escapes

    def GetConsoleMode(self, handle: Any, mode: Any) -> int:  # noqa: N802
        if self.mode is None:
            return 0
        mode._obj.value = self.mode
        return 1

    def SetConsoleMode(self, handle: Any, mode: int) -> int:  # noqa: N802
        if not self._knows_escapes:
            return 0
        self.mode = mode
        return 1


def put(monkeypatch: pytest.MonkeyPatch, console: Console) -> None:
    """Puts the stand-in where Windows has its kernel."""
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda number: number))
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=console), raising=False)


def test_stand_in_for_a_windows_console_is_told_to_understand_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R75: what else it was told stays as it was."""
    console = Console(0b11)
    put(monkeypatch, console)
    assert takes_color(TtyStream(), "win32")
    assert console.mode == 0b111


@pytest.mark.parametrize("console", [Console(None), Console(3, knows_escapes=False)])
def test_stand_in_for_a_windows_console_without_colours_gets_none(
    monkeypatch: pytest.MonkeyPatch, console: Console
) -> None:
    """No ESC byte goes to what would show it."""
    put(monkeypatch, console)
    assert not takes_color(TtyStream(), "win32")


@pytest.mark.parametrize(
    ("platform", "written"), [("win32", "山\n".encode()), ("linux", b"\\u5c71\r\n")]
)
def test_pipe_gets_the_same_bytes_as_elsewhere(platform: str, written: bytes) -> None:
    """R74: UTF-8 and plain line feeds on Windows, too; elsewhere the user's own encoding."""
    sink = io.BytesIO()
    stream = io.TextIOWrapper(sink, encoding="cp1252", newline="\r\n")
    set_encoding(stream, platform)
    stream.write("山\n")
    stream.flush()
    assert sink.getvalue() == written


def test_what_was_typed_before_a_question_is_no_answer_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stand-in for the Windows keyboard: each key that waits is taken, then nothing is asked."""
    typed = list("y\ry")
    keyboard = SimpleNamespace(kbhit=lambda: bool(typed), getwch=lambda: typed.pop(0))
    monkeypatch.setitem(sys.modules, "msvcrt", keyboard)
    forget_what_was_typed(TtyStream(), "win32")
    assert typed == []


@pytest.mark.parametrize("encoding", ["utf-16", "UTF_32", "utf-16-le"])
def test_an_encoding_that_is_no_text_of_lines_is_not_written(encoding: str) -> None:
    """PYTHONIOENCODING=utf-16: what is written in parts has a mark in front of each, or none."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    set_encoding(stream, "linux")
    assert stream.encoding == "utf-8"
    latin = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    set_encoding(latin, "linux")
    assert latin.encoding == "latin-1"
