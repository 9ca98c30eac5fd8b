"""The open state database: read rows, and write in a transaction; from any thread.

`cli.framework.session` opens a `Database` where a command needs one: the endpoints and the inbox's
history get it open, the journal and a listener's inbox get the function that opens one.
`keys.facts` and `keys.age` open one for each use. It wraps one SQLite connection, waits while
another process writes, and turns SQLite's errors into LocalErrors; if one shows damage, it closes
the file and moves it aside (`.corrupt-N`, promise R67).
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from svc.clock import Clock
from svc.errors import LocalError, system_words, translate_errors
from svc.state import files, opening
from svc.state.opening import BusyRetry, open_database, set_damaged_aside
from svc.state.schema import MIGRATIONS, SchemaSteps
from svc.system.files import sync_folder

GONE: Final = "state_replaced"  # the code of the error
_LOG_PAGES_MAX: Final = 16_000  # 64 MB, unless the log was copied into the database before

_SPARE: Final = 16  # times what is set aside have to be free: others need the disk as well

Row = dict[str, Any]
SqlParams = Sequence[object]
Found = TypeVar("Found")
T = TypeVar("T")


class Tx:
    """One open transaction; it is committed when its `with` block ends without an error."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, params: SqlParams = ()) -> int:
        """Runs one statement and returns the number of rows that it changed."""
        return self._connection.execute(sql, params).rowcount

    def insert(self, sql: str, params: SqlParams = ()) -> int:
        """Runs an INSERT and returns the rowid of the last row that it added."""
        return self._connection.execute(sql, params).lastrowid or 0

    def many(self, sql: str, rows: Iterable[SqlParams]) -> int:
        """Runs one statement for each row and returns the number of rows that changed."""
        return self._connection.executemany(sql, rows).rowcount

    def run_apart(self, step: Callable[[], Found]) -> Found | LocalError:
        """Runs a step under a savepoint; a row that SQLite refuses rolls back only this step.

        That error is returned. A full disk and similar errors end the whole transaction.
        """
        self._connection.execute("SAVEPOINT apart")
        try:
            found = step()
        except (sqlite3.IntegrityError, sqlite3.DataError) as error:
            self._connection.execute("ROLLBACK TO apart")
            self._connection.execute("RELEASE apart")
            return LocalError(f"The state database does not take it: {error}.")
        self._connection.execute("RELEASE apart")
        return found

    def rows(self, sql: str, params: SqlParams = ()) -> list[Row]:
        """Reads rows within the transaction, with its own changes."""
        return self._connection.execute(sql, params).fetchall()


