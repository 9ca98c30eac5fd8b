"""Request bodies: read to a limit in size and to one in time."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Scope

from svc.sandbox.problems import Problem
from svc.spec import REQUEST_BODY_MAX

_PATIENCE: Final = 10.0  # seconds for all of a body; the callers are on this machine
_STATE_PATIENCE: Final = 120.0
_LET_GO_MAX: Final = 8 * 1024**2  # bytes of a body that is refused


@dataclass(frozen=True, slots=True)
class Limit:
    """How large a body may be, in bytes, and how long its caller may take, in seconds."""

    size: int
    seconds: float = _PATIENCE


BODY: Final = Limit(REQUEST_BODY_MAX)
STATE: Final = Limit(1024**3, _STATE_PATIENCE)  # what `export` gives of a million orders


class CallerGoneError(ConnectionError):
    """Whoever sent the request has closed the connection in the middle of it."""


async def read_body(scope: Scope, receive: Receive, limit: Limit) -> bytes:
    """Reads a whole body.

    A length that is announced and over the limit is refused before anybody is told to go on; what
    was sent all the same is read and let go, since a caller who is still sending would not see the
    answer. What is then left ends with the connection.

    Raises:
        Problem: 413 when it is larger than the limit, 408 when it is not there in time.
        CallerGoneError: nobody waits for an answer.
    """
    headers = dict(scope["headers"])
    chunks: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(limit.seconds):
            if _announced(headers) > limit.size:
                if b"expect" not in headers:
                    await _let_go(receive, 0)
                raise _too_large(limit)
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise CallerGoneError
                chunk: bytes = message.get("body", b"")
                chunks.append(chunk)
                size += len(chunk)
                more = message.get("more_body", False)
                if size > limit.size:
                    if more:
                        await _let_go(receive, size)
                    raise _too_large(limit)
    except TimeoutError:
        raise (_too_large(limit) if size > limit.size else _too_late(limit)) from None
    return b"".join(chunks)


def _announced(headers: Mapping[bytes, bytes]) -> int:
    text = headers.get(b"content-length", b"")
    return int(text) if text.isdigit() else 0


async def _let_go(receive: Receive, size: int) -> None:
    """Reads on without keeping anything, to the end of the body or of our patience with it."""
    more = True
    while more and size < _LET_GO_MAX:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise CallerGoneError
        size += len(message.get("body", b""))
        more = message.get("more_body", False)


def _too_large(limit: Limit) -> Problem:
    message = f"A request body has at most {limit.size} bytes."
    return Problem(413, "request_too_large", message, headers={"Connection": "close"})


def _too_late(limit: Limit) -> Problem:
    message = f"The request body was not there after {limit.seconds:g} seconds."
    return Problem(408, "request_timeout", message, headers={"Connection": "close"})
