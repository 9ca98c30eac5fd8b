"""Reads the inbox for commands: lists and finds kept deliveries, and records replays of them.

`svc events inbox`, `replay`, `svc timeline` and the inspector use an `InboxHistory`. A running
listener writes by `sqlite` instead.
"""

import fnmatch
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import groupby
from typing import Any, Final, NamedTuple

from svc.listen.inbox.event_ids import ROWS_OF_EVENT
from svc.listen.inbox.ledger import State, close_elsewhere
from svc.listen.inbox.statements import ENDS
from svc.listen.routes import Routes
from svc.state import Database, Row

_PAGE: Final = 200
_ABOUT_MOST: Final = 1_000
_ORIGINS: Final = (
    "SELECT origin FROM listeners WHERE profile = ? AND mode = ? AND origin <> ?"
    " GROUP BY origin ORDER BY MAX(id) DESC LIMIT 8"
)


@dataclass(frozen=True, slots=True)
class InboxScope:
    """Whose deliveries: those of one profile and mode, and of one origin if it is known."""

    profile: str
    mode: str
    origin: str | None

    @property
    def values(self) -> tuple[str | None, ...]:
        """The parameters of `profile = ? AND mode = ? AND (? IS NULL OR origin = ?)`."""
        return self.profile, self.mode, self.origin, self.origin


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which deliveries: those received `since` (unix seconds), whose type fits `glob`.

    `failed` and `pending` together ask for both; without either, all states are wanted. `meets`
    decides by the payload whether a delivery is wanted.
    """

    glob: str | None = None
    failed: bool = False
    since: float | None = None
    pending: bool = False
    meets: Callable[[bytes], bool] | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """The conditions of a search; an empty one does not narrow. `before` is a number of the inbox.

    `target` is a part of a target's address, `text` a part of anything that is shown of a delivery,
    both in upper or lower case; the others are whole values.
    """

    type: str = ""
    state: str = ""
    target: str = ""
    object: str = ""
    text: str = ""
    before: int | None = None


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


class FoundEntries(NamedTuple):
    """Entries that fit, the newest first; `older` is where the next page begins, if there is one.

    `unfinished`: the time was over before the page was full.
    """

    entries: list[InboxEntry]
    older: int | None
    unfinished: bool


@dataclass(frozen=True, slots=True)
class AtTarget:
    """What became of an event at one target.

    `state` is pending, waiting (an older event of its object is first), forwarded, failed,
    returned (another process of a group is to forward it) or reset (its sandbox was reset). `error`
    says why the target does not have it yet, `next_at` (unix seconds) when it is tried again; None
    where it is not, or as soon as the target can be reached.
    """

    url: str
    state: str
    attempts: int
    status: int | None
    error: str | None
    next_at: float | None

    @property
    def is_open(self) -> bool:
        """True while it is still to be forwarded."""
        return self.state in ("pending", "waiting")


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

    def entries(self, wanted: InboxFilter, *, oldest_first: bool = False) -> Iterator[InboxEntry]:
        """Yields entries, the newest first, in constant memory; later arrivals are left out."""
        [ends] = self._state.rows(ENDS)
        statements = self._choose_statements(wanted, "" if oldest_first else " DESC")
        found = merge(
            *(
                self._read_pages(each, wanted, ends, oldest_first=oldest_first)
                for each in statements
            ),
            key=lambda row: int(row["seq"]),
            reverse=not oldest_first,
        )
        for _, rows in groupby(found, lambda row: row["seq"]):  # failed there and pending here
            row = next(rows)
            if wanted.glob is not None and not fnmatch.fnmatchcase(row["type"], wanted.glob):
                continue
            entry = entry_from(row)
            if wanted.meets is None or wanted.meets(self.content(entry).body):
                yield entry

    def find(self, event_id: str) -> InboxEntry | None:
        """Returns the entry of one event, the newest if several listeners have it."""
        rows = self._state.rows(_BY_ID, (*self._whose.values, event_id, event_id, 1))
        return entry_from(rows[0]) if rows else None

    def find_origin_waiting(self) -> str | None:
        """The latest other origin of the profile and mode whose events are still to be forwarded.

        A sandbox that is started again on another port is one.
        """
        profile, mode, origin, _ = self._whose.values
        for row in self._state.rows(_ORIGINS, (profile, mode, origin)):
            there = InboxHistory(self._state, replace(self._whose, origin=row["origin"]))
            if next(there.entries(InboxFilter(pending=True)), None) is not None:
                return str(row["origin"])
        return None

    def about(self, object_ids: Sequence[str]) -> list[InboxEntry]:
        """Returns the entries of these objects, the oldest first."""
        given = ", ".join("?" * len(object_ids))
        values = (*self._whose.values, *object_ids, _ABOUT_MOST)
        rows = self._state.rows(build_query(f"AND i.object_id IN ({given})"), values)
        return [entry_from(row) for row in reversed(rows)]

    def search(
        self, wanted: SearchFilter, count: int, is_over: Callable[[], bool] = lambda: False
    ) -> FoundEntries:
        """Returns at most `count` entries, looked for until the time `is_over`.

        A text may stand in any payload, so a query goes over some thousand rows at a time; a page
        that is not full says where the next one goes on, so that every delivery can be reached.
        """
        [row] = self._state.rows(ENDS)
        first, last = row["first"], row["last"]
        before = last + 1 if wanted.before is None else min(wanted.before, last + 1)
        found: list[InboxEntry] = []
        while before > first and len(found) <= count:
            after = before - _ROWS_AT_ONCE
            values = (*_values(self._whose, wanted), after, before, count + 1 - len(found))
            found += [entry_from(row) for row in self._state.rows(_SEARCH, values)]
            before = after
            if before > first and len(found) <= count and is_over():
                return FoundEntries(found[:count], before, unfinished=True)
        older = found[count - 1].seq if len(found) > count else None
        return FoundEntries(found[:count], older, unfinished=False)

    def find_received_behind(self, seq: int) -> float | None:
        """Returns when the first entry from the number `seq` on was received (unix seconds)."""
        found = self._state.rows(_BEHIND, (seq,))
        return found[0]["received_at"] if found else None

    def content(self, entry: InboxEntry) -> Content:
        """Returns the bytes of an entry."""
        [row] = self._state.rows(
            "SELECT headers, body FROM payloads WHERE inbox_seq = ?", (entry.seq,)
        )
        return Content(row["headers"], row["body"])

    def at_targets(self, seq: int) -> list[AtTarget]:
        """Returns what became of an event at each of its targets."""
        return [
            AtTarget(
                url=row["url"],
                state=_AT_TARGET[State(row["state"])],
                attempts=row["attempts"],
                status=row["status"],
                error=row["error"] or (row["resting"] if row["state"] < State.LEFT else None),
                next_at=row["next_at"] if row["next_at"] > 0 else None,
            )
            for row in self._state.rows(_AT_TARGETS, (seq, seq))
        ]

    def forwards(self, entry: InboxEntry) -> list[Row]:
        """Returns all attempts of an entry, oldest first, as rows of the table."""
        return self._state.rows(_FORWARDS, (entry.seq, entry.seq))

    def targets_tried(self, entry: InboxEntry) -> list[Row]:
        """Returns each target that an event is for, then others that it was sent to.

        A row holds `url`, `forwarded` (1 where the listener forwards the event there) and `taken`
        (1 where the target has taken it).
        """
        return self._state.rows(_TRIED, (entry.seq, entry.seq))

    def begin_replay(self, seq: int, url: str) -> int:
        """Notes that an event is sent to a target now; returns how often that may have had it."""
        with self._state.write() as tx:
            [row] = tx.rows(_MAY_HAVE_HAD, (url, url, seq))
            tx.execute(_REPLAYING, (1, seq, url))
        return int(row["times"])

    def note_replays(
        self,
        seq: int,
        attempts: Sequence[tuple[str, float, Any]],
        *,
        taken: bool,
        pending: bool = False,
    ) -> None:
        """Records attempts of a replay; a target's 2xx closes an event whose forward had failed.

        Each attempt is (url, started_at, a `TargetReply`), and noted by `begin_replay`. With
        `pending` an event that is still to be forwarded is closed as well where it was taken.
        """
        with self._state.write() as tx:
            for url, started, reply in attempts:
                [row] = tx.rows(_LAST_REPLAY, (seq, url))
                result = (reply.milliseconds, reply.status, reply.error, reply.body)
                tx.execute(_NOTE, (seq, url, row["last"] + 1, started, *result))
                tx.execute(_REPLAYING, (min(reply.sent, 1) - 1, seq, url))
            took = [url for url, _, reply in attempts if reply.is_taken]
            open_too = (State.NEW, State.WAITS, State.LATER, State.LEFT) if pending else ()
            close_elsewhere(tx, seq, took, (State.FAILED, *open_too) if taken else ())

    def _choose_statements(self, wanted: InboxFilter, order: str) -> list[str]:
        """Returns the queries that find the wanted states, each by what has the fewest rows."""
        found = []
        if wanted.failed:
            source, which, key = _FAILED
            found.append(build_query(which, order, source, key))
        if wanted.pending:
            [row] = self._state.rows(_HAS_MANY_OPEN, (_FEW,))
            found.append(
                build_query(_BOUNDS + _IS_OPEN, order)
                if row["many"]
                else build_query(_BOUNDS, order, _OPEN)
            )
        return found or [build_query(_BOUNDS, order)]

    def _read_pages(
        self, statement: str, wanted: InboxFilter, ends: Row, *, oldest_first: bool
    ) -> Iterator[Row]:
        whose = (*self._whose.values, wanted.since or 0.0)
        first, last = ends["first"], ends["last"]
        while True:
            rows = self._state.rows(statement, (*whose, first, last, _PAGE))
            yield from rows
            if len(rows) < _PAGE:
                return
            if oldest_first:
                first = rows[-1]["seq"] + 1
            else:
                last = rows[-1]["seq"] - 1


_AT_TARGET: Final = {
    State.NEW: "pending",
    State.WAITS: "waiting",
    State.LATER: "pending",
    State.LEFT: "pending",
    State.DONE: "forwarded",
    State.FAILED: "failed",
    State.RETURNED: "returned",
    State.RESET: "reset",
}
# What is shown is chosen first and counted afterwards, in one pass over its targets and attempts.
# Beside a single MAX, SQLite takes the other columns from the row in which it stands.
_SHOWN: Final = """
WITH shown AS (
  SELECT i.seq, i.event_id, i.type, i.object_id, i.received_at, i.outcome, i.copies,
    l.endpoint_id, l.targets
  FROM {source} JOIN listeners l ON l.id = i.listener
  WHERE l.profile = ? AND l.mode = ? AND (? IS NULL OR l.origin = ?) {which}
  ORDER BY {key}{order} LIMIT ?),
