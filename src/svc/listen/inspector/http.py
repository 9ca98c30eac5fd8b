"""One request and one answer of a browser, and who may ask: whoever has the inspector's address.

Every page on the web may have a browser send requests to this machine. None knows the token, and
one that did would still be turned away for its origin; a name that somebody points at 127.0.0.1
(DNS rebinding) for its Host.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from svc.html import Markup
from svc.listen.inspector.feed import Feed
from svc.listen.reading import READ_BYTES, ReadingProtocol
from svc.listen.receiver.http import (
    HttpHead,
    HttpRequest,
    Refused,
    RequestReader,
)

_TOKEN_BYTES: Final = 16  # 128 bits
_METHODS: Final = (b"GET", b"POST")


def new_token() -> str:
    """Makes what the address holds and nobody guesses."""
    return secrets.token_hex(_TOKEN_BYTES)


class Guard:
    """Looks at the head of each request before anything else does."""

    def __init__(self, token: str, port: int) -> None:
        self._root = f"/{token}/".encode()
        self._hosts = (f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode())

    def check(self, head: HttpHead) -> None:
        """Lets a head pass.

        Raises:
            Refused: 421 for another host, 404 without the token, 403 for what another page sends.
        """
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
        """Gives what stands behind the token, without a slash in front, with its query."""
        return head.target[len(self._root) :].decode("latin-1")


def _is_ours(head: HttpHead, own: bytes) -> bool:
    """Says whether one of our own pages sends this.

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

HeaderLine = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """One answer; `streams` leaves it open for what is still to happen."""

    status: int
    body: bytes = b""
    lines: tuple[HeaderLine, ...] = ()
    streams: bool = False

    def to_bytes(self) -> bytes:
        """Gives what goes over the wire."""
        size = () if self.streams else (("Content-Length", str(len(self.body))),)
        lines = "".join(f"{name}: {value}\r\n" for name, value in (*self.lines, *size, *_ALWAYS))
        phrase = HTTPStatus(self.status).phrase
        return f"HTTP/1.1 {self.status} {phrase}\r\n{lines}\r\n".encode("latin-1") + self.body


def whole_page(content: Markup, status: int) -> PageAnswer:
    """Sends a whole document."""
    return of_kind("text/html; charset=utf-8", f"<!doctype html>{content}".encode(), status)


def of_kind(kind: str, body: bytes, status: int = 200) -> PageAnswer:
    """Sends a file."""
    return PageAnswer(status, body, (("Content-Type", kind),))


def see_other(path: str) -> PageAnswer:
    """Sends the browser on with a GET; `path` is one of our own."""
    return PageAnswer(303, lines=(("Location", path),))


def stream() -> PageAnswer:
    """Begins server-sent events; the browser comes back two seconds after it lost them."""
    return PageAnswer(
        200, b"retry: 2000\n\n", (("Content-Type", "text/event-stream"),), streams=True
    )


HEAD_MAX: Final = 16 * 1024
BODY_MAX: Final = 16 * 1024
_REQUEST_SECONDS: Final = 8.0
_ANSWER_SECONDS: Final = 60.0
_LEAVE_SECONDS: Final = 30.0  # for a slow reader of a large page
_BEHIND_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class InspectorDeps:
    """What all connections share: the guard, who answers, who has news, and who is in."""

    check: Callable[[HttpHead], None]
    respond: Callable[[HttpRequest], Awaitable[PageAnswer]]
    feed: Feed
    connections: "set[PageConnection]" = field(default_factory=set)
    buffer: bytearray = field(default_factory=lambda: bytearray(READ_BYTES))


class PageConnection(ReadingProtocol):
    """Reads one request with the receiver's own framing and closes after the answer.

    A connection for each request is what leaves nothing to confuse; on this machine it costs
    nothing.
    """

    def __init__(self, deps: InspectorDeps) -> None:
        super().__init__(deps.buffer)
        self._deps = deps
        self._reader = RequestReader(deps.check, HEAD_MAX, BODY_MAX)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._reading = True
        self._closing = False
        self.since = asyncio.get_running_loop().time()

    @property
    def patient(self) -> bool:
        """True once its request has come whole."""
        return not self._reading

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._deps.connections.add(self)
        self._allow(_REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        self._transport = None
        self._deps.connections.discard(self)
        self._deps.feed.leave(self._push)
        self._allow(None)

    def eof_received(self) -> bool:
        """Keeps the half that we write open while an answer is being made."""
        return not self._reading and not self._closing

    def data_received(self, data: bytes) -> None:
        if not self._reading:
            return
        try:
            request = self._reader.feed(data)
        except Refused as refusal:
            self._send(PageAnswer(refusal.status))
            return
        if request is not None:
            self._reading = False
            self._allow(_ANSWER_SECONDS)
            self._task = asyncio.get_running_loop().create_task(self._answer(request))
        elif self._transport is not None:
            self._transport.write(self._reader.to_send())

    def cut(self) -> None:
        """Closes the connection without another word."""
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.abort()

    async def _answer(self, request: HttpRequest) -> None:
        answer = await self._deps.respond(request)
        if answer.streams:
            self._begin(answer)
        else:
            self._send(answer)

    def _begin(self, answer: PageAnswer) -> None:
        """Keeps the connection open and pushes news down it."""
        self._allow(None)
        if self._transport is not None:
            self._transport.write(answer.to_bytes())
            if not self._deps.feed.watch(self._push):
                self.cut()

    def _push(self, data: bytes) -> None:
        if self._transport is None or self._transport.get_write_buffer_size() > _BEHIND_MAX:
            self.cut()
        else:
            self._transport.write(data)

    def _send(self, answer: PageAnswer) -> None:
        """Says the last word; reads on, so that a sender in mid-body sees it."""
        self._reading, self._closing = False, True
        self._allow(_LEAVE_SECONDS)
        if self._transport is not None:
            self._transport.write(answer.to_bytes())
            if self._transport.can_write_eof():
                self._transport.write_eof()

    def _allow(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = None if seconds is None else loop.call_later(seconds, self.cut)
