"""Private files: only the user may read them, and they are put in their place whole (R66, R67).

Windows knows no owner and mode of this kind: there the user's profile folder, in which all of ours
lie, is closed to others, and nothing is checked.
"""

import errno
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
OTHERS: Final = 0o077
_TRIES: Final = 20
_TRY_SECONDS: Final = 0.05
OTHERS_WRITE: Final = 0o022

_ADVICE: Final = {
    errno.ENOSPC: "Free some space and try again.",
    errno.EMFILE: "This process has too many files open: ulimit -n allows more.",
    errno.ENFILE: "The system has too many files open; try again later.",
    errno.EACCES: "Make it writable for this user.",
    errno.EROFS: "Make it writable.",
}
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows would translate the ends of lines
_POSIX: Final[Any] = os  # with what is not on every system
_HAS_OWNERS: Final = hasattr(os, "geteuid")
_OPENS_FOLDERS: Final = hasattr(os, "O_DIRECTORY")
_MOVES_OPEN_FILES: Final = _OPENS_FOLDERS  # Windows alone does neither


def open_private(path: Path, flags: int, *, through_link: bool = False) -> int:
    """Opens a file, a new one for the user alone, no symbolic link unless told; raises OSError."""
    return os.open(path, flags | _BINARY | (0 if through_link else _NO_LINK), PRIVATE_FILE)


def keep_private(handle: int) -> None:
    """Takes all rights to an open file from other users."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, PRIVATE_FILE)


def make_private(folder: Path) -> None:
    """Makes a folder that only the user can enter, and so those above it that are missing (R67)."""
    make_folder(folder, PRIVATE_FOLDER)


def make_folder(folder: Path, mode: int) -> None:
    """Makes a folder and those above it that are missing, each with the rights of `mode` at most.

    `Path.mkdir` would leave those above to the umask alone (promise R104).
    """
    if os.path.lexists(folder):
        return
    make_folder(folder.parent, mode)
    with suppress(FileExistsError):  # another process was faster; callers check the owner
        folder.mkdir(mode)


def is_trusted(facts: os.stat_result) -> bool:
    """Says whether the user or root owns what was looked at; true where owners are not known."""
    return is_mine(facts) or facts.st_uid == 0


def is_mine(facts: os.stat_result) -> bool:
    """Says whether the user owns what was looked at; true where owners are not known."""
    return not _HAS_OWNERS or facts.st_uid == _POSIX.geteuid()


def others_may(facts: os.stat_result, what: int) -> bool:
    """Says whether others have a right of `what`; false for links and where modes mean nothing."""
    means = _HAS_OWNERS and not stat.S_ISLNK(facts.st_mode)
    return means and bool(stat.S_IMODE(facts.st_mode) & what)


def replace_file(
    path: Path,
    data: bytes | Callable[[BinaryIO], None],
    *,
    mode: int = PRIVATE_FILE,
    fresh: Path | None = None,
    lasts: bool = True,
) -> None:
    """Writes a whole file, or has it written: others find the old or all of the new (R66).

    It is made beside its place: at `fresh`, where only the caller writes and the file of a killed
    process may go, else under a name that no file has. `lasts` waits for the disk.

    Raises:
        OSError: it cannot be written; what was there before is as it was.
    """
    if fresh is None:
        fresh = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    else:
        fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _NO_LINK, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(data, bytes):
                file.write(data)
            else:
                data(file)
            if lasts:
                file.flush()
                sync(handle)
        if lasts:
            put_in_place(fresh, path)
        else:
            _replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def put_in_place(fresh: Path, path: Path) -> None:
    """Puts a finished file in its place for good: others see the old one or the new one (R66).

    Raises:
        OSError: it could not be put there, or not for good.
    """
    _replace(fresh, path)
    sync_folder(path.parent)


def _replace(fresh: Path, path: Path, sleep: Callable[[float], object] = time.sleep) -> None:
    """Puts a file in the place of another.

    Windows refuses that while any program has the other one open, an indexer for one: then it is
    tried again for a second.
    """
    for _ in range(0 if _MOVES_OPEN_FILES else _TRIES):
        with suppress(PermissionError):
            fresh.replace(path)
            return
        sleep(_TRY_SECONDS)
    fresh.replace(path)


def sync(handle: int) -> None:
    """Has what was written to an open file survive a power cut.

    macOS leaves it in the disk's own memory unless it is asked for more.

    Raises:
        OSError: its disk fails.
    """
    with suppress(ImportError, AttributeError):  # Windows; all but macOS
        fcntl: Any = import_module("fcntl")
        try:
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        except OSError:  # a file system that does not know of it
            os.fsync(handle)
        return
    os.fsync(handle)


def sync_data(handle: int) -> None:
    """Does the same for a file's bytes alone, without its times, where the system tells them apart.

    Raises:
        OSError: its disk fails.
    """
    if hasattr(os, "fdatasync"):
        _POSIX.fdatasync(handle)
    else:
        sync(handle)


def sync_folder(folder: Path) -> None:
    """Has the names of the files in a folder survive a power cut, where the system can.

    Raises:
        OSError: it cannot be read, or its disk fails.
    """
    if not _OPENS_FOLDERS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def advice(error: OSError) -> str | None:
    """What a person can do about a file system's refusal; None where nothing helps."""
    return _ADVICE.get(error.errno or 0)


def put_open_in_place(file: BinaryIO, fresh: Path, path: Path) -> BinaryIO:
    """Puts an open file in its place and gives it back, at its end; raises as `put_in_place`."""
    file.flush()
    sync(file.fileno())
    if _MOVES_OPEN_FILES:
        put_in_place(fresh, path)
        return file
    file.close()
    put_in_place(fresh, path)
    again = os.fdopen(open_private(path, os.O_RDWR), "r+b")
    again.seek(0, os.SEEK_END)
    return again
