"""One HTTP exchange over ASGI: `AsgiRequest` in, within a limit of size and time, `HttpReply` out.

Hand-made on purpose: nothing here builds an address from the Host header, reads a multipart body or
costs a millisecond (promise R59). `app` makes the request of its head; `api`, `control` and
`checkout` read its body by `read` and return an `HttpReply`, which `app` sends. `refusal` turns a
`Problem` into one.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import IO, Any, Final, NamedTuple
from urllib.parse import parse_qsl

from svc.errors import LocalError
from svc.sandbox.parameters.problems import Problem, internal
from svc.sandbox.store.documents import compact
from svc.sandbox.store.sqlite import DISK_FULL
from svc.service.facts import REQUEST_BODY_MAX, SANDBOX_STATE_MAX

_log: Final = logging.getLogger(__name__)
AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
RequestHeaders = Mapping[bytes, str]

_PIECE_BYTES: Final = 256 * 1024
_LET_GO_MAX: Final = 8 * 1024**2  # bytes of a body that is refused


class Limit(NamedTuple):
    """How large a body may be, in bytes, and how long its caller may take, in seconds."""

    size: int
    seconds: float = 10.0  # the callers are on this machine


BODY: Final = Limit(REQUEST_BODY_MAX)
STATE: Final = Limit(SANDBOX_STATE_MAX, seconds=120.0)


class CallerGoneError(ConnectionError):
    """The caller has closed the connection in the middle of its request."""


async def read_body(headers: RequestHeaders, receive: Receive, limit: Limit) -> bytes:
    """Reads a whole body.

    A Content-Length over the limit is refused before the caller is sent `100 Continue`. A body that
    is sent nevertheless is read up to 8 MiB and discarded, since a caller who is still sending
    would not see the answer; the connection is then closed.

    Raises:
        Problem: 413 when it is larger than the limit, 408 when it is not there in time.
        CallerGoneError: the caller has closed the connection.
    """
    chunks: list[bytes] = []
    # uvicorn hands over bound methods of the request's cycle, which knows whether all has come: of
    # a whole body a time limit would cost more than the reading.
    if getattr(getattr(receive, "__self__", None), "more_body", True) is False:
        await _read(headers, receive, limit, chunks)
        return b"".join(chunks)
    try:
        async with asyncio.timeout(limit.seconds):
            await _read(headers, receive, limit, chunks)
    except TimeoutError:
        late = sum(map(len, chunks)) <= limit.size
        raise (build_late("body", limit.seconds) if late else _too_large(limit)) from None
    return b"".join(chunks)


async def _read(
    headers: RequestHeaders, receive: Receive, limit: Limit, chunks: list[bytes]
) -> None:
    """Adds a body to `chunks`, with what made it too large; what follows is read and let go."""
    announced = headers.get(b"content-length", "")
    too_large = announced.isdigit() and int(announced) > limit.size
    if too_large and b"expect" in headers:
        raise _too_large(limit)
    size, more = 0, True
    while more and size < max(_LET_GO_MAX, limit.size + 1):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise CallerGoneError
        chunk: bytes = message.get("body", b"")
        if size <= limit.size:
            chunks.append(chunk)
        size += len(chunk)
        more = message.get("more_body", False)
    if too_large or size > limit.size:
        raise _too_large(limit)


def _too_large(limit: Limit) -> Problem:
    message = f"A request body may have at most {limit.size} bytes."
    return Problem(413, "request_too_large", message, headers={"Connection": "close"})


def build_late(part: str, seconds: float) -> Problem:
    """The refusal of a request whose head or body does not come."""
    message = f"The {part} of the request did not arrive within {seconds:g} seconds."
    return Problem(408, "request_timeout", message, headers={"Connection": "close"})


_JSON: Final = "application/json; charset=utf-8"


@dataclass(slots=True)
class AsgiRequest:
    """A request: its head, and once it was read its body, or why that was refused."""

    scope: AsgiScope
    receive: Receive
    method: str
    path: str
    query: bytes
    headers: RequestHeaders
    body: bytes | Problem = b""

    @classmethod
    def of(cls, scope: AsgiScope, receive: Receive) -> "AsgiRequest":
        """The request of a scope; several headers of one name are joined by a comma (RFC 9110)."""
        headers: dict[bytes, str] = {}
        for name, raw in scope["headers"]:
            text = raw.decode("latin-1")
            headers[name] = f"{headers[name]}, {text}" if name in headers else text
        return cls(scope, receive, scope["method"], scope["path"], scope["query_string"], headers)

    async def read(self, limit: Limit = BODY) -> None:
        """Reads the body; raises CallerGoneError: the connection was closed."""
        try:
            self.body = await read_body(self.headers, self.receive, limit)
        except Problem as problem:
            self.body = problem

    @property
    def content(self) -> bytes:
        """The body; raises Problem where it was refused."""
        if isinstance(self.body, Problem):
            raise self.body
        return self.body

    @property
    def secure(self) -> bool:
        return bool(self.scope["scheme"] == "https")

    @property
    def origin(self) -> str:
        """Where the sandbox listens: of the socket, for a Host may say anything."""
        host, port = self.scope.get("server") or ("127.0.0.1", None)
        shown = f"[{host}]" if ":" in host else host
        return f"{self.scope['scheme']}://{shown}{'' if port is None else f':{port}'}"

    @property
    def fields(self) -> dict[str, str]:
        """The parameters of the query; of several with one name the last."""
        return dict(parse_qsl(self.query.decode("latin-1"), keep_blank_values=True))

    def header(self, name: str) -> str | None:
        """The value of a header."""
        return self.headers.get(name.lower().encode())


class HttpReply(NamedTuple):
    """An answer, encoded; `headers` come on top of its type and length.

    `connection` says how a fault rule breaks the connection instead of a clean answer. Where there
    is a `file`, its bytes follow the body, and it is closed behind them.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    connection: str | None = None
    media_type: str = _JSON
    file: IO[bytes] | None = None

    def with_headers(self, *more: tuple[str, str]) -> "HttpReply":
        return self._replace(headers=(*self.headers, *more))

    def without_header(self, name: str) -> "HttpReply":
        return self._replace(headers=tuple(line for line in self.headers if line[0] != name))

    def encode_headers(self) -> list[tuple[bytes, bytes]]:
        """The header lines as ASGI wants them."""
        media = (b"content-type", self.media_type.encode())
        size = len(self.body) + (0 if self.file is None else os.fstat(self.file.fileno()).st_size)
        length = (b"content-length", str(size).encode())
        more = [(name.lower().encode(), text.encode("latin-1")) for name, text in self.headers]
        return [media, length, *more]

    async def begin(self, send: Send) -> None:
        """Sends the status and the headers."""
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": self.encode_headers()})

    async def send(self, send: Send) -> None:
        await self.begin(send)
        body: MutableMapping[str, Any] = {"type": "http.response.body", "body": self.body}
        if self.file is not None:
            with self.file as file:
                while piece := file.read(_PIECE_BYTES):
                    await send({**body, "body": piece, "more_body": True})
        await send(body)


def refusal(problem: Problem, request_id: str, *, nested: bool = False) -> HttpReply:
    """An error answer; `nested` wraps it as `{"error": …}` (assumptions: Error codes)."""
    body = problem.body(request_id)
    shown = compact({"error": body} if nested else body)
    return HttpReply(problem.status, shown, tuple(problem.headers.items()))


def failure(error: Exception, what: str) -> Problem:
    """Logs an exception that ended `what`, and builds the answer for the caller.

    A full disk is named in it, and logged without a traceback; any other cause is not named.
    """
    if isinstance(error, LocalError) and error.code == DISK_FULL:
        _log.error("%s was not carried out: %s", what, error.message)
        return Problem(507, "storage_full", f"{error.message} Nothing was done; free some space.")
    _log.error("%s broke", what, exc_info=error)
    return internal()
