"""The table of listeners: each kept event belongs to one, and each can be run again.

A row has a listener's port, path, endpoint, targets and, for a reader of a log, its position.

`identity` claims a row when a listener starts; `svc events replay`, `svc events log` and `svc
doctor` read others.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Final, NamedTuple

from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.interfaces import Position
from svc.listen.inbox.ledger import close_for_reset
from svc.listen.inbox.runs import PIECE_ROWS
from svc.listen.inbox.statements import ENDS
from svc.listen.names import Listening, name_past
from svc.state import Database, Row

_PAST: Final = """
INSERT OR IGNORE INTO listeners (scope, origin, profile, mode, targets)
SELECT ?, origin, profile, mode, targets FROM listeners WHERE scope = ?"""
_MOVE: Final = """
UPDATE inbox SET listener = (SELECT id FROM listeners WHERE scope = ?)
WHERE listener = (SELECT id FROM listeners WHERE scope = ?) AND seq BETWEEN ? AND ?"""
_IS_OPEN: Final = """
FROM targets JOIN ledger ON target = targets.id AND state < 4
WHERE targets.listener = listeners.id"""
_KNOWN: Final = f"""
SELECT scope, endpoint_id, targets, port, path, position_seq, position_id,
  EXISTS (SELECT 1 {_IS_OPEN}) AS waiting
FROM listeners WHERE origin = ? AND profile = ? AND mode = ?"""  # noqa: S608  no input in it

_PENDING: Final = f"""
SELECT scope, port, targets, (SELECT COUNT(DISTINCT event) {_IS_OPEN}) AS waiting
FROM listeners WHERE profile = ? AND mode = ? AND (? IS NULL OR origin = ?)"""  # noqa: S608
_PENDING_AT: Final = """
SELECT url, COUNT(*) AS events FROM targets JOIN listeners ON listeners.id = targets.listener
  JOIN ledger ON target = targets.id AND state < 4
