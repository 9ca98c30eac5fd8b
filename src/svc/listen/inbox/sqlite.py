"""The inbox in the state database: every delivery once, and what became of it (promise R50)."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from svc.errors import LocalError
from svc.listen.inbox.arrivals import ROWS, ArrivalKeeper, chunks, list_of, rows_of
from svc.listen.inbox.event_ids import LISTED_AT_ONCE, EventIds, forget
from svc.listen.inbox.inbox import Arrival, Batch, ForwardAttempt, Kept, OpenItem, Position, Tried
from svc.listen.inbox.listeners import number_of, position_of
from svc.state import Database, Row, Tx

KEEP_SECONDS: Final = 7 * 24 * 3600  # promise R50 asks for 72 h; a week lets people look back
_PAGE_ROWS: Final = 64
_PRUNED_ROWS: Final = 500  # at once, so that no delivery waits for a week's worth to go
_PAGE_BYTES: Final = 4 * 1024 * 1024
# Of this connection alone: no file for what a statement may have to undo, and a log of up to 16 MB
# before it is copied into the database, which spares copying the same pages over and over.
_SETTINGS: Final = ("PRAGMA temp_store = MEMORY", "PRAGMA wal_autocheckpoint = 4000")


class SqliteInbox:
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
        self._state = state
        for setting in _SETTINGS:
            state.rows(setting)
        self._listener = number_of(state, scope)
        self._ids = EventIds(state, self._listener, listed_at_once)
        self._keeper = ArrivalKeeper(self._listener, self._ids, retake_failed=retake_failed)

    def store(self, batch: Batch) -> list[Kept | LocalError]:
        with self._state.write() as tx:
            kept = self._write(tx, batch)
        self.check_in_place()
        if self._ids.are_many:
            self._ids.list_now()
        return kept

    def open_after(self, seq: int, object_id: str | None = None) -> list[OpenItem]:
        which = (self._listener, seq, object_id, object_id, _PAGE_ROWS, _PAGE_BYTES)
        return self._items(self._state.rows(_OPEN_PAGE, which))

    def open_item(self, seq: int) -> OpenItem | None:
        return next(iter(self._items(self._state.rows(_OPEN_ONE, (seq,)))), None)

    def open_types(self, seq: int) -> Mapping[str, int]:
        rows = self._state.rows(_OPEN_TYPES, (self._listener, seq))
        return {row["type"]: row["events"] for row in rows}

    def prune(self, now: float) -> int:
        with self._state.write() as tx:
            since = now - KEEP_SECONDS
            old = tx.rows(_OLD, (since, since, _PRUNED_ROWS))
            forget(tx, [(row["event_id"], row["seq"]) for row in old])
            seqs = [(row["seq"],) for row in old]
            for table in ("payloads", "forwards"):
                tx.many(f"DELETE FROM {table} WHERE inbox_seq = ?", seqs)  # noqa: S608  our names
            return tx.many("DELETE FROM inbox WHERE seq = ?", seqs)

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
        """Gives how far this listener has read its log; None before the first run."""
        [row] = self._state.rows(_POSITION, (self._listener,))
        return None if row["position_seq"] is None else position_of(row)

    def begin_at(self, position: Position) -> None:
        """Has this listener read its log from behind a position."""
        with self._state.write() as tx:
            tx.execute(_ADVANCE, (position.seq, position.event_id, self._listener))

    def hand_back(self) -> None:
        """Closes what an earlier run left open: those who share the queue get it, or this one."""
        with self._state.write() as tx:
            tx.execute(_HAND_BACK, (self._listener,))

    def close(self, seconds: float = math.inf) -> None:
        """Moves the log of the database into it, which each later command would have to read.

        Not where somebody reads in it: whoever comes last does. Other processes are waited for so
        long and no longer.
        """
        self._state.hurry(seconds)
        with suppress(LocalError):
            self._state.empty_log()

    def _write(self, tx: Tx, batch: Batch, *, whole: bool = False) -> list[Kept | LocalError]:
        """Writes a batch; a `whole` one is not parted where a part of it cannot be kept."""
        if batch.has_results:
            _write_results(tx, batch)
        if not batch.arrivals:
            return []
        # Last, for a copy may have come of an event that was settled in this very batch.
        kept = [*(self._keeper.keep if whole else self._keeper.keep_each)(tx, batch.arrivals)]
        self._advance(tx, batch.arrivals, kept)
        return kept

    def _advance(
        self, tx: Tx, arrivals: Sequence[Arrival], kept: Sequence[Kept | LocalError]
    ) -> None:
        """Moves the position to the last event before which none is missing."""
        there = [
            arrival.position
            for arrival, got in zip(arrivals, kept, strict=True)
            if arrival.position is not None and not isinstance(got, LocalError)
        ]
        if not there:
            return
        [row] = tx.rows(_POSITION, (self._listener,))
        reached = position_of(row)
        for position in there:
            if position.after in (None, reached.seq):
                reached = position
        tx.execute(_ADVANCE, (reached.seq, reached.event_id, self._listener))

    def _items(self, found: Sequence[Row]) -> list[OpenItem]:
        """Gives rows with what was tried of them, which costs a question for many of them."""
        tried: dict[int, list[Row]] = {}
        for some in chunks([row["seq"] for row in found], ROWS):
            for one in self._state.rows(list_of(_TRIED, len(some)), some):
                tried.setdefault(one["inbox_seq"], []).append(one)
        return [_item(row, tried.get(row["seq"], ())) for row in found]


def _item(row: Row, tried: Sequence[Row]) -> OpenItem:
    return OpenItem(
        seq=row["seq"],
        event_id=row["event_id"],
        type=row["type"],
        object_id=row["object_id"],
        headers=row["headers"],
        body=row["body"],
        tried={
            one["target"]: Tried(one["attempts"], one["last_at"])
            for one in tried
            if one["attempts"]
        },
        ended={one["target"]: bool(one["taken"]) for one in tried if one["taken"] or one["final"]},
        redelivered=row["redelivered"],
    )


def _write_results(tx: Tx, batch: Batch) -> None:
    for attempts in chunks(batch.attempts, ROWS):
        _record(tx, attempts)
    for outcome in dict.fromkeys(outcome for _, outcome in batch.settled):
        for seqs in chunks([seq for seq, its in batch.settled if its == outcome], ROWS):
            tx.execute(list_of(_SETTLE, len(seqs)), (outcome, *seqs))


def _record(tx: Tx, attempts: Sequence[ForwardAttempt]) -> None:
    values: list[object] = []
    for one in attempts:
        values += (one.seq, one.target, one.replay, one.number, one.started_at)
        values += (one.milliseconds, one.status, one.error, one.reply, one.final)
    tx.execute(rows_of(_INSERT_ATTEMPTS, 10, len(attempts)), values)


# What another program has had taken meanwhile stays taken.
_SETTLE: Final = "UPDATE inbox SET outcome = ? WHERE seq IN (%s) AND outcome IS NOT 'forwarded'"
_TRIED: Final = """
SELECT inbox_seq, target, SUM(NOT replay) AS attempts,
  MAX(COALESCE(status, 0) BETWEEN 200 AND 299) AS taken, MAX(final AND NOT replay) AS final,
  MAX(IIF(replay, 0, started_at + milliseconds / 1000)) AS last_at
