"""Killed, interrupted, turned away: in the end exactly one object a row (promises R3, R16)."""

import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from support.batches import (
    HEAD,
    beside,
    drop_a_tenth,
    dropped,
    dying,
    ended,
    made,
    order_line,
    orders_file,
    outcomes_of,
    refs,
    results_of,
)
from support.forks.program import Forking
from support.running import Sandbox, Svc
from support.suite.patience import WAIT_SECONDS, patient

KILLED = -9
LONG = os.environ.get("SVC_TEST_LONG") == "1"
ROWS = 10_000 if LONG else 1_500  # of the slow run


def wait_for_lines(path: Path, count: int) -> None:
    """Waits until so many rows have ended; as long as some do, however busy the machine is."""
    results = path.with_name(f"{path.name}.results.ndjson")
    seen, until = 0, time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        found = results.read_bytes().count(b"\n") if results.exists() else 0
        if found >= count:
            return
        if found > seen:
            seen, until = found, time.monotonic() + WAIT_SECONDS
        time.sleep(0.005)
    raise AssertionError(f"{count} rows did not end, only {seen}")


def kill_at(svc: Svc, path: Path, count: int, *argv: str) -> None:
    """Starts a batch and kills it when so many rows have ended."""
    process = svc.begin("batch", "orders.create", str(path), *argv)
    try:
        wait_for_lines(path, count)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.mark.slow
