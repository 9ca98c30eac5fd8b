"""A listener as a process of its own, for tests that kill it or watch what it costs."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[2]


def spawn(
    state: Path, target: int | str, retry: str = "fast", under: Sequence[str] = ()
) -> tuple["subprocess.Popen[str]", int]:
    """Starts a listener on a state database that forwards to a port; gives its own port too.

    A target that is text is a command line, which gets the events of each type.

    `under` is a program that starts it and watches.
    """
    process = subprocess.Popen(
        [
            *under,
            sys.executable,
            str(TESTS / "support" / "kills" / "child.py"),
            str(state),
            str(target),
            retry,
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert process.stdout is not None
    port = int(process.stdout.readline())
    assert process.stdout.readline() == "ready\n"
    return process, port


def end(process: "subprocess.Popen[str]") -> None:
    """Kills it as a power cut would, if it still runs."""
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@contextmanager
def child(state: Path, target: int) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A listener and its port; killed at the end."""
    process, port = spawn(state, target)
    try:
        yield process, port
    finally:
        end(process)


def resident(pid: int) -> float:
    """Memory of a process in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024
