"""Delivers to the handler under examination, with a new connection for each delivery.

`svc events examine` passes a `HandlerTarget` to the `Examiner`; tests pass others.
"""

import asyncio
from typing import Final

from svc.listen.forward.request import ForwardSender
from svc.listen.http.connection import TargetReply, exchange_once

_CUT_SECONDS: Final = 0.01  # after the request was written: the handler has begun
_LOOK_SECONDS: Final = 0.002


class HandlerTarget:
    """Delivers what an `Examiner` makes; an answer may take `seconds`."""

    def __init__(self, sender: ForwardSender, seconds: float) -> None:
        self._sender = sender
        self._seconds = seconds

    async def send(self, headers: bytes, body: bytes) -> TargetReply:
        """Makes one delivery and returns its answer."""
        request = self._sender.request(headers, body).data
        return await exchange_once(self._sender.link(), request, self._seconds)

    async def cut(self, headers: bytes, body: bytes) -> None:
        """Makes one delivery and closes the connection as soon as the handler has all of it."""
        link, over = self._sender.link(), asyncio.Event()
        link.exchange(self._sender.request(headers, body).data, self._seconds, lambda _: over.set())
        try:
            while not link.sent and not over.is_set():  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(_LOOK_SECONDS)
            if not over.is_set():
                await asyncio.sleep(_CUT_SECONDS)
        finally:
            link.close()

    async def connect(self) -> TargetReply:
        """Opens a connection and sends nothing; the reply says why none can be made."""
        return await exchange_once(self._sender.link(), b"", self._seconds)
