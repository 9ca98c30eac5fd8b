"""Looking back into the inbox, and noting what was sent again."""

import fnmatch
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from svc.listen.inbox.event_ids import ROWS_OF_EVENT
from svc.listen.names import READER
from svc.listen.routes import Routes
from svc.listen.verify.verify import Delivery, read_facts
from svc.state import Database, Row

_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class InboxScope:
    """Whose deliveries: those of one profile and mode, and of one origin if it is known."""

    profile: str
    mode: str
    origin: str | None


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which of them; `since` is in unix seconds.

    `failed` and `pending` together ask for both; without either, all states are wanted.
    """

    glob: str | None = None
    failed: bool = False
    since: float | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """One kept delivery without its payload.

    `state` is pending, forwarded, failed, kept (no target wanted it) or withheld (wrong mode).
    `status` and `target` are those of the last attempt, `targets` those that its listener's routes
    named for its type.
    """

    seq: int
    id: str
    type: str
    object_id: str
    received_at: float
    state: str
    copies: int
    attempts: int
    status: int | None
    error: str | None
    target: str | None
    endpoint_id: str | None
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """What a delivery consisted of: the header lines that are passed on, and the raw body."""

    headers: bytes
    body: bytes


class InboxHistory:
    """Reads what listeners have kept; raises LocalError where the database cannot be used."""

    def __init__(self, state: Database, whose: InboxScope) -> None:
        self._state = state
        self._whose = whose

    def entries(self, wanted: InboxFilter) -> Iterator[InboxEntry]:
        """Gives entries, the newest first, in constant memory."""
        before = 2**62
        while True:
            rows = self._state.rows(_ENTRIES, (*self._filters(wanted), before, _PAGE))
            for row in rows:
                before = row["seq"]
                if wanted.glob is None or fnmatch.fnmatchcase(row["type"], wanted.glob):
                    yield _entry(row)
            if len(rows) < _PAGE:
                return

    def find(self, event_id: str) -> InboxEntry | None:
        """Gives the entry of one event, the newest if several listeners have it."""
        origin = self._whose.origin
        values = (self._whose.profile, self._whose.mode, origin, origin, event_id, event_id, 1)
        rows = self._state.rows(_BY_ID, values)
        return _entry(rows[0]) if rows else None

    def content(self, entry: InboxEntry) -> Content:
        """Gives the bytes of an entry."""
        [row] = self._state.rows(
            "SELECT headers, body FROM payloads WHERE inbox_seq = ?", (entry.seq,)
        )
        return Content(row["headers"], row["body"])

    def waits(self, seq: int) -> bool:
        """Says whether an entry is still to be forwarded."""
        return bool(
            self._state.rows("SELECT 1 FROM inbox WHERE seq = ? AND outcome IS NULL", (seq,))
        )

    def forwards(self, entry: InboxEntry) -> list[Row]:
        """Gives all attempts of an entry, oldest first, as rows of the table."""
        return self._state.rows(
            "SELECT target AS url, status, milliseconds, attempt, replay, started_at, error, reply"
            " FROM forwards WHERE inbox_seq = ? ORDER BY started_at",
            (entry.seq,),
        )

    def targets_tried(self, entry: InboxEntry) -> list[Row]:
        """Gives each target that was tried, in the order of its first attempt.

        A row holds `url`, `forwarded` (1 where the listener itself has tried it) and `taken` (1
        where any attempt ended with a 2xx).
        """
        return self._state.rows(_TRIED, (entry.seq,))

    def note_replays(
        self,
        seq: int,
        attempts: Sequence[tuple[Any, ...]],
        *,
        taken: bool,
        pending: bool = False,
    ) -> None:
        """Notes what was sent again; a target's 2xx closes an event whose forward had failed.

        Each attempt is (url, started_at, milliseconds, status, error, reply). `pending`: what was
        sent is all that was still to be done, so that an event that waits is closed as well.
        """
        with self._state.write() as tx:
            for url, *rest in attempts:
                [row] = tx.rows(_LAST_REPLAY, (seq, url))
                tx.execute(_NOTE, (seq, url, row["last"] + 1, *rest))
            if taken:
                tx.execute(
                    "UPDATE inbox SET outcome = 'forwarded' WHERE seq = ?"
                    " AND (outcome = 'failed' OR (? AND outcome IS NULL))",
                    (seq, pending),
                )

    def _filters(self, wanted: InboxFilter) -> tuple[object, ...]:
        since = wanted.since if wanted.since is not None else 0.0
        origin = self._whose.origin
        states = (not (wanted.failed or wanted.pending), wanted.failed, wanted.pending)
        return (self._whose.profile, self._whose.mode, origin, origin, since, *states)


_STATES: Final = {"": "pending", "unrouted": "kept"}
# What is shown is chosen first and counted afterwards, in one pass over its attempts. Beside a
# single MAX, SQLite takes the other columns from the row in which it stands.
_SHOWN: Final = """
WITH shown AS (
  SELECT i.seq, i.event_id, i.type, i.object_id, i.received_at, i.outcome, i.copies,
    l.endpoint_id, l.targets
  FROM inbox i JOIN listeners l ON l.id = i.listener
  WHERE l.profile = ? AND l.mode = ? AND (? IS NULL OR l.origin = ?) {which}
  ORDER BY i.seq DESC LIMIT ?)
