"""Private files, which only the user may read, and atomic replacement of files (R66, R67).

Windows has no owner and mode of this kind. There all files of svc are in the user's profile folder,
which other users cannot enter, and nothing is checked.

Used wherever svc writes a file: `state`, `config`, the results of a batch, bug reports, the records
of running sandboxes.
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
    """Opens a file; a new one is private. Raises OSError for a link, unless `through_link`."""
    return os.open(path, flags | _BINARY | (0 if through_link else _NO_LINK), PRIVATE_FILE)


def keep_private(handle: int) -> None:
    """Removes all rights of other users to an open file."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, PRIVATE_FILE)


def make_private(folder: Path) -> None:
    """Creates a folder that only the user can enter, and missing parents likewise (R67)."""
    make_folder(folder, PRIVATE_FOLDER)


def make_folder(folder: Path, mode: int) -> None:
    """Creates a folder and missing parents, each with at most the rights of `mode`.

    `Path.mkdir` would create the parents with the rights of the umask (promise R104).
    """
    if os.path.lexists(folder):
        return
    make_folder(folder.parent, mode)
    with suppress(FileExistsError):  # another process was faster; callers check the owner
        folder.mkdir(mode)


def is_trusted(facts: os.stat_result) -> bool:
    """Whether the user or root owns a file; True if the system has no owners."""
    return is_mine(facts) or facts.st_uid == 0


def is_mine(facts: os.stat_result) -> bool:
    """Whether the user owns a file; True if the system has no owners."""
    return not _HAS_OWNERS or facts.st_uid == _POSIX.geteuid()


def others_may(facts: os.stat_result, what: int) -> bool:
    """Whether others have a right of `what`; False for links and if the system has no modes."""
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
    """Replaces a file atomically: other processes read the old or the new content (R66).

    `data` is the content, or a function that writes it. The new file is first written to `fresh`,
    which may overwrite the rest of a killed process, or else to an unused name. `lasts` waits for
    the disk.

    Raises:
        OSError: the file cannot be written; the old one is unchanged.
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
    """Renames a finished file to `path` atomically and durably (R66).

    Raises:
        OSError: the rename or its sync failed.
    """
    _replace(fresh, path)
    sync_folder(path.parent)


def _replace(fresh: Path, path: Path, sleep: Callable[[float], object] = time.sleep) -> None:
    """Renames a file over another.

    Windows refuses that while any program, such as an indexer, has the other file open: then it is
    retried for a second.
    """
    for _ in range(0 if _MOVES_OPEN_FILES else _TRIES):
        with suppress(PermissionError):
            fresh.replace(path)
            return
        sleep(_TRY_SECONDS)
    fresh.replace(path)


def sync(handle: int) -> None:
    """Syncs an open file, so that its content survives a power failure.

    On macOS a plain sync leaves the content in the disk's cache; a stronger call is used there.

    Raises:
        OSError: the disk fails.
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
    """Syncs the content of an open file without its times, if the system can separate them.

    Raises:
        OSError: the disk fails.
    """
    if hasattr(os, "fdatasync"):
        _POSIX.fdatasync(handle)
    else:
        sync(handle)


def sync_folder(folder: Path) -> None:
    """Syncs a folder, so that the names of its files survive a power failure, if possible.

    Raises:
        OSError: the folder cannot be read, or the disk fails.
    """
    if not _OPENS_FOLDERS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def advice(error: OSError) -> str | None:
    """The advice for an error of the file system, or None."""
    return _ADVICE.get(error.errno or 0)


def put_open_in_place(file: BinaryIO, fresh: Path, path: Path) -> BinaryIO:
    """Renames an open file to `path`; returns it open at its end. Raises as `put_in_place`."""
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
