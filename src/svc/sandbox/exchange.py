"""One HTTP exchange: what came in over ASGI, and what goes out.

Hand-made on purpose: nothing here builds an address from the Host header, reads a multipart body or
costs a millisecond (promise R59).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Scope, Send

from svc.sandbox.documents import compact
from svc.sandbox.problems import Problem
from svc.sandbox.reading import BODY, CallerGoneError, read_body

_JSON: Final = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its body read; `body` is the refusal where it was too large or too late."""

    method: str
    path: str
    query: bytes
    secure: bool
    headers: Mapping[bytes, str]
    body: bytes | Problem

    def header(self, name: str) -> str | None:
        """The value of a header; several of one name are joined by a comma (RFC 9110 5.3)."""
        return self.headers.get(name.lower().encode())


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, encoded; `headers` come on top of its type and length.

    `connection` says how a fault rule breaks the connection instead of a clean answer.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    connection: str | None = None
    media_type: str = _JSON

    def with_headers(self, *more: tuple[str, str]) -> "Reply":
        headers = (*self.headers, *more)
        return Reply(self.status, self.body, headers, self.connection, self.media_type)

    def without_header(self, name: str) -> "Reply":
        headers = tuple(line for line in self.headers if line[0] != name)
        return Reply(self.status, self.body, headers, self.connection, self.media_type)

    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """The header lines as ASGI wants them."""
        media = (b"content-type", self.media_type.encode())
        length = (b"content-length", str(len(self.body)).encode())
        more = [(name.lower().encode(), text.encode("latin-1")) for name, text in self.headers]
        return [media, length, *more]

    async def send(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": self.raw_headers()})
        await send({"type": "http.response.body", "body": self.body})


def refusal(problem: Problem, request_id: str, *, nested: bool = False) -> Reply:
    """An error answer; `nested` wraps it as `{"error": …}` (assumptions: Error codes)."""
    body = problem.body(request_id)
    shown = compact({"error": body} if nested else body)
    return Reply(problem.status, shown, tuple(problem.headers.items()))


async def read_request(scope: Scope, receive: Receive) -> Request | None:
    """Reads a request and its body; None when the caller has gone."""
    body: bytes | Problem
    try:
        body = await read_body(scope, receive, BODY)
    except Problem as problem:
        body = problem
    except CallerGoneError:
        return None
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=scope["query_string"],
        secure=scope["scheme"] == "https",
        headers=_headers(scope["headers"]),
        body=body,
    )


def _headers(lines: list[tuple[bytes, bytes]]) -> dict[bytes, str]:
    headers: dict[bytes, str] = {}
    for name, raw in lines:
        text = raw.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers
