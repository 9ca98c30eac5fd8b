"""Finds and runs an installed tunnel program: watched, and ended when svc ends.

`tunnel` starts a `Program` with the arguments of a provider and reads its lines.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from svc.system.processes import Group, build_group_options, job_of, wrap_to_die_with_us

_SECONDS_TO_END: Final = 0.4  # promise R78; the programs hold nothing that could be lost
_LAST_WORDS_SECONDS: Final = 0.3
_LINE_MAX: Final = 16 * 1024


def find_installed(program: str, path: str) -> str | None:
    """Finds a program in the absolute folders of a PATH, never in the current one.

    Source: CVE-2022-24753, where a program in the working folder got the user's key.
    """
    name = f"{program}.exe" if sys.platform == "win32" else program
    for folder in path.split(os.pathsep):
        candidate = Path(folder, name)
        # A folder that this user may not enter holds nothing for him; `is_file` would raise there.
        there = candidate.is_absolute() and os.path.isfile(candidate)  # noqa: PTH113
        if there and os.access(candidate, os.X_OK):
            return str(candidate)
    return None


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a tunnel program: without svc's variables, keys and secrets (R43)."""
    return {name: value for name, value in env.items() if not name.startswith("SVC_")}


class Program:
    """A running program. The queue `news` gets its lines as they come, None once it has ended."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Starts it, in a process group of its own: Ctrl-C reaches us first."""
        self.news: SimpleQueue[str | None] = SimpleQueue()
        self._gone = False
        self._process = subprocess.Popen(  # noqa: S603  a path from `find_installed`, no shell
            wrap_to_die_with_us(argv),
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **build_group_options(),
        )
        pid = self._process.pid
        self._group = Group(pid, lambda: self._process.poll() is not None, job_of(pid))
        self._pump = threading.Thread(target=self._read, daemon=True)
        self._pump.start()
        threading.Thread(target=self._wait, daemon=True).start()

    @property
    def code(self) -> int | None:
        """How it ended: an exit code, or a signal's number below zero."""
        return self._process.returncode

    def end(self) -> None:
        """Ends it and whatever it has started; may be called often and from any thread."""
        if self._gone:  # its number may be another's by now
            return
        self._group.ask(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        self._group.kill()
        self._gone = True

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        whole = True
        with stream:
            while part := stream.readline(_LINE_MAX):
                # Only beginnings: a stranger may choose where in his text a long line is cut.
                if whole:
                    self.news.put(part.decode("utf-8", "replace").rstrip("\r\n"))
                whole = part.endswith(b"\n")

    def _wait(self) -> None:
        self._process.wait()
        self._pump.join(_LAST_WORDS_SECONDS)  # a helper of its may hold the pipe for ever
        self.news.put(None)