WHERE scope = ? GROUP BY targets.id ORDER BY targets.id"""


@dataclass(frozen=True, slots=True)
class ListenerId:
    """A listener that this process has claimed; `port` and `path` are those of its last run.

    `beside`: another of its kind, which some process runs, has the same targets.
    """

    scope: str
    port: int | None
    path: str
    beside: bool = False


def find_last_endpoint(state: Database, listening: Listening, targets: Sequence[str]) -> str | None:
    """Returns the endpoint of the listener with these targets, else of the first; or None.

    The listener may be running.
    """
    found, ours = list_known(state, listening).values(), json.dumps(list(targets))
    last = next((one for one in found if one.targets == ours), next(iter(found), None))
    return last.endpoint_id if last is not None else None


def count_pending(state: Database, claim: ListenerId) -> dict[str, int]:
    """Counts the events that earlier runs of a listener have not forwarded, by target."""
    rows = state.rows(_PENDING_AT, (claim.scope,))
    return {row["url"]: row["events"] for row in rows}


def archive_before_reset(state: Database, claim: ListenerId) -> None:
    """After a reset of the sandbox, moves a listener's earlier events to an archived listener.

    Forwards that were still open are closed, because their events no longer exist in the sandbox.
    If the process ends in the middle, the next run repeats it before it stores events.
    """
    with state.write() as tx:
        [ends] = tx.rows(ENDS)
        before = name_past(claim.scope, ends["last"])
        tx.execute(_PAST, (before, claim.scope))
    close_for_reset(state, claim.scope)
    for first in range(ends["first"], ends["last"] + 1, PIECE_ROWS):
        with state.write() as tx:
            last = min(first + PIECE_ROWS - 1, ends["last"])
            tx.execute(_MOVE, (before, claim.scope, first, last))


def remember(
    state: Database, claim: ListenerId, port: int, endpoint_id: str | None, targets: Sequence[str]
) -> None:
    """Stores the values that the next run and a replay need."""
    with state.write() as tx:
        tx.execute(
            "UPDATE listeners SET port = ?, endpoint_id = ?, targets = ? WHERE scope = ?",
            (port, endpoint_id, json.dumps(list(targets)), claim.scope),
        )
        # What was kept before a reset is sent again under the secret that the target knows by now.
        tx.execute(
            "UPDATE listeners SET endpoint_id = ? WHERE instr(scope, ?) = 1",
            (endpoint_id, name_past(claim.scope)),
        )


class KnownListener(NamedTuple):
    """A listener that has run.

    Attributes:
        targets: in JSON; empty if it has never got a port.
        waiting: whether events are left to forward.
        position: of the last event that it has read in a log; None for one that reads no log.
        address: the address of the log, as last given.
        in_use: False after `forget`: `svc doctor` no longer checks the log.
    """

    endpoint_id: str | None
    targets: str
    waiting: bool
    position: Position | None
    address: str | None
    in_use: bool


def list_listeners(
    state: Database, origin: str, profile: str, mode: str
) -> dict[str, KnownListener]:
    """Returns all listeners of a profile that have run or are running, by scope."""
    return {
        row["scope"]: KnownListener(
            row["endpoint_id"],
            row["targets"] if row["port"] is not None else "",
            bool(row["waiting"]),
            None if row["position_seq"] is None else position_of(row),
            row["path"],
            row["port"] is not None,
        )
        for row in state.rows(_KNOWN, (origin, profile, mode))
    }


def list_known(state: Database, listening: Listening) -> dict[str, KnownListener]:
    """Returns the listeners of a kind that have run or are running, by scope."""
    found = list_listeners(state, listening.origin, listening.profile, listening.mode)
    scopes = takewhile(found.__contains__, map(listening.scope, count()))
    return {scope: found[scope] for scope in scopes}


def load_remembered(
    state: Database, scope: str, listening: Listening, new_path: Callable[[], str]
) -> ListenerId:
    """Returns a listener with the port and path of its last run; creates it if it never ran."""
    with state.write() as tx:
        tx.execute(
            "INSERT OR IGNORE INTO listeners (scope, origin, profile, mode) VALUES (?, ?, ?, ?)",
            (scope, listening.origin, listening.profile, listening.mode),
        )
        tx.execute(
            "UPDATE listeners SET path = ? WHERE scope = ? AND path IS NULL", (new_path(), scope)
        )
        [row] = tx.rows("SELECT port, path FROM listeners WHERE scope = ?", (scope,))
    return ListenerId(scope, row["port"], row["path"])


class Waiting(NamedTuple):
    """A listener that has events left to forward, and their number."""

    scope: str
    port: int | None
    targets: tuple[str, ...]
    events: int


def list_waiting(state: Database, whose: InboxScope) -> list[Waiting]:
    """Returns the listeners that have events left to forward."""
    rows = state.rows(_PENDING, whose.values)
    return [
        Waiting(row["scope"], row["port"], tuple(json.loads(row["targets"])), row["waiting"])
        for row in rows
        if row["waiting"]
    ]


def forget(state: Database, scopes: Sequence[str]) -> None:
    """Marks listeners of logs as not in use, until they run again."""
    with state.write() as tx:
        tx.many("UPDATE listeners SET port = NULL WHERE scope = ?", [(one,) for one in scopes])


def remember_address(state: Database, claim: ListenerId, address: str) -> None:
    """Stores the address of the log that a listener reads."""
    with state.write() as tx:
        tx.execute("UPDATE listeners SET path = ? WHERE scope = ?", (address, claim.scope))


def position_of(row: Row) -> Position:
    """Reads the position in a log from a row of the table."""
    return Position(row["position_seq"] or 0, row["position_id"] or "")


def load_row_id(state: Database, scope: str) -> int:
    """Returns the row id of a listener; creates the row for a new scope."""
    with state.write() as tx:
        tx.execute("INSERT OR IGNORE INTO listeners (scope) VALUES (?)", (scope,))
        rows = tx.rows("SELECT id FROM listeners WHERE scope = ?", (scope,))
    return int(rows[0]["id"])
