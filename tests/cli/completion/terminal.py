"""A real shell on a terminal of its own, and what a person types there and sees."""

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "completions"
_ESCAPES = re.compile(
    rb"\x1b(\[[0-9;?<>=]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-B0-2]|[=>78])"
)
_PATIENCE_SECONDS = 150.0

# Stands for the program: says what it was called with, and that it was.
_RECORDER = """#!/bin/sh
echo "$0" >>"{calls}"
printf 'ARGS<'; for each; do printf '%s|' "$each"; done; printf '>\\n'
"""

# The shell becomes the one that the terminal's signals and jobs belong to.
_TAKE_TERMINAL = """import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class ShellTerminal:
    """An interactive shell that can start nothing but recorders named `svc` and `python`."""

    def __init__(self, argv: Sequence[str], home: Path, **env: str) -> None:
        self.name = Path(argv[0]).name
        self.calls = home / "calls"
        self.calls.touch()
        programs = home / "bin"
        programs.mkdir()
        for name in ("svc", "python", "python3", "python3.11"):
            (programs / name).write_text(_RECORDER.format(calls=self.calls))
            (programs / name).chmod(0o755)
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (40, 80))
        known = {"HOME": str(home), "PATH": str(programs), "TERM": "xterm", "LANG": "C.UTF-8"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**known, **env},
            cwd=home,
            start_new_session=True,
        )
        os.close(theirs)
        self._ours = ours
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def type(self, keys: str) -> None:
        """Types; what was seen before is forgotten."""
        self._seen = b""
        os.write(self._ours, keys.encode())

    def wait_for(self, *words: str) -> str:
        """Waits until all these words are on the screen and gives what is there."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not all(word in self.seen for word in words):
            ready, _, _ = select.select([self._ours], [], [], max(end - time.monotonic(), 0))
            assert ready, f"{words} did not come; there is: {self.seen!r}"
            self._seen += os.read(self._ours, 65536)
        return self.seen

    @property
    def seen(self) -> str:
        """What the shell has printed, without colours and movements of the cursor."""
        return _ESCAPES.sub(b"", self._seen).decode("utf-8", "replace").replace("\r", "")

    def run(self, keys: str) -> list[str]:
        """Types a command line, presses Enter and gives the arguments that `svc` was started with."""
        self.type(f"{keys}\n")
        # A line editor may draw the line again behind it; the program itself prints a `>` last.
        return self.wait_for("ARGS<", "|>").partition("ARGS<")[2].partition("|>")[0].split("|")

    def clear(self) -> None:
        """Throws the line away that was typed, and whatever hangs below it."""
        # Not Ctrl-C: the terminal would drop what is typed behind it.
        self.type("\x05\x15svc ready\n")
        self.wait_for("ARGS<ready|>")
