"""The one socket that the sandbox listens on: loopback and nothing else (promise R89)."""

import errno
import socket
from typing import Final

from svc.errors import LocalError
from svc.system.ports import claim

LOOPBACK: Final = "127.0.0.1"
PORT_MAX: Final = 65535


def listen_on(port: int) -> socket.socket:
    """Binds a loopback port; 0 lets the system choose one.

    Raises LocalError when the port is taken, not allowed or no port at all.
    """
    if not 0 <= port <= PORT_MAX:
        raise LocalError(f"{port} is no port.", hint=f"Choose 1 to {PORT_MAX}, or 0 for any")
    # asyncio switches Nagle's delay off only on sockets that name their protocol.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        claim(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind((LOOPBACK, port))
        # Listening decides who has the port: two sockets may have bound it.
        sock.listen()
    except OSError as error:
        sock.close()
        raise _refusal(port, error) from error
    return sock


def _refusal(port: int, error: OSError) -> LocalError:
    if error.errno == errno.EADDRINUSE:
        return LocalError(
            f"Port {port} on {LOOPBACK} is taken.",
            code="port_taken",
            # No sandbox of this home: that one is known before the port is asked for.
            hint=f"Another program has it; choose another: svc sandbox start --port {_other(port)}",
        )
    return LocalError(
        f"Port {port} on {LOOPBACK} cannot be used: {error.strerror}.",
        code="port_refused",
        hint="Choose another: svc sandbox start --port 4242",
    )


def _other(port: int) -> int:
    return port + 1 if port < PORT_MAX else 0
