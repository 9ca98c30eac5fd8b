"""Locks on open files, each held until the file is closed or its process dies.

POSIX has `flock`. Windows locks ranges of bytes: svc uses a range far behind the end of its files,
so that their content stays readable. The holder of a lock has locked the whole range. A process
that tests the lock locks one random byte of it, so that two processes that test at once do not
mistake each other for the holder. (SQLite did the same on systems without shared locks.)

Used to tell a living process from a dead one (`sender_locks`, `listen.identity`, records of
sandboxes, folders of `svc quickstart`) and to let one process at a time write (`config.editing`,
`state.files`).
"""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from svc.system import signals
from svc.system.files import is_mine, keep_private, open_private

fcntl: Any
try:
    fcntl = import_module("fcntl")
except ImportError:  # Windows
    fcntl = None

_HAS_FLOCK: Final = fcntl is not None
_START: Final = 1 << 30  # bytes from the beginning of the file
_COUNT: Final = 1 << 30
_PAUSE_SECONDS: Final = 0.02
_TRIES: Final = 50
_HELD: Final = (errno.EACCES, errno.EDEADLK)


def wait_for(handle: int) -> None:
    """Takes the lock of an open file; waits while another process holds it.

    Raises:
        Stopped: a signal came.
        OSError: the file system does not support locks.
    """
    while not take(handle):
        signals.sleep(_PAUSE_SECONDS)


def take(handle: int) -> bool:
    """Takes the lock of an open file if it is free; returns whether it was.

    Raises:
        OSError: the file system does not support locks.
    """
    if not _HAS_FLOCK:
        return _lock_bytes(handle, "LK_NBLCK", _START, _COUNT)
    return _flock(handle, fcntl.LOCK_EX)


def take_within(
    handle: int, seconds: float, *, now: Callable[[], float], sleep: Callable[[float], object]
) -> bool:
    """Takes the lock of an open file; waits at most `seconds`. Returns whether it has the lock.

    `now` is a monotonic clock in seconds, and `sleep` waits by it.

    Raises:
        OSError: the file system does not support locks.
    """
    until = now() + seconds
    while not take(handle):
        if now() > until:
            return False
        sleep(_PAUSE_SECONDS)
    return True


def is_free(handle: int) -> bool:
    """Whether no process holds the lock; if so, none can take it until the file is closed.

    Raises:
        OSError: the file system does not support locks.
    """
    if not _HAS_FLOCK:
        one = _START + int.from_bytes(os.urandom(8), "big") % _COUNT
        return _lock_bytes(handle, "LK_NBLCK", one, 1)
    return _flock(handle, fcntl.LOCK_SH)


def close_and_remove(handle: int, path: Path) -> None:
    """Removes a file whose lock this process holds or tests, and closes it.

    Where an open file can be removed, no process ever finds the file with a free lock. Otherwise,
    or if the folder forbids it, an unlocked file may remain, which stands for a dead process.
    """
    if not _HAS_FLOCK:
        os.close(handle)
    with suppress(OSError):
        path.unlink()
    if _HAS_FLOCK:
        os.close(handle)


def open_folder(folder: Path, name: str) -> int:
    """Opens a folder for locking, or the file `name` in it on Windows, where folders do not open.

    Raises:
        OSError: the folder or the file cannot be opened.
    """
    if not _HAS_FLOCK:
        return open_private(folder / name, os.O_RDWR | os.O_CREAT)
    return os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


def hold(path: Path) -> int:
    """Creates a private file and locks it: while it is locked, other processes know this one lives.

    If another process has the lock, it is removing the file of a dead process: then the file is
    created again. Release it by `close_and_remove`.

    Raises:
        OSError: the file cannot be created, or the file system does not support locks.
    """
    for _ in range(_TRIES):
        handle = open_private(path, os.O_RDWR | os.O_CREAT)
        try:
            wait_for(handle)
            if _is_at(handle, path):
                os.ftruncate(handle, 0)
                keep_private(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another process removed it between our opening and locking
    raise OSError(0, "it is removed again and again")


def open_if_alive(path: Path) -> int | None:
    """Opens the file of a living process of this user for reading; None if there is none.

    The file of a dead process is removed. The lock is only tested, so that two processes that test
    at once do not mistake each other for the holder.

    Raises:
        OSError: the file exists and its lock cannot be tested.
    """
    try:
        handle = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        mine = is_mine(os.fstat(handle))  # anybody could write one, and hold it
        dead = mine and is_free(handle)
        stale = dead and _is_at(handle, path)
    except BaseException:
        os.close(handle)
        raise
    if stale:
        close_and_remove(handle, path)
        return None
    if dead or not mine:
        os.close(handle)
        return None
    return handle


def _flock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_bytes(handle: int, how: str, start: int, count: int) -> bool:
    msvcrt: Any = import_module("msvcrt")
    before = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, start, os.SEEK_SET)
    try:
        msvcrt.locking(handle, getattr(msvcrt, how), count)
    except OSError as error:
        if error.errno not in _HELD:
            raise
        return False
    finally:
        os.lseek(handle, before, os.SEEK_SET)
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at `path`."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
