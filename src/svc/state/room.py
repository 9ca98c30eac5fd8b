"""Measures the disk space of the state database, and returns unused pages to the disk.

`svc state` shows how much space events, requests, batches and keys take, `svc state compact`
returns what is unused, and `svc doctor` says when that is worth it.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from svc.clock import Clock
from svc.errors import LocalError, translate_errors
from svc.state import opening
from svc.state.database import Database

_INCREMENTAL: Final = 2  # of PRAGMA auto_vacuum: pages can be given back one by one
# What a person calls it, and the tables that it stands in; the first has a row for each.
_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "events": (
        *("inbox", "payloads", "event_ids", "event_ids_end", "ledger", "forwards", "targets"),
        "listeners",
    ),
    "requests": ("requests", "forgotten"),
    "batches": ("batches", "reservations"),
    "keys": ("key_facts", "endpoints", "sandbox_keys", "reminders"),
}
_PAGES: Final = """
SELECT tbl_name AS name, sum(pgsize) AS bytes FROM dbstat JOIN sqlite_master USING (name)
WHERE aggregate = TRUE GROUP BY tbl_name"""
# So long a piece may hold up a delivery. Meanwhile SQLite copies the log by itself.
_PIECE_SECONDS: Final = 0.02
_PIECE_PAGES_MAX: Final = 2_000
# Less is soon used again; more than a part of the file is worth a command.
WORTH_BYTES: Final = 64 * 1024 * 1024
_WORTH_PART: Final = 4


class StateRoom(NamedTuple):
    """The bytes of a state database and of its log; `free` bytes are unused pages of `size`."""

    size: int
    free: int
    log: int

    @property
    def is_worth_compacting(self) -> bool:
        """Whether at least a quarter of the file is unused, and at least `WORTH_BYTES`."""
        return self.free >= max(WORTH_BYTES, self.size // _WORTH_PART)


def room_of(state: Database, path: Path) -> StateRoom:
    """Reads the sizes of the database and its log, without reading their content."""
    page = _pragma(state, "page_size")
    log = Path(f"{path}-wal")
    return StateRoom(
        page * _pragma(state, "page_count"),
        page * _pragma(state, "freelist_count"),
        log.stat().st_size if log.exists() else 0,
    )


def kinds_of(state: Database) -> list[dict[str, Any]]:
    """Measures each kind of content (events, requests ...) as `svc state` shows it, largest first.

    Reads the whole file. `bytes` is None if SQLite cannot report it.
    """
    sizes: dict[str, int] | None = None
    with suppress(LocalError):  # an SQLite that was built without it
        sizes = {row["name"]: row["bytes"] for row in state.rows(_PAGES)}
    found = [
        {
            "name": kind,
            **state.rows(f"SELECT count(*) AS rows FROM {tables[0]}")[0],  # noqa: S608  ours
            "bytes": None if sizes is None else sum(sizes.get(table, 0) for table in tables),
        }
        for kind, tables in _KINDS.items()
    ]
    return sorted(found, key=lambda one: -(one["bytes"] or 0))


def can_return_pages(state: Database) -> bool:
    """Whether the file can return single pages; an older file needs `rebuild` once."""
    return _pragma(state, "auto_vacuum") == _INCREMENTAL


def return_pages(state: Database, clock: Clock) -> None:
    """Returns the unused pages to the disk, in steps that block other processes only briefly.

    After each step it waits as long as the step has taken.
    """
    left, piece = _pragma(state, "freelist_count"), 64
    while left > 0:
        started = clock.monotonic()
        state.free_pages(piece)
        took = clock.monotonic() - started
        left -= piece
        clock.sleep(took)
        faster = 2 if took < _PIECE_SECONDS / 2 else 0.5 if took > _PIECE_SECONDS else 1
        piece = max(8, min(_PIECE_PAGES_MAX, int(piece * faster)))
    state.copy_log()  # not emptied: a listener has set room aside for it


def rebuild(path: Path) -> None:
    """Writes the file anew, which returns all unused pages and makes `return_pages` possible.

    Raises:
        LocalError: another process uses it (code `state_in_use`), or the disk has no room for it.
    """
    with translate_errors(sqlite3.Error, _not_rebuilt), closing(opening.connect(path)) as alone:
        alone.execute("PRAGMA locking_mode = EXCLUSIVE")
        alone.execute(f"PRAGMA auto_vacuum = {_INCREMENTAL}")
        alone.execute("VACUUM")
        alone.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _not_rebuilt(error: sqlite3.Error) -> LocalError:
    if opening.code_of(error) != sqlite3.SQLITE_BUSY:
        return opening.local_error(error)
    return LocalError(
        "The state database is of an older form, which can be compacted only while no other "
        "command uses it. Nothing was given back.",
        code="state_in_use",
        hint="End what runs (svc events listen, svc batch), then: svc state compact; from then on "
        "it works beside them",
    )


def _pragma(state: Database, name: str) -> int:
    value = state.rows(f"PRAGMA {name}")[0][name]
    assert isinstance(value, int)
    return value
