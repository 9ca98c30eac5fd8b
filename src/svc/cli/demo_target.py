"""A small web server that stands for the user's own shop in `svc quickstart`."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Arrival:
    """One POST that reached the target: its raw body and its signature header."""

    body: bytes
    signature: str


@dataclass(slots=True)
class Target:
    """The running target: its address and what has arrived so far."""

    url: str
    arrivals: "queue.Queue[Arrival]" = field(default_factory=queue.Queue)


@contextmanager
def running_target() -> Iterator[Target]:
    """Serves on a free loopback port and answers 200 to every POST."""
    target = Target("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            target.arrivals.put(Arrival(body, self.headers.get("Svc-Signature", "")))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keeps quiet: the listener already prints what it forwards."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        target.url = f"http://127.0.0.1:{server.server_port}/webhooks"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield target
        finally:
            server.shutdown()
            thread.join()
