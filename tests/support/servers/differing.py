"""A proxy before a sandbox that changes one behaviour of it."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

from support.serving import QuietHandler, serving


@dataclass
class Passing:
    """One request on its way to the sandbox, and its answer on the way back.

    The names of the answer's headers are in lower case.
    """

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    status: int = 0
    answered: dict[str, str] = field(default_factory=dict)
    data: Any = None

    def is_like(self, pattern: str) -> bool:
        """Whether `METHOD TARGET STATUS CODE` has a pattern in it."""
        code = self.data.get("code", "") if isinstance(self.data, dict) else ""
        return re.search(pattern, f"{self.method} {self.target} {self.status} {code}") is not None


Change = Callable[[Passing], None]


def unchanged(_: Passing) -> None:
    """Changes nothing."""


@contextmanager
def differing(
    port: int, *, asked: Change = unchanged, answered: Change = unchanged
) -> Iterator[str]:
    """Passes on to a sandbox what `asked` makes of a request, and back what `answered` makes.

    Where `asked` sets a status, the sandbox is not asked. Gives the proxy's origin.
    """

    class Proxy(QuietHandler):
        wbufsize = -1  # head and body leave together

        def get(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            one = Passing(self.command, self.path, dict(self.headers), body)
            asked(one)
            if not one.status:
                _ask(port, one)
            answered(one)
            content = json.dumps(one.data).encode()
            self.send_response(one.status)
            for name, value in one.answered.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        post = delete = get

    with serving(Proxy) as origin:
        yield origin


def _ask(port: int, one: Passing) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {**one.headers, "Host": f"127.0.0.1:{port}"}
    try:
        connection.request(one.method, one.target, one.body or None, headers)
        reply = connection.getresponse()
        one.status, one.data = reply.status, json.loads(reply.read())
        hop = ("content-length", "connection", "transfer-encoding", "date")
        one.answered = {k: v for k, v in reply.getheaders() if k not in hop}
    finally:
        connection.close()
