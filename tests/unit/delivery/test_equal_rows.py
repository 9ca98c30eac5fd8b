"""Files of many equal rows: each takes its own request, and time grows with their number alone."""

import time
from collections.abc import Callable

import pytest

from svc.delivery.evidence import Evidence, Known
from svc.delivery.gathering import EvidenceList
from svc.delivery.journal.batches import BatchName, Duplicate
from svc.delivery.journal.entry import NO_OTHER_KEYS
from svc.delivery.plan import BatchFacts, BatchPlan, BatchRow, BatchTimes, Permissions
from svc.delivery.planner import plan_batch
from svc.delivery.policy import RowDecision
from svc.system.spool import DigestIndex
from unit.delivery.rows import SCOPE, orders

ORDERS = BatchName("/a/orders.csv", "orders.create", SCOPE)
OTHER = BatchName("/a/copy.csv", "orders.create", SCOPE)
KEY = SCOPE.key_fingerprint


def done(row: BatchRow, at: float) -> Evidence:
    """What a results file tells of a row that was sent at a time."""
    key = f"key-{row.number}"
    made = f"ord_{row.number}"
    return Evidence(
        Known.DONE, row.alike, key, at, None, made, None, None, KEY, row.alike, row.number
    )


def copied(row: BatchRow, *, batch: BatchName | None = OTHER) -> Duplicate:
    name = f"rq_{row.number}"
    return Duplicate(row.alike, batch, True, name, 95.0, KEY, "default", key=name)


def plan(
    rows: list[BatchRow], evidence: list[Evidence], duplicates: list[Duplicate] | None = None
) -> BatchPlan:
    facts = BatchFacts(
        ORDERS,
        EvidenceList(evidence),
        duplicates or [],
        NO_OTHER_KEYS,
        KEY,
        BatchTimes(100.0, None, None, 90.0),
        Permissions(),
        doubles=True,
    )
    return plan_batch(rows, facts)


def test_an_edited_row_is_seen_among_equal_ones_that_were_sent_in_other_seconds() -> None:
    """R115: the others took one another's requests, and so seemed to have been moved."""
    before = orders(100, 100, 100, 100)
    evidence = [done(row, 90.0 + row.number) for row in before]
    assert len(plan(orders(100, 100, 100, 100), evidence).done) == 4
    todo = plan(orders(100, 100, 150, 100), evidence)
    assert todo.stop is not None
    assert todo.stop.decision is RowDecision.STOP_EDITED
    assert [told.row.number for told in todo.stop.rows] == [3]


def seconds(work: Callable[[], object]) -> float:
    """The processor time of the faster of two runs."""
    taken = []
    for _ in range(2):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def fill_index(count: int) -> None:
    index = DigestIndex()
    for number in range(count):
        index.add("0" * 32, number)


@pytest.mark.parametrize("case", ["done", "copied", "by hand", "index"])
def test_time_grows_with_the_number_of_equal_rows(case: str) -> None:
    """Ten times the rows take ten times as long, not a hundred times."""

    def make(count: int) -> Callable[[], object]:
        if case == "index":
            return lambda: fill_index(count)
        rows = orders(*[100] * count)
        if case == "done":
            evidence = [done(row, 90.0) for row in rows]
            return lambda: plan(rows, evidence)
        batch = OTHER if case == "copied" else None
        duplicates = [copied(row, batch=batch) for row in rows]
        return lambda: plan(rows, [], duplicates)

    count = 10_000 if case == "index" else 300
    few, many = make(count), make(10 * count)
    assert seconds(many) < 30 * seconds(few)
