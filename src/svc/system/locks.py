"""Locks on open files, each held until the file is closed or its process dies.

POSIX has `flock`. Windows locks ranges of bytes: ours lie far behind the end of any file of ours,
so that what is in the file stays readable. The holder of such a lock has locked the whole range; a
process that asks about the lock locks one byte of it by chance, so that two that ask at once do not
take each other for the holder. (SQLite did the same where there were no shared locks.)
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
    """Takes the lock of an open file; waits for as long as another process has it.

    Raises:
        Stopped: a signal came.
        OSError: the file system knows no locks.
    """
    while not take(handle):
        signals.sleep(_PAUSE_SECONDS)


def take(handle: int) -> bool:
    """Takes the lock of an open file unless another process has it; returns if it did.

    Raises:
        OSError: the file system knows no locks.
    """
    if not _HAS_FLOCK:
        return _lock_bytes(handle, "LK_NBLCK", _START, _COUNT)
    return _flock(handle, fcntl.LOCK_EX)


def take_within(
    handle: int, seconds: float, *, now: Callable[[], float], sleep: Callable[[float], object]
) -> bool:
    """Takes the lock of an open file, waiting so long at most; says whether it did.

    `now` is a clock that only goes on, in seconds, and `sleep` waits by it.

    Raises:
        OSError: the file system knows no locks.
    """
    until = now() + seconds
    while not take(handle):
        if now() > until:
            return False
        sleep(_PAUSE_SECONDS)
    return True


def is_free(handle: int) -> bool:
    """Returns whether no process holds the lock; if so, none can take it until the file is closed.

    Raises:
        OSError: the file system knows no locks.
    """
    if not _HAS_FLOCK:
        one = _START + int.from_bytes(os.urandom(8), "big") % _COUNT
        return _lock_bytes(handle, "LK_NBLCK", one, 1)
    return _flock(handle, fcntl.LOCK_SH)


def close_and_remove(handle: int, path: Path) -> None:
    """Removes a file whose lock is ours, or looked at by us, and lets go of it.

    Where an open file can be removed, no process ever finds it free. Where it cannot, or where the
    folder forbids it, a free file may be left, which stands for no living process.
    """
    if not _HAS_FLOCK:
        os.close(handle)
    with suppress(OSError):
        path.unlink()
    if _HAS_FLOCK:
        os.close(handle)


def open_folder(folder: Path, name: str) -> int:
    """Opens what stands for a folder where its lock is asked for.

    That is the folder itself, or, where folders cannot be opened (Windows), the file `name` in it.

    Raises:
        OSError: it cannot be opened.
    """
    if not _HAS_FLOCK:
        return open_private(folder / name, os.O_RDWR | os.O_CREAT)
    return os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


def hold(path: Path) -> int:
    """Opens a file whose lock is a sign of life: empty, for the user alone, and held until closed.

    Another process that holds it has just found that a dead process left it, and removes it: so the
    file is made again. Give it back by `close_and_remove`.

    Raises:
        OSError: it cannot be made, or the file system knows no locks.
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


def look(path: Path) -> int | None:
    """Opens such a file of a process of this user that lives, to be read; else None.

    What a dead one has left is removed. It is only looked at, so that two who look at once do not
    take each other for the holder.

    Raises:
        OSError: it is there and cannot be looked at.
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
    """Whether what is open is what others will find there."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
