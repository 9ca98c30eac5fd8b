"""Ports that are ours alone, and how many sockets there may be."""

import socket
from typing import Final

_UNLIMITED: Final = 64 * 1024


def claim(unbound: socket.socket) -> None:
    """Lets a socket have a port whose last owner has just ended, and nobody else have it too.

    On Windows SO_REUSEADDR would let two programs listen on one port.
    """
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    if alone is None:
        unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    else:
        unbound.setsockopt(socket.SOL_SOCKET, alone, 1)


def sockets_at_most() -> int:
    """How many files and sockets this process may have open, as far as the system limits that."""
    try:
        import resource
    except ImportError:  # Windows
        return _UNLIMITED
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit if limit > 0 else _UNLIMITED
