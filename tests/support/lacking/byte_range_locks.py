"""A stand-in for `msvcrt.locking`: locks of ranges of bytes that belong to the open file.

They are Linux's locks of open file descriptions, which end with the last handle of a file as those
of Windows do. Those of Windows keep others from reading the bytes, too; these do not.
"""

import errno
import fcntl
import os
import struct
import time

LK_UNLCK, LK_LOCK, LK_NBLCK, LK_RLCK, LK_NBRLCK = range(5)
_TRIES = 10
_PAUSE_SECONDS = 0.02  # a second on Windows


def locking(handle: int, how: int, count: int) -> None:
    """Locks or unlocks so many bytes from where the file stands."""
    start = os.lseek(handle, 0, os.SEEK_CUR)
    if how == LK_UNLCK:
        _set(handle, fcntl.F_UNLCK, start, count)
        return
    writable = fcntl.fcntl(handle, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR)
    for _ in range(_TRIES if how == LK_LOCK else 1):
        try:
            _set(handle, fcntl.F_WRLCK if writable else fcntl.F_RDLCK, start, count)
        except BlockingIOError:
            if how != LK_LOCK:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    raise OSError(errno.EDEADLK, os.strerror(errno.EDEADLK))


def _set(handle: int, kind: int, start: int, count: int) -> None:
    wanted = struct.pack("=hh4xqqi4x", kind, os.SEEK_SET, start, count, 0)
    fcntl.fcntl(handle, fcntl.F_OFD_SETLK, wanted)
