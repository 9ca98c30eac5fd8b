"""The table of listeners: who kept what is in the inbox, and what each needs to run again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Final, NamedTuple

from svc.listen.inbox.inbox import Position
from svc.listen.inbox.ledger import PIECE_ROWS, close_for_reset
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
SELECT scope, endpoint_id, IIF(port IS NULL, '', targets) AS targets,
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
    """A listener that is ours as long as this process lives; `port` is that of its last run."""

    scope: str
    port: int | None
    path: str


def find_last_endpoint(state: Database, listening: Listening, targets: Sequence[str]) -> str | None:
    """Gives the endpoint of the listener of these targets, else the first; it may be running."""
    found, ours = list_known(state, listening).values(), json.dumps(list(targets))
    last = next((one for one in found if one.targets == ours), next(iter(found), None))
    return last.endpoint_id if last is not None else None


def count_pending(state: Database, claim: ListenerId) -> dict[str, int]:
    """Counts what earlier runs of a listener have left to forward, for each target."""
    rows = state.rows(_PENDING_AT, (claim.scope,))
    return {row["url"]: row["events"] for row in rows}


def begin_anew(state: Database, claim: ListenerId) -> None:
    """Keeps all that came before a sandbox was reset as that of a listener of the past.

    What was still to be forwarded is closed: the sandbox knows nothing of it any more. A process
    that was ended in the middle runs it again before it keeps anything else.
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
    """Keeps what the next run and a replay need."""
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


class PastListener(NamedTuple):
    """A listener that has run; `targets` in JSON; `list_waiting`: it has left events to forward."""

    endpoint_id: str | None
    targets: str
    waiting: bool


def list_known(state: Database, listening: Listening) -> dict[str, PastListener]:
    """Gives the listeners of a kind that have run or run now, by their scopes."""
    rows = state.rows(_KNOWN, (listening.origin, listening.profile, listening.mode))
    found = {
        row["scope"]: PastListener(row["endpoint_id"], row["targets"], bool(row["waiting"]))
        for row in rows
    }
    scopes = takewhile(found.__contains__, map(listening.scope, count()))
    return {scope: found[scope] for scope in scopes}


def load_remembered(
    state: Database, scope: str, listening: Listening, new_path: Callable[[], str]
) -> ListenerId:
    """Gives a listener as its last run has left it; one that never ran gets a path."""
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
    """A listener with so many events to forward, whether it runs or not."""

    scope: str
    port: int | None
    targets: tuple[str, ...]
    events: int


def list_waiting(state: Database, origin: str | None, profile: str, mode: str) -> list[Waiting]:
    """Gives the listeners of a profile, and of one origin if it is known, that have left some."""
    rows = state.rows(_PENDING, (profile, mode, origin, origin))
    return [
        Waiting(row["scope"], row["port"], tuple(json.loads(row["targets"])), row["waiting"])
        for row in rows
        if row["waiting"]
    ]


class PlaceInLog(NamedTuple):
    """What a listener has last read in a log, and the way there that it was last given.

    `in_use` is false of one whose log is to be looked at no more.
    """

    position: Position | None
    address: str | None
    in_use: bool


def places(state: Database, origin: str, profile: str, mode: str) -> dict[str, PlaceInLog]:
    """Gives the listeners of a profile by their scopes, and where those of logs are."""
    rows = state.rows(
        "SELECT scope, port, path, position_seq, position_id FROM listeners"
        " WHERE origin = ? AND profile = ? AND mode = ?",
        (origin, profile, mode),
    )
    return {
        row["scope"]: PlaceInLog(
            None if row["position_seq"] is None else position_of(row),
            row["path"],
            row["port"] is not None,
        )
        for row in rows
    }


def rename(state: Database, earlier: str, scope: str) -> None:
    """Has a listener be known by another name, unless there is one of that name."""
    with state.write() as tx:
        tx.execute("UPDATE OR IGNORE listeners SET scope = ? WHERE scope = ?", (scope, earlier))


def forget(state: Database, scopes: Sequence[str]) -> None:
    """Has the logs of these listeners be looked at no more, until they run again."""
    with state.write() as tx:
        tx.many("UPDATE listeners SET port = NULL WHERE scope = ?", [(one,) for one in scopes])


def remember_address(state: Database, claim: ListenerId, address: str) -> None:
    """Keeps the way to the log that a listener reads."""
    with state.write() as tx:
        tx.execute("UPDATE listeners SET path = ? WHERE scope = ?", (address, claim.scope))


def position_of(row: Row) -> Position:
    """Reads a row of the table."""
    return Position(row["position_seq"] or 0, row["position_id"] or "")


def number_of(state: Database, scope: str) -> int:
    """Gives the number of a listener, a new one for a scope that was never seen."""
    with state.write() as tx:
        tx.execute("INSERT OR IGNORE INTO listeners (scope) VALUES (?)", (scope,))
        rows = tx.rows("SELECT id FROM listeners WHERE scope = ?", (scope,))
    return int(rows[0]["id"])
