"""Opens the state database: creates it, migrates it, and refuses a damaged or foreign file.

`Database.open` calls `open_database`: the path and the migration steps in, a SQLite connection out.
`BusyRetry` repeats statements while another process holds the database.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import Final, TypeVar

from svc.clock import Clock
from svc.errors import LocalError, system_words
from svc.state import files
from svc.state.schema import SchemaSteps
from svc.system.files import advice, put_in_place

_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_PRIMARY: Final = 0xFF  # extended codes keep the primary one in their lowest byte
_WORDS: Final = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and try again."),
    sqlite3.SQLITE_READONLY: ("it is read-only", "Make the file and its folder writable."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Check the folder's permissions."),
    sqlite3.SQLITE_BUSY: ("another svc process held it for over ten seconds", "Try again."),
    sqlite3.SQLITE_IOERR: ("the disk failed to read or write", "Check the disk and its space."),
}


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the file itself is damaged."""
    return isinstance(error, sqlite3.Error) and code_of(error) in _DAMAGE


def code_of(error: sqlite3.Error) -> int:
    """Returns SQLite's primary result code; an error of the Python module counts as damage."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        own = type(error) is sqlite3.DatabaseError
        return sqlite3.SQLITE_NOTADB if own else sqlite3.SQLITE_ERROR
    return int(code) & _PRIMARY


def _descriptor_limit() -> tuple[str, str | None] | None:
    """The message and hint if this process cannot open any further file, else None.

    SQLite does not report why it could not open a file.
    """
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as refused:
        return system_words(refused), advice(refused)
    return None


def local_error(error: sqlite3.Error) -> LocalError:
    """Converts an error of SQLite to a LocalError with a reason and a hint."""
    why, hint = _WORDS.get(code_of(error), (str(error), None))
    if code_of(error) == sqlite3.SQLITE_CANTOPEN and (limit := _descriptor_limit()):
        why, hint = limit
    return LocalError(f"The state database cannot be used: {why}.", hint=hint)


Found = TypeVar("Found")

SLICE_SECONDS: Final = 0.1  # what one statement waits by itself
BUSY_TIMEOUT_SECONDS: Final = 10.0  # promise R68
_PAUSE_SECONDS: Final = 0.01  # some locks are refused without any wait


class BusyRetry:
    """Repeats statements while the database is busy, for at most ten seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds = BUSY_TIMEOUT_SECONDS

    def shorten_timeout(self, seconds: float) -> None:
        """Repeats for at most `seconds` from now on: the process is about to end."""
        self._seconds = min(self._seconds, seconds)

    def run(self, step: Callable[[], Found]) -> Found:
        """Runs a step that is safe to run again after SQLITE_BUSY.

        Raises:
            sqlite3.Error: whatever the step raises; SQLITE_BUSY when the time is up.
        """
        until = self._clock.monotonic() + self._seconds
        while True:
            try:
                return step()
            except sqlite3.OperationalError as error:
                busy = code_of(error) == sqlite3.SQLITE_BUSY
                if not busy or self._clock.monotonic() >= until:
                    raise
            self._clock.sleep(_PAUSE_SECONDS)


DAMAGED: Final = "state_damaged"  # codes of errors
NEWER: Final = "state_newer"
_APPLICATION_ID: Final = 0x53766331  # marks the file as ours


def open_database(
    path: Path, clock: Clock, busy_retry: BusyRetry, steps: SchemaSteps, *, reading: bool
) -> sqlite3.Connection:
    """Connects to the database; creates or migrates it first if needed (R67, R68).

    `steps` are all migrations in order. With `reading` a database of a newer release is opened
    read-only: a migration removes no column.

    Raises:
        LocalError: other users can access the files; or the database is damaged (and has been
            moved aside), of another program, of a newer release, or gone without its log.
    """
    files.prepare_folder(path.parent)
    if not files.check_file(path):
        aside = files.set_aside_of(path)
        if aside:
            raise build_damaged(path, aside[-1], earlier=True)
        if files.has_log(path) and not files.check_file(path):  # no process has made one meanwhile
            raise LocalError(
                f"There is no state database {path}, but its log {path.name}-wal: requests "
                "without a known outcome may be recorded in it.",
                code=DAMAGED,
                hint="Put the database back; to begin without it, once you have looked at recent "
                "orders, refunds and payouts: svc requests start-empty",
            )
        create(path, clock, steps)
    try:
        return busy_retry.run(lambda: _up_to_date(path, clock, steps, reading=reading))
    except sqlite3.Error as error:
        if is_damage(error):
            raise set_damaged_aside(path, clock) from error
        raise


