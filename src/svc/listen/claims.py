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
from itertools import count
from pathlib import Path

from svc.errors import LocalError
from svc.journal import State
from svc.system import files, locks


@dataclass(frozen=True, slots=True)
class Listening:
    """What makes two listeners the same: service, profile, mode, way in and events."""

    origin: str
    profile: str
    mode: str
    way: str
    events: tuple[str, ...]

    def scope(self, number: int) -> str:
        """Names the listener in the state database; `number` counts those that run at once."""
        parts = (self.origin, self.profile, self.mode, self.way, ",".join(self.events))
        return "|".join((*parts, str(number)))


@dataclass(frozen=True, slots=True)
class Claim:
    """A listener that is ours as long as this process lives; `port` is that of its last run."""

    scope: str
    port: int | None
    path: str


@contextmanager
def claimed(
    state: State, folder: Path, listening: Listening, new_path: Callable[[], str]
) -> Iterator[Claim]:
    """Claims the first listener of its kind that does not run.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    for number in count():
        scope = listening.scope(number)
        lock = _lock(folder, scope)
        if lock is None:
            continue
        try:
            yield _remembered(state, scope, listening, new_path)
        finally:
            os.close(lock)
        return


def last_endpoint(state: State, listening: Listening) -> str | None:
    """Gives the endpoint of the first listener of this kind, whether it runs or not."""
    rows = state.rows("SELECT endpoint_id FROM listeners WHERE scope = ?", (listening.scope(0),))
    return rows[0]["endpoint_id"] if rows else None


def remember(
    state: State, claim: Claim, port: int, endpoint_id: str | None, targets: Sequence[str]
) -> None:
    """Keeps what the next run and a replay need."""
    with state.write() as tx:
        tx.execute(
            "UPDATE listeners SET port = ?, endpoint_id = ?, targets = ? WHERE scope = ?",
            (port, endpoint_id, json.dumps(list(targets)), claim.scope),
        )


def _remembered(
    state: State, scope: str, listening: Listening, new_path: Callable[[], str]
) -> Claim:
    with state.write() as tx:
        tx.execute(
            "INSERT OR IGNORE INTO listeners (scope, origin, profile, mode) VALUES (?, ?, ?, ?)",
            (scope, listening.origin, listening.profile, listening.mode),
        )
        tx.execute(
            "UPDATE listeners SET path = ? WHERE scope = ? AND path IS NULL", (new_path(), scope)
        )
        [row] = tx.rows("SELECT port, path FROM listeners WHERE scope = ?", (scope,))
    return Claim(scope, row["port"], row["path"])


def _lock(folder: Path, scope: str) -> int | None:
    path = folder / hashlib.sha256(scope.encode()).hexdigest()[:32]
    try:
        folder.mkdir(mode=files.PRIVATE_FOLDER, parents=True, exist_ok=True)
        handle = files.open_private(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LocalError(f"The folder {folder} cannot be used: {reason}.") from error
    if locks.take(handle):
        return handle
    os.close(handle)
    return None