FROM forwards WHERE inbox_seq IN (%s) GROUP BY inbox_seq, target"""
# A crash may have lost the count of an attempt; then the later one of that number stays.
_INSERT_ATTEMPTS: Final = (
    "INSERT OR REPLACE INTO forwards (inbox_seq, target, replay, attempt, started_at,"
    " milliseconds, status, error, reply, final) VALUES "
)
_POSITION: Final = "SELECT position_seq, position_id FROM listeners WHERE id = ?"
_ADVANCE: Final = "UPDATE listeners SET position_seq = ?, position_id = ? WHERE id = ?"
_HAND_BACK: Final = "UPDATE inbox SET outcome = 'returned' WHERE listener = ? AND outcome IS NULL"
_COLUMNS: Final = "seq, event_id, type, object_id, headers, body, redelivered"
_OPEN_ONE: Final = f"""
SELECT {_COLUMNS} FROM inbox JOIN payloads ON inbox_seq = seq
WHERE seq = ? AND outcome IS NULL"""  # noqa: S608  only column names
# As many rows as fit into the page's bytes, and always one.
_OPEN_PAGE: Final = f"""
SELECT {_COLUMNS} FROM (
  SELECT {_COLUMNS}, SUM(LENGTH(body)) OVER (ORDER BY seq) AS total FROM (
    SELECT {_COLUMNS} FROM inbox JOIN payloads ON inbox_seq = seq
    WHERE listener = ? AND seq > ? AND outcome IS NULL AND (? IS NULL OR object_id = ?)
    ORDER BY seq LIMIT ?
  )
) WHERE total - LENGTH(body) < ? ORDER BY seq"""  # noqa: S608
_OPEN_TYPES: Final = """
SELECT type, COUNT(*) AS events FROM inbox WHERE listener = ? AND seq > ? AND outcome IS NULL
GROUP BY type"""
# Rows stand in the order of their arrival: the look ends at the first one that is young enough.
# Those of listeners that do not run any more go as well.
_OLD: Final = """
SELECT seq, event_id FROM inbox WHERE received_at < ? AND outcome IS NOT NULL
  AND seq < COALESCE((SELECT seq FROM inbox WHERE received_at >= ? ORDER BY seq LIMIT 1), 1 << 62)
ORDER BY seq LIMIT ?"""
