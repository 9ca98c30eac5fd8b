"""The real program on a terminal of its own: a session, Ctrl-C, what is typed and what is seen."""

import io
import os
import pty
import select
import termios
import time
from collections.abc import Callable
from functools import partial
from typing import Final, Self

import pytest

from support.forks.program import Forking
from support.running import Result
from support.suite.patience import patient

KNOWN: Final = {"TERM": "xterm-256color", "NO_COLOR": "1"}


class TtyStream(io.StringIO):
    """A stream that the program takes for a terminal's: a person sees it."""

    def fileno(self) -> int:
        return 1

    def isatty(self) -> bool:
        return True


class Terminal:
    """The program while it runs on a terminal of its own; ended with its `with` block.

    `out` is a file for what it prints, where that does not go to the terminal.

    Attributes:
        seen: everything that was written.
        shows_typing: whether the terminal did at the end.
    """

    def __init__(
        self,
        forking: Forking,
        *argv: str,
        columns: int = 80,
        out: int | None = None,
        **env: str,
    ) -> None:
        whole = {**os.environ, **KNOWN, "COLUMNS": str(columns), **env}
        self.seen = ""
        self.shows_typing = True
        self._terminal, theirs = pty.openpty()
        try:
            self._process = forking.start_on(theirs, argv, whole, out)
        finally:
            os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self.end()

    def read_until(self, words: str, seconds: float = 20) -> str:
        """Everything that was written, once `words` are in it."""
        end = time.monotonic() + patient(seconds)
        while words not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self._terminal], [], [], 0.1)[0]:
                assert self._read(), self.seen
        return self.seen

    def type(self, text: str) -> None:
        """Presses keys."""
        os.write(self._terminal, text.encode())

    def press_ctrl_c(self) -> None:
        """Has the terminal send SIGINT, and show that as it does."""
        self.type("\x03")

    def answer(self, prompt: str, lines: str) -> int:
        """Types a line each time that the program waits behind a prompt; gives the exit code.

        What is typed before a prompt is thrown away.
        """
        left = lines.splitlines(keepends=True)
        while self._read():
            if left and self.seen.endswith(prompt):
                self.type(left.pop(0))
        return self.end()

    def end(self) -> int:
        """Reads to the end; gives the exit code."""
        while self._read():
            pass
        self.shows_typing = bool(termios.tcgetattr(self._terminal)[3] & termios.ECHO)
        os.close(self._terminal)
        return self._process.wait()

    def _read(self) -> bool:
        try:
            part = os.read(self._terminal, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self.seen += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)


OnTerminal = Callable[..., str]
OpenTerminal = Callable[..., Terminal]
AtTerminal = Callable[..., Result]


@pytest.fixture
def open_terminal(forking: Forking) -> OpenTerminal:
    """Runs the program on a terminal for as long as a block: `open_terminal(ARG ..., columns=80)`."""
    return partial(Terminal, forking)


@pytest.fixture
def on_terminal(open_terminal: OpenTerminal) -> OnTerminal:
    """What a command writes there, its messages too; in colour unless `env` forbids it."""

    def shown(*argv: str, columns: int = 80, **env: str) -> str:
        with open_terminal(*argv, columns=columns, **{"NO_COLOR": "", **env}) as opened:
            opened.end()
        return opened.seen

    return shown


@pytest.fixture
def at_terminal(open_terminal: OpenTerminal) -> AtTerminal:
    """Runs a command for a person who types a line at each prompt: `at_terminal(LINES, ARG ...)`."""

    def ended(lines: str, *argv: str, prompt: str = ": ", **env: str) -> Result:
        with open_terminal(*argv, **env) as opened:
            code = opened.answer(prompt, lines)
        return Result(code, opened.seen, "")

    return ended
