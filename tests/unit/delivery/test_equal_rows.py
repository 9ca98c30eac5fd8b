"""Files of many rows that are equal or about one payment: time grows with their number alone.

Each row takes its own request, the one that is nearest to it, and its own next key.
"""

import time
from collections.abc import Callable
from random import Random

import pytest

from svc.delivery.edits import RequestsOfEffect
from svc.delivery.evidence import Evidence, Known
from svc.delivery.gathering import EvidenceList
from svc.delivery.journal.batches import BatchName, Duplicate
from svc.delivery.journal.entry import NO_OTHER_KEYS
from svc.delivery.likeness import about_of, are_told_apart, effect_of
from svc.delivery.plan import BatchFacts, BatchPlan, BatchRow, BatchTimes, Permissions
from svc.delivery.planner import plan_batch
from svc.delivery.policy import RowDecision
from svc.system.spool import DigestIndex
from unit.delivery.rows import REFUNDS, SCOPE, one_row, orders

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
    rows: list[BatchRow],
    evidence: list[Evidence],
    duplicates: list[Duplicate] | None = None,
    moved: list[Duplicate] | None = None,
    batch: BatchName = ORDERS,
) -> BatchPlan:
    facts = BatchFacts(
        batch,
        EvidenceList(evidence),
        duplicates or [],
        NO_OTHER_KEYS,
        KEY,
        BatchTimes(100.0, None, None, 90.0),
        Permissions(may_retry_failed=True),
        doubles=True,
        moved=moved or [],
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


def refunds(count: int, first: int = 1, **more: object) -> list[BatchRow]:
    """Refunds of one payment; each has another amount, or with an amount another reference."""
    told = ({"amount": first + n, "metadata": {"ref": f"{first + n}"}} | more for n in range(count))
    rows = (one_row({"payment": "pay_1", **one}) for one in told)
    return [row._replace(number=n, line=n + 1) for n, row in enumerate(rows, 1)]


def moved(row: BatchRow) -> Duplicate:
    """What another batch has done with the effect of a row."""
    marks = (("metadata\x1fref", f"other-{row.number}"),)
    found = copied(row)._replace(likeness=f"{row.number:032x}", marks=marks)
    return found._replace(effect=effect_of(row.subject, row.amount))


def failed(row: BatchRow, ordinal: int, refusals: int = 0) -> Evidence:
    key = ORDERS.key_of(row.likeness, ordinal, refusals)
    return done(row, 90.0)._replace(known=Known.FAILED, key=key)


@pytest.mark.parametrize(
    "case", ["done", "copied", "by hand", "index", "edited", "reworded", "failed", "unknown"]
)
def test_time_grows_with_the_number_of_equal_rows(case: str) -> None:
    """Ten times the rows take ten times as long, not a hundred times."""

    def make(count: int) -> Callable[[], object]:
        if case == "index":
            return lambda: fill_index(count)
        if case == "edited":
            before, after = refunds(count), refunds(count, count + 1)
            sent = [done(row, 90.0)._replace(about=about_of(row.subject)) for row in before]
            return lambda: plan(after, sent, batch=REFUNDS)
        if case == "reworded":
            same = refunds(count, amount=100)
            others = [moved(row) for row in same]
            return lambda: plan(same, [], moved=others, batch=REFUNDS)
        rows = orders(*[100] * count)
        if case == "done":
            evidence = [done(row, 90.0) for row in rows]
            return lambda: plan(rows, evidence)
        if case == "failed":
            evidence = [failed(row, ordinal) for ordinal, row in enumerate(rows)]
            return lambda: plan(rows, evidence)
        batch = None if case == "by hand" else OTHER
        duplicates = [copied(row, batch=batch) for row in rows]
        evidence = []
        if case == "unknown":
            evidence = [done(row, 90.0)._replace(known=Known.UNKNOWN) for row in rows]
        return lambda: plan(rows, evidence, duplicates)

    count = 3_000 if case == "index" else 150
    few, many = make(count), make(10 * count)
    assert seconds(many) < 30 * seconds(few)


def test_each_of_many_equal_failed_rows_gets_the_next_key_of_its_own() -> None:
    """R114: also behind the hundredth, so that each machine makes the same keys."""
    rows = orders(*[100] * 150)
    before = [failed(row, ordinal, ordinal % 3) for ordinal, row in enumerate(rows)]
    made = {task.failed: task.key for task in plan(rows, before).tasks if task.failed is not None}
    assert made == {
        one.object_id: ORDERS.key_of(rows[0].likeness, ordinal, ordinal % 3 + 1)
        for ordinal, one in enumerate(before)
    }


def test_a_row_of_many_of_one_effect_takes_the_nearest_request() -> None:
    """The same parameters first, then what is not told apart, then any; always of the currency."""
    random = Random(7)
    currencies, names = ["EUR", "USD", None], ["ref", "note", "--row-id"]

    def mark() -> tuple[tuple[str, str], ...]:
        said = random.sample(names, random.randrange(len(names)))
        return tuple((name, random.choice("ab")) for name in said)

    (row,) = orders(100)
    for _ in range(200):
        left = [
            copied(row)._replace(
                likeness=random.choice("xyz"),
                currency=random.choice(currencies),
                marks=mark(),
                row=number,
            )
            for number in range(12)
        ]
        requests = RequestsOfEffect()
        for one in left:
            requests.add(one)
        for _ in range(14):
            alike, currency, marks = random.choice("xyz"), random.choice(currencies), mark()
            ranked = [
                (one.likeness != alike, are_told_apart(marks, one.marks), at)
                for at, one in enumerate(left)
                if None in (currency, one.currency) or currency == one.currency
            ]
            expected = left.pop(min(ranked)[-1]) if ranked else None
            assert requests.take_nearest(alike, currency, marks) == expected
