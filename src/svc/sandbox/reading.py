"""Request bodies: read to a limit in size and to one in time."""

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive

from svc.sandbox.problems import Problem
from svc.spec import REQUEST_BODY_MAX

_PATIENCE: Final = 10.0  # seconds for all of a body; the callers are on this machine
_STATE_PATIENCE: Final = 120.0


@dataclass(frozen=True, slots=True)
class Limit:
    """How large a body may be, in bytes, and how long its caller may take, in seconds."""

    size: int
    seconds: float = _PATIENCE


BODY: Final = Limit(REQUEST_BODY_MAX)
STATE: Final = Limit(1024**3, _STATE_PATIENCE)  # what `export` gives of a million orders


class CallerGoneError(ConnectionError):
    """Whoever sent the request has closed the connection in the middle of it."""


async def read_body(receive: Receive, limit: Limit) -> bytes:
    """Reads a whole body.

    Raises:
        Problem: 413 when it is larger than the limit, 408 when it is not there in time. What
            is left of it on the connection is not read: the connection ends with the answer.
        CallerGoneError: nobody waits for an answer.
    """
    chunks: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(limit.seconds):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise CallerGoneError
                chunk: bytes = message.get("body", b"")
                chunks.append(chunk)
                size += len(chunk)
                if size > limit.size:
                    raise _too_large(limit)
                more = message.get("more_body", False)
    except TimeoutError:
        raise _too_late(limit) from None
    return b"".join(chunks)


def _too_large(limit: Limit) -> Problem:
    message = f"A request body has at most {limit.size} bytes."
    return Problem(413, "request_too_large", message, headers={"Connection": "close"})


def _too_late(limit: Limit) -> Problem:
    message = f"The request body was not there after {limit.seconds:g} seconds."
    return Problem(408, "request_timeout", message, headers={"Connection": "close"})
