"""Who may ask the inspector: every program that has its address, and no page of another origin.

Every page on the web may have a browser send requests to this machine. None knows the token in the
address, and one that did would still be refused for its origin, or for its Host if an attacker
points a name at 127.0.0.1 (DNS rebinding). uvicorn reads requests and writes answers.

`app` has uvicorn serve the `GuardedPages`, and answers what may pass.
"""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final

import h11
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from svc.listen.http.requests import Refused
from svc.listen.inspector.feed import Feed
from svc.listen.owners import own

_TOKEN_BYTES: Final = 16  # 128 bits
_METHODS: Final = ("GET", "POST")


def make_token() -> str:
    """Makes the secret part of the address, which cannot be guessed."""
    return secrets.token_hex(_TOKEN_BYTES)


def _is_ours(headers: Headers, own: str) -> bool:
    """Returns whether one of our own pages sends this.

    Our pages send no referrer, which makes a browser write `Origin: null`; then Sec-Fetch-Site has
    to tell whose page it is. A browser that does not know that header names the origin.
    """
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    if sites:
        return sites == ["same-origin"] and origins in ([], ["null"], [own])
    return origins == [own]


def _is_harmless(headers: Headers, own: str) -> bool:
    """Says whether a GET is our own or a person's who follows the address, in a tab of its own."""
    if headers.getlist("origin") not in ([], [own]):
        return False
    if headers.getlist("sec-fetch-site") in ([], ["none"], ["same-origin"]):
        return True
    how = [headers.getlist(f"sec-fetch-{name}") for name in ("mode", "dest")]
    return how == [["navigate"], ["document"]]


_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_ALWAYS: Final = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Connection", "close"),
)

Respond = Callable[[Request, str], Awaitable[Response]]


class GuardedPages:
    """The app that uvicorn serves: a guard before all pages, and a lock on every answer."""

    def __init__(self, token: str, port: int, respond: Respond) -> None:
        """`respond` gets what may pass, and its path behind the token."""
        self._root = f"/{token}/".encode()
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._respond = respond

    def check(self, scope: Scope) -> str:
        """Returns what stands behind the token, without a slash in front, if it may pass.

        Raises:
            Refused: 421 for another host, 404 without the token, 403 for what another page sends,
                431 for a head over 16 KiB, which uvicorn takes if it comes in one piece.
        """
        headers, method, path = Headers(scope=scope), scope["method"], scope["raw_path"]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_MAX:
            raise Refused(431)
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            raise Refused(421)
        start = path[: len(self._root)]
        if not secrets.compare_digest(start, self._root) or method not in _METHODS:
            raise Refused(404)
        allowed = _is_ours if method == "POST" else _is_harmless
        if not allowed(headers, f"http://{hosts[0]}"):
            raise Refused(403)
        return str(path[len(self._root) :].decode("latin-1"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            path = self.check(scope)
            response = await self._respond(Request(scope, receive), path)
        except Refused as refusal:
            response = Response(status_code=refusal.status)
        response.headers.update(dict(_ALWAYS))
        await response(scope, receive, send)


async def body_of(request: Request) -> bytes:
    """Reads a body; raises Refused over 16 KiB."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_MAX:
            raise Refused(413)
    return body


def stream(feed: Feed) -> Response:
    """Streams the news of `feed`; the browser connects again two seconds after a loss."""
    return StreamingResponse(_news(feed), media_type="text/event-stream")


async def _news(feed: Feed) -> AsyncIterator[bytes]:
    waiting: asyncio.Queue[bytes] = asyncio.Queue()

    def push(data: bytes) -> None:
        if waiting.qsize() < _BEHIND_MAX:  # a slow reader misses counts, of which the last counts
            waiting.put_nowait(data)

    push(b"retry: 2000\n\n")
    try:
        if feed.watch(push):
            while True:
                yield await waiting.get()
    finally:
        feed.leave(push)


HEAD_MAX: Final = 16 * 1024
BODY_MAX: Final = 16 * 1024
_CONNECTIONS_MAX: Final = 32
_REQUEST_SECONDS: Final = 8.0
_BEHIND_MAX: Final = 64


class PageConnection(H11Protocol):
    """One connection of uvicorn, which brings a whole request in 8 s.

    Too many of them cost the one that has been here longest its place, first one without a request.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self._timer = self.loop.call_later(_REQUEST_SECONDS, own(self._expire))
        others: Any = self.connections
        if len(others) > _CONNECTIONS_MAX:
            min(others, key=lambda one: (one.has_request, one.since)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  in uvicorn's own words
        error = sys.exc_info()[1]
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        lines = "".join(f"{name}: {value}\r\n" for name, value in _ALWAYS)
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Length: 0\r\n{lines}\r\n"
        self.transport.write(head.encode())
        self.transport.close()

    @property
    def has_request(self) -> bool:
        """True once its request has come whole."""
        return self.cycle is not None and not self.cycle.more_body

    def _expire(self) -> None:
        if not self.has_request:
            self.transport.abort()
