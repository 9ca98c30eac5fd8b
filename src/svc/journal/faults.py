"""What SQLite's refusals mean for the user."""

import os
import sqlite3
from typing import Final

from svc.errors import LocalError
from svc.system.files import advice

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
    """Says whether the file itself is broken."""
    return isinstance(error, sqlite3.Error) and code_of(error) in _DAMAGE


def code_of(error: sqlite3.Error) -> int:
    """Gives SQLite's primary code; an error of the module's own counts as a broken file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        own = type(error) is sqlite3.DatabaseError
        return sqlite3.SQLITE_NOTADB if own else sqlite3.SQLITE_ERROR
    return int(code) & _PRIMARY


def _descriptor_limit() -> tuple[str, str | None] | None:
    """SQLite does not say why it could not open a file: looks whether this process may open any."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as refused:
        return os.strerror(refused.errno or 0).lower(), advice(refused)
    return None


def local_error(error: sqlite3.Error) -> LocalError:
    """Words any other refusal, for the one error boundary."""
    why, hint = _WORDS.get(code_of(error), (str(error), None))
    if code_of(error) == sqlite3.SQLITE_CANTOPEN and (limit := _descriptor_limit()):
        why, hint = limit
    return LocalError(f"The state database cannot be used: {why}.", hint=hint)