def test_three_kills_and_dropped_answers_make_exactly_as_many_orders(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R16: 300 rows, a tenth of them committed and then dropped, kill -9 at three of them."""
    path = orders_file(tmp_path, range(300))
    drop_a_tenth(sandbox, 300)
    for rows in (40, 130, 220):
        kill_at(svc, path, rows)
    summary = svc.ok("batch", "orders.create", str(path))
    assert summary["done"] + summary["skipped"] == summary["rows"] == 300
    assert dropped(sandbox) >= 25
    assert refs(svc) == sorted(f"A-{number}" for number in range(300))
    lines = results_of(path)
    assert [line["row"] for line in lines] == list(range(1, 301))
    assert {line["id"] for line in lines} == {order["id"] for order in made(svc)}
    assert svc.ok("requests", "list", "--unresolved") == []


@pytest.mark.slow(seconds=ROWS // 120)
def test_thousands_of_rows_three_kills_and_a_tenth_dropped(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """The same with 3,000 rows, and with the 10,000 of a proof: exactly so many objects."""
    path = orders_file(tmp_path, range(ROWS))
    drop_a_tenth(sandbox, ROWS)
    for hundredths in (15, 48, 83):
        kill_at(svc, path, ROWS * hundredths // 100, "--concurrency", "64")
    process = svc.begin("batch", "orders.create", str(path), "--concurrency", "64", "-o", "json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert f'"rows": {ROWS}' in out
    assert dropped(sandbox) >= ROWS * 9 // 100
    assert refs(svc) == sorted(f"A-{number}" for number in range(ROWS))
    assert outcomes_of(path) == ["done"] * ROWS


@pytest.mark.parametrize(
    ("point", "nth"),
    [
        ("before_record", 1),
        ("after_record", 3),
        ("after_bytes", 17),
        ("before_settle", 2),
        ("before_finish", 1),
        *(
            pytest.param(*point, marks=pytest.mark.slow)
            for point in (
                ("after_record", 1),
                ("after_bytes", 1),
                ("after_reply", 9),
                ("before_results", 2),
                ("after_settle", 2),
            )
        ),
    ],
)
def test_a_death_at_any_point_loses_and_doubles_nothing(
    forking: Forking, svc: Svc, sandbox: Sandbox, tmp_path: Path, point: str, nth: int
) -> None:
    """Killed anywhere between the plan and the result: run again, one object a row."""
    path = orders_file(tmp_path, range(60))
    assert (
        dying(forking, point, nth, "batch", "orders.create", str(path), "--concurrency", "4")
        == KILLED
    )
    if point == "before_record":
        assert made(svc) == []
    assert svc.ok("batch", "orders.create", str(path))["unknown"] == 0
    assert refs(svc) == sorted(f"A-{number}" for number in range(60))
    assert outcomes_of(path) == ["done"] * 60
    assert beside(path) == []


@pytest.mark.parametrize("count", [120, *([pytest.param(10_000, marks=pytest.mark.slow)] * LONG)])
def test_one_bad_row_and_a_kill(svc: Svc, sandbox: Sandbox, tmp_path: Path, count: int) -> None:
    """R16: exit 9 with the row; all others exactly once, and the corrected one after them."""
    path = orders_file(tmp_path, range(count))
    text = path.read_text()
    good, bad = order_line(60), order_line(60, "0")
    path.write_text(text.replace(f"{good}\n", f"{bad}\n"))
    kill_at(svc, path, count // 2)
    result = svc("batch", "orders.create", str(path))
    assert result.code == 9
    (problem,) = result.json["problems"]
    assert (problem["row"], problem["line"], problem["param"]) == (61, 62, "amount")
    assert "amount 0 is not from 1 to" in problem["message"]
    assert refs(svc) == sorted(f"A-{number}" for number in range(count) if number != 60)

    path.write_text(text)
    assert svc.ok("batch", "orders.create", str(path))["skipped"] == count - 1
    assert refs(svc) == sorted(f"A-{number}" for number in range(count))


def test_rows_are_added_between_two_runs(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """Above, between and below the old ones: only they are sent."""
    path = orders_file(tmp_path, range(10))
    svc.ok("batch", "orders.create", str(path))
    numbers = [90, *range(5), 91, *range(5, 10), 92]
    summary = svc.ok("batch", "orders.create", str(orders_file(tmp_path, numbers)))
    assert (summary["done"], summary["skipped"]) == (3, 10)
    assert refs(svc) == sorted(f"A-{number}" for number in numbers)
    assert [line["row"] for line in results_of(path)] == list(range(1, 14))


def test_equal_rows_are_equally_many_orders(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """Two equal rows are two orders, and stay two."""
    path = orders_file(tmp_path, [1, 1, 2])
    for _ in range(2):
        svc.ok("batch", "orders.create", str(path))
        assert refs(svc) == ["A-1", "A-1", "A-2"]


def test_a_copy_of_the_file_is_not_run_unasked(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """Exit 6 and both ways on: it is the same list, or its rows are meant once more."""
    path = orders_file(tmp_path, range(5))
    svc.ok("batch", "orders.create", str(path))
    copy = orders_file(tmp_path, [0, 1, 2, 3, 4, 9], "copy.csv")
    for more in ((), ("--dry-run",)):
        refused = svc("batch", "orders.create", str(copy), *more)
        assert (refused.code, refused.error["code"]) == (6, "rows_repeated")
        assert f"--import {path};" in refused.error["message"]
    assert len(made(svc)) == 5

    same = svc.ok("batch", "orders.create", str(copy), "--import", str(path))
    assert (same["done"], same["skipped"]) == (1, 5)
    again = svc.ok("batch", "orders.create", str(copy), "--again")
    assert (again["done"], again["skipped"]) == (6, 0)
    assert len(made(svc)) == 12
    # That occasion is whole: the same words are the next one.
    assert svc.ok("batch", "orders.create", str(copy), "--again")["done"] == 6


def test_a_lost_journal_does_not_double_rows(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """The results file tells; without it the same keys do, and the service repeats its answer."""
    path = orders_file(tmp_path, range(20))
    svc.ok("batch", "orders.create", str(path))
    ids = [line["id"] for line in results_of(path)]
    other = {"SVC_STATE_DIR": str(tmp_path / "other")}
    assert svc.ok("batch", "orders.create", str(path), env=other)["skipped"] == 20
    assert [line["id"] for line in results_of(path)] == ids
    path.with_name(f"{path.name}.results.ndjson").unlink()
    other = {"SVC_STATE_DIR": str(tmp_path / "third")}
    again = svc.ok("batch", "orders.create", str(path), env=other)
    assert (again["done"], again["replayed"], again["totals"]) == (20, 20, [])
    assert [line["id"] for line in results_of(path)] == ids
    assert len(made(svc)) == 20


def test_a_key_that_is_rolled_in_the_middle(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """401 stops the batch, exit 9; the new key carries on with the same row keys."""
    path = orders_file(tmp_path, range(200))
    (key,) = [
        one
        for one in sandbox.control("GET", "/keys")["data"]
        if (one["type"], one["livemode"]) == ("secret", False)
    ]
    process = svc.begin("batch", "orders.create", str(path), "--rate", "150", "-o", "json")
    wait_for_lines(path, 30)
    rolled = sandbox.control("POST", f"/keys/{key['id']}/roll", {})
    result = ended(process)
    assert result.code == 9
    assert result.error["code"] == "api_key_expired"
    summary = result.json
    assert 30 <= summary["done"] < 200
    assert summary["done"] + summary["not_sent"] == 200
    keys = [line["idempotency_key"] for line in results_of(path)]

    new = {"SVC_API_KEY": rolled["secret"]}
    assert svc.ok("batch", "orders.create", str(path), env=new)["skipped"] == summary["done"]
    assert [line["idempotency_key"] for line in results_of(path)] == keys
    found = svc("orders", "list", "--all", "-o", "id", env=new).out.split()
    assert len(found) == 200


def run_until_done(svc: Svc, path: Path) -> None:
    """Runs a list again while the sandbox is still at work on its rows, which says unknown."""
    until = time.monotonic() + WAIT_SECONDS
    while svc("batch", "orders.create", str(path)).code != 0 and time.monotonic() < until:
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_it_within_a_second_and_it_goes_on_later(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """R78: with answers still under way; every row has its line, and no temporary file is left."""
    path = orders_file(tmp_path, range(100))
    slow = {"match": {"path": "/v1/orders"}, "skip": 40, "times": 99, "effect": {"delay_ms": 900}}
    sandbox.control("POST", "/faults", slow)
    process = svc.begin("batch", "orders.create", str(path), "-o", "json")
    wait_for_lines(path, 40)
    begun = time.monotonic()
    process.send_signal(number)
    process.wait()
    seconds = time.monotonic() - begun
    result = ended(process)
    assert (result.code, seconds < patient(1)) == (code, True)
    assert result.json["done"] == 40
    assert len(outcomes_of(path)) == 100
    assert beside(path) == []
    sandbox.control("DELETE", "/faults")
    run_until_done(svc, path)
    assert refs(svc) == sorted(f"A-{number}" for number in range(100))


def test_an_interrupted_list_says_what_to_type(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """To a person: how far it came, in counters that are not nought, and the command itself."""
    path = orders_file(tmp_path, range(30))
    slow = {"match": {"path": "/v1/orders"}, "skip": 10, "times": 99, "effect": {"delay_ms": 900}}
    sandbox.control("POST", "/faults", slow)
    process = svc.begin("batch", "orders.create", str(path), "-o", "human")
    wait_for_lines(path, 10)
    process.send_signal(signal.SIGTERM)
    process.wait()
    result = ended(process)
    assert result.code == 143
    last = result.err.splitlines()[-1]
    assert last == f"To go on, done rows are skipped: svc batch orders.create {path} -o human"
    assert "orders.create: 30 rows: 10 done, " in result.err
    assert " 0 " not in result.err
    # Also for the tests that come: those under way would reach the sandbox after its reset.
    sandbox.control("DELETE", "/faults")
    run_until_done(svc, path)
    assert len(made(svc)) == 30


def test_a_signal_is_heard_while_another_process_holds_the_journal(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, isolated: Path
) -> None:
    """R68, R78: what cannot be kept now is unresolved, and the next run settles it."""
    path = orders_file(tmp_path, range(60))
    process = svc.begin("batch", "orders.create", str(path), "--rate", "100", "-o", "json")
    wait_for_lines(path, 10)
    with closing(sqlite3.connect(isolated / "state" / "state.db", timeout=5)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(0.5)  # it has come to the lock
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait()
        seconds = time.monotonic() - begun
    assert (ended(process).code, seconds < patient(1)) == (143, True)
    svc.ok("batch", "orders.create", str(path))
    assert refs(svc) == sorted(f"A-{number}" for number in range(60))


def test_two_at_once_do_not_send_twice(svc: Svc, sandbox: Sandbox, tmp_path: Path) -> None:
    """R69: the second one stops with exit 6; the first one goes on."""
    path = orders_file(tmp_path, range(40))
    process = svc.begin("batch", "orders.create", str(path), "--rate", "60", "-o", "json")
    wait_for_lines(path, 3)
    os.kill(process.pid, signal.SIGSTOP)  # so that it has not ended, however busy the machine is
    try:
        second = svc("batch", "orders.create", str(path))
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert (second.code, second.error["code"]) == (6, "batch_in_progress")
    assert ended(process).code == 0
    assert len(made(svc)) == 40


@pytest.mark.slow
def test_a_row_corrected_while_its_end_is_unknown_is_not_sent(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Both might be done: it stops with exit 6 until the old one is settled."""
    path = orders_file(tmp_path, range(3))
    lost = {
        "match": {"method": "POST", "path": "/v1/orders"},
        "times": 99,
        "phase": "after",
        "effect": {"connection": "close"},
    }
    sandbox.control("POST", "/faults", lost)
    result = svc("batch", "orders.create", str(path), "--concurrency", "1", "--max-time", "2")
    assert (result.code, result.json["unknown"] > 0) == (9, True)
    sandbox.control("DELETE", "/faults")

    path.write_text("\n".join([HEAD, order_line(0, 500), order_line(1), order_line(2)]) + "\n")
    refused = svc("batch", "orders.create", str(path))
    assert (refused.code, refused.error["code"]) == (6, "rows_unresolved")
    svc.ok("requests", "resume", refused.error["request"])
    svc.ok("batch", "orders.create", str(path))
    amounts = sorted((order["metadata"]["ref"], order["amount"]) for order in made(svc))
    assert amounts == [("A-0", 500), ("A-0", 12900), ("A-1", 12900), ("A-2", 12900)]


def test_a_dead_service_is_exit_8_and_nothing_is_lost(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Nobody listens: every row is for the next run."""
    path = orders_file(tmp_path, range(12))
    result = svc("batch", "orders.create", str(path), env={"SVC_BASE_URL": "http://127.0.0.1:1"})
    assert result.code == 8, result.err
    assert result.json["not_sent"] == 12
    assert outcomes_of(path) == ["not_sent"] * 12
    assert svc.ok("batch", "orders.create", str(path), "--force")["done"] == 12
