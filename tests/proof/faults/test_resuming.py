"""What a resume makes of each answer and key: only a definite one settles what may have been done."""

import signal
from pathlib import Path

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault
from proof.faults.operations import command
from proof.faults.test_fault_matrix import closed, refusal, says
from support.batches import dying, orders_file, outcomes_of
from support.forks.program import Forking
from support.running import Sandbox, Svc
from support.suite.patience import until

REFUND = command("refund", "mark-1")


@pytest.fixture
def lost(machine: UserMachine) -> str:
    """A request that was carried out, though its process died before the answer came."""
    machine.run(*REFUND, kill="after_bytes")
    until(lambda: machine.ledger.effects["mark-1"])  # it reads what a dead process has sent
    (row,) = machine.rows()
    return str(row["id"])


@pytest.mark.parametrize(("status", "code"), [(400, 3), (404, 5)])
def test_definite_refusal_settles_it(machine: UserMachine, status: int, code: int) -> None:
    """R12: the service knows the key and refuses: so it was not carried out before."""
    machine.run(*REFUND, kill="after_intent")
    (row,) = machine.rows()
    machine.ledger.spoil(Fault(says(status, refusal("resource_missing"))))
    assert machine.run("requests", "resume", row["id"]).code == code
    assert machine.rows()[0]["state"] == "refused"
    assert machine.unresolved() == []


def test_resume_that_is_lost_too_can_be_resumed(machine: UserMachine, lost: str) -> None:
    """R3: as often as it takes, within the day."""
    machine.ledger.spoil(*(Fault(closed, carried_out=True),) * 4)
    assert machine.run("requests", "resume", lost).code == 7
    machine.run("requests", "resume", lost, kill="after_reply")
    assert machine.run("requests", "resume", lost).code == 0
    assert machine.rows()[0]["sendings"] == 4
    assert len({post.key for post in machine.ledger.posts}) == 1


@pytest.mark.parametrize("status", [400, 401, 429, 503])
def test_own_key_that_was_done_stays_done(machine: UserMachine, status: int) -> None:
    """R10: what the journal knows to be done is not called unknown when it is sent once more."""
    own = (*REFUND, "--idempotency-key", "refund-1001")
    assert machine.run(*own).code == 0
    made = machine.rows()[0]["object_id"]
    machine.ledger.spoil(*(Fault(says(status, refusal("x"))),) * 4)
    again = machine.run(*own, "-o", "json")
    assert (again.code, again.error["outcome"]) == (6, "done"), again.err
    assert again.error["code"] == "idempotency_key_spent"
    assert made in again.error["message"]
    (row,) = machine.rows()
    assert (row["state"], row["object_id"]) == ("done", made)
    machine.ledger.spoil()
    assert machine.run(*own).code == 0


OWN = (*REFUND, "--idempotency-key", "refund-1", "-o", "json")


def test_done_request_is_not_sent_again_by_another_account(machine: UserMachine) -> None:
    """R12: the other account would carry it out once more; exit 6, nothing sent."""
    assert machine.run(*OWN).code == 0
    machine.ledger.spoil(Fault(says(404, refusal("resource_missing"))))  # it is not seen there
    refused = machine.run(*OWN, env={"SVC_API_KEY": "sk_test_another7account5wxyz"})
    assert (refused.code, refused.error["code"]) == (6, "idempotency_key_spent")
    assert refused.error["outcome"] == "not_sent"
    assert [post.method for post in machine.ledger.posts] == ["POST", "GET"]
    (row,) = machine.rows()
    assert (row["state"], row["sendings"], row["object_id"]) == ("done", 1, "rf_1")


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
