"""A sandbox's own process: what it announces when it cannot begin."""

import errno
import json
import os

import pytest

from svc.sandbox import __main__ as process
from svc.sandbox.options import LaunchOptions


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
