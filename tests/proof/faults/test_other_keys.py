"""Keys of another account, and keys that were rolled where svc did not see it (promises R12, R64)."""

import signal
from pathlib import Path
from typing import Any

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault
from proof.faults.operations import command
from proof.faults.test_fault_matrix import closed, refusal, says
from support.batches import dying, orders_file, outcomes_of
from support.forks.program import Forking
from support.running import Sandbox, Svc

OWN = (*command("refund", "mark-1"), "--idempotency-key", "refund-1", "-o", "json")
OTHER = "sk_test_another7account5wxyz"


def run_as(machine: UserMachine, key: str, *argv: str) -> Any:
    with machine.start(*argv, env={"SVC_API_KEY": key}) as process:
        return machine.ended(process)


def blind(machine: UserMachine) -> None:
    """The other account does not see what the first one has made."""
    machine.ledger.spoil(Fault(says(404, refusal("resource_missing"))))


def test_done_request_is_not_sent_again_by_another_account(machine: UserMachine) -> None:
    """R12: the other account would carry it out once more; exit 6, nothing sent."""
    assert machine.run(*OWN).code == 0
    blind(machine)
    refused = run_as(machine, OTHER, *OWN)
    assert (refused.code, refused.error["code"]) == (6, "idempotency_key_spent")
    assert refused.error["outcome"] == "not_sent"
    assert [post.method for post in machine.ledger.posts] == ["POST", "GET"]
    (row,) = machine.rows()
    assert (row["state"], row["sendings"], row["object_id"]) == ("done", 1, "rf_1")


def test_key_that_sees_the_same_objects_is_of_the_same_account(machine: UserMachine) -> None:
    """A key that was rolled in the dashboard gets the first result again, unasked."""
    assert machine.run(*OWN).code == 0
    again = run_as(machine, OTHER, *OWN)
    assert (again.code, again.json["id"]) == (0, "rf_1")
    assert machine.ledger.effects["mark-1"] == 1


def test_resume_with_a_key_of_the_same_account_needs_no_yes(machine: UserMachine) -> None:
    """Proved by an object that the first key has made."""
    assert machine.run(*command("payout", "mark-2")).code == 0
    machine.ledger.spoil(*(Fault(closed, carried_out=True),) * 4, mark="mark-1")
    assert machine.run(*OWN).code == 7
    (request,) = machine.unresolved()
    blind(machine)
    asked = run_as(machine, OTHER, "requests", "resume", request, "-o", "json")
    assert (asked.code, asked.error["code"]) == (2, "confirmation_required")
    assert run_as(machine, OTHER, "requests", "resume", request).code == 0
    assert machine.ledger.effects["mark-1"] == 1


def test_refusal_to_a_key_of_the_same_account_settles_it(machine: UserMachine) -> None:
    """R12: then it is the service's word on the first request."""
    assert machine.run(*command("payout", "mark-2")).code == 0
    machine.run(*OWN, kill="after_intent")
    (request,) = machine.unresolved()
    machine.ledger.spoil(Fault(says(404, refusal("resource_missing"))), mark="mark-1")
    assert run_as(machine, OTHER, "requests", "resume", request).code == 5
    assert machine.unresolved() == []


def test_rows_of_another_account_say_what_to_do(
    forking: Forking, svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """R12: nothing proves that both keys are of one account, so a person must say it."""
    path = orders_file(tmp_path, range(3))
    argv = ("batch", "orders.create", str(path), "--concurrency", "1")
    assert dying(forking, "after_bytes", 1, *argv) == -signal.SIGKILL
    new = {"SVC_API_KEY": roll(sandbox)}
    refused = svc(*argv, env=new)
    assert (refused.code, refused.error["code"]) == (6, "other_account")
    assert f"svc requests resume {refused.error['request']} --yes" in refused.error["message"]
    begun = svc.ok("requests", "list", "--unresolved")
    for row in begun:
        assert svc("requests", "resume", row["id"], "--yes", env=new).code == 0
    assert begun
    assert svc.ok(*argv, env=new)["unknown"] == 0
    assert len(svc.ok("orders", "list", env=new)["data"]) == 3


def roll(sandbox: Sandbox) -> str:
    """Rolls the test key, as the dashboard does; the old one ends at once."""
    keys = sandbox.control("GET", "/keys")["data"]
    (key,) = [one for one in keys if (one["type"], one["livemode"]) == ("secret", False)]
    return str(sandbox.control("POST", f"/keys/{key['id']}/roll", {})["secret"])


def test_rows_that_a_rolled_key_left_open_are_settled_by_the_new_one(
    forking: Forking, svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Killed with rows under way, rolled outside svc, run again: exactly one order a row."""
    path = orders_file(tmp_path, range(40))
    argv = ("batch", "orders.create", str(path), "--concurrency", "4")
    assert dying(forking, "after_reply", 20, *argv) == -signal.SIGKILL
    assert svc.ok("requests", "list", "--unresolved") != []
    new = {"SVC_API_KEY": roll(sandbox)}
    assert svc.ok(*argv, env=new)["unknown"] == 0
    assert outcomes_of(path) == ["done"] * 40
    found = svc("orders", "list", "--all", "-o", "id", env=new).out.split()
    assert len(found) == 40