there AS (
  SELECT event, MIN(state) AS low, MAX(state) AS high, SUM(attempts) AS tried
  FROM shown CROSS JOIN targets CROSS JOIN ledger ON target = targets.id AND event = shown.seq
  GROUP BY event),
attempts AS (
  SELECT seq, at, last_status AS status, error, url, 0 AS replays FROM shown CROSS JOIN targets
    CROSS JOIN ledger ON target = targets.id AND event = shown.seq AND (at NOTNULL OR error NOTNULL)
  UNION ALL
  SELECT seq, started_at, status, error, target, replay
  FROM shown CROSS JOIN forwards ON inbox_seq = seq),
last AS (
  SELECT seq, MAX(COALESCE(at, 0)), status, error, url, SUM(replays) AS replays
  FROM attempts GROUP BY seq)
SELECT shown.*, low, high, COALESCE(tried, 0) + COALESCE(replays, 0) AS attempts, status, error,
  url AS target
FROM shown LEFT JOIN there ON event = shown.seq LEFT JOIN last ON last.seq = shown.seq
ORDER BY shown.seq{order}"""
_FEW: Final = 5_000
_HAS_MANY_OPEN: Final = """
SELECT COUNT(*) > 0 AS many FROM (SELECT 1 FROM ledger WHERE state < 4 LIMIT 1 OFFSET ?)"""
_BOUNDS: Final = " AND i.received_at >= ? AND i.seq BETWEEN ? AND ?"
_IS_OPEN: Final = """
  AND EXISTS (SELECT 1 FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq
    WHERE state < 4)"""
_FAILED: Final = (
    "ledger INDEXED BY ledger_failed CROSS JOIN inbox i ON i.seq = event",
    " AND i.received_at >= ? AND event BETWEEN ? AND ? AND state > 4 AND state = 5 GROUP BY event",
    "event",
)
_OPEN: Final = """
(SELECT DISTINCT event FROM ledger WHERE state < 4) CROSS JOIN inbox i ON i.seq = event"""


def build_query(
    which: str, order: str = " DESC", source: str = "inbox i", key: str = "i.seq"
) -> str:
    """Builds the query of entries: those of `source` that fit a condition, by their `key`."""
    return _SHOWN.format(which=which, order=order, source=source, key=key)


_BY_ID: Final = build_query(f"AND i.seq IN ({ROWS_OF_EVENT})")
_AT_TARGETS: Final = """
SELECT url, state, attempts + COALESCE(replays, 0) AS attempts, next_at, resting,
  IIF(state = 4 AND COALESCE(last_status, 0) NOT BETWEEN 200 AND 299, took, last_status) AS status,
  IIF(state = 4, NULL, error) AS error
