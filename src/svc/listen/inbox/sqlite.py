"""The inbox in the state database: every delivery once, and what became of it (promise R50).

`commit` writes by it while a listener runs; a reader of a team's log keeps its position in it.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from svc.errors import LocalError
from svc.listen.inbox.event_ids import LISTED_AT_ONCE, EventIds
from svc.listen.inbox.forgetting import forget_forwarded
from svc.listen.inbox.inbound import InboundStore
from svc.listen.inbox.interfaces import Batch, InboundEvent, Position, StoreResult
from svc.listen.inbox.ledger import ForwardLedger
from svc.listen.inbox.listeners import load_row_id, position_of
from svc.state import Database, Tx

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
        self._inbound_store = InboundStore(
            self._listener, self._ids, self, retake_failed=retake_failed
        )

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
        stored = [
            *(self._inbound_store.store if whole else self._inbound_store.store_each)(
                tx, batch.inbound_events
            )
        ]
        self._advance(tx, batch.inbound_events, stored)
        return stored

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
