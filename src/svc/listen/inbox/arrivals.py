"""What becomes of the arrivals of a group: each is new, or a copy, or taken up again (R50)."""

from collections.abc import Iterable, Sequence
from typing import Final

from svc.errors import LocalError
from svc.listen.inbox.event_ids import EventIds
from svc.listen.inbox.inbox import Arrival, Kept
from svc.listen.inbox.ledger import ForwardLedger, State
from svc.listen.inbox.statements import ROWS, chunks, list_of, rows_of
from svc.state import Tx

_Identity = tuple[str, bytes]  # an event's id and body
_Known = dict[_Identity, int]  # the seq of each


class ArrivalKeeper:
    """Keeps one listener's arrivals; `retake_failed`: a copy of what failed is taken for new."""

    def __init__(
        self, listener: int, ids: EventIds, ledger: ForwardLedger, *, retake_failed: bool
    ) -> None:
        self._listener = listener
        self._ids = ids
        self._ledger = ledger
        self._retake_failed = retake_failed

    def keep_each(self, tx: Tx, arrivals: Sequence[Arrival]) -> list[Kept | LocalError]:
        """Keeps all of them at once, or, where one cannot be kept, each by itself."""
        kept = tx.run_apart(lambda: self.keep(tx, arrivals))
        if not isinstance(kept, LocalError):
            return [*kept]
        if len(arrivals) == 1:
            return [kept]
        return [one for arrival in arrivals for one in self.keep_each(tx, [arrival])]

    def keep(self, tx: Tx, arrivals: Sequence[Arrival]) -> list[Kept]:
        """Keeps all of them; what sqlite3 raises where it does not take one passes up."""
        events = [_identity(arrival) for arrival in arrivals]
        known = self._find_known(tx, list(dict.fromkeys(event_id for event_id, _ in events)))
        if known or len(set(events)) < len(events):
            return self._keep_some(tx, known, arrivals)
        return self._insert(tx, arrivals)

    def _keep_some(self, tx: Tx, known: _Known, arrivals: Sequence[Arrival]) -> list[Kept]:
        """Keeps what of it was not there before; the rest is a copy, or taken up again."""
        fresh: dict[_Identity, Arrival] = {}
        for arrival in arrivals:
            if _identity(arrival) not in known:
                fresh.setdefault(_identity(arrival), arrival)
        new = dict(zip(fresh, self._insert(tx, list(fresh.values())), strict=True))
        known |= {event: kept.seq for event, kept in new.items()}
        came = {event: known[event] for event in map(_identity, arrivals)}
        retaken = self._retake(tx, arrivals, came) if self._retake_failed else set()
        states = self._ledger.states(tx, came.values())
        _count(tx, [(one, known[_identity(one)]) for one in arrivals if _identity(one) in retaken])
        kept = []
        for arrival in arrivals:
            event = _identity(arrival)
            first = new.pop(event, None)
            if first is None:
                seq, again = known[event], event in retaken
                still = states.get(seq, (State.DONE, 0))[0] < State.DONE
                first = Kept(seq, duplicate=not again, again=again, open=still)
            retaken.discard(event)
            kept.append(first)
        copies = [(one.seq,) for one in kept if one.duplicate]
        if copies:
            tx.many("UPDATE inbox SET copies = copies + 1 WHERE seq = ?", copies)
        return kept

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

    def _insert(self, tx: Tx, arrivals: Sequence[Arrival]) -> list[Kept]:
        """Adds rows; their numbers follow without a gap in one statement."""
        seqs: list[int] = []
        for some in chunks(arrivals, ROWS):
            values: list[object] = []
            for arrival in some:
                delivery, facts = arrival.delivery, arrival.delivery.facts
                values += (self._listener, facts.id, facts.type, facts.object_id)
                values += (delivery.received_at, arrival.outcome)
            last = tx.insert(rows_of(_INSERT_EVENTS, 6, len(some)), values)
            payloads: list[object] = []
            for seq, arrival in enumerate(some, start=last - len(some) + 1):
                seqs.append(seq)
                self._ids.note(arrival.delivery.facts.id, seq)
                payloads += (seq, arrival.delivery.headers, arrival.delivery.body)
            tx.execute(rows_of(_INSERT_PAYLOADS, 3, len(some)), payloads)
        waits = self._ledger.add(tx, arrivals, seqs)
        _count(tx, zip(arrivals, seqs, strict=True))
        return [
            Kept(seq, duplicate=False, again=False, open=arrival.outcome is None, waits=there)
            for arrival, seq, there in zip(arrivals, seqs, waits, strict=True)
        ]

    def _retake(self, tx: Tx, arrivals: Sequence[Arrival], came: _Known) -> set[_Identity]:
        """Has what failed, was given back or was left alone forwarded again."""
        states = self._ledger.states(tx, came.values())
        retaken: set[_Identity] = set()
        for arrival in arrivals:
            event = _identity(arrival)
            found = states.get(came[event])
            if found is not None and event not in retaken and _is_to_be_retaken(*found):
                self._ledger.take_again(tx, came[event], arrival.targets)
                retaken.add(event)
        return retaken


def _is_to_be_retaken(low: int, high: int) -> bool:
    """Says whether nothing of an event is on its way, and a target has not taken it."""
    return low >= State.LEFT and (low == State.LEFT or high in (State.FAILED, State.RETURNED))


def _count(tx: Tx, added: Iterable[tuple[Arrival, int]]) -> None:
    """Notes how often events were handed out before they came here."""
    counts = [(arrival.redelivered, seq) for arrival, seq in added if arrival.redelivered]
    if counts:
        tx.many("UPDATE inbox SET redelivered = ? WHERE seq = ?", counts)


def _identity(arrival: Arrival) -> _Identity:
    return arrival.delivery.facts.id, arrival.delivery.body


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
