"""Signals, pipes, full disks and damaged state around a request (promises R70, R77, R78)."""

import json
import os
import shutil
import signal
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from proof.faults.bench import Process, UserMachine
from proof.faults.ledger import Fault, http
from proof.faults.operations import command
from proof.faults.test_sharing import wait_for_posts
from support.suite.patience import patient, until

MARK = "mark-1"
REFUND = command("refund", MARK)
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
BUSY = http(503, b"{}", {"Retry-After": "30"})


# Root may write everywhere; without this capability it may not.
PLAIN_USER = (
    ()
    if os.geteuid() != 0
    else ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    if shutil.which("setpriv")
    else None
)


def busy(sock: object, reply: bytes) -> bool:
    """Asks to come again in 30 seconds."""
    sock.sendall(BUSY)  # type: ignore[attr-defined]
    return True


def stop(process: Process, number: int) -> float:
    """Sends a signal and says how long the program took to end."""
    begun = time.monotonic()
    process.send_signal(number)
    process.wait()
    return time.monotonic() - begun


# --- signals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "number", "code"),
    [
        *(("in flight", *each) for each in SIGNALS),
        ("in backoff", signal.SIGINT, 130),
    ],
)
def test_signal_leaves_the_request_resumable(
    machine: UserMachine, where: str, number: int, code: int
) -> None:
    """R78: ends within a second, names the request, and it can be resumed."""
    spoil = machine.ledger.gate.hold if where == "in flight" else busy
    machine.ledger.spoil(Fault(spoil))
    process = machine.start(*REFUND, "-o", "json", shorten_timeout=1)
    wait_for_posts(machine, 1)
    time.sleep(0.2)  # the answer is read, the wait has begun
    assert stop(process, number) < patient(1)
    ended = machine.ended(process)
    (row,) = machine.rows()
    assert (ended.code, row["state"]) == (code, "open")
    error = ended.error
    assert (error["type"], error["exit_code"]) == ("interrupted", code)
    assert (error["outcome"], error["request"]) == ("unknown", row["id"])
    assert f"svc requests resume {row['id']}" in error["message"]
    assert list((machine.state / "senders").iterdir()) == []
    machine.ledger.gate.open()
    assert machine.run("requests", "resume", row["id"]).code == 0
    assert machine.ledger.effects[MARK] == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_while_another_process_holds_the_journal(machine: UserMachine, number: int) -> None:
    """R68, R78: a held journal is waited for, but a signal is heard within a second."""
    assert machine.run(*command("quote", "mark-0")).code == 0
    with closing(sqlite3.connect(machine.state / "state.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        process = machine.start(*REFUND, "-o", "json")
        wait_for_journal(process)
        assert stop(process, number) < patient(1)
        ended = machine.ended(process)
    assert (ended.code, ended.error["outcome"]) == (128 + number, "not_sent")
    assert machine.ledger.sent(MARK) == []


def is_log(descriptor: Path) -> bool:
    """Whether a descriptor that may be closed at any moment is the journal's log."""
    try:
        return descriptor.readlink().name == "state.db-wal"
    except OSError:
        return False


def wait_for_journal(process: Process) -> None:
    """Waits until a program has opened the journal, and then comes to its lock."""
    folder = Path(f"/proc/{process.pid}/fd")
    until(lambda: any(is_log(path) for path in folder.iterdir()))
    time.sleep(0.1)


def test_signal_during_the_wait_names_what_was_done(machine: UserMachine) -> None:
    """R77, R78: the refund was made; only its settling was still waited for."""
    process = machine.start(*REFUND, "--wait", "-o", "json", shorten_timeout=1)
    wait_for_posts(machine, 2)  # the second is the GET that waits
    time.sleep(0.1)
    stop(process, signal.SIGTERM)
    ended = machine.ended(process)
    assert (ended.code, ended.error["outcome"]) == (143, "done")
    assert "Stopped after rf_1 was done." in ended.error["message"]  # and not long before
    assert machine.rows()[0]["state"] == "done"


def test_bug_in_the_middle_of_a_request_names_it(machine: UserMachine) -> None:
    """R10, R79: exit 1, a report without the key, and the request can be resumed."""
    result = machine.run(*REFUND, "-o", "json", bug="Authorization: Bearer")
    assert (result.code, result.out) == (1, "")
    (row,) = machine.rows()
    error = result.error
    assert (error["outcome"], error["request"], row["state"]) == ("unknown", row["id"], "open")
    assert f"svc requests resume {row['id']}" in error["message"]
    (report,) = (machine.state / "reports").iterdir()
    assert "RuntimeError" in report.read_text()
    assert machine.run("requests", "resume", row["id"]).code == 0


# --- output that nobody takes -------------------------------------------------------------------

TAKERS = {
    "full": ('exec "$@" >/dev/full', 10),
    "closed": ('exec "$@" >&-', 10),
    "gone": ('exec "$@" > >(exec true)', 141),
}


@pytest.mark.parametrize("taker", ["full", "gone", pytest.param("closed", marks=pytest.mark.slow)])
def test_lost_result_of_a_refund_is_named(machine: UserMachine, taker: str) -> None:
    """R77: non-zero, the object's id on stderr, and no second refund is made."""
    script, code = TAKERS[taker]
    if taker == "gone":
        machine.ledger.spoil(Fault(slow, carried_out=True))
    result = machine.run(*REFUND, "-o", "json", wrap=("bash", "-c", script, "bash"))
    assert (result.code, result.out) == (code, "")
    error = result.error
    assert (error["outcome"], error["exit_code"]) == ("done", code)
    assert "rf_1" in error["message"]
    assert machine.rows()[0]["state"] == "done"


def slow(sock: object, reply: bytes) -> bool:
    """Answers when the reader of the output has surely gone."""
    time.sleep(0.3)
    sock.sendall(reply)  # type: ignore[attr-defined]
    return True


@pytest.mark.parametrize(
    "script",
    [
        'exec "$@" 2>&-',
        pytest.param('exec "$@" <&-', marks=pytest.mark.slow),
        pytest.param('exec "$@" 2>/dev/full', marks=pytest.mark.slow),
    ],
)
def test_other_streams_may_be_closed(machine: UserMachine, script: str) -> None:
    """A refund needs neither stdin nor stderr."""
    result = machine.run(*REFUND, "-o", "json", wrap=("bash", "-c", script, "bash"))
    assert (result.code, result.json["id"]) == (0, "rf_1")
    assert machine.rows()[0]["state"] == "done"


def test_unknown_outcome_without_stderr_keeps_its_exit_code(machine: UserMachine) -> None:
    """R10: exit 7 says it all where nothing else can be said."""
    machine.ledger.spoil(*(Fault(lambda sock, reply: False, carried_out=True),) * 4)
    wrap = ("bash", "-c", 'exec "$@" >&- 2>&-', "bash")
    assert machine.run(*REFUND, wrap=wrap).code == 7


def test_reader_that_has_had_enough_is_no_error(machine: UserMachine) -> None:
    """R77: a command that changes nothing ends by 141 without a word."""
    machine.ledger.spoil(Fault(slow_list))
    wrap = ("bash", "-c", TAKERS["gone"][0], "bash")
    result = machine.run("orders", "list", "-o", "json", wrap=wrap)
    assert (result.code, result.err) == (141, "")


def slow_list(sock: object, reply: bytes) -> bool:
    body = json.dumps({"object": "list", "data": [], "has_more": False}).encode()
    return slow(sock, http(200, body))


# --- disks and state ----------------------------------------------------------------------------


def test_full_disk_before_sending_sends_nothing(machine: UserMachine) -> None:
    """R70: exit 10, nothing sent, nothing listed."""
    assert machine.run(*command("quote", "mark-0")).code == 0
    result = machine.run(*REFUND, "-o", "json", full="before")
    assert (result.code, result.error["outcome"]) == (10, "not_sent")
    assert "Nothing was sent" in result.error["message"]
    assert machine.ledger.sent(MARK) == []
    assert len(machine.rows()) == 1
    assert machine.run(*REFUND).code == 0


@pytest.mark.parametrize("before", [("requests", "list"), REFUND], ids=["no log", "a log"])
def test_full_disk_before_a_list_is_begun_says_that_nothing_was_sent(
    machine: UserMachine, tmp_path: Path, before: tuple[str, ...]
) -> None:
    """R70: in the same words as for a single command."""
    path = tmp_path / "list.ndjson"
    path.write_text(json.dumps({"amount": 500, "payment": "pay_1"}) + "\n")
    assert machine.run(*before).code == 0
    sent = len(machine.ledger.posts)
    result = machine.run("batch", "refunds.create", str(path), "-o", "json", full="before")
    assert (result.code, result.error["outcome"]) == (10, "not_sent")
    assert "Nothing was sent." in result.error["message"]
    assert len(machine.ledger.posts) == sent


def test_full_disk_after_the_reply_shows_the_result(machine: UserMachine) -> None:
    """R70: the result is printed, exit 10, the id on stderr; a resume mends the journal."""
    result = machine.run(*REFUND, "-o", "json", full="after")
    assert (result.code, result.json["id"]) == (10, "rf_1")
    error = result.error
    assert (error["outcome"], "rf_1" in error["message"]) == ("done", True)
    (row,) = machine.rows()
    assert (row["state"], error["request"]) == ("open", row["id"])
    assert machine.run("requests", "resume", row["id"]).code == 0
    assert machine.ledger.effects[MARK] == 1


def test_full_disk_after_a_lost_reply_is_still_unknown(machine: UserMachine) -> None:
    """R10, R70: the outcome matters more than the journal."""
    machine.ledger.spoil(*(Fault(lambda sock, reply: False, carried_out=True),) * 4)
    result = machine.run(*REFUND, "-o", "json", full="after")
    assert (result.code, result.error["outcome"]) == (7, "unknown")
    assert "journal could not be updated" in result.err
    assert machine.unresolved() == [result.error["request"]]


def rubbish(state: Path) -> None:
    state.mkdir(mode=0o700)
    (state / "state.db").write_bytes(os.urandom(20_000))
    (state / "state.db").chmod(0o600)


def cut_short(state: Path) -> None:
    state.mkdir(mode=0o700)
    (state / "state.db").touch(mode=0o600)


@pytest.mark.parametrize("spoil", [rubbish, cut_short])
def test_damaged_state_stops_every_refund_until_a_person_has_decided(
    machine: UserMachine, spoil: Callable[[Path], None]
) -> None:
    """R67: never silently reset: the same command again would send what is open in the old one."""
    spoil(machine.state)
    result = machine.run(*REFUND, "-o", "json")
    assert "state.db.corrupt-1" in result.error["message"]
    assert (machine.state / "state.db.corrupt-1").exists()
    again = machine.run(*REFUND, "-o", "json")
    assert (again.code, again.error["code"]) == (10, "state_damaged")
    assert "svc requests adopt" in again.error["message"]
    assert machine.ledger.posts == []
    assert machine.run("requests", "start-empty").code == 0
    assert machine.run(*REFUND).code == 0
    assert machine.ledger.effects[MARK] == 1


@pytest.mark.skipif(PLAIN_USER is None, reason="nothing is read-only for root here")
def test_read_only_state_sends_nothing(machine: UserMachine) -> None:
    """R70: exit 10, nothing sent."""
    assert machine.run(*command("quote", "mark-0")).code == 0
    for path in (*machine.state.glob("state.db*"), machine.state):
        path.chmod(stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))
    try:
        result = machine.run(*REFUND, "-o", "json", wrap=PLAIN_USER)
    finally:
        machine.state.chmod(0o700)
    assert (result.code, result.error["outcome"]) == (10, "not_sent")
    assert machine.ledger.sent(MARK) == []