class Database:
    """The open database; every method may be called from any thread, and runs alone.

    A transaction that `write` has committed survives a power failure (SQLite WAL, synchronous FULL;
    promise R68). All methods raise LocalError for an error of the database.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, clock: Clock, busy_retry: BusyRetry
    ) -> None:
        self._connection = connection
        self._busy_retry = busy_retry
        self._connection.row_factory = _as_dict
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        # The log is read before this, so it is there: SQLite keeps it as long as we are connected.
        self._names = [f"{path}{suffix}" for suffix in ("", *files.COMPANIONS)]
        self._files = [*map(files.file_of, self._names)]
        self._log: SyncedLog | None = None

    @classmethod
    def open(
        cls, path: Path, *, clock: Clock, steps: SchemaSteps = MIGRATIONS, reading: bool = False
    ) -> Self:
        """Opens, creates or migrates the database by `steps`.

        With `reading` a database of a newer release of svc is opened too, read-only.

        Raises:
            LocalError: others can access it, or it is damaged, newer, busy, or cannot be created.
        """
        busy_retry = BusyRetry(clock)
        try:
            return cls(
                open_database(path, clock, busy_retry, steps, reading=reading),
                path,
                clock,
                busy_retry,
            )
        except sqlite3.Error as error:
            raise opening.local_error(error) from error

    def change(self, step: Callable[[Tx], Found]) -> Found:
        """Runs a step in a transaction, which is rolled back completely after any exception."""
        with self._lock, self._translate_errors():
            return self._run_step(lambda: self._busy_retry.run(self._begin), step)

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """Takes the write lock at once; commits and syncs at the end, or rolls back after an error.

        Use `change` if the same process writes again while it handles a signal: a signal between
        the lock and the block leaves the lock held until the traceback is deleted.
        """
        with self._lock, self._translate_errors():
            try:
                self._busy_retry.run(self._begin)
                yield Tx(self._connection)
                self._commit()
            except BaseException:
                self._undo()
                raise

    def write_at_once(self, step: Callable[[Tx], Found]) -> Found | None:
        """Runs a step in a transaction without waiting for the lock; None if it is taken.

        None also if SQLite refuses a row: all is rolled back, and the caller may find that row by
        `change` and `Tx.run_apart`.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:  # spelled out: a context manager costs as much as a statement
            return self._run_step(self._begin, step)
        except (sqlite3.IntegrityError, sqlite3.DataError):
            return None
        except sqlite3.Error as error:
            if opening.code_of(error) == sqlite3.SQLITE_BUSY:
                return None
            raise self._local_error(error) from error
        finally:
            self._lock.release()

    def sync_by_hand(self, sync: Callable[[int], None], room: int) -> None:
        """Syncs all further commits by `sync`, which gets the descriptor of the log.

        For systems where a plain sync reaches the disk. The caller calls `copy_log` now and then on
        another connection. `room` bytes are allocated for the log, if the disk has them and no
        other process is writing: syncing a growing file takes 1.5 times as long.
        """
        self.rows("PRAGMA synchronous = NORMAL")
        self.rows(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES_MAX}")
        self.rows("PRAGMA busy_timeout = 0")
        log = SyncedLog(self._path, sync)
        # No other process writes: without a way to reserve space, zeros are written.
        self.write_at_once(lambda _: log.reserve(room))
        self._log = log

    def rows(self, sql: str, params: SqlParams = ()) -> list[Row]:
        """Reads rows outside a transaction."""
        return self.read(sql, params, lambda row: row)

    def read(self, sql: str, params: SqlParams, build: Callable[[Row], T]) -> list[T]:
        """Reads rows outside a transaction; returns the result of `build` for each row."""
        with self._lock, self._translate_errors():
            return self._busy_retry.run(
                lambda: [build(row) for row in self._connection.execute(sql, params)]
            )

    def read_each(self, sql: str, params: SqlParams, use: Callable[[Row], object]) -> None:
        """Calls a function with each row of a snapshot, outside a transaction."""
        with self._lock, self._translate_errors():
            for row in self._busy_retry.run(lambda: self._connection.execute(sql, params)):
                use(row)

    def copy_log(self) -> None:
        """Copies the log into the database, so that the log starts again; does not block others."""
        self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def empty_log(self) -> None:
        """Moves the log into the database and truncates it.

        While another process reads the log, the log stays, and the last process that closes the
        database truncates it. Afterwards deleted content is overwritten in both files.
        """
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def free_pages(self, most: int) -> None:
        """Frees up to `most` unused pages; the file is shorter after its log is copied."""
        # `execute` ends it after one page, since it has no columns.
        script = f"PRAGMA incremental_vacuum({most})"
        with self._lock, self._translate_errors():
            self._busy_retry.run(lambda: self._connection.executescript(script))

    def check_in_place(self) -> None:
        """Checks that the open files are still the ones at their paths.

        Raises:
            LocalError: a file was deleted, moved or replaced meanwhile (promise R102), or moved
                aside as damaged.
        """
        if self._files[0] is None or [*map(files.file_of, self._names)] != self._files:
            aside = files.find_set_aside(self._path, self._files[0])
            if aside is not None:  # by another thread or process, which met the damage first
                raise opening.build_damaged(self._path, aside)
            raise LocalError(
                f"The state database {self._path}, or its log (-wal, -shm), was deleted or "
                "replaced while this command ran.",
                code=GONE,
                hint="What it knew of unresolved requests is lost: look at the service for recent "
                "orders, refunds and payouts before you run the command again",
            )

    def save_copy(self, seconds: float) -> str | None:
        """Copies the content of the open files to a new file beside the database; returns its name.

        None if it fails or takes longer than `seconds`: the content of a deleted file is then lost
        when the program ends.
        """
        until = self._clock.monotonic() + seconds

        def look(status: int, remaining: int, total: int) -> None:  # noqa: ARG001  sqlite3's
            if self._clock.monotonic() > until:
                raise TimeoutError

        with self._lock:
            return files.save_copy(
                self._path, lambda copy: self._connection.backup(copy, pages=1000, progress=look)
            )

    def shorten_timeout(self, seconds: float) -> None:
        """Waits at most `seconds` for other processes from now on: this one is to end (R78)."""
        self._busy_retry.shorten_timeout(seconds)

    def close(self) -> None:
        """Closes the file; the object cannot be used afterwards."""
        with self._lock:
            self._connection.close()
            if self._log is not None:
                self._log.close()
                self._log = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _run_step(self, begin: Callable[[], None], step: Callable[[Tx], Found]) -> Found:
        try:
            begin()  # inside, since a signal may come between this and what follows
            found = step(Tx(self._connection))
            self._commit()
        except BaseException:
            self._undo()
            raise
        return found

    def _commit(self) -> None:
        self._connection.execute("COMMIT")
        if self._log is not None:
            self._log.sync()

    def _undo(self) -> None:
        # A full disk makes SQLite undo by itself; a second ROLLBACK would only hide that error.
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(sqlite3.Error, self._local_error)

    def _local_error(self, error: sqlite3.Error) -> LocalError:
        if not opening.is_damage(error):
            return opening.local_error(error)
        with suppress(sqlite3.Error):
            self._connection.close()
        return set_damaged_aside(self._path, self._clock, self._files[0])


