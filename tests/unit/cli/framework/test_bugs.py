"""What is no bug of svc, although it looks like one."""

import os

import pytest

from svc.cli.framework import requirements
from svc.cli.framework.errors import report_bug
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import LocalError


def test_a_library_that_does_not_fit_is_told_and_no_report_is_written(
    isolated: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 10 with its name: whatever broke is none of ours."""
    unmet = LocalError("svc cannot run with what is installed: lib-a 1.2.")
    monkeypatch.setattr(requirements, "find_unmet", lambda: unmet)
    with Session([], os.environ, Streams.of_process()) as session:
        assert report_bug(session, KeyError("x")) == 10
    assert "lib-a 1.2" in capsys.readouterr().err
