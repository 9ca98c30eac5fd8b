"""Listeners as processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.forks.program import Forked, Forking
from support.suite.patience import WAIT_SECONDS

Pay = Callable[[], str]


class Running:
    """A listener process and the records that it has printed so far."""

    def __init__(self, process: "Process", log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def records(self) -> list[dict[str, Any]]:
        lines = self.text.splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("}\n")]  # the last may be half

    @property
    def text(self) -> str:
        return self._log.read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        """What it has written to standard error."""
        return self._log.with_suffix(".err").read_text(encoding="utf-8")

    def wait(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Gives the records of one kind, once there are so many."""
        found: list[dict[str, Any]] = []

        def enough() -> bool:
            found[:] = [one for one in self.records if one["record"] == kind]
            return len(found) >= count

        self.until(enough)
        return found

    def until(self, true: Callable[[], bool]) -> None:
        """Waits until something is so, as long as it runs."""
        end = time.monotonic() + WAIT_SECONDS
        over = False
        while not true():
            assert not over, self.text[-2000:]
            assert time.monotonic() < end, self.text[-2000:]
            over = self.process.poll() is not None  # what it did last is looked at once more
            time.sleep(0.01)

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(WAIT_SECONDS)


Process = Forked | subprocess.Popen[bytes]
Listen = Callable[..., AbstractContextManager[Running]]


@pytest.fixture
def listen(forking: Forking) -> Listen:
    """Runs `svc events listen -o ndjson` until the block ends: `listen(FOLDER, OPTION ...)`."""
    return partial(_listen, forking)


@contextmanager
def _listen(
    forking: Forking,
    folder: Path,
    *argv: str,
    env: dict[str, str] | None = None,
    ready: bool = True,
) -> Iterator[Running]:
    log = folder / f"listen-{time.monotonic_ns()}.ndjson"
    whole = {**os.environ, **(env or {})}
    form = () if "-o" in argv else ("-o", "ndjson")
    line = ("events", "listen", *form, *argv)
    with log.open("wb") as out, (log.with_suffix(".err")).open("wb") as err:
        if forking.can_run(whole):
            process: Process = forking.start(line, whole, out.fileno(), err.fileno())
        else:
            process = subprocess.Popen(
                [sys.executable, "-m", "svc", *line],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=whole,
            )
    running = Running(process, log)
    try:
        if ready:
            running.wait("ready")
        yield running
    finally:
        process.kill()
        process.wait()
