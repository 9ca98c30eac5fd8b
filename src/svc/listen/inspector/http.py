"""Who may ask the inspector: every program that has its address, and no page of another origin.

Every page on the web may have a browser send requests to this machine. None knows the token in the
address, and one that did would still be refused for its origin, or for its Host if an attacker
points a name at 127.0.0.1 (DNS rebinding). uvicorn reads requests and writes answers.

`server` puts the guard before `app`; the other functions build its answers.
"""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final

import h11
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from svc.html import Markup
from svc.listen.http.requests import HttpHead, Refused, head_of
from svc.listen.inspector.feed import Feed
from svc.listen.owners import own

_TOKEN_BYTES: Final = 16  # 128 bits
_METHODS: Final = (b"GET", b"POST")


def make_token() -> str:
    """Makes the secret part of the address, which cannot be guessed."""
    return secrets.token_hex(_TOKEN_BYTES)


class Guard:
    """Checks the head of each request before it is handled."""

    def __init__(self, token: str, port: int) -> None:
        self._root = f"/{token}/".encode()
        self._hosts = (f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode())

    def check(self, head: HttpHead) -> None:
        """Checks a head; returns if it may pass.

        Raises:
            Refused: 421 for another host, 404 without the token, 403 for what another page sends,
                431 for a head over 16 KiB, which uvicorn takes if it comes in one piece.
        """
        if sum(len(name) + len(value) for name, value in head.headers) > HEAD_MAX:
            raise Refused(431)
        hosts = head.values(b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Refused(421)
        start = head.target[: len(self._root)]
        if not secrets.compare_digest(start, self._root) or head.method not in _METHODS:
            raise Refused(404)
        allowed = _is_ours if head.method == b"POST" else _is_harmless
        if not allowed(head, b"http://" + hosts[0].lower()):
            raise Refused(403)

    def path(self, head: HttpHead) -> str:
        """Returns what stands behind the token, without a slash in front, with its query."""
        return head.target[len(self._root) :].decode("latin-1")


def _is_ours(head: HttpHead, own: bytes) -> bool:
    """Returns whether one of our own pages sends this.

    Our pages send no referrer, which makes a browser write `Origin: null`; then Sec-Fetch-Site has
    to tell whose page it is. A browser that does not know that header names the origin.
    """
    origins, sites = head.values(b"origin"), head.values(b"sec-fetch-site")
    if sites:
        return sites == [b"same-origin"] and origins in ([], [b"null"], [own])
    return origins == [own]


def _is_harmless(head: HttpHead, own: bytes) -> bool:
    """Says whether a GET is our own or a person's who follows the address, in a tab of its own."""
    if head.values(b"origin") not in ([], [own]):
        return False
    sites = head.values(b"sec-fetch-site")
    if sites in ([], [b"none"], [b"same-origin"]):
        return True
    return head.values(b"sec-fetch-mode") == [b"navigate"] and head.values(b"sec-fetch-dest") == [
        b"document"
    ]


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
    """The app that uvicorn serves: the guard before all pages, and a lock on every answer."""

    def __init__(self, guard: Guard, respond: Respond) -> None:
        """`respond` gets what the guard lets pass, and its path with the query."""
        self._guard = guard
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = _head_of(scope)
        try:
            self._guard.check(head)
            response = await self._respond(Request(scope, receive), self._guard.path(head))
        except Refused as refusal:
            response = Response(status_code=refusal.status)
        response.headers.update(dict(_ALWAYS))
        await response(scope, receive, send)


def _head_of(scope: Scope) -> HttpHead:
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    return head_of(scope["method"].encode(), scope["raw_path"] + query, scope["headers"])


async def body_of(request: Request) -> bytes:
    """Reads a body; raises Refused over 16 KiB."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_MAX:
            raise Refused(413)
    return body


def build_page(content: Markup, status: int) -> Response:
    """Sends a whole document."""
    return of_kind("text/html; charset=utf-8", f"<!doctype html>{content}".encode(), status)


def of_kind(kind: str, body: bytes, status: int = 200) -> Response:
    """Sends a file."""
    return Response(body, status, media_type=kind)


def see_other(path: str) -> Response:
    """Sends the browser on with a GET; `path` is one of our own."""
    return RedirectResponse(path, 303)


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
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
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
