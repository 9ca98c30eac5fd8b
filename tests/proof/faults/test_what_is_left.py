"""What a command leaves behind when the ground goes under it: files, clocks, streams, signals."""

import json
import shutil
import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault, Spoil
from proof.faults.operations import command
from proof.faults.test_fault_matrix import closed
from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc

PAYOUT = (*command("payout", "mark-1"), "-o", "json")


@pytest.mark.parametrize("how", ["deleted", "replaced", "damaged"])
def test_a_journal_that_goes_during_a_post_is_told(machine: UserMachine, how: str) -> None:
    """R102, R67: the answer comes, the record is gone: what is known is said, and no id of it."""
    machine.ledger.spoil(Fault(machine.ledger.gate.hold, carried_out=True))
    with machine.start(*PAYOUT, shorten_timeout=1) as process:
        while not machine.ledger.posts:
            time.sleep(0.01)
        database = machine.state / "state.db"
        if how == "damaged":
            database.write_bytes(b"no database" * 4096)
            (machine.state / "state.db-wal").write_bytes(b"")
        else:
            shutil.rmtree(machine.state)
        if how == "replaced":
            machine.run("requests", "list")
        machine.ledger.gate.open()
        result = machine.ended(process)
    assert result.code == 10
    error = result.error
    assert (error["outcome"], error["request"]) == ("done", None)
    assert "po_1" in error["message"]
    assert error["idempotency_key"] == machine.ledger.posts[0].key
    assert "requests resume" not in json.dumps(error)
    if how == "damaged":
        assert machine.run("requests", "start-empty", "-o", "json").code == 0
        listed = machine.run("requests", "list", "-o", "json")
        assert "state.db.corrupt-1 is a damaged state database" in listed.err


def test_a_journal_that_is_damaged_during_a_change_is_told(machine: UserMachine) -> None:
    """R102, R67: keeping the end is the first to meet the damage; no id of what is gone is named."""
    machine.ledger.spoil(Fault(answered_late(machine), carried_out=True))
    with machine.start(*command("cancel", "mark-1"), "-o", "json", shorten_timeout=1) as process:
        while not machine.ledger.posts:
            time.sleep(0.01)
        (machine.state / "state.db").write_bytes(b"no database" * 4096)
        (machine.state / "state.db-wal").write_bytes(b"")
        machine.ledger.gate.open()
        result = machine.ended(process)
    assert result.code == 10
    assert (result.error["outcome"], result.error["request"]) == ("done", None)
    assert "ord_1" in result.error["message"]


def answered_late(machine: UserMachine) -> Spoil:
    """The answer is given when the gate is opened."""

    def late(sock: socket.socket, reply: bytes) -> bool:
        machine.ledger.gate.hold(sock, reply)
        sock.sendall(reply)
        return True

    return late


def test_a_list_whose_journal_goes_sends_nothing_more(machine: UserMachine, tmp_path: Path) -> None:
    """R102: the state folder is deleted in a batch: exit 10, and the results say what was done."""
    rows = [
        {"amount": 100, "payment": "pay_1", "metadata": {"note": f"mark-{n}"}} for n in range(9)
    ]
    path = tmp_path / "list.ndjson"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    machine.ledger.spoil(Fault(machine.ledger.gate.hold, carried_out=True))
    argv = ("batch", "refunds.create", str(path), "--concurrency", "1", "-o", "json")
    with machine.start(*argv, shorten_timeout=1) as process:
        while not machine.ledger.posts:
            time.sleep(0.01)
        shutil.rmtree(machine.state)
        machine.ledger.gate.open()
        result = machine.ended(process)
    assert (result.code, result.error["code"]) == (10, "state_replaced")
    lines = [json.loads(one) for one in Path(f"{path}.results.ndjson").read_text().splitlines()]
    done = [one["outcome"] for one in lines].count("done")
    assert 1 <= done <= len(machine.ledger.effects) < 9


def test_a_clock_that_was_turned_before_does_not_age_a_request(svc: Svc, sandbox: Sandbox) -> None:
    """R101: three days ahead; a POST that never arrived there is resumed two seconds later."""
    sandbox.control("POST", "/clock/advance", {"seconds": 3 * 24 * 3600})
    rule = {"match": {"method": "POST"}, "times": 99, "phase": "before"}
    sandbox.control("POST", "/faults", {**rule, "effect": {"connection": "close"}})
    lost = svc(*CREATE_ORDER, "--max-time", "2")
    assert lost.code == 7, lost.err
    sandbox.control("DELETE", "/faults")
    resumed = svc("requests", "resume", lost.error["request"])
    assert resumed.code == 0, resumed.err
    assert len(svc.ok("orders", "list", "-o", "json")["data"]) == 1


