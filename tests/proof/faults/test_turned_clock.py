"""A sandbox's clock can be turned: its keys then age faster than the journal's (promise R4)."""

from pathlib import Path

from support.batches import orders_file, outcomes_of
from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc

DAY = 24 * 3600


def turn(sandbox: Sandbox, seconds: int) -> None:
    sandbox.control("POST", "/clock/advance", {"seconds": seconds})


def lose_answers(sandbox: Sandbox) -> None:
    """POSTs are carried out and get no answer any more."""
    rule = {"match": {"method": "POST"}, "times": 99, "phase": "after"}
    sandbox.control("POST", "/faults", {**rule, "effect": {"connection": "close"}})


def test_own_key_is_refused_once_the_sandbox_has_forgotten_it(svc: Svc, sandbox: Sandbox) -> None:
    """R4: whether nobody knows what became of it (exit 7), or it was carried out (exit 6)."""
    open_one, done = ("--idempotency-key", "order-1"), ("--idempotency-key", "order-2")
    lose_answers(sandbox)
    assert svc(*CREATE_ORDER, *open_one, "--max-time", "0.5").code == 7
    sandbox.control("DELETE", "/faults")
    assert svc(*CREATE_ORDER, *done, "--new-request").code == 0
    turn(sandbox, DAY)
    for own, code in ((open_one, 7), (done, 6)):
        refused = svc(*CREATE_ORDER, *own)
        assert (refused.code, refused.error["code"]) == (code, "idempotency_key_too_old")
    assert len(svc.ok("orders", "list")["data"]) == 2


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
