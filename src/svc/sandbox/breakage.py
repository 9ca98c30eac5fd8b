"""Replies that end badly on purpose: closed, reset, cut, endless (promise R90)."""

import asyncio
import socket
import struct
from typing import Any, Final

from starlette.types import Receive, Send

from svc.sandbox.exchange import Reply

_NO_LINGER: Final = struct.pack("ii", 1, 0)  # makes close send a reset
_DRIP_SECONDS: Final = 0.3  # between two bytes


class BrokenByRuleError(ConnectionError):
    """Stands for the broken connection where there is none, as in an in-process test client."""


async def send_broken(reply: Reply, receive: Receive, send: Send) -> None:
    """Breaks the connection in the way that the reply asks for.

    Raises:
        BrokenByRuleError: the server behind `receive` has no connection to break.
    """
    if reply.connection == "drip":
        await _drip(reply, receive, send)
        return
    # uvicorn hands over bound methods of the request's cycle, which knows its connection.
    transport: Any = getattr(getattr(receive, "__self__", None), "transport", None)
    if transport is None:
        raise BrokenByRuleError(reply.connection)
    if reply.connection == "truncate":
        await _send_half(reply, send)
    if reply.connection == "reset":
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        transport.abort()
    else:
        transport.close()
    while (await receive())["type"] != "http.disconnect":
        pass  # the server must know that the caller is gone, or it would answer for us


async def _send_half(reply: Reply, send: Send) -> None:
    await _begin(reply, send)
    half = reply.body[: len(reply.body) // 2]
    await send({"type": "http.response.body", "body": half, "more_body": True})


async def _drip(reply: Reply, receive: Receive, send: Send) -> None:
    """Sends byte by byte until all is sent or the caller has had enough."""
    await _begin(reply, send)
    gone = asyncio.ensure_future(receive())
    try:
        for place in range(len(reply.body)):
            byte = reply.body[place : place + 1]
            await send({"type": "http.response.body", "body": byte, "more_body": True})
            await asyncio.wait([gone], timeout=_DRIP_SECONDS)
            if gone.done():
                return
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()


async def _begin(reply: Reply, send: Send) -> None:
    start = {"type": "http.response.start", "status": reply.status}
    await send({**start, "headers": reply.raw_headers()})