def test_a_request_that_the_sandbox_never_saw_is_as_old_as_it_is(
    svc: Svc, sandbox: Sandbox, machine: UserMachine
) -> None:
    """R101: killed before its first byte, three days ahead: only the record knows its age."""
    sandbox.control("POST", "/clock/advance", {"seconds": 3 * 24 * 3600})
    there = {"SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}
    assert machine.run(*CREATE_ORDER, env=there, kill="after_intent").code == -signal.SIGKILL
    (row,) = machine.rows()
    assert machine.run(*CREATE_ORDER, env=there).code == 6
    resumed = machine.run("requests", "resume", row["id"], env=there)
    assert resumed.code == 0, resumed.err
    assert len(svc.ok("orders", "list", "-o", "json")["data"]) == 1


def test_a_sandbox_that_was_reset_may_give_the_same_ids(svc: Svc, sandbox: Sandbox) -> None:
    """R93: with a seed the second order has the first one's id, and is another order all the same."""
    ids = []
    for _ in range(2):
        sandbox.control("POST", "/reset", {"seed": 7})
        ids.append(svc.ok(*CREATE_ORDER)["id"])
    assert ids[0] == ids[1]


def test_advice_goes_to_the_account_that_it_is_about(machine: UserMachine) -> None:
    """Profile, mode and address of the request, whichever profile is active; every page of it."""
    base = ("--base-url", machine.ledger.url)
    for name in ("shop", "other"):
        assert machine.run("profiles", "create", name, *base).code == 0
    machine.ledger.spoil(*(Fault(closed, carried_out=True),) * 4)
    lost = machine.run(*PAYOUT, "--profile", "shop")
    assert machine.run("profiles", "use", "other").code == 0
    with closing(sqlite3.connect(machine.state / "state.db")) as database, database:
        database.execute("UPDATE requests SET first_sent_at = first_sent_at - 90000")
    refused = machine.run("requests", "resume", lost.error["request"], "-o", "json")
    assert refused.code == 7
    assert "svc payouts list --all --created-gte" in refused.error["message"]
    assert "--profile shop; then svc requests forget" in refused.error["message"]


def test_verbose_lines_that_nobody_takes_cost_no_row(machine: UserMachine, tmp_path: Path) -> None:
    """`svc batch --verbose` on a full disk: every row is sent, done and told."""
    path = tmp_path / "list.ndjson"
    rows = [{"amount": n, "payment": "pay_1", "metadata": {"note": f"mark-{n}"}} for n in (1, 2)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    argv = ("batch", "refunds.create", str(path), "-o", "json", "--verbose")
    result = machine.run(*argv, wrap=("sh", "-c", 'exec "$@" 2>/dev/full', "sh"))
    assert (result.code, result.json["done"]) == (0, 2)
    assert [row["state"] for row in machine.rows()] == ["done", "done"]


def test_a_full_disk_under_the_results_takes_no_summary(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R70: exit 10 with the file, how far it goes and what to do; the summary counts every row."""
    path = tmp_path / "list.ndjson"
    rows = [{"amount": n, "payment": "pay_1", "metadata": {"note": f"mark-{n}"}} for n in (1, 2, 3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    argv = ("batch", "refunds.create", str(path), "--concurrency", "1", "-o", "json")
    full = machine.run(*argv, full="results")
    assert (full.code, full.error["code"]) == (10, "results_not_written")
    for words in (f"{path}.results.ndjson", "It holds 0 results", "run the same command again"):
        assert words in full.error["message"]
    sent = len(machine.ledger.posts)
    assert full.json["done"] == sent == len(machine.ledger.effects)
    assert {row["state"] for row in machine.rows()} <= {"done", "not_sent"}
    again = machine.run(*argv)
    assert (again.code, again.json["skipped"]) == (0, sent)
    assert len(machine.ledger.posts) == len(rows)


def test_what_cannot_be_told_costs_no_result(machine: UserMachine) -> None:
    """--verbose on a full disk: the POST goes on, its result is printed and kept."""
    argv = (*PAYOUT, "--verbose")
    with machine.start(*argv, wrap=("sh", "-c", 'exec "$@" 2>/dev/full', "sh")) as process:
        result = machine.ended(process)
    assert result.code == 0
    assert result.json["id"] == "po_1"
    assert [row["state"] for row in machine.rows()] == ["done"]


@pytest.mark.effect_of("batch", "--continue")
def test_a_list_that_was_done_long_ago_is_not_skipped_in_silence(
    machine: UserMachine, tmp_path: Path
) -> None:
    """R96: a day later: exit 6 with both ways on; --continue sends what was added."""
    rows = [
        {"amount": 100, "payment": "pay_1", "metadata": {"note": f"mark-{n}"}} for n in range(4)
    ]
    path = tmp_path / "payroll.ndjson"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    argv = ("batch", "refunds.create", str(path), "-o", "json")
    assert machine.run(*argv).code == 0
    assert machine.run(*argv).json["skipped"] == 2
    with closing(sqlite3.connect(machine.state / "state.db")) as database, database:
        database.execute("UPDATE batches SET whole_at = whole_at - 25 * 3600")
        database.execute("UPDATE requests SET first_sent_at = first_sent_at - 25 * 3600")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for more in ((), ("--dry-run",)):
        refused = machine.run(*argv, *more)
        assert (refused.code, refused.error["code"]) == (6, "list_done")
        assert "--run 20" in refused.error["message"]
        assert "--continue" in refused.error["message"]
    assert len(machine.ledger.posts) == 2
    added = machine.run(*argv, "--continue")
    assert (added.code, added.json["done"], added.json["skipped"]) == (0, 2, 2)
