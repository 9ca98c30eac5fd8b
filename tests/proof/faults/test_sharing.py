"""Many processes on one journal (promises R68, R69)."""

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Fault
from proof.faults.operations import OPERATIONS, command
from proof.faults.test_fault_matrix import closed
from support.suite.patience import until


def wait_for_posts(machine: UserMachine, count: int) -> None:
    until(lambda: len(machine.ledger.posts) >= count)


@pytest.mark.parametrize("processes", [8, pytest.param(32, marks=pytest.mark.slow(seconds=5))])
def test_processes_at_once_lose_no_row(machine: UserMachine, processes: int) -> None:
    """R68: every one exits 0, every row is there, nobody waits in vain."""
    names = list(OPERATIONS)
    started = [
        machine.start(*command(names[n % len(names)], f"mark-{n}")) for n in range(processes)
    ]
    results = [machine.ended(process) for process in started]
    assert [result.code for result in results] == [0] * processes, results
    assert not any("locked" in result.err for result in results)
    rows = machine.rows()
    assert [row["state"] for row in rows] == ["done"] * processes
    assert len({row["idempotency_key"] for row in rows}) == processes
    assert len(machine.ledger.effects) == processes
    assert list((machine.state / "senders").iterdir()) == []


def test_two_resumes_of_one_request_are_one(machine: UserMachine) -> None:
    """R69: one exits 0, the other 6, and only one request is in flight."""
    gate = machine.ledger.gate
    machine.ledger.spoil(*(Fault(closed, carried_out=True),) * 4, Fault(gate.hold))
    assert machine.run(*command("payout", "mark-1")).code == 7
    (request,) = machine.unresolved()
    first = machine.start("requests", "resume", request)
    wait_for_posts(machine, 5)
    second = machine.run("requests", "resume", request, "-o", "json")
    assert (second.code, second.error["code"]) == (6, "request_in_flight")
    assert machine.run("requests", "forget", request).code == 6
    listed = machine.run("requests", "list", "-o", "json").json
    assert [row["status"] for row in listed] == ["sending"]
    gate.open()
    assert machine.ended(first).code == 0
    assert len(machine.ledger.posts) == 6  # held once, then answered
    assert machine.run("requests", "resume", request).code == 6


def test_two_resumes_at_the_same_moment_are_one(machine: UserMachine) -> None:
    """R69: started together, whoever comes first."""
    machine.ledger.spoil(*(Fault(closed, carried_out=True),) * 4)
    assert machine.run(*command("refund", "mark-1")).code == 7
    (request,) = machine.unresolved()
    before = len(machine.ledger.posts)
    both = [machine.start("requests", "resume", request) for _ in range(2)]
    assert sorted(machine.ended(process).code for process in both) == [0, 6]
    assert len(machine.ledger.posts) == before + 1


def test_resume_waits_for_the_first_sending_too(machine: UserMachine) -> None:
    """R69: a request that its own command still sends is not sent by anybody else."""
    gate = machine.ledger.gate
    machine.ledger.spoil(Fault(gate.hold))
    first = machine.start(*command("refund", "mark-1"))
    wait_for_posts(machine, 1)
    (row,) = machine.rows()
    assert machine.run("requests", "resume", row["id"]).code == 6
    twin = machine.run(*command("refund", "mark-1"), "-o", "json")
    assert (twin.code, twin.error["code"]) == (6, "request_in_flight")
    gate.open()
    assert machine.ended(first).code == 0
