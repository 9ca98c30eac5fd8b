"""Writes to a pipe, terminal or socket without blocking, as far as the system supports that.

`svc events listen`, `receive` and `tail` print through an `Outlet`, so that a reader that stops
does not stop receiving.
"""

import os
import socket
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

_POSIX: Final[Any] = os  # with what is not on every system
_IS_LINUX: Final = sys.platform.startswith("linux")
_OWN: Final = "/proc/self/fd"


@dataclass(frozen=True, slots=True)
class Outlet:
    """A non-blocking descriptor, a function that writes to it, and one that closes it.

    `write` returns how many bytes were taken: 0 while the reader takes none.
    """

    descriptor: int
    write: Callable[[bytes], int]
    close: Callable[[], None]


def is_file(descriptor: int) -> bool:
    """Whether a descriptor needs no reader: a regular file, or a device such as /dev/null."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))


def open_outlet(descriptor: int) -> Outlet | None:
    """Opens a pipe, terminal or socket again in non-blocking mode.

    The mode only applies to the new descriptor: other programs with the same pipe or terminal are
    not affected. None if the system does not support it or refuses it, as for another user's
    terminal.
    """
    if not _IS_LINUX:
        return None
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return _socket(descriptor)
        flags = os.O_WRONLY | _POSIX.O_NONBLOCK | _POSIX.O_NOCTTY
        own = os.open(f"{_OWN}/{descriptor}", flags)
    except OSError:
        return None

    def write(data: bytes) -> int:
        try:
            return os.write(own, data)
        except BlockingIOError:
            return 0

    return Outlet(own, write, lambda: os.close(own))


def _socket(descriptor: int) -> Outlet:
    own = socket.socket(fileno=os.dup(descriptor))

    def write(data: bytes) -> int:
        try:
            return own.send(data, getattr(socket, "MSG_DONTWAIT", 0))
        except BlockingIOError:
            return 0

    return Outlet(own.fileno(), write, own.close)


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all data; waits as long as needed."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
