"""Looks for secrets wherever a program may leave them: streams, files, arguments, children."""

import base64
import os
import re
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

# As the service makes them; what is shown masked has a … in it and does not match.
CLIENT_SECRET = re.compile(rb"ord_\w{8,}_secret_\w{8,}")
SIGNING_SECRET = re.compile(rb"whsec_\w{12,}")


def forms(key: str) -> tuple[bytes, ...]:
    """The key as it stands, and in Basic authentication (promise R39)."""
    basic = base64.b64encode(f"{key}:".encode()).rstrip(b"=")
    return key.encode(), basic[:-2]


def holders(secrets: Iterable[bytes], folder: Path) -> list[str]:
    """The files below a folder, which is there, that hold a secret."""
    assert folder.is_dir()
    found = []
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and any(secret in path.read_bytes() for secret in secrets):
                found.append(str(path))
    return found


class Watch:
    """Samples arguments and environments of all processes, a thousand times a second at best.

    The environment of those whose parent runs `svc` is looked at: what svc itself was given is
    the user's doing, what it hands on is ours (promises R32, R43).
    """

    def __init__(self, secrets: Iterable[bytes], allowed: Iterable[int] = ()) -> None:
        self._secrets = tuple(secrets)
        self._allowed = {os.getpid(), *allowed}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.samples = 0
        self.seen: set[str] = set()
        self.children = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            self._sample()
            self.samples += 1
            time.sleep(0.001)

    def _sample(self) -> None:
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and int(entry.name) not in self._allowed:
                with suppress(OSError, ValueError, IndexError):
                    self._look(int(entry.name))

    def _look(self, pid: int) -> None:
        words = _read(pid, "cmdline")
        if any(secret in words for secret in self._secrets):
            self.seen.add(f"arguments of {words[:300]!r}")
        parent = int(_read(pid, "stat").rpartition(b")")[2].split()[1])
        theirs = _read(parent, "cmdline")
        # One that was forked a moment ago is still called as its parent.
        if b"/svc\0" in theirs and words != theirs:
            self.children += 1
            if any(secret in _read(pid, "environ") for secret in self._secrets):
                self.seen.add(f"environment of {words[:300]!r}")


def _read(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()
