"""Files whose lock is a sign of life: it goes with the process that holds it, even by kill -9."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from svc.system import files, locks

_TRIES: Final = 50


def hold(path: Path) -> int:
    """Opens the file, empty and for the user alone, and holds it until it is closed.

    Whoever else holds it is about to find that it was left by a dead process, and to remove it: so
    it is made again. Give it back by `locks.close_and_remove`.

    Raises:
        OSError: it cannot be made, or the file system knows no locks.
    """
    for _ in range(_TRIES):
        handle = files.open_private(path, os.O_RDWR | os.O_CREAT)
        try:
            locks.wait_for(handle)
            if _is_at(handle, path):
                os.ftruncate(handle, 0)
                files.keep_private(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # somebody removed it between our opening and our locking
    raise OSError(0, "it is removed again and again")


def look(path: Path) -> int | None:
    """Opens the file of a process of this user that lives, to be read; else None.

    What a dead one has left is removed. It is only looked at, so that two who look at once do not
    take each other for the holder.

    Raises:
        OSError: it is there and cannot be looked at.
    """
    try:
        handle = files.open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        mine = files.is_mine(os.fstat(handle))  # anybody could write one, and hold it
        dead = mine and locks.is_free(handle)
        stale = dead and _is_at(handle, path)
    except BaseException:
        os.close(handle)
        raise
    if stale:
        locks.close_and_remove(handle, path)
        return None
    if dead or not mine:
        os.close(handle)
        return None
    return handle


def _is_at(handle: int, path: Path) -> bool:
    """Whether what is open is what others will find there."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
