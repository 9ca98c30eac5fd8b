"""The files of the state database: private to the user, and never overwritten.

`opening` calls it before it connects, and moves a damaged file aside by it; `salvage` checks the
files by it, and `database` saves a copy of deleted ones. `svc requests` and `svc state` list the
files that were moved aside.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError, system_words
from svc.system import files, locks

_LOCK: Final = ".state.lock"
_LOCK_SECONDS: Final = 10.0
COMPANIONS: Final = ("-wal", "-shm")
FileId = tuple[int, int]  # its device and inode


def prepare_folder(folder: Path) -> None:
    """Creates the folder if it is missing and checks that only the user can enter it (R67).

    Raises:
        LocalError: the folder cannot be created, is no real folder, or others may read it.
    """
    try:
        files.make_private(folder)
        facts = folder.lstat()
    except OSError as error:
        raise local_error(f"The state folder {folder} cannot be used", error) from error
    if not stat.S_ISDIR(facts.st_mode):
        raise LocalError(
            f"The state folder {folder} is not a folder of its own.",
            hint="Remove what is there; svc makes the folder.",
        )
    _check_private(folder, facts, "700")


def check_file(path: Path) -> bool:
    """Whether the file exists; refuses a file that others may read (R67).

    Raises:
        LocalError: the file is a symbolic link, no plain file, or others may read it.
    """
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise local_error(f"The state database {path} cannot be read", error) from error
    if not stat.S_ISREG(facts.st_mode):
        raise LocalError(
            f"The state database {path} is not a plain file.",
            hint="Remove what is there; nothing was written through it.",
        )
    _check_private(path, facts, "600")
    return True


def create_private(path: Path) -> None:
    """Creates an empty file that only the user can read."""
    os.close(files.open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))


def set_aside_of(path: Path) -> list[Path]:
    """The damaged databases that were moved aside, oldest first (promise R67)."""
    names = path.parent.glob(f"{path.name}.corrupt-*")
    found = {each: each.name.rpartition("-")[2] for each in names}
    return sorted((each for each in found if found[each].isdigit()), key=lambda it: int(found[it]))


def has_log(path: Path) -> bool:
    """Whether something is recorded in the log of a database, be it there or not."""
    with suppress(OSError):
        return Path(f"{path}-wal").stat().st_size > 0
    return False


def file_of(name: str) -> FileId | None:
    """Which file has a name now; None if none has."""
    try:
        facts = os.stat(name)  # noqa: PTH116  a Path's costs twice as much, after each commit
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def find_set_aside(path: Path, file: FileId | None) -> Path | None:
    """Where a file lies that was open at `path`, if it was moved aside as damaged since."""
    found = (each for each in set_aside_of(path) if file is not None and file_of(str(each)) == file)
    return next(found, None)


def _find_free(path: Path, word: str) -> Path:
    found = (Path(f"{path}.{word}-{number}") for number in count(1))
    return next(one for one in found if not one.exists())


def set_aside(path: Path) -> Path | None:
    """Renames a database with its log files to the first free `.corrupt-N`; None if none exists."""
    aside, moved = _find_free(path, "corrupt"), None
    for suffix in ("", *COMPANIONS):
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
            moved = aside
    return moved


def save_copy(path: Path, fill: Callable[[sqlite3.Connection], None]) -> str | None:
    """Creates a database `.saved-N` beside `path`, which `fill` fills; None if it fails."""
    place = _find_free(path, "saved")
    try:
        create_private(place)
        with closing(sqlite3.connect(place)) as copy:
            fill(copy)
    except (OSError, sqlite3.Error, TimeoutError):
        place.unlink(missing_ok=True)
        return None
    return str(place)


@contextmanager
def folder_lock(folder: Path, clock: Clock) -> Iterator[None]:
    """Locks the folder while the block runs; the system releases it when the process dies.

    Raises:
        LocalError: another process held the lock for over ten seconds.
    """
    handle = locks.open_folder(folder, _LOCK)
    try:
        if not locks.take_within(handle, _LOCK_SECONDS, now=clock.monotonic, sleep=clock.sleep):
            raise LocalError(f"Another svc process holds {folder} for too long.")
        yield
    finally:
        os.close(handle)


def local_error(what: str, error: OSError) -> LocalError:
    """Converts an error of the file system to a LocalError."""
    return LocalError(f"{what}: {system_words(error)}.", hint=files.advice(error))


def _check_private(path: Path, facts: os.stat_result, mode: str) -> None:
    if not files.is_mine(facts):
        raise LocalError(f"{path} belongs to another user.", hint="Run svc as its owner.")
    if files.others_may(facts, files.OTHERS):
        raise LocalError(
            f"{path} can be read or changed by other users.",
            hint=f"Run: chmod {mode} '{path}'",
        )
