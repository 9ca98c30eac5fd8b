"""Stores inbound events: each is new, a duplicate, or a failed one that is retried (R50).

A duplicate has the id and the body of an event that this listener has stored; the same id with
another body is a new event.

`sqlite.SqliteInbox` calls it with each group, inside its transaction.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from svc.errors import LocalError
from svc.listen.inbox.event_ids import EventIds
from svc.listen.inbox.interfaces import InboundEvent, StoreResult
from svc.listen.inbox.ledger import ForwardLedger, State
from svc.listen.inbox.statements import ROWS, chunks, list_of, rows_of
from svc.state import Tx

_Identity = tuple[str, bytes]  # an event's id and body
_Known = dict[_Identity, int]  # the seq of each


class InboundStore:
    """Stores the inbound events of one listener.

    With `retake_failed` a copy of an event that failed is forwarded again.
    """

    def __init__(
        self, listener: int, ids: EventIds, ledger: ForwardLedger, *, retake_failed: bool
    ) -> None:
        self._listener = listener
        self._ids = ids
        self._ledger = ledger
        self._retake_failed = retake_failed

    def store_each(
        self, tx: Tx, inbound_events: Sequence[InboundEvent]
    ) -> list[StoreResult | LocalError]:
        """Stores a group of events at once or, if one of them cannot be stored, one by one."""
        stored = tx.run_apart(lambda: self.store(tx, inbound_events))
        if not isinstance(stored, LocalError):
            return [*stored]
        if len(inbound_events) == 1:
            return [stored]
        return [one for inbound in inbound_events for one in self.store_each(tx, [inbound])]

    def store(self, tx: Tx, inbound_events: Sequence[InboundEvent]) -> list[StoreResult]:
        """Stores a group of events; raises sqlite3.Error: SQLite refuses one of them."""
        ids = list(dict.fromkeys([inbound.delivery.facts.id for inbound in inbound_events]))
        known = self._find_known(tx, ids)
        if known or len(ids) < len(inbound_events):
            return self._store_some(tx, known, inbound_events)
        return self._insert(tx, inbound_events)

    def _store_some(
        self, tx: Tx, known: _Known, inbound_events: Sequence[InboundEvent]
    ) -> list[StoreResult]:
        """Keeps what of it was not there before; the rest is a copy, or taken up again."""
        fresh: dict[_Identity, InboundEvent] = {}
        for inbound in inbound_events:
            if _identity(inbound) not in known:
                fresh.setdefault(_identity(inbound), inbound)
        new = dict(zip(fresh, self._insert(tx, list(fresh.values())), strict=True))
        known |= {event: stored.seq for event, stored in new.items()}
        came = {event: known[event] for event in map(_identity, inbound_events)}
        retaken = self._retake(tx, inbound_events, came) if self._retake_failed else set()
        states = self._ledger.states(tx, came.values())
        _count(
            tx,
            [(one, known[_identity(one)]) for one in inbound_events if _identity(one) in retaken],
        )
        stored = []
        for inbound in inbound_events:
            event = _identity(inbound)
            first = new.pop(event, None)
            if first is None:
                seq, again = known[event], event in retaken
                still = states.get(seq, (State.DONE, 0))[0] < State.DONE
                first = StoreResult(seq, duplicate=not again, again=again, open=still)
            retaken.discard(event)
            stored.append(first)
        copies = [(one.seq,) for one in stored if one.duplicate]
        if copies:
            tx.many("UPDATE inbox SET copies = copies + 1 WHERE seq = ?", copies)
        return stored

    def _find_known(self, tx: Tx, ids: Sequence[str]) -> _Known:
        rows = [
            row
            for statement, values in ((_LISTED, ids), (_UNLISTED, self._ids.list_unlisted(ids)))
            for some in chunks(values, ROWS)
            for row in tx.rows(list_of(statement, len(some)), (self._listener, *some))
        ]
        if not rows:
            return {}
        rows.sort(key=lambda row: row["seq"])
        wanted = set(ids)  # a row that was undone has left its number to another event
        return {
            (row["event_id"], row["body"]): row["seq"] for row in rows if row["event_id"] in wanted
        }

    def _insert(self, tx: Tx, inbound_events: Sequence[InboundEvent]) -> list[StoreResult]:
        """Adds rows; their numbers follow without a gap in one statement."""
        seqs: list[int] = []
        for some in chunks(inbound_events, ROWS):
            values: list[object] = []
            for inbound in some:
                delivery, facts = inbound.delivery, inbound.delivery.facts
                values += (self._listener, facts.id, facts.type, facts.object_id)
                values += (delivery.received_at, inbound.outcome)
            last = tx.insert(rows_of(_INSERT_EVENTS, 6, len(some)), values)
            payloads: list[object] = []
            for seq, inbound in enumerate(some, start=last - len(some) + 1):
                seqs.append(seq)
                self._ids.note(inbound.delivery.facts.id, seq)
                payloads += (seq, inbound.delivery.headers, inbound.delivery.body)
            tx.execute(rows_of(_INSERT_PAYLOADS, 3, len(some)), payloads)
        waits = self._ledger.add(tx, inbound_events, seqs)
        _count(tx, zip(inbound_events, seqs, strict=True))
        return [
            StoreResult(
                seq, duplicate=False, again=False, open=inbound.outcome is None, waits=there
            )
            for inbound, seq, there in zip(inbound_events, seqs, waits, strict=True)
        ]

    def _retake(
        self, tx: Tx, inbound_events: Sequence[InboundEvent], came: _Known
    ) -> set[_Identity]:
        """Has what failed, was given back or was left alone forwarded again."""
        states = self._ledger.states(tx, came.values())
        retaken: set[_Identity] = set()
        for inbound in inbound_events:
            event = _identity(inbound)
            found = states.get(came[event])
            if found is not None and event not in retaken and _is_to_be_retaken(*found):
                self._ledger.take_again(tx, came[event], inbound.targets)
                retaken.add(event)
        return retaken


def _is_to_be_retaken(low: int, high: int) -> bool:
    """Returns whether nothing of an event is on its way, and a target has not taken it."""
    return low >= State.LEFT and (low == State.LEFT or high in (State.FAILED, State.RETURNED))


def _count(tx: Tx, added: Iterable[tuple[InboundEvent, int]]) -> None:
    """Notes how often events were handed out before they came here."""
    counts = [(inbound.redelivered, seq) for inbound, seq in added if inbound.redelivered]
    if counts:
        tx.many("UPDATE inbox SET redelivered = ? WHERE seq = ?", counts)


def _identity(inbound: InboundEvent) -> _Identity:
    return inbound.delivery.facts.id, inbound.delivery.body


_LISTED: Final = """
SELECT inbox.event_id, body, seq FROM event_ids
CROSS JOIN inbox ON seq = event_ids.inbox_seq JOIN payloads ON payloads.inbox_seq = seq
WHERE listener = ? AND event_ids.event_id IN (%s)"""
_UNLISTED: Final = """
SELECT event_id, body, seq FROM inbox JOIN payloads ON inbox_seq = seq
WHERE listener = ? AND seq IN (%s)"""
# OR FAIL: the caller undoes it all anyway; SQLite need not keep pages to undo one statement.
_INSERT_EVENTS: Final = (
    "INSERT OR FAIL INTO inbox (listener, event_id, type, object_id, received_at, outcome) VALUES "
)
_INSERT_PAYLOADS: Final = "INSERT OR FAIL INTO payloads (inbox_seq, headers, body) VALUES "