FROM targets CROSS JOIN ledger ON targets.id = ledger.target AND event = ?
LEFT JOIN (
  SELECT target AS there, COUNT(*) AS replays, MAX(IIF(status BETWEEN 200 AND 299, status, NULL))
    AS took FROM forwards WHERE inbox_seq = ? AND replay GROUP BY target
) ON there = url ORDER BY targets.id"""
# An attempt that was taken stands in the ledger alone.
_FORWARDS: Final = """
SELECT target AS url, status, milliseconds, attempt, replay, started_at, error, reply
FROM forwards WHERE inbox_seq = ?
UNION ALL
SELECT url, last_status, milliseconds, attempts, 0, at, error, COALESCE(reply, x'')
FROM targets CROSS JOIN ledger ON target = id AND event = ?
WHERE state = 4 AND last_status BETWEEN 200 AND 299
ORDER BY started_at"""
_TRIED: Final = """
SELECT url, MAX(forwarded) AS forwarded, MAX(taken) AS taken FROM (
  SELECT url, 1 AS forwarded, state = 4 AS taken, id AS place FROM targets
    CROSS JOIN ledger ON target = id AND event = ?
  UNION ALL
  SELECT target, 0, COALESCE(status BETWEEN 200 AND 299, 0), 1 << 62 FROM forwards
  WHERE inbox_seq = ?)
