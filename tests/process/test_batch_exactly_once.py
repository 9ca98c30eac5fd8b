"""Killed, interrupted, turned away: in the end exactly one object a row (promises R3, R16)."""

import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from support.batches import (
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
