"""One port, two ways to speak: each connection is TLS or plain HTTP, as its first byte says.

So that a sandbox with a certificate can answer plain HTTP with 401, as the real service does.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_TLS_HANDSHAKE: Final = b"\x16"
_PATIENCE: Final = 10.0  # seconds for a first byte, and for a handshake
_PAUSE: Final = 0.1  # seconds after a connection that could not be accepted

_log: Final = logging.getLogger(__name__)


class Doorman:
    """Accepts connections on a listening socket; has of a server what uvicorn asks of it."""

    def __init__(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        make_protocol: Callable[[], asyncio.Protocol],
    ) -> None:
        self._sock = sock
        self._context = context
        self._make_protocol = make_protocol
        self._guests: set[asyncio.Task[None]] = set()
        sock.setblocking(False)
        self._door = asyncio.create_task(self._open())

    def close(self) -> None:
        """Accepts nobody any more; those who have not said anything yet are sent away."""
        for task in (self._door, *self._guests):
            task.cancel()

    async def wait_closed(self) -> None:
        """Returns when nobody is at the door."""
        await asyncio.wait([self._door, *self._guests])

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                guest, _ = await loop.sock_accept(self._sock)
            except OSError as error:  # too many open files, say
                _log.warning("a connection could not be accepted: %s", error)
                await asyncio.sleep(_PAUSE)
                continue
            task = asyncio.create_task(self._welcome(guest))
            self._guests.add(task)
            task.add_done_callback(self._guests.discard)

    async def _welcome(self, guest: socket.socket) -> None:
        handed_over = False
        try:
            guest.setblocking(False)
            async with asyncio.timeout(_PATIENCE):
                first = await _first_byte(guest)
            if first:
                context = self._context if first == _TLS_HANDSHAKE else None
                handed_over = True  # from here on the transport closes it
                await self._hand_over(guest, context)
        except (OSError, TimeoutError) as error:  # ssl.SSLError is one of the first
            _log.info("a connection came to nothing: %s", error)
        finally:
            if not handed_over:
                guest.close()

    async def _hand_over(self, guest: socket.socket, context: ssl.SSLContext | None) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(
            self._make_protocol,
            guest,
            ssl=context,
            ssl_handshake_timeout=None if context is None else _PATIENCE,
        )


async def _first_byte(guest: socket.socket) -> bytes:
    """Looks at the first byte without taking it; empty when the caller has hung up."""
    loop = asyncio.get_running_loop()
    said = asyncio.Event()
    loop.add_reader(guest, said.set)
    try:
        await said.wait()
    finally:
        loop.remove_reader(guest)
    with suppress(ConnectionError):
        return guest.recv(1, socket.MSG_PEEK)
    return b""
