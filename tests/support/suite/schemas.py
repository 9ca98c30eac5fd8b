"""State databases as copies of one: the ninety steps of the schema take longer than most commands.

The original makes the first of each process. What is not empty, and what has other steps than the
program's, it migrates itself; so does every process that is started and not forked.
"""

import sqlite3
import threading
from typing import Final

from svc.state import opening
from svc.state.schema import MIGRATIONS

migrate: Final = opening._migrate
_lock: Final = threading.Lock()
_made: Final[list[sqlite3.Connection]] = []


def copy_schemas() -> None:
    """From here on this process, and forks of it, copy the schema."""
    opening._migrate = _copy


def _copy(connection: sqlite3.Connection, steps: tuple[tuple[str, ...], ...]) -> None:
    if steps is not MIGRATIONS or connection.execute("PRAGMA page_count").fetchone()[0] > 1:
        migrate(connection, steps)
        return
    with _lock:
        if not _made:
            _made.append(sqlite3.connect(":memory:", check_same_thread=False))
            migrate(_made[0], steps)
        _made[0].backup(connection)