GROUP BY url ORDER BY MIN(place)"""
_ROWS_AT_ONCE: Final = 20_000
_BEHIND: Final = "SELECT received_at FROM inbox WHERE seq >= ? ORDER BY seq LIMIT 1"
# A run that was killed, or is under way, may have sent what it had read (`runs`). Where a target is
# not the listener's own, its replays tell.
_MAY_HAVE_HAD: Final = """
SELECT redelivered + COALESCE(
  (SELECT MAX(sent + (state IN (0, 2, 3) AND (next_at >= 0 OR running)
      AND event <= MAX(cut, CASE running WHEN 0 THEN 0 WHEN 1 THEN event ELSE running - 2 END)))
    FROM targets CROSS JOIN ledger ON target = id AND event = seq WHERE url = ?),
  (SELECT COUNT(*) FROM forwards WHERE inbox_seq = seq AND target = ? AND replay)) AS times
FROM inbox WHERE seq = ?"""
_REPLAYING: Final = """
UPDATE ledger SET sent = sent + ? WHERE event = ? AND target IN (
  SELECT id FROM targets WHERE url = ?)"""
_LAST_REPLAY: Final = (
    "SELECT COALESCE(MAX(attempt), 0) AS last FROM forwards"
    " WHERE inbox_seq = ? AND target = ? AND replay = 1"
)
_NOTE: Final = (
    "INSERT OR REPLACE INTO forwards (inbox_seq, target, attempt, replay, started_at,"
    " milliseconds, status, error, reply) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)"
)


def _values(whose: InboxScope, wanted: SearchFilter) -> tuple[object, ...]:
    target, text = wanted.target.lower(), wanted.text.lower()
    return (
        *whose.values,
        *(wanted.type, wanted.type, wanted.object, wanted.object),
        *(wanted.state, wanted.state, target, target, target),
        *(text, *[text] * 7),
    )


# The state of an event, as `history` names it: that of the target where it is least far, else the
# highest; without targets what it was kept as.
_STATE: Final = """(
  SELECT CASE WHEN MIN(state) IS NULL
      THEN CASE COALESCE(i.outcome, 'unrouted') WHEN 'unrouted' THEN 'kept' ELSE i.outcome END
    WHEN MIN(state) < 4 THEN 'pending'
    ELSE CASE MAX(state) WHEN 4 THEN 'forwarded' WHEN 5 THEN 'failed' WHEN 6 THEN 'returned'
      ELSE 'reset' END END
  FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq)"""
_SEARCH: Final = build_query(
    f"""AND (? = '' OR i.type = ?) AND (? = '' OR i.object_id = ?)
    AND (? = '' OR {_STATE} = ?)
    AND (? = ''
      OR EXISTS (SELECT 1 FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq
        WHERE instr(lower(url), ?))
      OR EXISTS (SELECT 1 FROM forwards f WHERE f.inbox_seq = i.seq AND instr(lower(f.target), ?)))
    AND (? = ''
      OR instr(lower(i.event_id || ' ' || i.type || ' ' || i.object_id), ?)
      OR EXISTS (SELECT 1 FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq
        WHERE instr(lower(url), ?) OR instr(lower(error), ?) OR CAST(last_status AS TEXT) = ?)
      OR EXISTS (SELECT 1 FROM forwards f WHERE f.inbox_seq = i.seq
        AND (instr(lower(f.error), ?) OR CAST(f.status AS TEXT) = ?))
      OR EXISTS (SELECT 1 FROM payloads p WHERE p.inbox_seq = i.seq
        AND instr(lower(CAST(p.body AS TEXT)), ?)))
    AND i.seq >= ? AND i.seq < ?"""  # noqa: S608  our own words
)


def entry_from(row: Row) -> InboxEntry:
    routes = Routes.read_back(json.loads(row["targets"]))
    return InboxEntry(
        seq=row["seq"],
        id=row["event_id"],
        type=row["type"],
        object_id=row["object_id"],
        received_at=row["received_at"],
        state=_state(row),
        copies=row["copies"],
        attempts=row["attempts"],
        status=row["status"],
        error=row["error"],
        target=row["target"],
        endpoint_id=row["endpoint_id"],
        targets=tuple(map(str, routes.match(row["type"]))),
    )


def _state(row: Row) -> str:
    if row["low"] is None:
        outcome = row["outcome"] or "unrouted"
        return "kept" if outcome == "unrouted" else str(outcome)
    return "pending" if row["low"] < State.DONE else _AT_TARGET[State(row["high"])]
