"""Starts and stops a sandbox in the background, as a process of its own.

`svc sandbox start --detach`, `stop` and the pytest fixtures call it: `LaunchOptions` in, the
`RunRecord` of the new process out. The process, `sandbox/__main__.py`, prints `ready` or `failed`.
"""

import json
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from svc.clock import Clock
from svc.errors import LocalError
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.records import RunRecord, health, is_running
from svc.system import processes, signals
from svc.system.signals import KILL

_SECRETS: Final = ("SVC_API_KEY", "SVC_WEBHOOK_SECRET", "SVC_LOG_CREDENTIALS")
_POLL: Final = 0.02  # seconds


def start(
    options: LaunchOptions, env: Mapping[str, str], clock: Clock, timeout: float = 60.0
) -> RunRecord:
    """Starts a sandbox in a session of its own and waits until it answers, at most `timeout` s.

    The process inherits `env` without secrets (promise R43) and writes to its own log.

    Raises:
        LocalError: when it does not start; the message is the process's own.
    """
    deadline = clock.monotonic() + timeout
    program, env = processes.build_own_command("svc.sandbox", env)
    child = processes.start_apart(
        [*program, options.to_json()],
        {name: value for name, value in env.items() if name not in _SECRETS},
    )
    try:
        record = _parse_announcement(_first_words(child.pipe, deadline - clock.monotonic()))
        _await_answer(record, clock, deadline)
    except BaseException:
        child.kill()
        raise
    return record


def stop(
    folder: Path, record: RunRecord, clock: Clock, timeout: float = 5.0
) -> Literal["stopped", "killed", "gone"]:
    """Ends a running sandbox; kills it when it has not ended after `timeout` seconds.

    A kill loses nothing: what the sandbox has acknowledged is on disk. A process that no longer
    holds its record is never signalled.
    """
    if not _send_signal(folder, record, signal.SIGTERM):
        return "gone"
    if _ends_within(folder, record, clock, timeout):
        return "stopped"
    _send_signal(folder, record, KILL)
    _ends_within(folder, record, clock, timeout)
    return "killed"


def _first_words(pipe: int, seconds: float) -> str:
    """Reads to the announcement, or to the end of what a failing process had to say."""
    words: list[str] = []
    # A thread, since not every system can wait for a pipe with a limit. It ends with the process.
    reader = threading.Thread(target=lambda: words.append(_read(pipe)), daemon=True)
    reader.start()

    def read(seconds: float) -> list[str]:
        reader.join(seconds)
        return words

    for text in signals.wait(read, max(seconds, 0.0)):
        return text
    raise LocalError("The sandbox did not start in time.")


def _read(pipe: int) -> str:
    said = []
    with os.fdopen(pipe, "rb") as lines:
        for line in lines:
            said.append(line)
            if line.startswith(b"{"):
                break
    return b"".join(said).decode(errors="replace")


def _parse_announcement(words: str) -> RunRecord:
    last = (words.strip().splitlines() or ["it said nothing"])[-1]
    try:
        said = json.loads(last)
    except ValueError:
        raise LocalError(f"The sandbox process ended at once: {last}") from None
    if "failed" in said:
        failed = said["failed"]
        raise LocalError(failed["message"], code=failed["code"], hint=failed["hint"])
    return RunRecord(**said["ready"])


def _await_answer(record: RunRecord, clock: Clock, deadline: float) -> None:
    while health(record) is None:
        if clock.monotonic() > deadline:
            raise LocalError(f"The sandbox started but does not answer at {record.url}.")
        clock.sleep(_POLL)


def _send_signal(folder: Path, record: RunRecord, number: int) -> bool:
    if not is_running(folder, record):
        return False
    try:
        return processes.send_signal(record.pid, number)
    except PermissionError as error:
        raise LocalError(
            f"The sandbox on port {record.port} belongs to another user (pid {record.pid})."
        ) from error


def _ends_within(folder: Path, record: RunRecord, clock: Clock, timeout: float) -> bool:
    deadline = clock.monotonic() + timeout
    while is_running(folder, record):
        if clock.monotonic() > deadline:
            return False
        clock.sleep(_POLL)
    return True
