"""What a quickstart has started ends with it, however it ends itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from process.tunnels.server import children, is_alive, until

BEGUN_SECONDS = 40.0  # beside much else
# Has a quickstart's order wait as long as the quickstart lives: it stays in the midst of its story.
HOLDING = """
import os, sys, time
parent = os.getppid()
while {"orders", "create"} <= {*sys.orig_argv} and os.getppid() == parent:
    time.sleep(0.01)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc, and what a kernel ties")


def started_by(pid: int) -> list[int]:
    """The sandbox and the listener of a quickstart; commands beside them come and go."""
    found = []
    for child in children(pid):
        with suppress(OSError):  # one that has gone
            line = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"start\0" in line or b"listen\0" in line:
                found.append(child)
    return found


@contextmanager
def telling(folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", list[int]]]:
    """A quickstart in the midst of its story, and what it has started."""
    said = folder / "quickstart.err"
    (folder / "sitecustomize.py").write_text(HOLDING)
    with said.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "svc", "quickstart"],
            env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
        )
    started: list[int] = []

    def both() -> bool:
        assert process.poll() is None, said.read_text()
        started[:] = started_by(process.pid)
        return len(started) == len(("sandbox", "listener"))

    try:
        until(both, BEGUN_SECONDS)
        yield process, started
    finally:
        process.kill()
        process.wait()
        for child in filter(is_alive, started):
            os.kill(child, signal.SIGKILL)


def test_killed_quickstart_leaves_no_process(isolated: Path) -> None:
    """R78: nobody would know of a sandbox and a listener that go on without it."""
    with telling(isolated) as (process, started):
        process.kill()
        process.wait()
        until(lambda: not any(map(is_alive, started)))


@pytest.mark.parametrize(
    "pause", [0.01, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.0, 0.03))]
)
def test_two_signals_leave_no_process(isolated: Path, pause: float) -> None:
    """R78: the second one, soon after the first, ends it before all is undone."""
    with telling(isolated) as (process, started):
        process.send_signal(signal.SIGINT)
        time.sleep(pause)  # of the person who presses Ctrl-C twice
        process.send_signal(signal.SIGINT)
        process.wait()
        until(lambda: not any(map(is_alive, started)))
