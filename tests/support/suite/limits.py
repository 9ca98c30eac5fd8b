"""Nothing may hang: each test has a limit, and what it has started ends with it."""

import faulthandler
import os
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from support.suite.dealing import seconds_of

SECONDS: Final = 180.0  # a machine ten times slower, or as busy, is to pass as well
SLOW_SECONDS: Final = 600.0
# A limit raises an exception in the test. Where that does not end it (it waits for ever in what
# tidies up), the process is ended, which names the test and takes the rest to another worker.
GRACE: Final = 60.0


def limit_of(item: pytest.Item) -> float:
    """How long a test may take; a slow one says how long it takes on two quiet cores."""
    own = item.get_closest_marker("limit")
    if own is not None:
        return max(SECONDS, float(own.args[0]))
    slow = item.get_closest_marker("slow")
    return SECONDS if slow is None else max(SLOW_SECONDS, 10 * seconds_of(item))


class Limits:
    """The plugin that keeps them."""

    def __init__(self) -> None:
        self.seconds = SECONDS
        self._ends_at = 0.0
        self._wait = subprocess.Popen.wait
        self._leave = subprocess.Popen.__exit__

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Says the limit when the test begins: each worker has all tests, and runs few of them."""
        self.seconds = limit_of(item)
        timed = item.config.pluginmanager.hasplugin("timeout")
        if timed and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(self.seconds))
        self._give(self.seconds + GRACE)
        return (yield)

    def pytest_sessionfinish(self) -> None:
        faulthandler.cancel_dump_traceback_later()

    def _give(self, seconds: float) -> None:
        """Lets this process live so long at least, and not much longer: each turn is a thread."""
        now = time.monotonic()
        if not now + seconds <= self._ends_at <= now + seconds + GRACE:
            faulthandler.dump_traceback_later(seconds + GRACE, exit=True)
            self._ends_at = now + seconds + GRACE

    def watch_processes(self) -> None:
        """Has every wait for a process end, and no process outlive the block that a failure left."""
        limits = self

        def wait(process: "subprocess.Popen[Any]", timeout: float | None = None) -> int:
            return limits._wait(process, limits.seconds if timeout is None else timeout)

        def leave(process: "subprocess.Popen[Any]", kind: Any, value: Any, trace: Any) -> None:
            if kind is not None and process.poll() is None:
                process.kill()
            limits._leave(process, kind, value, trace)

        subprocess.Popen.wait = wait  # type: ignore[method-assign, assignment]
        subprocess.Popen.__exit__ = leave  # type: ignore[method-assign]


def started_with(text: str) -> list[int]:
    """Processes whose environment holds a text, but for this one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if text.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return [pid for pid in found if pid != os.getpid()]


def end_all(text: str) -> list[int]:
    """Kills what was started in an environment that holds a text; gives their ids."""
    ended = started_with(text)
    for pid in ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return ended
