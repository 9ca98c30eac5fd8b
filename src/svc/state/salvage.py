"""Recovers a damaged state database, or creates an empty one instead.

A damaged database is moved aside until a person decides: with an empty one svc would know of no
unresolved request, and could send one a second time (promise R67).

The commands `svc requests adopt` (copy what is readable of a damaged file) and `svc requests
start-empty` call it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.state import files, opening
from svc.state.schema import MIGRATIONS, SET_KINDS

_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
# A damaged page ends a scan: what lies behind it is read from the other end.
_ENDS: Final = ("", " ORDER BY rowid DESC")


def begin_empty(path: Path, clock: Clock) -> tuple[Path, ...]:
    """Creates an empty state database; returns the paths of the damaged ones, moved aside earlier.

    Raises:
        LocalError: there is a state database, or no damaged one.
    """
    aside = tuple(files.set_aside_of(path))
    if files.check_file(path):
        raise LocalError(f"{path} is there and is not damaged.", code="state_present")
    files.prepare_folder(path.parent)
    opening.create(path, clock, MIGRATIONS)
    return aside


def adopt(path: Path, source: Path, clock: Clock) -> tuple[dict[str, int], list[str]]:
    """Copies all readable rows of `source` to the state database `path`, made if it is missing.

    A row that `path` has already stays as it is. Returns the number of copied rows by table, and
    the tables with rows that could not be read.

    Raises:
        LocalError: the source is no state database of svc, or the state database cannot be created.
    """
    files.prepare_folder(path.parent)
    with closing(_open_source(source)) as other:
        if not _has_requests(other):
            raise LocalError(
                f"No request can be read of {source}. Nothing was taken over.",
                code="state_unreadable",
                param="FILE",
                hint="To begin without it, once you have looked at recent orders, refunds and "
                "payouts: svc requests start-empty",
            )
        if not files.check_file(path):
            opening.create(path, clock, MIGRATIONS)
        return _copy_tables(path, other)


def _copy_tables(path: Path, other: sqlite3.Connection) -> tuple[dict[str, int], list[str]]:
    with closing(opening.connect(path)) as own:
        rows: dict[str, int] = {}
        damaged: list[str] = []
        own.execute("BEGIN IMMEDIATE")
        for (table,) in own.execute(_TABLES).fetchall():
            taken, is_whole = _copy_table(own, other, table)
            rows[table] = taken
            if not is_whole:
                damaged.append(table)
        own.execute(SET_KINDS)
        own.execute("COMMIT")
    return rows, damaged


def _open_source(source: Path) -> sqlite3.Connection:
    try:
        uri = f"{source.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        raise LocalError(
            f"{source} cannot be opened: {error}.", code="state_unreadable", param="FILE"
        ) from error
    return connection


def _has_requests(other: sqlite3.Connection) -> bool:
    """Whether a request can be read, or there is none."""
    reading = _Reading()
    select = "SELECT body FROM requests NOT INDEXED"
    return any(row for order in _ENDS for row in reading.rows(other, select + order)) or (
        reading.is_whole
    )


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    with suppress(sqlite3.DatabaseError):
        return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    return []


def _copy_table(own: sqlite3.Connection, other: sqlite3.Connection, table: str) -> tuple[int, bool]:
    """Copies the readable rows of a table; returns their number, and whether these are all rows."""
    theirs = set(_columns(other, table))
    columns = [name for name in _columns(own, table) if name in theirs]
    if not columns:
        return 0, bool(theirs)
    named = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    insert = f'INSERT OR IGNORE INTO "{table}" ({named}) VALUES ({marks})'  # noqa: S608  names of tables
    select = f'SELECT {named} FROM "{table}"'  # noqa: S608  the same
    if table == "requests":  # known by their ids: the numbers are taken where both were in use
        ((last,),) = own.execute("SELECT coalesce(max(seq), 0) FROM requests")
        select = select.replace('"seq"', f'"seq" + {last}', 1)
    whole = _Reading()
    before = own.total_changes
    for order in _ENDS:
        for row in whole.rows(other, select + order):
            own.execute(insert, row)
        if whole.is_whole:
            break
    return own.total_changes - before, whole.is_whole


class _Reading:
    """Reads rows from one end up to the first damaged page."""

    is_whole = False

    def rows(self, connection: sqlite3.Connection, select: str) -> Iterator[tuple[object, ...]]:
        try:
            yield from connection.execute(select)
        except sqlite3.DatabaseError:
            return
        self.is_whole = True
