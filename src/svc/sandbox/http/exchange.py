"""One HTTP exchange over ASGI: `AsgiRequest` in, within a limit of size and time, `HttpReply` out.

Hand-made on purpose: nothing here builds an address from the Host header, reads a multipart body or
costs a millisecond (promise R59). `app` makes the request of its head; `api`, `control` and
`checkout` read its body by `read` and return an `HttpReply`, which `app` sends. `refusal` turns a
`Problem` into one.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import nullcontext
from typing import IO, Any, Final, NamedTuple
from urllib.parse import parse_qsl

from svc.errors import LocalError
from svc.sandbox.parameters.problems import Problem, build_late, internal
from svc.sandbox.store.documents import compact
from svc.sandbox.store.sqlite import DISK_FULL
from svc.service.facts import REQUEST_BODY_MAX, SANDBOX_STATE_MAX
from svc.system.spool import TEMPORARY_FULL

_log: Final = logging.getLogger(__name__)
AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

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


class AsgiRequest:
    """A request: its head, and once it was read its body, or why that was refused.

    Several headers of one name are joined by a comma (RFC 9110).
    """

    def __init__(self, scope: AsgiScope, receive: Receive) -> None:
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.scheme: str = scope.get("scheme", "http")
        self.query: bytes = scope["query_string"]
        self.body: bytes | Problem = b""
        self.headers: dict[bytes, str] = {}
        for name, raw in scope["headers"]:
            text = raw.decode("latin-1")
            self.headers[name] = f"{self.headers[name]}, {text}" if name in self.headers else text

    async def read(self, limit: Limit = BODY) -> None:
        """Reads the body, or what refuses it: 413 if it is too large, 408 if it comes too late.

        A Content-Length over the limit is refused before the caller is sent `100 Continue`. A body
        that is sent nevertheless is read up to 8 MiB and discarded, since a caller who is still
        sending would not see the answer; the connection is then closed.

        Raises:
            CallerGoneError: the caller has closed the connection.
        """
        announced = self.headers.get(b"content-length", "")
        too_large = announced.isdigit() and int(announced) > limit.size
        # uvicorn hands over bound methods of the request's cycle, which knows whether all has come:
        # of a whole body a time limit would cost more than the reading.
        is_whole = getattr(getattr(self.receive, "__self__", None), "more_body", True) is False
        chunks: list[bytes] = []
        size, more = 0, not (too_large and b"expect" in self.headers)
        try:
            async with nullcontext() if is_whole else asyncio.timeout(limit.seconds):
                while more and size < max(_LET_GO_MAX, limit.size + 1):
                    message = await self.receive()
                    if message["type"] == "http.disconnect":
                        raise CallerGoneError
                    if size <= limit.size:
                        chunks.append(message.get("body", b""))
                    size += len(message.get("body", b""))
                    more = message.get("more_body", False)
        except TimeoutError:
            if size <= limit.size:
                self.body = build_late("body", limit.seconds)
                return
        self.body = b"".join(chunks)
        if too_large or size > limit.size:
            why = f"A request body may have at most {limit.size} bytes."
            self.body = Problem(413, "request_too_large", why, headers={"Connection": "close"})

    @property
    def content(self) -> bytes:
        """The body; raises Problem where it was refused."""
        if isinstance(self.body, Problem):
            raise self.body
        return self.body

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
    media_type: str = "application/json; charset=utf-8"
    file: IO[bytes] | None = None

    def with_headers(self, *more: tuple[str, str]) -> "HttpReply":
        return self._replace(headers=(*self.headers, *more))

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
    """Returns the answer for the caller to what ended `what`; logs all but a Problem.

    A full disk is named in it, and logged without a traceback; any other cause is not named.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, LocalError) and error.code in (DISK_FULL, TEMPORARY_FULL):
        _log.error("%s was not carried out: %s", what, error.message)
        return Problem(507, "storage_full", f"{error.message} Nothing was done; free some space.")
    _log.error("%s broke", what, exc_info=error)
    return internal()
