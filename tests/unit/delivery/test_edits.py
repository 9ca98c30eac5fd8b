"""Rows that another batch has done in other words (promise R115)."""

from dataclasses import replace
from typing import Any

import pytest

from support.calls import refunds
from support.clocks import ManualClock
from svc.client.request import prepare
from svc.delivery.journal import batches
from svc.delivery.journal.batches import BatchName
from svc.delivery.journal.entry import OBJECT_FAILED, KeyEquivalence, NewIntent, Settled, store_call
from svc.delivery.policy import RowDecision
from unit.delivery.rows import BASE, DAY, HOUR, REFUNDS, SCOPE, Desk

DONE = Settled("done", 200, "rf_1", proved=True)
OTHER = BatchName("/a/copy.csv", "refunds.create", SCOPE)


class OtherFiles:
    """A desk, and what was done there by the batch `REFUNDS`."""

    def __init__(self, desk: Desk, clock: ManualClock) -> None:
        self.desk = desk
        self.clock = clock

    def do(self, *rows: dict[str, Any], end: Settled | None = DONE, **more: Any) -> None:
        self.desk.batches.begin(REFUNDS)
        jobs = self.desk.record(self.desk.plan(*rows, **more))
        if end is not None:
            ended = [
                (job.intent, end._replace(object_id=f"rf_{number}"))
                for number, job in enumerate(jobs, 1)
            ]
            self.desk.journal.settle_many(ended)
        self.desk.sender_locks.close()

    def stops(self, *rows: dict[str, Any], **more: Any) -> int:
        """How many rows of another file stop it as done in other words; 0 where it is sent."""
        todo = self.desk.plan(*rows, **{"batch": OTHER, **more})
        if todo.stop is None:
            assert len(todo.tasks) == len(rows)
            return 0
        assert todo.stop.decision is RowDecision.STOP_EDITED
        return len(todo.stop.rows)


@pytest.fixture
def tables(desk: Desk, clock: ManualClock) -> OtherFiles:
    return OtherFiles(desk, clock)


def refund(amount: int = 100, payment: str = "pay_1", **more: str) -> dict[str, Any]:
    """A refund with a reason, and metadata by name."""
    reason = {"reason": more.pop("reason")} if "reason" in more else {}
    return {"payment": payment, "amount": amount, **reason, **({"metadata": more} if more else {})}


def test_a_row_of_another_file_in_other_words_stops(tables: OtherFiles) -> None:
    """The same payment and amount: corrected in a copy, or with a column added to it."""
    tables.do(refund(), refund(200, item="a"))
    assert tables.stops(refund(reason="duplicate")) == 1
    assert tables.stops(refund(shop="b")) == 1
    assert tables.stops(refund(200)) == 1
    todo = tables.desk.plan(refund(9), refund(200, item="a", shop="b"), batch=OTHER)
    assert todo.stop is not None
    (told,) = todo.stop.rows
    assert told.duplicate is not None
    assert (told.row.number, told.duplicate.row, told.duplicate.object_id) == (2, 2, "rf_2")
    for row in (refund(reason="duplicate"), refund(shop="b")):
        assert tables.stops(row, may_send_edited=True) == 0
        assert tables.stops(row, batch=replace(OTHER, label="2026-11")) == 0


def test_another_amount_or_payment_is_another_refund(tables: OtherFiles) -> None:
    """A second refund of a payment is ordinary."""
    tables.do(refund())
    assert tables.stops(refund(150, shop="b"), refund(100, "pay_2", shop="b")) == 0


def test_a_request_counts_for_one_row(tables: OtherFiles) -> None:
    """Where two rows have the effect of one, the one that is nearest to it was done."""
    tables.do(refund(item="a"))
    assert tables.stops(refund(item="a", shop="b"), refund(item="c", shop="b")) == 1
    tables.do(refund(item="a"), refund(item="c"))
    assert tables.stops(refund(item="a", shop="b"), refund(item="c", shop="b")) == 2


def test_what_tells_payments_apart_makes_another_one(tables: OtherFiles) -> None:
    """The file of every night: the same amounts, told apart by a value that both have."""
    tables.do(refund(item="a"), refund(200, item="b"))
    assert tables.stops(refund(item="c")) == 0  # one such row is an ordinary second refund
    tables.clock.advance(12 * HOUR)
    assert tables.stops(refund(item="c"), refund(200, item="d")) == 0
    assert tables.stops(refund(item="a", by="x"), refund(200, item="d")) == 1


def test_another_spelling_tells_nothing_apart(tables: OtherFiles) -> None:
    """An office program writes a dash for a hyphen; who retypes a reference, other letters."""
    tables.do(refund(item="INV-7"), row_id="metadata[item]")
    for item in ("inv-7", "INV\u20137", "INV\u20117 "):
        assert tables.stops(refund(item=item)) == 1
        assert tables.stops(refund(item=item), row_id="metadata[item]") == 1
    assert tables.stops(refund(item="INV-8")) == 0


