"""HTTP servers on loopback that tests write in a few lines, one for webhooks, and free ports."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import SystemRandom
from threading import Thread
from typing import Any, Final

from svc.sandbox.webhooks.sender import Outgoing, ReceiverReply

FIRST_GIVEN: Final = 32768  # from here on the system gives ports to whoever asks for any


def free_port() -> int:
    """A port that is free and stays so, as those of `free_ports`."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Ports that the system gives to nobody, nor another worker: one that was down has its own again."""
    drawn, taken = SystemRandom(), list[socket.socket]()
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    each = 1024
    first = FIRST_GIVEN - each * (1 + worker % (FIRST_GIVEN // each // 2))
    while len(taken) < count:
        with suppress(OSError):
            taken.append(socket.create_server(("127.0.0.1", drawn.randrange(first, first + each))))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def answers(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class QuietHandler(BaseHTTPRequestHandler):
    """Takes every POST and has nothing to GET; keeps connections open, and prints nothing."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def do_DELETE(self) -> None:
        self.delete()

    def get(self) -> None:
        self.answer(404)

    def delete(self) -> None:
        self.answer(404)

    def post(self) -> None:
        self.body()
        self.answer(200)

    def body(self) -> bytes:
        """The body of the request."""
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status: int, body: bytes = b"", kind: str = "application/json") -> None:
        """Sends the whole answer; `kind` is the type of a body."""
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _LoopbackServer(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = False  # a connection that is kept open is its owner's to close

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints what went wrong; of a peer that hung up it says nothing."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(handler: type[QuietHandler]) -> Iterator[str]:
    """Serves on a port of its own; gives the origin, such as `http://127.0.0.1:8000`."""
    with _LoopbackServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True)
class Hook:
    """One webhook as it came; names of headers are in lower case."""

    headers: dict[str, str]
    body: bytes


@dataclass
class HookReceiver:
    """Takes webhooks at `url`, answers all of them alike, and calls `heard` before it does."""

    status: int = 200
    heard: Callable[[Hook], None] = lambda _: None
    hooks: list[Hook] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def listening(self) -> Iterator["HookReceiver"]:
        """Serves meanwhile."""
        receiver = self

        class Taking(QuietHandler):
            def post(self) -> None:
                receiver.take(Hook({k.lower(): v for k, v in self.headers.items()}, self.body()))
                self.answer(receiver.status)

        with serving(Taking) as origin:
            self.url = f"{origin}/hook"
            yield self

    def take(self, hook: Hook) -> None:
        self.hooks.append(hook)
        self.heard(hook)


@dataclass
class Postman:
    """Takes webhooks in place of a network; answers with `codes`, the last one for ever.

    Where a code is None, nobody could be connected to.
    """

    codes: list[int | None] = field(default_factory=lambda: [200])
    sent: list[Outgoing] = field(default_factory=list)

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        self.sent.append(outgoing)
        code = self.codes.pop(0) if len(self.codes) > 1 else self.codes[0]
        return ReceiverReply(code, None if code else "connect_failed", 1)

    async def close(self) -> None:
        """Nothing is open."""

    def headers(self, name: str) -> list[str]:
        return [dict(outgoing.headers)[name] for outgoing in self.sent]
