"""Databases as copies of one: to make the tables takes longer than most of what is done with them.

The original makes the first of each process. A state database that is not empty, one with other
steps than the program's and a sandbox's file are made by the program's own steps; so is every
database of a process that is started and not forked.
"""

import sqlite3
import threading
from collections.abc import Callable
from typing import Final

from svc.sandbox.options import MEMORY
from svc.sandbox.store import sqlite as sandbox
from svc.state import opening
from svc.state.schema import MIGRATIONS

migrate: Final = opening._migrate
set_up: Final = sandbox._set_up
_lock: Final = threading.Lock()
_made: Final[dict[str, sqlite3.Connection]] = {}


def copy_schemas() -> None:
    """From here on this process, and forks of it, copy the schemas."""
    opening._migrate = _copy
    sandbox._set_up = _copy_sandbox


def _copy(connection: sqlite3.Connection, steps: tuple[tuple[str, ...], ...]) -> None:
    if steps is not MIGRATIONS or connection.execute("PRAGMA page_count").fetchone()[0] > 1:
        migrate(connection, steps)
        return
    _fill("state", connection, lambda first: migrate(first, steps))


def _copy_sandbox(db: sqlite3.Connection, path: str) -> None:
    if path != MEMORY:
        set_up(db, path)
        return
    db.execute("PRAGMA temp_store = MEMORY")
    _fill("sandbox", db, lambda first: set_up(first, path))


def _fill(
    name: str, connection: sqlite3.Connection, make: Callable[[sqlite3.Connection], None]
) -> None:
    with _lock:
        if name not in _made:
            _made[name] = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            make(_made[name])
        _made[name].backup(connection)
