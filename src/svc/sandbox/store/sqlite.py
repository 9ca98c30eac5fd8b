"""The sandbox's one SQLite file: its tables, opening, checking, transactions (promise R82).

`app` opens one `Store`; the neighbouring modules have the statements of their tables and run them
by it, `commit` begins and ends its transactions. A change of the tables needs a new VERSION and a
step of its own.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from svc.errors import LocalError, name_failure
from svc.sandbox.options import MEMORY
from svc.system import files

DISK_FULL: Final = "disk_full"  # the code of a LocalError
APPLICATION_ID: Final = 0x53564342  # "SVCB": tells our file from anybody else's
VERSION: Final = 1

# `docs.seq` is the creation sequence. It is no rowid alias on purpose: SQLite compares the pair
# (created, seq) inside an index only when both are ordinary columns, and pages would otherwise
# become slow where many documents share a second.
TABLES: Final = (
    """CREATE TABLE meta(
        name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE docs(
        id TEXT PRIMARY KEY, seq INTEGER NOT NULL, mode TEXT NOT NULL, kind TEXT NOT NULL,
        created TEXT NOT NULL, status TEXT, ord TEXT, payment TEXT, body TEXT NOT NULL)""",
    "CREATE INDEX docs_page ON docs(mode, kind, created, seq)",
    """CREATE INDEX docs_status ON docs(mode, kind, status, created, seq)
        WHERE status IS NOT NULL""",
    "CREATE INDEX docs_ord ON docs(mode, kind, ord, created, seq) WHERE ord IS NOT NULL",
    """CREATE INDEX docs_payment ON docs(mode, kind, payment, created, seq)
        WHERE payment IS NOT NULL""",
    """CREATE TABLE events(
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, mode TEXT NOT NULL, type TEXT NOT NULL,
        created INTEGER NOT NULL, body BLOB NOT NULL)""",
    "CREATE INDEX events_page ON events(mode, seq)",
    "CREATE INDEX events_type ON events(mode, type, seq)",
    """CREATE TABLE jobs(
        seq INTEGER PRIMARY KEY AUTOINCREMENT, due INTEGER NOT NULL, mode TEXT NOT NULL,
        name TEXT NOT NULL, subject TEXT NOT NULL, args TEXT NOT NULL, lane TEXT NOT NULL)""",
    "CREATE INDEX jobs_due ON jobs(lane, due, seq)",
    "CREATE INDEX jobs_subject ON jobs(subject, name)",
    """CREATE TABLE deliveries(
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, mode TEXT NOT NULL,
        event TEXT NOT NULL, type TEXT NOT NULL, endpoint TEXT NOT NULL, url TEXT NOT NULL,
        attempt INTEGER NOT NULL, status TEXT NOT NULL, due INTEGER NOT NULL, started INTEGER,
        code INTEGER, error TEXT, ms INTEGER, next INTEGER)""",
    "CREATE INDEX deliveries_page ON deliveries(mode, seq)",
    "CREATE INDEX deliveries_event ON deliveries(event, endpoint)",
    "CREATE INDEX deliveries_open ON deliveries(endpoint, event) WHERE status = 'pending'",
    """CREATE TABLE results(
        mode TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
        body BLOB NOT NULL, first_used INTEGER NOT NULL, PRIMARY KEY(mode, key))""",
    "CREATE INDEX results_age ON results(first_used)",
    """CREATE TABLE balances(
        mode TEXT NOT NULL, currency TEXT NOT NULL, amount INTEGER NOT NULL,
        PRIMARY KEY(mode, currency)) WITHOUT ROWID""",
)
# Which state this file has; a table of its own, since no export has it and a reset renews it.
INSTANCE: Final = "CREATE TABLE IF NOT EXISTS instance(id TEXT NOT NULL)"
DATA: Final = ("meta", "docs", "events", "jobs", "deliveries", "results", "balances")


_BUSY_MS: Final = 3000  # the time that a stopping sandbox may still hold the file
_PIECE_ROWS: Final = 50
_MAGIC: Final = b"SQLite format 3\0"

SqlRow = Sequence[Any]
Value = str | int | bytes | None


class Store:
    """One connection, used on one thread; WAL, every commit on disk before it returns.

    The file is held exclusively: two sandboxes on one file would each believe in their own clock.
    `sequence` is the creation sequence of the newest document; None until it is asked for, or told
    from the saved state: to look for it is to read through a million documents.
    """

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._db = connection
        self.path = path
        self.sequence: int | None = None

    @classmethod
    def open(cls, path: str, busy_ms: int = _BUSY_MS) -> "Store":
        """Opens or creates the file (mode 0600), or a database in memory for `:memory:`.

        `busy_ms` is how long another sandbox that holds the file is waited for.

        Raises:
            LocalError: if it cannot be opened, is in use, damaged, newer or no file of ours.
        """
        if path != MEMORY:
            _prepare_file(Path(path))
        try:
            connection = sqlite3.connect(path, isolation_level=None, timeout=busy_ms / 1000)
        except sqlite3.Error as error:
            raise _local(error, path) from error
        try:
            _set_up(connection, path)
            return cls(connection, path)
        except sqlite3.Error as error:
            connection.close()
            raise _local(error, path) from error
        except LocalError:
            connection.close()
            raise

    @property
    def is_new(self) -> bool:
        """True until something was written into it."""
        return self.one("SELECT 1 FROM meta LIMIT 1") is None

    def meta(self, name: str) -> str | None:
        """A value that the sandbox keeps by a name; None before it was ever kept."""
        row = self.one("SELECT value FROM meta WHERE name = ?", name)
        return None if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        """Stores a value under a name, inside the open transaction."""
        self.write("INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", name, value)

    def instance(self) -> str | None:
        """The id of the state that the file has; None before it was given one."""
        row = self.one("SELECT id FROM instance")
        return None if row is None else str(row[0])

    def set_instance(self, identity: str) -> None:
        """Gives the state an id in place of the one it had, inside the open transaction."""
        self.write("DELETE FROM instance")
        self.write("INSERT INTO instance VALUES(?)", identity)

    @property
    def changes(self) -> int:
        """Rows changed since the store was opened, those taken back included."""
        return self._db.total_changes

    def next_sequence(self) -> int:
        """The creation sequence of one more document."""
        self.sequence = (self.recount() if self.sequence is None else self.sequence) + 1
        return self.sequence

    def recount(self) -> int:
        """Sets the creation sequence behind the newest document, and returns it."""
        ((newest,),) = self.all("SELECT IFNULL(MAX(seq), 0) FROM docs")
        self.sequence = int(newest)
        return self.sequence

    def one(self, sql: str, *args: Value) -> SqlRow | None:
        """The first row, or None."""
        try:
            row: SqlRow | None = self._db.execute(sql, args).fetchone()
        except sqlite3.Error as error:
            raise _local(error, self.path) from error
        return row

    def all(self, sql: str, *args: Value) -> list[SqlRow]:
        """All rows."""
        try:
            return self._db.execute(sql, args).fetchall()
        except sqlite3.Error as error:
            raise _local(error, self.path) from error

    def page(
        self, table: str, columns: str, terms: dict[str, Value], limit: int, after: str | None
    ) -> tuple[list[SqlRow], bool]:
        """One page of a table that has `seq`, `id` and `mode`, newest first; and if more follow.

        `terms` are conditions, each with its value; the one of the mode is the first.

        Raises:
            KeyError: `after` names no row of this mode.
        """
        if after is not None:
            mode = terms["mode = ?"]
            row = self.one(f"SELECT seq FROM {table} WHERE id = ? AND mode = ?", after, mode)  # noqa: S608
            if row is None:
                raise KeyError(after)
            terms = {**terms, "seq < ?": row[0]}
        sql = f"SELECT {columns} FROM {table} WHERE {' AND '.join(terms)} ORDER BY seq DESC LIMIT ?"  # noqa: S608
        rows = self.all(sql, *terms.values(), limit + 1)
        return rows[:limit], len(rows) > limit

    def read_pieces(self, sql: str) -> Iterator[list[SqlRow]]:
        """All rows, some at a time; nothing may be written before the last one."""
        try:
            found = self._db.execute(sql)
            while rows := found.fetchmany(_PIECE_ROWS):
                yield rows
        except sqlite3.Error as error:
            raise _local(error, self.path) from error

    def write(self, sql: str, *args: Value) -> int:
        """Runs one change and says how many rows it touched."""
        try:
            return self._db.execute(sql, args).rowcount
        except sqlite3.Error as error:
            raise _local(error, self.path) from error

    def begin(self) -> None:
        """Begins a transaction."""
        self.write("BEGIN")

    def refuse_lost(self) -> None:
        """Raises LocalError: SQLite has given up the transaction, as it may on a full disk."""
        if not self._db.in_transaction:  # else SQLite would keep what comes next
            message = f"The disk of the sandbox file {self.path} is full, or cannot be written."
            raise LocalError(message, code=DISK_FULL)

    def commit(self) -> None:
        """Returns when the changes are on disk."""
        self.write("COMMIT")

    def rollback(self) -> None:
        if self._db.in_transaction:
            self.write("ROLLBACK")

    def wipe(self) -> None:
        """Empties every table, inside the open transaction."""
        for table in DATA:
            self.write(f"DELETE FROM {table}")  # noqa: S608  our own names
        self.write("DELETE FROM sqlite_sequence")  # jobs count anew too: an export shows it
        self.sequence = 0

    def close(self) -> None:
        self._db.close()


def _prepare_file(path: Path) -> None:
    """Creates the file for its owner alone, or checks the one that is there."""
    hint = "Give another one with --db FILE, or --db :memory:"
    with name_failure(f"The sandbox file {path} cannot be opened", hint=hint):
        files.make_private(path.parent)
        handle = files.open_private(path, os.O_RDWR | os.O_CREAT, through_link=True)
        try:
            files.keep_private(handle)
            head = os.read(handle, len(_MAGIC))
        finally:
            os.close(handle)
    if head not in (b"", _MAGIC):
        raise _foreign(str(path))


def _set_up(db: sqlite3.Connection, path: str) -> None:
    """Sets the connection up and, in an empty file, creates the tables."""
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    empty = _check_identity(db, path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    # What a statement keeps aside is in memory: in a file it costs as much as the commit, and
    # documents would stand in a folder for all.
    db.execute("PRAGMA temp_store = MEMORY")
    # 16 MB of log: copied four times as often, a page of an index would be copied for each order.
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("BEGIN IMMEDIATE")  # takes the exclusive lock now, not at the first request
    if empty:
        for statement in TABLES:
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute(INSTANCE)  # a file of an older svc has none
    db.execute("COMMIT")


def _check_identity(db: sqlite3.Connection, path: str) -> bool:
    """True for an empty database, false for one of ours; everything else is refused."""
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if (owner, version, tables) == (0, 0, 0):
        return True
    if owner != APPLICATION_ID:
        raise _foreign(path)
    if version != VERSION:
        raise LocalError(
            f"The sandbox file {path} has format {version}; this svc knows {VERSION} only.",
            hint="Update svc, or give another file with --db FILE",
        )
    return False


def _foreign(path: str) -> LocalError:
    return LocalError(
        f"The file {path} is not a sandbox file; it was left as it is.",
        hint="Give another one with --db FILE",
    )


def _local(error: sqlite3.Error, path: str) -> LocalError:
    text = str(error)
    if "locked" in text:
        return LocalError(
            f"The sandbox file {path} is in use by another sandbox.",
            code="sandbox_file_in_use",
            hint="Stop that one, or give another file with --db FILE",
        )
    if "is full" in text:
        return LocalError(f"The disk of the sandbox file {path} is full.", code=DISK_FULL)
    if "malformed" in text or "not a database" in text:
        return LocalError(f"The sandbox file {path} is damaged: {text}.")
    return LocalError(f"The sandbox file {path} cannot be used: {text}.")
