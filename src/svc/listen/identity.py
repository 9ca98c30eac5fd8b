"""Which listener this is: it keeps its port, path and inbox from run to run.

Two listeners that run at once are two, each with an endpoint of its own; the system frees a claim
when its process dies.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Final, NamedTuple

from svc.errors import LocalError, system_words
from svc.listen.names import Listening, past
from svc.state import Database
from svc.system import files, locks


@dataclass(frozen=True, slots=True)
class ListenerId:
    """A listener that is ours as long as this process lives; `port` is that of its last run."""

    scope: str
    port: int | None
    path: str


@contextmanager
def claimed(
    state: Database,
    folder: Path,
    listening: Listening,
    new_path: Callable[[], str],
    targets: Sequence[str] = (),
    waiting: Callable[[], object] = lambda: None,
) -> Iterator[ListenerId]:
    """Claims a listener of its kind that does not run, by preference that of the same targets.

    Waits while another program sends what is pending; `waiting` is called once before.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    with _gate(folder) as gate:
        if not locks.take(gate):
            waiting()
            locks.wait_for(gate)
        lock, claim = _claim(state, folder, listening, new_path, targets)
    try:
        yield claim
    finally:
        os.close(lock)


@contextmanager
def held_back(folder: Path) -> Iterator[bool]:
    """Lets no listener start for the length of the block; false where somebody else does that.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    with _gate(folder) as gate:
        yield locks.take(gate)


@dataclass(frozen=True, slots=True)
class Running:
    """A listener that another process runs: its port and where it forwards to."""

    port: int | None
    targets: tuple[str, ...]


def running_with_pending(
    state: Database, folder: Path, origin: str | None, profile: str, mode: str
) -> Running | None:
    """Gives a listener that lives and has events to forward, if there is one.

    Only for whoever has held all of them back: one that starts would be taken for another.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    for row in state.rows(_PENDING, (profile, mode, origin, origin)):
        if _runs(folder, row["scope"]):
            return Running(row["port"], tuple(json.loads(row["targets"])))
    return None


def left_pending(state: Database, folder: Path, origin: str | None, profile: str, mode: str) -> int:
    """Counts the events that wait to be forwarded by listeners that do not run.

    Only for whoever has held all of them back, as above.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    rows = state.rows(_PENDING, (profile, mode, origin, origin))
    return sum(row["waiting"] for row in rows if not _runs(folder, row["scope"]))


def _runs(folder: Path, scope: str) -> bool:
    lock = _lock(folder, scope)
    if lock is None:
        return True
    os.close(lock)
    return False


def last_endpoint(state: Database, listening: Listening, targets: Sequence[str] = ()) -> str | None:
    """Gives the endpoint of the listener of these targets, else the first; it may be running."""
    known, ours = _known(state, listening).values(), json.dumps(list(targets))
    last = next((one for one in known if one.targets == ours), next(iter(known), None))
    return last.endpoint_id if last is not None else None


def pending(state: Database, claim: ListenerId) -> int:
    """Counts what earlier runs of a listener have left to forward."""
    [row] = state.rows(
        "SELECT COUNT(*) AS waiting FROM inbox JOIN listeners ON listeners.id = listener"
        " WHERE scope = ? AND outcome IS NULL",
        (claim.scope,),
    )
    return int(row["waiting"])


def begin_anew(state: Database, claim: ListenerId) -> None:
    """Keeps all that came before a sandbox was reset as that of a listener of the past.

    What was still to be forwarded is closed: the sandbox knows nothing of it any more.
    """
    with state.write() as tx:
        [row] = tx.rows("SELECT COALESCE(MAX(seq), 0) AS last FROM inbox", ())
        before = past(claim.scope, row["last"])
        tx.execute(_PAST, (before, claim.scope))
        tx.execute(_MOVE, (before, claim.scope))


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
            (endpoint_id, past(claim.scope)),
        )


@contextmanager
def _gate(folder: Path) -> Iterator[int]:
    """Opens the file whose lock everyone has who claims listeners or looks which of them run."""
    handle = _open(folder, _GATE)
    try:
        yield handle
    finally:
        os.close(handle)


def _claim(
    state: Database,
    folder: Path,
    listening: Listening,
    new_path: Callable[[], str],
    targets: Sequence[str],
) -> tuple[int, ListenerId]:
    for scope in _candidates(state, listening, targets):
        lock = _lock(folder, scope)
        if lock is not None:
            try:
                return lock, _remembered(state, scope, listening, new_path)
            except BaseException:
                os.close(lock)
                raise
    raise AssertionError("there is always a new one")


def _candidates(state: Database, listening: Listening, targets: Sequence[str]) -> Iterator[str]:
    """Gives the listener of these targets, those with events left to forward, the rest, new ones.

    Of two that ran at once and were stopped, each has its own command forward what it has left.
    """
    known = _known(state, listening)
    ours = json.dumps(list(targets))
    yield from sorted(known, key=lambda one: (known[one].targets != ours, not known[one].waiting))
    yield from map(listening.scope, count(len(known)))


class _Past(NamedTuple):
    """A listener that has run; `waiting`: it has left events to forward."""

    endpoint_id: str | None
    targets: str
    waiting: bool


def _known(state: Database, listening: Listening) -> dict[str, _Past]:
    rows = state.rows(_KNOWN, (listening.origin, listening.profile, listening.mode))
    found = {
        row["scope"]: _Past(row["endpoint_id"], row["targets"], bool(row["waiting"]))
        for row in rows
    }
    scopes = takewhile(found.__contains__, map(listening.scope, count()))
    return {scope: found[scope] for scope in scopes}


_GATE: Final = "gate"
_PAST: Final = """
INSERT OR IGNORE INTO listeners (scope, origin, profile, mode, targets)
SELECT ?, origin, profile, mode, targets FROM listeners WHERE scope = ?"""
_MOVE: Final = """
UPDATE inbox SET listener = (SELECT id FROM listeners WHERE scope = ?),
  outcome = COALESCE(outcome, 'reset')
WHERE listener = (SELECT id FROM listeners WHERE scope = ?)"""
_KNOWN: Final = """
SELECT scope, endpoint_id, IIF(port IS NULL, '', targets) AS targets, EXISTS (
  SELECT 1 FROM inbox WHERE listener = listeners.id AND outcome IS NULL
) AS waiting
FROM listeners WHERE origin = ? AND profile = ? AND mode = ?"""

_PENDING: Final = """
SELECT scope, port, targets, COUNT(*) AS waiting
FROM listeners JOIN inbox ON listener = listeners.id AND outcome IS NULL
WHERE profile = ? AND mode = ? AND (? IS NULL OR origin = ?)
GROUP BY listeners.id"""


def _remembered(
    state: Database, scope: str, listening: Listening, new_path: Callable[[], str]
) -> ListenerId:
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


def _lock(folder: Path, scope: str) -> int | None:
    handle = _open(folder, hashlib.sha256(scope.encode()).hexdigest()[:32])
    if locks.take(handle):
        return handle
    os.close(handle)
    return None


def _open(folder: Path, name: str) -> int:
    try:
        files.make_private(folder)
        return files.open_private(folder / name, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        reason = system_words(error)
        raise LocalError(f"The folder {folder} cannot be used: {reason}.") from error