class NotSynced(LocalError):  # noqa: N818  it says what is the matter
    """A sync of the log failed: the last commits and all later ones may not be on the disk."""


class SyncedLog:
    """The open write-ahead log of a database, which svc syncs by itself, not SQLite.

    A transaction of a listener's inbox (`listen.inbox.sqlite`) stores many events; the database
    syncs the log after its commit, and then the senders get their answers.
    """

    def __init__(self, path: Path, sync: Callable[[int], None]) -> None:
        self._path = path
        self._sync = sync
        sync_folder(path.parent)  # SQLite leaves that to its own first sync of the log
        self._file = os.open(f"{path}-wal", os.O_RDWR)
        self._trouble = ""

    def reserve(self, room: int) -> None:
        """Allocates disk space for `room` bytes of log if the disk has plenty.

        The content stays. No other connection may write at the same time.
        """
        before = os.fstat(self._file).st_size
        posix: Any = os
        if not hasattr(os, "posix_fallocate"):  # macOS and Windows: it grows as it is written
            return
        try:
            free = posix.fstatvfs(self._file)
            if before < room and free.f_bavail * free.f_frsize >= _SPARE * room:
                posix.posix_fallocate(self._file, 0, room)
        except OSError:  # some systems keep what they could set aside of it
            os.ftruncate(self._file, before)

    def sync(self) -> None:
        """Syncs the log to the disk; after one failure every call raises.

        After a failed sync the system may have discarded the data, and a log with a gap is useless.
        """
        if not self._trouble:
            try:
                self._sync(self._file)
            except OSError as error:
                self._trouble = system_words(error)
        if self._trouble:
            raise NotSynced(
                f"The state database {self._path} did not reach the disk: {self._trouble}.",
                code="state_not_synced",
                hint="Check the disk before you run the command again.",
            )

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
