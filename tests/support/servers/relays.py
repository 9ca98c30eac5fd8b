"""A way to a server on loopback that can fall silent: connected at both ends, and nothing passes."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self


class Relay:
    """Passes connections on to a port; `freeze` holds back all that comes, on those and new ones.

    `altered` gives what is passed on in the place of what the port says.
    """

    def __init__(self, to: int, altered: Callable[[bytes], bytes] = bytes) -> None:
        self._to = to
        self._altered = altered
        self._open = threading.Event()
        self._open.set()
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.set()
        for one in (self._server, *self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def freeze(self) -> None:
        """From now on nothing passes, in no direction."""
        self._open.clear()

    def forget(self) -> None:
        """Lets new connections pass; those there were stay open and silent for ever."""
        self._sockets = []
        self._open, frozen = threading.Event(), self._open
        frozen.clear()
        self._open.set()

    def _accept(self) -> None:
        while True:
            try:
                came, _ = self._server.accept()
            except OSError:
                return
            onward = socket.create_connection(("127.0.0.1", self._to), 60)
            self._sockets += [came, onward]
            ways = (
                (came, onward, self._open, bytes),
                (onward, came, self._open, self._altered),
            )
            for way in ways:
                threading.Thread(target=_pass, args=way, daemon=True).start()


def _pass(
    one: socket.socket,
    other: socket.socket,
    opened: threading.Event,
    altered: Callable[[bytes], bytes],
) -> None:
    with suppress(OSError):
        while data := one.recv(1 << 16):
            opened.wait()
            other.sendall(altered(data))
    if opened.is_set():
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)
