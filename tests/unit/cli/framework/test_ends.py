"""How a command ends that did not end well: what is said, and the exit code."""

import errno
import io
import json
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from support.calls import refunds
from svc.cli import main
from svc.cli.framework import sending
from svc.cli.framework.errors import report_bug, report_cut_off, report_end_of_output
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import CheckFailed, LocalError
from svc.system.signals import Stopped

GONE = BrokenPipeError(errno.EPIPE, "Broken pipe")
FULL = OSError(errno.ENOSPC, "No space left on device")
NO_FILE = OSError(errno.EACCES, "Permission denied", "/x")


@pytest.fixture
def session(isolated: object) -> Iterator[Session]:
    with Session([], os.environ, Streams(*(io.StringIO() for _ in range(3)))) as session:
        yield session


def told(session: Session) -> str:
    stderr = session.streams.stderr
    assert isinstance(stderr, io.StringIO)
    return stderr.getvalue()


@pytest.mark.parametrize(
    ("error", "done", "code", "said", "outcome"),
    [
        (GONE, None, 141, "", None),
        (FULL, None, 10, "Reading or writing failed: no space left on device.", None),
        (NO_FILE, None, 10, "/x cannot be used: permission denied.", None),
        (GONE, "ord_1", 141, "Done: ord_1, but the result could not be written: ", "done"),
        (FULL, "ord_1", 10, "Done: ord_1, but the result could not be written: ", "done"),
    ],
)
def test_a_result_that_cannot_be_written_is_told_where_anything_was_done(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    error: OSError,
    done: str | None,
    code: int,
    said: str,
    outcome: str | None,
) -> None:
    """R77: who reads it has closed the pipe, or the disk is full."""
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    session.done = done
    assert report_end_of_output(session, error) == code
    assert bool(told(session)) == bool(said)
    if said:
        found = json.loads(told(session))["error"]
        assert found["message"].lower().startswith(said.lower())
        assert (found["exit_code"], found["outcome"]) == (code, outcome)
        assert ("svc get ord_1" in found["message"]) == (done is not None)


def test_what_is_cut_off_before_it_notices_says_where_to_look(session: Session) -> None:
    """Whatever it was doing, what was sent is in the journal."""
    report_cut_off(session, Stopped(15))
    found = json.loads(told(session))["error"]
    assert (found["type"], found["code"], found["exit_code"]) == ("interrupted", "stopped", 143)
    assert found["message"].endswith("See what was sent: svc requests list")


def test_a_console_that_tells_ctrl_c_itself_ends_with_130(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Windows does at a question."""

    def interrupted(_: Session) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_invoke", interrupted)
    assert main.run(session) == 130


@pytest.mark.parametrize("unsaved", [None, LocalError("It was not recorded.")])
def test_a_failure_is_told_and_that_it_was_not_recorded_as_well(
    session: Session, monkeypatch: pytest.MonkeyPatch, unsaved: LocalError | None
) -> None:
    """The failure is the error; of a success the other is."""
    monkeypatch.setattr(sending, "show_reply", lambda *_: None)
    call = refunds.create({"payment": "pay_1"})
    said: list[str] = []
    out: Any = SimpleNamespace(warn=said.append)
    reply: Any = SimpleNamespace(data={}, failure="it failed", request_id="r", idempotency_key="k")
    with pytest.raises(
        CheckFailed, match=r"^POST /v1/refunds did not succeed: it failed\.$"
    ) as end:
        sending.finish(session, out, call, reply, unsaved)
    error = end.value
    assert (error.code, error.outcome) == ("object_failed", "failed")
    assert (error.request_id, error.idempotency_key) == ("r", "k")
    assert said == ([] if unsaved is None else ["It was not recorded."])
    reply.failure = None
    if unsaved is not None:
        with pytest.raises(LocalError, match="not recorded"):
            sending.finish(session, out, call, reply, unsaved)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RuntimeError("can't start new thread"), 10, "Use a smaller --concurrency, or raise the"),
        ("a\udcff".encode, 2, "Argument 2 is not UTF-8 text. Write it in UTF-8"),
        (KeyError("now"), 10, "This release of svc does not understand the sandbox's answer."),
    ],
)
def test_what_comes_from_outside_is_no_bug(
    session: Session, error: Any, code: int, said: str
) -> None:
    """The system's limit, an argument's bytes, a sandbox of another release."""
    session.argv, session.sandbox_version = ["grün", "a\udcff"], "0.0.1"
    if callable(error):
        with pytest.raises(UnicodeEncodeError) as caught:
            error()
        error = caught.value
    assert report_bug(session, error) == code
    assert said in json.loads(told(session))["error"]["message"]
    assert not (session.paths.state_dir / "reports").exists()
