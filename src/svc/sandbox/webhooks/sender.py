"""Sending webhooks over HTTP: h11 says what a request is; the connections are ours.

The pool of a whole client looks at every connection for every request, which took three quarters of
the time of a delivery.
"""

import asyncio
import ssl
import time
from collections import deque
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote, urlsplit

import h11

from svc.sandbox.webhooks.connection import KeptConnection, connect
from svc.service.facts import WEBHOOK_DEADLINE_SECONDS, is_success

REPLY_READ_MAX = 64 * 1024  # bytes of the answer's body that are looked at
CONNECTIONS_MAX = 256
KEPT_MAX = 64
KEPT_SECONDS = 4.0  # less than the 5 s after which many servers close an idle connection


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request to a receiver, complete and signed.

    `trusts_any` takes whatever certificate the receiver shows.
    """

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    trusts_any: bool = False


@dataclass(frozen=True, slots=True)
class ReceiverReply:
    """How a receiver answered: a status, or the reason why there is none; `ms` milliseconds."""

    code: int | None
    error: str | None
    ms: int

    @property
    def accepted(self) -> bool:
        """2xx; a redirect is a failure and is not followed (spec: Delivery and retries)."""
        return is_success(self.code)


class WebhookSender(Protocol):
    """What carries a request to a receiver."""

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        """Makes one attempt; whatever goes wrong is in the reply."""

    async def close(self) -> None:
        """Ends kept connections."""


_PORTS: Final = {"http": 80, "https": 443}
_UNQUOTED: Final = "/%:@!$&'()*+,;=~-._?"


class Origin(NamedTuple):
    """What a connection leads to; `trusts_any` takes any certificate."""

    scheme: str
    host: str
    port: int
    trusts_any: bool


class ReceiverUnreachableError(Exception):
    """No connection could be opened; its cause says why."""


class KeptConnections:
    """Connections that are kept: at most so many are open, 64 of them without a request.

    They carry no cookies, follow no redirects, know no proxies and send nothing twice.
    """

    def __init__(self, connections_max: int) -> None:
        self._connections_max = connections_max
        self._kept: list[tuple[Origin, KeptConnection]] = []  # the one used last is last
        self._taken = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def post(self, outgoing: Outgoing) -> int:
        """Sends a request and returns the status of its answer, whose body is read and let go.

        Raises:
            ReceiverUnreachableError, OSError, h11.ProtocolError: there is none.
            ValueError: the address is none to send to.
        """
        origin, host, target = _parsed(outgoing.url, outgoing.trusts_any)
        lines = [("Host", host), *outgoing.headers, ("Content-Length", str(len(outgoing.body)))]
        request = h11.Request(method="POST", target=target, headers=lines)
        connection = await self._take(origin)
        try:
            head = await connection.ask(request, outgoing.body)
            read = 0
            while read < REPLY_READ_MAX and (part := await connection.part()) is not None:
                read += len(part)
        finally:
            self._give_back(origin, connection)
        return head.status_code

    def close(self) -> None:
        """Ends the connections that are kept."""
        kept, self._kept = self._kept, []
        for _, connection in kept:
            connection.close()

    async def _take(self, origin: Origin) -> KeptConnection:
        await self._room()
        self._taken += 1
        try:
            return self._reused(origin) or await self._opened(origin)
        except BaseException:
            self._leave()
            raise

    def _reused(self, origin: Origin) -> KeptConnection | None:
        oldest = time.monotonic() - KEPT_SECONDS
        while self._kept and (self._kept[0][1].kept_at < oldest or not self._kept[0][1].usable):
            self._kept.pop(0)[1].close()
        for place in range(len(self._kept) - 1, -1, -1):
            if self._kept[place][0] == origin and self._kept[place][1].usable:
                return self._kept.pop(place)[1]
        return None

    async def _opened(self, origin: Origin) -> KeptConnection:
        if self._taken + len(self._kept) > self._connections_max:
            self._kept.pop(0)[1].close()
        context = None
        if origin.scheme == "https":
            context = self._any_context if origin.trusts_any else self._context
        try:
            return await connect(origin.host, origin.port, context)
        except OSError as error:
            raise ReceiverUnreachableError from error

    async def _room(self) -> None:
        while self._taken >= self._connections_max:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._call_next()  # the room that was ours is another's
                raise

    def _give_back(self, origin: Origin, connection: KeptConnection) -> None:
        self._leave()
        if connection.finish():
            self._kept.append((origin, connection))
        if len(self._kept) > KEPT_MAX:
            self._kept.pop(0)[1].close()

    def _leave(self) -> None:
        self._taken -= 1
        self._call_next()

    def _call_next(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    @cached_property
    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        # Since 3.13 Python refuses a private authority that earlier ones trust: on all alike.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.set_alpn_protocols(["http/1.1"])
        return context

    @cached_property
    def _any_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context


class HttpSender:
    """Sends over connections that are kept; `deadline` is in seconds, for the whole exchange."""

    def __init__(
        self,
        deadline: float = WEBHOOK_DEADLINE_SECONDS,
        *,
        connections_max: int = CONNECTIONS_MAX,
    ) -> None:
        self._deadline = deadline
        self._connections = KeptConnections(connections_max)

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        """Makes one attempt; whatever goes wrong is in the reply."""
        begun = time.monotonic()
        code, error = None, None
        try:
            async with asyncio.timeout(self._deadline):
                code = await self._connections.post(outgoing)
        except TimeoutError:
            error = "timeout"
        except Exception as failure:  # noqa: BLE001  an address may break any layer below
            error = _reason(failure)
        return ReceiverReply(code, error, round((time.monotonic() - begun) * 1000))

    async def close(self) -> None:
        """Ends kept connections."""
        self._connections.close()


@lru_cache(maxsize=64)
def _parsed(url: str, trusts_any: bool) -> tuple[Origin, str, str]:  # noqa: FBT001  positional for the cache
    """An endpoint's address, the same for all that it gets: where, its Host, and its target.

    Raises:
        ValueError: it is none of http or https.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(url)
    host = parts.hostname.encode("idna").decode()
    shown = f"[{host}]" if ":" in host else host
    usual = _PORTS[parts.scheme]
    port = usual if parts.port is None else parts.port
    query = f"?{parts.query}" if parts.query else ""
    target = quote((parts.path or "/") + query, safe=_UNQUOTED)
    named = shown if port == usual else f"{shown}:{port}"
    return Origin(parts.scheme, host, port, trusts_any), named, target


def _reason(failure: Exception) -> str:
    if isinstance(failure, ReceiverUnreachableError):
        return "tls_failed" if isinstance(failure.__cause__, ssl.SSLError) else "connect_failed"
    return "connection_lost" if isinstance(failure, OSError | h11.ProtocolError) else "not_sendable"
