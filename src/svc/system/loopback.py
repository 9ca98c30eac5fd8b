"""Tells whether a host name or address is this machine's own, and prepares ports on it.

The sandbox checks by it the Host header of requests and the URLs of webhook endpoints; the
listener's receiver and the sandbox bind their ports by `claim`; `cli.framework.local_sandbox` asks
by `listens` whether a sandbox's port is served.
"""

import socket
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

_USUAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})  # spares nearly every request a parse


def is_loopback(host: str) -> bool:
    """Whether a host, without port or brackets, is a loopback address or name."""
    if host.lower() in _USUAL:
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The host in a Host header, without its port and brackets; empty if it is malformed."""
    if header.startswith("["):
        host, bracket, port = header[1:].partition("]")
        return host if bracket and (not port or _is_port(port)) else ""
    host, colon, port = header.partition(":")
    return host if not colon or _is_port(":" + port) else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and (text[1:].isdigit() or len(text) == 1)


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
