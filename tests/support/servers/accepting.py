"""A server on loopback that a test writes in one function."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self


class OneByOne:
    """Serves connections one after another on a thread of its own, until `stop`.

    `serve` is given each; that its peer goes away is no error of the test's.

    Attributes:
        connections: how many were accepted.
    """

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.connections = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with peer, suppress(OSError):
                self._serve(peer)