def connect(path: Path) -> sqlite3.Connection:
    """Connects to an existing file with the settings that every connection needs."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, timeout=SLICE_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        # Without it macOS leaves what was synced in the disk's own memory; no other system asks.
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        # Bodies hold bank accounts: what is forgotten is to be gone from the file as well.
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def set_damaged_aside(path: Path, clock: Clock, opened: files.FileId | None = None) -> LocalError:
    """Moves a damaged database aside, where its data is kept, and builds the error (R67).

    `opened` is the file that showed the damage: where another thread or process has moved it
    meanwhile, the error names its place.
    """
    with files.folder_lock(path.parent, clock):
        found = files.find_set_aside(path, opened)
        aside = files.set_aside(path) if found is None and _is_still_damaged(path) else found
    if aside is None:
        return LocalError(
            f"The state database {path} was damaged and has been replaced.",
            code=DAMAGED,
            hint="Run the command again.",
        )
    return build_damaged(path, aside)


def build_damaged(path: Path, aside: Path, *, earlier: bool = False) -> LocalError:
    """Builds the error of a database that was damaged and is kept aside, maybe since `earlier`.

    The damaged file may have requests without a known outcome, so svc stops until a person decides.
    """
    what = f"The state database {path} is damaged; it was moved to {aside.name}, unchanged."
    if earlier:
        what = (
            f"There is no state database {path}: a damaged one was moved to {aside.name}, and "
            "requests without a known outcome may be recorded in it."
        )
    return LocalError(
        what,
        code=DAMAGED,
        hint=f"To take over what can be read of it: svc requests adopt {quote(str(aside))}; to "
        "begin without it, once you have looked at recent orders, refunds and payouts: svc "
        "requests start-empty",
    )


def _is_still_damaged(path: Path) -> bool:
    """Checks the file again under the lock: another process may have replaced it already."""
    if not path.exists():
        return False
    try:
        with closing(connect(path)) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            return bool(verdict != "ok" or _header(connection)[0] == 0)
    except sqlite3.DatabaseError as error:
        return is_damage(error)


def _up_to_date(
    path: Path, clock: Clock, steps: SchemaSteps, *, reading: bool
) -> sqlite3.Connection:
    connection = connect(path)
    try:
        version = _version(connection, path)
        if version < len(steps):
            with files.folder_lock(path.parent, clock):
                version = _version(connection, path)  # a newer svc may have been here meanwhile
                if version <= len(steps):
                    _migrate(connection, steps)
        if version > len(steps):
            if not reading:
                raise _build_newer(path)  # noqa: TRY301  closed below, as for any reason
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def create(path: Path, clock: Clock, steps: SchemaSteps) -> None:
    """Builds a new database under another name and renames it, under a lock.

    Does nothing if another process has made one. Raises LocalError: it cannot be made.
    """
    with files.folder_lock(path.parent, clock):
        if files.check_file(path):
            return
        try:
            files.set_aside(path)  # a log left behind must not be played into a new database
            fresh = path.with_name(f"{path.name}.new")
            for leftover in ("", *files.COMPANIONS):
                Path(f"{fresh}{leftover}").unlink(missing_ok=True)
            files.create_private(fresh)
            with closing(connect(fresh)) as connection:
                # So that `svc state compact` can give pages back one by one.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL")
                _migrate(connection, steps)
            put_in_place(fresh, path)
        except OSError as error:
            raise files.local_error(f"The state database {path} cannot be made", error) from error


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    return (
        connection.execute("PRAGMA application_id").fetchone()[0],
        connection.execute("PRAGMA user_version").fetchone()[0],
    )


def _build_newer(path: Path) -> LocalError:
    return LocalError(
        f"The state database {path} was written by a newer svc. It records what was sent from "
        "here; requests without a known outcome may be among it, and this svc cannot tell them.",
        code=NEWER,
        hint="Upgrade svc, then see them: svc requests list --unresolved. Until then svc shows "
        "what the service has and sends nothing: it might send one of them a second time",
    )


def _version(connection: sqlite3.Connection, path: Path) -> int:
    application, version = _header(connection)
    if application == 0 and version == 0 and path.stat().st_size == 0:
        raise sqlite3.DatabaseError("the file is empty")
    if application != _APPLICATION_ID:
        raise LocalError(
            f"{path} is a database of another program.",
            hint="Move it away; svc makes its own where it was.",
        )
    return version


def _migrate(connection: sqlite3.Connection, steps: SchemaSteps) -> None:
    connection.execute("BEGIN IMMEDIATE")  # the caller closes it after an error, which undoes all
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for step in steps[version:]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(steps)}")
    connection.execute("COMMIT")
