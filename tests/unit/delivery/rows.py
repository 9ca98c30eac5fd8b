"""Rows of a file as they are planned, in a real journal: refunds of one payment, by amount."""

from collections.abc import Iterable, Sequence
from typing import Any

from svc.base_url import BaseUrl
from svc.batch.operations import find_operation
from svc.batch.rows import BadRow, Read
from svc.batch.validate import Validator
from svc.clock import Clock
from svc.delivery.evidence import Evidence
from svc.delivery.gathering import EvidenceList, Gathering
from svc.delivery.journal.batches import BatchName, BatchTable
from svc.delivery.journal.entry import NO_OTHER_KEYS, Intent, KeyEquivalence, Scope, Settled
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.plan import (
    BatchFacts,
    BatchPlan,
    BatchRow,
    BatchTimes,
    InvalidRow,
    Permissions,
)
from svc.delivery.planner import plan_batch
from svc.delivery.policy import KeyRelation
from svc.delivery.rows import RowJob, RowJournal
from svc.state import Database

BASE = BaseUrl.parse("https://api.example.com")
SCOPE = Scope("default", "test", str(BASE), "sk_test_…ary1")
REFUNDS = BatchName("/a/refunds.csv", "refunds.create", SCOPE)
HOUR = 3600
DAY = 24 * HOUR


def rows(
    *given: "int | str | dict[str, Any]", row_id: str | None = None
) -> list[BatchRow | InvalidRow]:
    """Refunds of one payment by amount, or as given; a text is a row that cannot be read."""
    shaper = Validator(find_operation("refunds.create"), SCOPE, row_id=row_id)
    return [
        shaper.shape(Read(number, number + 1, _fields(one))) for number, one in enumerate(given, 1)
    ]


def orders(*amounts: int) -> list[BatchRow]:
    """New orders by amount."""
    validator = Validator(find_operation("orders.create"), SCOPE)
    made = []
    for number, amount in enumerate(amounts, 1):
        item = {"name": "Jacket", "quantity": 1, "unit_amount": amount, "hs_code": "6203.39"}
        shipping = {"country": "DE", "postal_code": "10115"}
        given = {"amount": amount, "currency": "EUR", "items": [item], "shipping": shipping}
        row = validator.shape(Read(number, number + 1, given))
        assert isinstance(row, BatchRow)
        made.append(row)
    return made


def one_row(given: "int | dict[str, Any]") -> BatchRow:
    """A row that can be sent."""
    (row,) = rows(given)
    assert isinstance(row, BatchRow)
    return row


def _fields(one: "int | str | dict[str, Any]") -> "dict[str, Any] | BadRow":
    if isinstance(one, dict):
        return one
    return BadRow(one) if isinstance(one, str) else {"amount": one, "payment": "pay_1"}


class Desk:
    """A batch's requests in a real state database, and what a file would do to it."""

    def __init__(self, state: Database, sender_locks: SenderLocks, clock: Clock) -> None:
        self.clock = clock
        self.sender_locks = sender_locks
        self.journal = Journal(lambda: state, sender_locks, clock)
        self.batches = BatchTable(state, sender_locks, clock)

    def plan(
        self,
        *given: "int | str | dict[str, Any]",
        batch: BatchName = REFUNDS,
        lines: tuple[Evidence, ...] = (),
        account: KeyEquivalence = NO_OTHER_KEYS,
        own_key: str = SCOPE.key_fingerprint,
        unseen: KeyRelation = KeyRelation.NOT_KNOWN,
        row_id: str | None = None,
        world: str | None = None,
        served: float | None = None,
        dated: float | None = None,
        **may: bool,
    ) -> BatchPlan:
        intents = self.journal.list(batch=batch.id)
        read = rows(*given, row_id=row_id)
        valid = [row for row in read if isinstance(row, BatchRow)]
        alike = [row.alike for row in valid]
        moves = [(row.subject, row.amount) for row in valid]
        begun = self.batches.find_begun_at(batch)
        facts = BatchFacts(
            batch,
            collect_evidence(intents, lines, is_named=row_id is not None, world=world),
            self.batches.duplicates(batch, alike),
            account,
            own_key,
            BatchTimes(self.clock.now(), served, dated, begun),
            Permissions(**may),
            doubles=True,
            unseen=unseen,
            world=world,
            moved=self.batches.find_moved(batch, moves),
        )
        return plan_batch(read, facts)

    def run(
        self,
        ends: "dict[int, Settled | None]",
        batch: BatchName = REFUNDS,
        **more: Any,
    ) -> list[str]:
        """Sends a row for each amount and lets it end so; gives the keys that were used."""
        self.batches.begin(batch)
        todo = self.plan(*ends, batch=batch, **more)
        jobs = self.record(todo, batch)
        by_row = {job.row.amount: job for job in jobs}
        ended = [
            (by_row[amount].intent, _of_its_own(end, amount))
            for amount, end in ends.items()
            if end and amount in by_row
        ]
        self.journal.settle_many(ended)
        self.sender_locks.close()  # the process has ended
        return [job.intent.stored.idempotency_key for job in jobs]

    def record(
        self, todo: BatchPlan, batch: BatchName = REFUNDS, *, served: float | None = None
    ) -> list[RowJob]:
        """Records what is to be sent; `served` is what a sandbox's clock says then."""
        journal = RowJournal(self.journal, batch, BASE, "json", None, served=lambda: served)
        jobs, refused = journal.record(list(todo.tasks))
        assert refused == []
        return jobs

    def kept(self, batch: BatchName = REFUNDS) -> list[Intent]:
        return self.journal.list(batch=batch.id)


def _of_its_own(end: Settled, amount: int) -> Settled:
    """No two rows make the same object."""
    return end._replace(object_id=f"rf_{amount}") if end.object_id else end


def collect_evidence(
    intents: Iterable[Intent],
    lines: Sequence[Evidence],
    *,
    is_named: bool,
    world: str | None,
) -> EvidenceList:
    """Gathers the evidence of requests that are in memory."""
    gathering = Gathering(lines, is_named=is_named, world=world)
    for intent in intents:
        gathering.add(intent)
    return gathering.finish()
