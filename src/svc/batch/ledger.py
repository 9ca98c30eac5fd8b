"""What the journal knows of lists of rows: who runs one, and where a row was done before."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from svc.batch.identity import Import
from svc.client.journal.journal import KEPT_SECONDS
from svc.client.journal.leases import Leases
from svc.clock import Clock
from svc.errors import Conflict
from svc.journal import State

_PIECE: Final = 500  # parameters of one statement
_BEGIN: Final = """
INSERT INTO batches (id, name, operation, profile, mode, base_url, begun_at, last_run_at, lease)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET last_run_at = excluded.last_run_at, lease = excluded.lease,
  packed_at = NULL"""
_OLD: Final = """
SELECT id FROM batches WHERE last_run_at < ? AND packed_at IS NULL AND lease IS NULL LIMIT 1"""
# Of a row that was carried out everything stays but its body: it keeps the row from being sent once
# more. A key that the service calls used by something else is no reason for a second one.
_SLIM: Final = """
UPDATE requests SET body = x'' WHERE seq IN (
  SELECT seq FROM requests WHERE batch_id = ? AND state = 'done' AND length(body) > 0
  LIMIT 500)"""
_DROP: Final = """
DELETE FROM requests WHERE batch_id = ? AND state IN ('refused', 'not_sent') AND lease IS NULL
  AND coalesce(error_code, '') NOT IN ('idempotency_key_reused', 'idempotency_error')"""
_PACKED: Final = "UPDATE batches SET packed_at = ? WHERE id = ? AND lease IS NULL"
_END: Final = "UPDATE batches SET lease = NULL WHERE id = ? AND lease = ?"
_OTHERS: Final = """
SELECT 1 FROM requests WHERE batch_id IS NOT ? AND base_url = ? AND mode = ? AND profile = ?
  AND path = ? LIMIT 1"""
# What was carried out in another list, and what is unresolved anywhere else.
_ELSEWHERE: Final = """
SELECT batch_id, state, body_sha256, id, settled_at FROM requests WHERE {}
  AND body_sha256 IN ({}) AND batch_id IS NOT ?
  AND path = ? AND base_url = ? AND mode = ? AND profile = ?"""
_DONE: Final = "batch_id IS NOT NULL AND state = 'done'"
_OPEN: Final = "state IN ('open', 'unknown')"


class Elsewhere(NamedTuple):
    """A request outside a list that says the same as one of its rows.

    Attributes:
        name: of the list that it belongs to; None for a single command's.
        done: whether it was carried out; else nobody knows.
        request: the journal's id of it.
    """

    body_sha256: str
    name: str | None
    done: bool
    request: str
    settled_at: float | None


class Ledger:
    """The table of lists in the state database; belongs to one thread."""

    def __init__(self, state: State, leases: Leases, clock: Clock) -> None:
        self._state = state
        self._leases = leases
        self._clock = clock

    def begin(self, what: Import) -> None:
        """Takes a list for this process until `end`, or until it dies.

        Raises:
            Conflict: another process is running it now (promise R69).
        """
        now = self._clock.now()
        with self._state.write() as tx:
            known = tx.rows("SELECT lease FROM batches WHERE id = ?", (what.id,))
            if known and self._leases.is_alive(known[0]["lease"]):
                raise Conflict(
                    f"Another process is running this list now ({what.name}). Nothing was sent.",
                    code="batch_in_progress",
                    outcome="not_sent",
                    hint="Wait until it has ended; then run this again",
                )
            scope = (what.scope.profile, what.scope.mode, what.scope.base_url)
            values = (what.id, what.name, what.operation, *scope, now, now, self._leases.token)
            tx.execute(_BEGIN, values)

    def end(self, what: Import) -> None:
        """Gives a list back."""
        with self._state.write() as tx:
            tx.execute(_END, (what.id, self._leases.token))

    def pack_an_old_one(self) -> None:
        """Lets go of the bodies of one list that was last run 90 days ago, if there is any left.

        What is unresolved stays whole.
        """
        now = self._clock.now()
        found = self._state.rows(_OLD, (now - KEPT_SECONDS,))
        if not found:
            return
        identifier = found[0]["id"]
        while self._slimmed(identifier):
            pass
        with self._state.write() as tx:
            tx.execute(_DROP, (identifier,))
            tx.execute(_PACKED, (now, identifier))

    def _slimmed(self, identifier: str) -> bool:
        """One piece at a time, so that other processes get their turn."""
        with self._state.write() as tx:
            return tx.execute(_SLIM, (identifier,)) > 0

    def elsewhere(self, what: Import, path: str, hashes: Sequence[str]) -> list[Elsewhere]:
        """Requests outside the list with the same path and one of these bodies (promise R5)."""
        place = (path, what.scope.base_url, what.scope.mode, what.scope.profile)
        if not self._state.rows(_OTHERS, (what.id, *place[1:], path)):
            return []
        names = {row["id"]: row["name"] for row in self._state.rows("SELECT id, name FROM batches")}
        return [
            Elsewhere(
                row["body_sha256"],
                names.get(row["batch_id"], row["batch_id"]),
                row["state"] == "done",
                row["id"],
                row["settled_at"],
            )
            for piece in _pieces(hashes)
            for condition in (_DONE, _OPEN)
            for row in self._state.rows(
                _ELSEWHERE.format(condition, ",".join("?" * len(piece))),
                (*piece, what.id, *place),
            )
        ]


def _pieces(values: Sequence[str]) -> Iterator[tuple[str, ...]]:
    left = iter(values)
    while piece := tuple(islice(left, _PIECE)):
        yield piece