def test_most_rows_again_on_the_same_day_are_a_copy(tables: OtherFiles) -> None:
    """All references were corrected: two rows at least, and more than half of what is new."""
    tables.do(refund(item="a"), refund(200, item="b"))
    again = refund(item="c"), refund(200, item="d")
    assert tables.stops(*again) == 2
    assert tables.stops(*again, refund(7)) == 2
    assert tables.stops(*again, refund(7), refund(8)) == 0


def test_ids_and_keys_of_rows_tell_payments_apart(tables: OtherFiles) -> None:
    """`--row-id`: another invoice is another payment; the same one in other words is not."""
    named: dict[str, Any] = {"row_id": "metadata[invoice]"}
    tables.do(refund(invoice="7", note="x"), **named)
    assert tables.stops(refund(invoice="8", note="x"), **named) == 0
    assert tables.stops(refund(invoice="7", note="x", by="y"), **named) == 1


@pytest.mark.parametrize(
    ("end", "stops"),
    [
        (DONE, 1),
        (Settled("unknown"), 1),
        (None, 1),
        (Settled("not_sent"), 0),
        (DONE._replace(error_code=OBJECT_FAILED), 0),
        (Settled("refused", 400, proved=True), 0),
    ],
    ids=["done", "unknown", "killed", "not sent", "failed", "refused"],
)
def test_what_has_or_may_have_moved_money_counts(
    tables: OtherFiles, end: Settled | None, stops: int
) -> None:
    tables.do(refund(), end=end)
    assert tables.stops(refund(reason="duplicate")) == stops


@pytest.mark.parametrize("end", [DONE, Settled("unknown")])
def test_what_a_single_command_has_done_in_other_words_leaves_the_row_out(
    tables: OtherFiles, end: Settled
) -> None:
    """By hand nobody types the metadata; what is told apart by it is another refund."""
    desk = tables.desk
    call = refunds.create({"payment": "pay_1", "amount": 100})
    prepared = prepare(call, BASE, new_key=lambda: "by-hand")
    desk.journal.settle(desk.journal.record(NewIntent(store_call(call, prepared), SCOPE)), end)
    for batch in (REFUNDS, replace(REFUNDS, label="x")):  # a label says nothing of it
        todo = desk.plan(refund(item="a"), refund(200, item="a"), batch=batch)
        assert todo.stop is None
        assert [(one.row.amount, one.decision) for one in todo.held] == [
            (100, RowDecision.STOP_ROW_REWORDED)
        ]
        assert len(todo.tasks) == 1
    assert len(desk.plan(refund(item="a"), may_send_edited=True).tasks) == 1
    assert len(desk.plan(refund(150, item="a"), refund(100, "pay_2", item="a")).tasks) == 2


def test_it_counts_for_seven_days_and_for_one_account(tables: OtherFiles) -> None:
    """Another account by proof, and a sandbox that was reset since, have nothing of it."""
    tables.do(refund(), end=DONE._replace(world="w1"))
    row = refund(reason="duplicate")
    assert tables.stops(row, world="w1") == 1
    assert tables.stops(row, world="w2") == 0
    other = KeyEquivalence(other=frozenset((SCOPE.key_fingerprint,)))
    assert tables.stops(row, account=other, own_key="sk_test_…wxyz") == 0
    tables.clock.advance(7 * DAY - 1)
    assert tables.stops(row) == 1
    tables.clock.advance(2)
    assert tables.stops(row) == 0


def test_what_another_service_or_mode_has_is_no_request_of_this_one(tables: OtherFiles) -> None:
    """The same name, and all that is done is elsewhere."""
    tables.do(refund())
    row = refund(reason="duplicate")
    for elsewhere in ({"base_url": "https://other.example.com"}, {"mode": "live"}):
        scope = SCOPE._replace(**elsewhere)
        assert tables.stops(row, batch=replace(OTHER, scope=scope)) == 0
    assert tables.stops(row) == 1


def test_a_file_of_more_amounts_than_a_statement_takes_is_compared_as_well(
    tables: OtherFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.do(refund(), refund(200), refund(300))
    monkeypatch.setattr(batches, "_PIECE", 2)
    copies = [refund(amount, reason="duplicate") for amount in (100, 200, 300)]
    assert tables.stops(*copies) == 3


def test_the_same_row_stops_as_what_it_is(tables: OtherFiles) -> None:
    """A copy with one corrected row: the rows that are equal name the batch that goes on."""
    tables.do(refund(), refund(200))
    todo = tables.desk.plan(refund(reason="duplicate"), refund(200), batch=OTHER)
    assert todo.stop is not None
    assert todo.stop.decision is RowDecision.STOP_REPEATED
