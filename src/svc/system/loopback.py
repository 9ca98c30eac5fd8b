"""Prepares ports of this machine, and tells how many sockets a process may have.

The listener's receiver and the sandbox bind their ports by `claim`; `cli.framework.local_sandbox`
asks by `listens` whether a sandbox's port is served.
"""

import socket
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

_LISTENS_SECONDS: Final = 0.5


def listens(host: str, port: int) -> bool:
    """Whether a program accepts connections at a port of this machine; sends nothing."""
    with suppress(OSError), socket.create_connection((host, port), _LISTENS_SECONDS):
        return True
    return False


_UNLIMITED: Final = 64 * 1024


def claim(unbound: socket.socket) -> None:
    """Sets the options of a socket so that it binds a port alone, even if it was in use just now.

    On Windows SO_REUSEADDR would allow two programs to listen on one port.
    """
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    if alone is None:
        unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    else:
        unbound.setsockopt(socket.SOL_SOCKET, alone, 1)


def read_max_sockets() -> int:
    """The maximum number of open files and sockets of this process."""
    try:
        resource: Any = import_module("resource")
    except ImportError:  # Windows
        return _UNLIMITED
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit if limit > 0 else _UNLIMITED
