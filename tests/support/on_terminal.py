"""The real program on a terminal of its own."""

import os
import pty
import select
import signal
import sys
import time
from typing import Self

from support.patience import patient


def on_terminal(*argv: str, columns: int = 80, **env: str) -> str:
    """What a command writes there, its messages too; in colour unless `env` forbids it."""
    child, terminal = pty.fork()
    if child == 0:
        known = {"TERM": "xterm-256color", "COLUMNS": str(columns), "NO_COLOR": ""}
        argv = (sys.executable, "-m", "svc", *argv)
        os.execve(sys.executable, argv, {**os.environ, **known, **env})
    found = bytearray()
    try:
        while part := os.read(terminal, 65536):
            found += part
    except OSError:  # Linux: the other end is closed
        pass
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return found.decode().replace("\r\n", "\n")


class Terminal:
    """The program while it runs on a terminal of its own; ended with its `with` block."""

    def __init__(self, *argv: str, columns: int = 80, **env: str) -> None:
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            known = {"TERM": "xterm-256color", "COLUMNS": str(columns), "NO_COLOR": "1"}
            argv = (sys.executable, "-m", "svc", *argv)
            os.execve(sys.executable, argv, {**os.environ, **known, **env})
        self.seen = ""
        self._code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._code is None:
            os.kill(self._child, signal.SIGKILL)
            self.end()

    def read_until(self, words: str, seconds: float = 20) -> str:
        """Everything that was written, once `words` are in it."""
        end = time.monotonic() + patient(seconds)
        while words not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self._terminal], [], [], 0.1)[0]:
                assert self._read(), self.seen
        return self.seen

    def press_ctrl_c(self) -> None:
        """Has the terminal send SIGINT, and show that as it does."""
        os.write(self._terminal, b"\x03")

    def end(self) -> int:
        """Reads to the end; gives the exit code."""
        while self._read():
            pass
        os.close(self._terminal)
        self._code = os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
        return self._code

    def _read(self) -> bool:
        try:
            part = os.read(self._terminal, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self.seen += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)
