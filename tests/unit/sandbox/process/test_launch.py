"""A start of which nothing comes."""

import errno
import json
import os
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.launching import launch_options
from svc.errors import LocalError
from svc.sandbox import __main__ as process
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord
from svc.system import processes
from svc.system.processes import Apart


def test_a_sandbox_that_starts_and_never_answers_is_ended_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time that it has; not waited for without end."""
    record = RunRecord(1, 9, "http://127.0.0.1:9", ":memory:", "2026-10-01T09:00:00Z", "")
    ours, theirs = os.pipe()
    os.write(theirs, json.dumps({"ready": record._asdict()}).encode() + b"\n")
    ended: list[bool] = []
    child = Apart(1, ours, lambda: ended.append(True))
    monkeypatch.setattr(processes, "start_apart", lambda *_: child)
    monkeypatch.setattr(launch, "health", lambda _: None)
    clock = ManualClock()
    with pytest.raises(LocalError, match=r"started but does not answer at http://127\.0\.0\.1:9\."):
        launch.start(launch_options(tmp_path), {}, clock, timeout=5.0)
    os.close(theirs)
    assert ended == [True]
    assert 5 <= clock.monotonic() < 5.1


def test_a_full_disk_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last words were those of a traceback, `OSError: [Errno 28]`, which the command printed."""

    def serve(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/state/run-4242.json")

    monkeypatch.setattr(process, "serve", serve)
    assert process.main(LaunchOptions(port=0).to_json()) == 10
    announced = json.loads(capsys.readouterr().out)
    assert announced["failed"]["message"] == (
        "/state/run-4242.json cannot be used: no space left on device."
    )