SELECT shown.*, COUNT(f.inbox_seq) AS attempts, MAX(f.started_at), f.status, f.error, f.target
FROM shown LEFT JOIN forwards f ON f.inbox_seq = shown.seq
GROUP BY shown.seq ORDER BY shown.seq DESC"""
_ENTRIES: Final = _SHOWN.format(
    which="""AND i.received_at >= ?
    AND (? OR (? AND i.outcome = 'failed') OR (? AND i.outcome IS NULL)) AND i.seq < ?"""
)
_BY_ID: Final = _SHOWN.format(which=f"AND i.seq IN ({ROWS_OF_EVENT})")
_TRIED: Final = """
SELECT target AS url, MAX(NOT replay) AS forwarded,
  MAX(COALESCE(status BETWEEN 200 AND 299, 0)) AS taken
FROM forwards WHERE inbox_seq = ? GROUP BY target ORDER BY MIN(started_at)"""
_LAST_REPLAY: Final = (
    "SELECT COALESCE(MAX(attempt), 0) AS last FROM forwards"
    " WHERE inbox_seq = ? AND target = ? AND replay = 1"
)
_NOTE: Final = (
    "INSERT OR REPLACE INTO forwards (inbox_seq, target, attempt, replay, started_at,"
    " milliseconds, status, error, reply) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)"
)


def _targets(row: Row) -> tuple[str, ...]:
    routes = Routes.parse(json.loads(row["targets"]), allow_remote=True)
    return tuple(str(target) for target in routes.match(row["type"]))


def _entry(row: Row) -> InboxEntry:
    outcome: str = row["outcome"] or ""
    return InboxEntry(
        seq=row["seq"],
        id=row["event_id"],
        type=row["type"],
        object_id=row["object_id"],
        received_at=row["received_at"],
        state=_STATES.get(outcome, outcome),
        copies=row["copies"],
        attempts=row["attempts"],
        status=row["status"],
        error=row["error"],
        target=row["target"],
        endpoint_id=row["endpoint_id"],
        targets=_targets(row),
    )


_COPIES_AT_ONCE: Final = 256
_COPIED_BYTES: Final = 8 * 1024 * 1024
# What listeners have read in a log is no copy of it; what was withheld belongs to another mode's
# log, if to any.
_COPIES = """
SELECT seq, received_at, headers, body FROM (
  SELECT i.seq, i.received_at, p.headers, p.body,
    SUM(LENGTH(p.body)) OVER (ORDER BY i.seq) - LENGTH(p.body) AS before
  FROM inbox i JOIN payloads p ON p.inbox_seq = i.seq JOIN listeners l ON l.id = i.listener
  WHERE l.origin = ? AND l.profile = ? AND l.mode = ? AND i.seq > ? AND i.received_at >= ?
    AND instr(l.scope, ?) = 0 AND i.outcome IS NOT 'withheld' AND i.outcome IS NOT 'reset'
  ORDER BY i.seq LIMIT ?
) WHERE before < ? ORDER BY seq"""


def copies(
    state: Database, origin: str, profile: str, mode: str, since: float
) -> Iterator[Delivery]:
    """Gives what the receivers of this machine have verified since then (unix seconds), in order.

    Raises:
        LocalError: the state database cannot be used.
    """
    seq = 0
    whose = (origin, profile, mode)
    while True:
        limits = (_COPIES_AT_ONCE, _COPIED_BYTES)
        rows = state.rows(_COPIES, (*whose, seq, since, READER, *limits))
        if not rows:
            return
        yield from map(_delivery, rows)
        seq = rows[-1]["seq"]


def _delivery(row: Row) -> Delivery:
    return Delivery(row["body"], row["headers"], row["received_at"], read_facts(row["body"]))
