"""A sandbox's clock can be turned: its keys then age faster than the journal's (promise R4)."""

from pathlib import Path

import pytest

from support.batches import order_line, orders_file, outcomes_of, refs
from support.running import Sandbox, Svc

ORDER = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR", "--country", "DE"),
    *("--item", "name=Jacket,quantity=1,unit_amount=12900", "-o", "json"),
)
DAY = 24 * 3600


def turn(sandbox: Sandbox, seconds: int) -> None:
    sandbox.control("POST", "/clock/advance", {"seconds": seconds})


def lose_answers(sandbox: Sandbox, phase: str = "after", **more: object) -> None:
    """POSTs get no answer any more, after they were carried out or before."""
    rule = {"match": {"method": "POST"}, "times": 99, "phase": phase, **more}
    sandbox.control("POST", "/faults", {**rule, "effect": {"connection": "close"}})


def lost(svc: Svc, sandbox: Sandbox, *more: str, phase: str = "after") -> str:
    """A request whose outcome nobody knows."""
    lose_answers(sandbox, phase)
    result = svc(*ORDER, *more, "--max-time", "0.5")
    assert result.code == 7, result.err
    sandbox.control("DELETE", "/faults")
    return str(result.error["request"])


def orders_made(svc: Svc) -> int:
    return len(svc.ok("orders", "list", "-o", "json")["data"])


def test_resume_is_refused_once_the_sandbox_has_forgotten_the_key(
    svc: Svc, sandbox: Sandbox
) -> None:
    """R4: a minute here, a day there: exit 7, nothing sent, and where to look."""
    request = lost(svc, sandbox)
    turn(sandbox, 23 * 3600 + 60)
    refused = svc("requests", "resume", request)
    assert (refused.code, refused.error["code"]) == (7, "idempotency_key_too_old")
    assert refused.error["outcome"] == "unknown"
    assert "svc orders list --all --created-gte" in refused.error["message"]
    assert orders_made(svc) == 1
    assert [row["id"] for row in svc.ok("requests", "list", "--unresolved")] == [request]


def test_own_key_is_refused_once_the_sandbox_has_forgotten_it(svc: Svc, sandbox: Sandbox) -> None:
    """R4: whether nobody knows what became of it (exit 7), or it was carried out (exit 6)."""
    open_one, done = ("--idempotency-key", "order-1"), ("--idempotency-key", "order-2")
    lost(svc, sandbox, *open_one)
    assert svc(*ORDER, *done, "--new-request").code == 0
    turn(sandbox, DAY)
    for own, code in ((open_one, 7), (done, 6)):
        refused = svc(*ORDER, *own)
        assert (refused.code, refused.error["code"]) == (code, "idempotency_key_too_old")
    assert orders_made(svc) == 2


def test_resume_of_what_was_carried_out_says_so_whatever_the_clock(
    svc: Svc, sandbox: Sandbox
) -> None:
    """There is nothing to resume, and nobody need be asked for the time."""
    order = svc.ok(*ORDER)
    (row,) = svc.ok("requests", "list")
    turn(sandbox, DAY)
    refused = svc("requests", "resume", row["id"])
    assert (refused.code, refused.error["code"]) == (6, "request_settled")
    assert order["id"] in refused.error["message"]


@pytest.mark.parametrize("phase", ["before", "after"])
def test_clock_that_was_turned_earlier_does_not_matter(
    svc: Svc, sandbox: Sandbox, phase: str
) -> None:
    """What counts is the time since the key came, whatever the date is there."""
    turn(sandbox, 30 * DAY)
    request = lost(svc, sandbox, phase=phase)
    turn(sandbox, 22 * 3600)
    assert svc("requests", "resume", request).code == 0
    assert orders_made(svc) == 1


def test_rows_of_a_list_are_not_sent_to_a_sandbox_that_has_forgotten_them(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R4, R16: they stay unknown, new rows go on, and nothing is made twice."""
    path = orders_file(tmp_path, range(3))
    lose_answers(sandbox)
    options = ("--concurrency", "1", "--max-time", "0.4")
    assert svc("batch", "orders.create", str(path), *options).code == 9
    sandbox.control("DELETE", "/faults")
    begun = outcomes_of(path).count("unknown")
    made = len(refs(svc))
    assert begun == made >= 1
    turn(sandbox, DAY)
    path.write_text(path.read_text() + order_line(7) + "\n")
    again = svc("batch", "orders.create", str(path))
    assert (again.code, again.json["unknown"]) == (9, begun)
    assert refs(svc) == ["A-0", "A-1", "A-2", "A-7"]


def test_a_list_of_rows_that_are_all_too_old_is_not_told_to_run_again(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R4: another run would send none of them; while one can be sent, running again helps."""
    path = orders_file(tmp_path, range(2))
    lose_answers(sandbox)
    run = ("batch", "orders.create", str(path), "-o", "human")
    lost_both = svc(*run, "--max-time", "0.4")
    sandbox.control("DELETE", "/faults")
    assert outcomes_of(path) == ["unknown"] * 2
    assert f"svc {' '.join(run)} --max-time 0.4; what stays unknown: " in lost_both.err
    turn(sandbox, DAY)
    too_old = svc(*run)
    assert (too_old.code, too_old.err.count("; then svc requests forget ")) == (9, 2)
    assert too_old.err.splitlines()[-1].endswith(": svc requests list --unresolved")
    assert str(path) not in too_old.err.splitlines()[-1]
    assert len(svc.ok("requests", "list", "--unresolved")) == 2
