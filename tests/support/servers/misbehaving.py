"""A server that misbehaves on order, for tests on real sockets."""

import json
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Step = Callable[[socket.socket], bool]  # plays one answer; true if the connection stays open


class ScriptedServer:
    """An HTTP server on loopback that plays one step a request; the last one for ever.

    Attributes:
        requests: the exact bytes of each request that was read.
        connections: how many were accepted.
    """

    def __init__(self, port: int = 0) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: list[bytes] = []
        self.connections = 0
        self._script: list[Step] = []
        self._early: set[Step] = set()
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._start(self._accept)

    # --- the script ---

    def play(self, *steps: Step) -> "ScriptedServer":
        self._script = list(steps)
        return self

    def reply(
        self,
        status: int = 200,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        keep: bool = True,
    ) -> Step:
        """A whole answer; a body that is not bytes is sent as JSON."""
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"Content-Length": str(len(payload)), **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return self.raw(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + payload, keep=keep)

    def raw(self, data: bytes, *, keep: bool = False) -> Step:
        """Exactly these bytes."""

        def step(sock: socket.socket) -> bool:
            sock.sendall(data)
            return keep

        return step

    def close(self) -> Step:
        """Closes after reading the request."""
        return lambda sock: False

    def reset(self) -> Step:
        """Resets after reading the request."""
        return self.reset_now

    def reset_unread(self) -> Step:
        """Resets as soon as the connection is there."""

        def step(sock: socket.socket) -> bool:
            return self.reset_now(sock)

        self._early.add(step)
        return step

    def hang(self) -> Step:
        """Never answers."""

        def step(sock: socket.socket) -> bool:
            self._stopped.wait()
            return False

        return step

    def drip(self, data: bytes, interval: float) -> Step:
        """Sends a byte at a time, again from the start when the data ends."""

        def step(sock: socket.socket) -> bool:
            while True:
                for byte in data:
                    if self._stopped.wait(interval):
                        return False
                    sock.sendall(bytes([byte]))

        return step

    # --- the server ---

    def stop(self) -> None:
        self._stopped.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._open:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    @staticmethod
    def reset_now(sock: socket.socket) -> bool:
        """Makes the end of a connection a reset."""
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(sock)
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with sock, suppress(OSError):
            if self._script and self._script[0] in self._early:
                self._next()(sock)
                return
            while True:
                request = self._read(sock)
                if request is None:
                    return
                self.requests.append(request)
                if not self.answer(request, sock):
                    return

    def answer(self, request: bytes, sock: socket.socket) -> bool:
        """Answers one request; true if the connection stays open."""
        return self._next()(sock)

    def _next(self) -> Step:
        with self._lock:
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def _read(self, sock: socket.socket) -> bytes | None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = sock.recv(65536)
            if not more:
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        wanted = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                wanted = int(line.split(b":")[1])
        while len(body) < wanted:
            more = sock.recv(65536)
            if not more:
                return None
            body += more
        return head + b"\r\n\r\n" + body
