"""The inbox in the state database: every delivery once, and what became of it (promise R50).

`commit` writes by it while a listener runs; a reader of a team's log keeps its position in it.
`svc events listen` opens its inbox by `open_inbox`: a `QuickInbox` where that may be faster.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.inbox.event_ids import LISTED_AT_ONCE, EventIds
from svc.listen.inbox.forgetting import forget_forwarded
from svc.listen.inbox.interfaces import Batch, InboundEvent, Position, StoreResult
from svc.listen.inbox.ledger import ForwardLedger, State
from svc.listen.inbox.listeners import load_row_id, position_of
from svc.listen.inbox.statements import ROWS, chunks, list_of, rows_of
from svc.state import Database, Tx
from svc.system import files

_Identity = tuple[str, bytes]  # an event's id and body
_Known = dict[_Identity, int]  # the seq of each


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


# Of this connection alone: no file for what a statement may have to undo, and a log of up to 16 MB
# before it is copied into the database, which spares copying the same pages over and over.
_SETTINGS: Final = ("PRAGMA temp_store = MEMORY", "PRAGMA wal_autocheckpoint = 4000")


class SqliteInbox(ForwardLedger):
    """The inbox of one listener in the state database.

    `scope` names the listener: what another one keeps does not count as a duplicate here.
    `retake_failed`: a copy of an event whose forward failed is taken for new (`--ack forwarded`).
    """

    def __init__(
        self,
        state: Database,
        scope: str,
        *,
        retake_failed: bool = False,
        listed_at_once: int = LISTED_AT_ONCE,
    ) -> None:
        for setting in _SETTINGS:
            state.rows(setting)
        super().__init__(state, load_row_id(state, scope))
        self._ids = EventIds(state, self._listener, listed_at_once)
        self._retake_failed = retake_failed

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        with self._state.write() as tx:
            stored = self._write(tx, batch)
        self.check_in_place()
        if self._ids.are_many:
            self._ids.list_now()
        return stored

    def prune(self, now: float, after: int) -> int | None:
        return forget_forwarded(self._state, now, after)[1]

    def check_in_place(self) -> None:
        """Makes sure that what was committed is in the file that the next run reads (R121).

        Raises:
            LocalError: the file was deleted or replaced.
        """
        self._state.check_in_place()

    def save_copy(self, seconds: float) -> str | None:
        """Saves what a deleted file still holds beside its place, if that takes no longer."""
        return self._state.save_copy(seconds)

    def position(self) -> Position | None:
        """Returns how far this listener has read its log; None before the first run."""
        [row] = self._state.rows(_POSITION, (self._listener,))
        return None if row["position_seq"] is None else position_of(row)

    def begin_at(self, position: Position) -> None:
        """Sets the position behind which this listener reads its log."""
        with self._state.write() as tx:
            tx.execute(_ADVANCE, (position.seq, position.event_id, self._listener))

    def close(self, seconds: float = math.inf) -> None:
        """Moves the log of the database into it, which each later command would have to read.

        While another process reads the log, it stays for the last process to move. Waits at most
        `seconds` for other processes.
        """
        self._state.shorten_timeout(seconds)
        with suppress(LocalError):
            self._state.empty_log()

    def _write(
        self, tx: Tx, batch: Batch, *, whole: bool = False
    ) -> list[StoreResult | LocalError]:
        """Writes a batch; a `whole` one is not parted where a part of it cannot be kept."""
        if batch.has_results:
            self.note(tx, batch)
        if not batch.inbound_events:
            return []
        # Last, for a copy may have come of an event that has ended in this very batch.
        stored = [*(self._store_inbound if whole else self._store_each)(tx, batch.inbound_events)]
        self._advance(tx, batch.inbound_events, stored)
        return stored

    def _store_each(
        self, tx: Tx, inbound_events: Sequence[InboundEvent]
    ) -> list[StoreResult | LocalError]:
        """Stores a group of events at once or, if one of them cannot be stored, one by one."""
        stored = tx.run_apart(lambda: self._store_inbound(tx, inbound_events))
        if not isinstance(stored, LocalError):
            return [*stored]
        if len(inbound_events) == 1:
            return [stored]
        return [one for inbound in inbound_events for one in self._store_each(tx, [inbound])]

    def _store_inbound(self, tx: Tx, inbound_events: Sequence[InboundEvent]) -> list[StoreResult]:
        """Stores a group of events; raises sqlite3.Error: SQLite refuses one of them.

        A duplicate has the id and the body of an event that this listener has stored; the same id
        with another body is a new event.
        """
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
        states = self.states(tx, came.values())
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
        waits = self.add(tx, inbound_events, seqs)
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
        states = self.states(tx, came.values())
        retaken: set[_Identity] = set()
        for inbound in inbound_events:
            event = _identity(inbound)
            found = states.get(came[event])
            if found is not None and event not in retaken and _is_to_be_retaken(*found):
                self.take_again(tx, came[event], inbound.targets)
                retaken.add(event)
        return retaken

    def _advance(
        self,
        tx: Tx,
        inbound_events: Sequence[InboundEvent],
        stored: Sequence[StoreResult | LocalError],
    ) -> None:
        """Moves the position to the last event before which none is missing."""
        there = [
            inbound.position
            for inbound, got in zip(inbound_events, stored, strict=True)
            if inbound.position is not None and not isinstance(got, LocalError)
        ]
        if not there:
            return
        [row] = tx.rows(_POSITION, (self._listener,))
        reached = position_of(row)
        for position in there:
            if position.after in (None, reached.seq):
                reached = position
        tx.execute(_ADVANCE, (reached.seq, reached.event_id, self._listener))


_POSITION: Final = "SELECT position_seq, position_id FROM listeners WHERE id = ?"
_ADVANCE: Final = "UPDATE listeners SET position_seq = ?, position_id = ? WHERE id = ?"


_SYNC_SECONDS_MAX: Final = 0.002
_UNTRIED: Final = 1.05 * _SYNC_SECONDS_MAX
_WEIGHT: Final = 1 / 8  # of the latest sync in the mean
# One that took long is enough to leave the next ones to the thread, but not for long: on a machine
# with much to do it is not the disk that was slow.
_OUTLIER_SECONDS: Final = _SYNC_SECONDS_MAX / _WEIGHT
_BODIES_MAX: Final = 1024 * 1024  # bytes that are written while the loop waits
_COPIED_BYTES: Final = 8 * 1024 * 1024
_COMMIT_BYTES: Final = 24 * 1024  # pages of indexes that each group writes anew
_ROW_BYTES: Final = 1024


class QuickInbox(SqliteInbox):
    """An inbox whose SQLite log svc syncs itself; implements `interfaces.AtOnce`."""

    def __init__(
        self,
        open_state: Callable[[], Database],
        scope: str,
        clock: Clock,
        *,
        retake_failed: bool = False,
        listed_at_once: int = LISTED_AT_ONCE,
        sync: Callable[[int], None] | None = None,
    ) -> None:
        """Opens the database twice: to write, and to copy its log meanwhile."""
        state = open_state()
        super().__init__(state, scope, retake_failed=retake_failed, listed_at_once=listed_at_once)
        self._writing = state
        self._copying = open_state()
        self._clock = clock
        self._sync = sync or files.sync_data
        self._mean = _UNTRIED  # the first group finds out how quick the disk is, on a thread
        self._logged = 0
        state.sync_by_hand(self._measure_sync, room=_COPIED_BYTES)

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        stored = super().store(batch)
        self._logged += _size_of(batch)
        return stored

    def store_at_once(self, batch: Batch) -> list[StoreResult | LocalError] | None:
        if self._ids.are_many:
            return None
        if self._mean > _SYNC_SECONDS_MAX or _count_bytes(batch) > _BODIES_MAX:
            return None
        stored = self._writing.write_at_once(lambda tx: self._write(tx, batch, whole=True))
        if stored is not None:
            self.check_in_place()
            self._logged += _size_of(batch)
        return stored

    @property
    def log_is_long(self) -> bool:
        return self._logged > _COPIED_BYTES

    def copy_log(self) -> None:
        self._logged = 0
        self._copying.copy_log()

    def _measure_sync(self, log: int) -> None:
        started = self._clock.monotonic()
        self._sync(log)
        seconds = min(self._clock.monotonic() - started, _OUTLIER_SECONDS)
        self._mean += (seconds - self._mean) * _WEIGHT


def open_inbox(
    open_state: Callable[[], Database],
    scope: str,
    clock: Clock,
    *,
    retake_failed: bool = False,
    platform: str = sys.platform,
) -> SqliteInbox:
    """Returns the inbox that fits this system.

    On macOS a plain sync leaves what was written in the disk's own memory, and Windows has none
    that a program may call: SQLite knows what to do there.
    """
    if platform == "linux":
        return QuickInbox(open_state, scope, clock, retake_failed=retake_failed)
    return SqliteInbox(open_state(), scope, retake_failed=retake_failed)


def _size_of(batch: Batch) -> int:
    """About how many bytes of log a group makes."""
    rows = 2 * len(batch.inbound_events) + len(batch.attempts)
    return _COMMIT_BYTES + _count_bytes(batch) + rows * _ROW_BYTES


def _count_bytes(batch: Batch) -> int:
    return sum([len(one.delivery.body) for one in batch.inbound_events])
