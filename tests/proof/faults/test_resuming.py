"""What a resume makes of each answer: only a definite one settles what may have been carried out."""

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault
from proof.faults.operations import command
from proof.faults.test_fault_matrix import closed, refusal, says
from support.suite.patience import until

REFUND = command("refund", "mark-1")


@pytest.fixture
def lost(machine: UserMachine) -> str:
    """A request that was carried out, though its process died before the answer came."""
    machine.run(*REFUND, kill="after_bytes")
    until(lambda: machine.ledger.effects["mark-1"])  # it reads what a dead process has sent
    (row,) = machine.rows()
    return str(row["id"])


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_answer_that_says_nothing_of_before_leaves_it_unknown(
    machine: UserMachine, lost: str, status: int
) -> None:
    """R10, R11: a rolled key or a busy service does not mean that nothing was done."""
    machine.ledger.spoil(*(Fault(says(status, refusal("x"))),) * 4)
    resumed = machine.run("requests", "resume", lost, "-o", "json")
    assert (resumed.code, resumed.error["outcome"]) == (7, "unknown")
    assert machine.rows()[0]["state"] == "unknown"
    machine.ledger.spoil()
    assert machine.run("requests", "resume", lost).code == 0


def test_service_that_is_gone_leaves_it_unknown(machine: UserMachine, lost: str) -> None:
    """R10: this time nothing was sent, but the first time it was."""
    machine.ledger.stop()
    resumed = machine.run("requests", "resume", lost, "-o", "json")
    assert (resumed.code, resumed.error["outcome"]) == (7, "unknown")
    assert machine.unresolved() == [lost]


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


def test_request_that_was_not_sent_is_not_unknown_after_another_try(machine: UserMachine) -> None:
    """R10: what never left may be resumed, and is still not sent where nobody listens."""
    machine.ledger.stop()
    assert machine.run(*REFUND).code == 8
    (row,) = machine.rows()
    assert machine.run("requests", "resume", row["id"]).code == 8
    assert machine.rows()[0]["state"] == "not_sent"


def test_refusal_to_another_key_does_not_settle_the_first(machine: UserMachine, lost: str) -> None:
    """R10: what one account refuses, another one may have carried out."""
    machine.ledger.spoil(Fault(says(400, refusal("x"))))
    other = {"SVC_API_KEY": "sk_test_another7account5wxyz"}
    with machine.start("requests", "resume", lost, "--yes", "-o", "json", env=other) as process:
        ended = machine.ended(process)
    assert (ended.code, ended.error["outcome"]) == (7, "unknown"), ended.err
    assert f"svc requests resume {lost}" in ended.error["message"]
    assert machine.unresolved() == [lost]
    assert machine.run("requests", "resume", lost).code == 0


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
