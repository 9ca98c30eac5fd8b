"""What becomes of the arrivals of a group: each is new, or a copy, or taken up again (R50)."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from svc.errors import LocalError
from svc.listen.inbox.event_ids import EventIds
from svc.listen.inbox.inbox import Arrival, Kept
from svc.state import Tx

T = TypeVar("T")
_Identity = tuple[str, bytes]  # an event's id and body
_Known = dict[_Identity, tuple[int, str | None]]

ROWS: Final = 16  # of one statement: few enough that those of all sizes stay prepared


class ArrivalKeeper:
    """Keeps the arrivals of one listener.

    `retake_failed`: a copy of an event whose forward failed is taken for new.
    """

    def __init__(self, listener: int, ids: EventIds, *, retake_failed: bool) -> None:
        self._listener = listener
        self._ids = ids
        self._retake_failed = retake_failed

    def keep_each(self, tx: Tx, arrivals: Sequence[Arrival]) -> list[Kept | LocalError]:
        """Keeps all of them at once, or, where one cannot be kept, each by itself."""
        kept = tx.apart(lambda: self.keep(tx, arrivals))
        if not isinstance(kept, LocalError):
            return [*kept]
        if len(arrivals) == 1:
            return [kept]
        return [one for arrival in arrivals for one in self.keep_each(tx, [arrival])]

    def keep(self, tx: Tx, arrivals: Sequence[Arrival]) -> list[Kept]:
        """Keeps all of them; what sqlite3 raises where it does not take one passes up."""
        events = [_identity(arrival) for arrival in arrivals]
        known = self._known(tx, list(dict.fromkeys(event_id for event_id, _ in events)))
        if known or len(set(events)) < len(events):
            return self._keep_some(tx, known, arrivals)
        seqs = self._insert(tx, arrivals)
        _count(tx, zip(arrivals, seqs, strict=True))
        return [
            Kept(seq, duplicate=False, again=False, open=arrival.outcome is None)
            for arrival, seq in zip(arrivals, seqs, strict=True)
        ]

    def _keep_some(self, tx: Tx, known: _Known, arrivals: Sequence[Arrival]) -> list[Kept]:
        """Keeps what of it was not there before; the rest is a copy, or taken up again."""
        fresh: dict[_Identity, Arrival] = {}
        for arrival in arrivals:
            if _identity(arrival) not in known:
                fresh.setdefault(_identity(arrival), arrival)
        seqs = dict(zip(fresh, self._insert(tx, list(fresh.values())), strict=True))
        retaken = self._retake(tx, known, arrivals) if self._retake_failed else set()
        seqs |= {event: known[event][0] for event in retaken}
        _count(tx, [(one, seqs[_identity(one)]) for one in arrivals if _identity(one) in seqs])
        reopened = frozenset(retaken)
        kept = []
        for arrival in arrivals:
            event = _identity(arrival)
            new = fresh.pop(event, None) is not None
            again = event in retaken
            retaken.discard(event)
            seq, outcome = known.get(event, (seqs.get(event, 0), arrival.outcome))
            still = event in reopened or outcome is None
            kept.append(Kept(seq, duplicate=not (new or again), again=again, open=still))
        copies = [(one.seq,) for one in kept if one.duplicate]
        if copies:
            tx.many("UPDATE inbox SET copies = copies + 1 WHERE seq = ?", copies)
        return kept

    def _known(self, tx: Tx, ids: Sequence[str]) -> _Known:
        rows = [
            row
            for statement, values in ((_LISTED, ids), (_UNLISTED, self._ids.unlisted(ids)))
            for some in chunks(values, ROWS)
            for row in tx.rows(list_of(statement, len(some)), (self._listener, *some))
        ]
        if not rows:
            return {}
        rows.sort(key=lambda row: row["seq"])
        wanted = set(ids)  # a row that was undone has left its number to another event
        return {
            (row["event_id"], row["body"]): (row["seq"], row["outcome"])
            for row in rows
            if row["event_id"] in wanted
        }

    def _insert(self, tx: Tx, arrivals: Sequence[Arrival]) -> list[int]:
        """Adds rows, and gives their numbers: of one statement they follow without a gap."""
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
        return seqs

    @staticmethod
    def _retake(tx: Tx, known: _Known, arrivals: Sequence[Arrival]) -> set[_Identity]:
        came = {_identity(arrival) for arrival in arrivals}
        failed = {
            event: seq
            for event, (seq, outcome) in known.items()
            if outcome in ("failed", "returned") and event in came
        }
        if failed:
            rows = [(seq,) for seq in failed.values()]
            tx.many("UPDATE inbox SET outcome = NULL WHERE seq = ?", rows)
            tx.many("UPDATE forwards SET final = 0 WHERE inbox_seq = ?", rows)
        return set(failed)


def _count(tx: Tx, added: Iterable[tuple[Arrival, int]]) -> None:
    """Notes how often events were handed out before they came here."""
    counts = [(arrival.redelivered, seq) for arrival, seq in added if arrival.redelivered]
    if counts:
        tx.many("UPDATE inbox SET redelivered = ? WHERE seq = ?", counts)


def _identity(arrival: Arrival) -> _Identity:
    return arrival.delivery.facts.id, arrival.delivery.body


def chunks(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Parts a sequence into pieces of `size` at most."""
    return (things[start : start + size] for start in range(0, len(things), size))


@lru_cache(maxsize=128)
def rows_of(start: str, width: int, rows: int) -> str:
    """Completes an INSERT with marks, so that equal ones are one object and found soon."""
    row = f"({','.join('?' * width)})"
    return start + ",".join([row] * rows)


@lru_cache(maxsize=64)
def list_of(statement: str, values: int) -> str:
    """Completes a statement with marks for so many values."""
    return statement % ",".join("?" * values)


_LISTED: Final = """
SELECT inbox.event_id, body, seq, outcome FROM event_ids
CROSS JOIN inbox ON seq = event_ids.inbox_seq JOIN payloads ON payloads.inbox_seq = seq
WHERE listener = ? AND event_ids.event_id IN (%s)"""
_UNLISTED: Final = """
SELECT event_id, body, seq, outcome FROM inbox JOIN payloads ON inbox_seq = seq
WHERE listener = ? AND seq IN (%s)"""
# OR FAIL: whoever calls undoes it all anyway; SQLite need not keep pages to undo one statement.
_INSERT_EVENTS: Final = (
    "INSERT OR FAIL INTO inbox (listener, event_id, type, object_id, received_at, outcome) VALUES "
)
_INSERT_PAYLOADS: Final = "INSERT OR FAIL INTO payloads (inbox_seq, headers, body) VALUES "
