"""What is no bug of svc, although it looks like one."""

import json
import os
import shutil
from pathlib import Path

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


def test_two_bugs_of_one_second_have_a_report_each_and_none_where_no_file_can_be(
    isolated: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R79: the error says where it lies, or nothing of it."""
    reports = isolated / "state" / "reports"
    with Session([], os.environ, Streams.of_process()) as session:
        monkeypatch.setattr(session.clock, "now", lambda: 1_790_863_402.0)
        for name in ("report-1790863402.txt", "report-1790863402-2.txt"):
            assert report_bug(session, KeyError("sk_test_1234567890")) == 1
            told = json.loads(capsys.readouterr().err)["error"]
            assert told["code"] == "KeyError"
            lies = f"A report without secrets lies at {reports / name}"
            assert told["message"] == f"svc has met a bug of its own: KeyError. {lies}."
            text = (reports / name).read_text(encoding="utf-8")
            assert "KeyError" in text
            assert "1234567890" not in text
        shutil.rmtree(reports)
        reports.write_text("")
        assert report_bug(session, KeyError("x")) == 1
        told = json.loads(capsys.readouterr().err)["error"]
        assert told["message"] == "svc has met a bug of its own: KeyError."
