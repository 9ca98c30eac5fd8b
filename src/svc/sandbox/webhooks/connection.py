"""One kept connection to a receiver of webhooks, which carries one request at a time.

`sender` opens connections by `connect` and reuses each until one side ends it.
"""

import asyncio
import ipaddress
import ssl
import time
from contextlib import suppress
from typing import Final

import h11

_HEAD_MAX: Final = 100 * 1024  # bytes of an answer's head
_RESOLVING_ANEW: Final = 0.25  # seconds until the next address of a name is tried as well


class KeptConnection(asyncio.Protocol):
    """HTTP/1.1 over a socket; bytes that come while no request is under way end it.

    Attributes:
        kept_at: when the last exchange ended, in seconds of the monotonic clock.
    """

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_MAX)
        self._transport: asyncio.Transport | None = None
        self._news: asyncio.Future[None] | None = None
        self._lost: OSError | None = None
        self._asked = False
        self.kept_at = 0.0

    # --- what asyncio calls -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._asked:
            self._http.receive_data(data)
            self._tell()
        else:
            self.close()

    def eof_received(self) -> bool:
        if self._asked:
            self._http.receive_data(b"")
        return False  # the transport closes itself, and `connection_lost` tells it

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = exc if isinstance(exc, OSError) else ConnectionResetError("closed")
        self._tell()

    # --- what the sender calls ----------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Returns whether another request may be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        """Ends it at once, whatever is under way."""
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, request: h11.Request, body: bytes) -> h11.Response:
        """Sends a request and returns the head of its answer.

        Raises:
            OSError: the connection ended.
            h11.ProtocolError: the request cannot be said, or the answer is none.
        """
        assert self._transport is not None
        self._asked = True
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        self._transport.write(b"".join(self._http.send(part) or b"" for part in parts))
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise h11.RemoteProtocolError(f"no answer but {type(event).__name__}")

    async def part(self) -> bytes | None:
        """The next part of the answer's body, or None at its end.

        Raises:
            OSError, h11.ProtocolError: it was cut short.
        """
        event = await self._next()
        return bytes(event.data) if isinstance(event, h11.Data) else None

    def finish(self) -> bool:
        """Makes ready for another request; false, and closed, if there can be none."""
        both = self._http.our_state, self._http.their_state
        if both != (h11.DONE, h11.DONE) or self._http.trailing_data[0] or not self.usable:
            self.close()
            return False
        self._http.start_next_cycle()
        self._asked, self.kept_at = False, time.monotonic()
        return True

    async def _next(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event, which is never NEED_DATA."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._lost is not None:
                raise self._lost
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        return event

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)


async def connect(host: str, port: int, context: ssl.SSLContext | None) -> KeptConnection:
    """Opens a connection, with TLS if there is a context.

    Raises:
        OSError: the receiver cannot be reached; `ssl.SSLError`, which is one, if its certificate is
        not trusted.
    """
    _, connection = await asyncio.get_running_loop().create_connection(
        KeptConnection,
        host,
        port,
        ssl=context,
        # asyncio leaves the socket open if the race of addresses is cut short as one of them wins.
        happy_eyeballs_delay=None if _is_address(host) else _RESOLVING_ANEW,
    )
    return connection


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False
