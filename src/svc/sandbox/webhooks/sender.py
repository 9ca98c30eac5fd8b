"""Sends webhooks over HTTP; the only module of svc that uses httpx.

`app` makes an `HttpSender` unless its caller passes another `WebhookSender`, as tests do;
`attempts` sends each attempt by it: an `Outgoing` in, a `ReceiverReply` out. httpx has the requests
and responses, the connections are ours: httpx's pool looks at every connection for every request,
which took three quarters of the time of a delivery.
"""

import asyncio
import ssl
import sys
import time
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import h11

# httpx imports a command line of its own, with rich and pygments, when click is installed, and
# uvicorn brings click along; httpx copes with the ImportError that this causes.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
import httpx  # noqa: E402

from svc.sandbox.webhooks.connection import KeptConnection, connect  # noqa: E402
from svc.service.facts import WEBHOOK_DEADLINE_SECONDS, is_success  # noqa: E402

REPLY_READ_MAX = 64 * 1024  # bytes of the answer's body
CONNECTIONS_MAX = 256
KEPT_MAX = 64
KEPT_SECONDS = 4.0  # less than the 5 s after which many servers close an idle connection


class Outgoing(NamedTuple):
    """One signed request to a receiver; `trusts_any` takes whatever certificate it shows."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    trusts_any: bool = False


class ReceiverReply(NamedTuple):
    """How a receiver answered: a status, or the reason why there is none; `ms` milliseconds."""

    code: int | None
    error: str | None
    ms: int

    @property
    def accepted(self) -> bool:
        """2xx; a redirect is a failure and is not followed (spec: Delivery and retries)."""
        return is_success(self.code)


class WebhookSender(Protocol):
    """The interface of what sends a request to a receiver."""

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        """Makes one attempt; whatever goes wrong is in the reply."""

    async def close(self) -> None:
        """Ends kept connections."""


Origin = tuple[str, str, int, bool]  # the last: any certificate is taken
_TRUSTS_ANY = "trusts_any"  # an extension of a request
_LET_GO = httpx.AsyncByteStream()  # of any other httpx would make a body


class KeptConnections(httpx.AsyncBaseTransport):
    """A transport that keeps connections: at most so many are open, 64 of them without a request.

    It carries no cookies, follows no redirects, knows no proxies and sends nothing twice.
    """

    def __init__(self, connections_max: int, ca_bundle: str | None = None) -> None:
        self._connections_max = connections_max
        self._ca_bundle = ca_bundle
        self._kept: list[tuple[Origin, KeptConnection]] = []  # the one used last is last
        self._taken = 0
        self._room = asyncio.Semaphore(connections_max)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The status of the answer to a request; of its body 64 KiB are read and let go.

        Raises:
            httpx.TransportError: there is none.
        """
        origin = (*_origin(request.url), bool(request.extensions.get(_TRUSTS_ANY)))
        assert isinstance(request.stream, httpx.ByteStream)
        body = b"".join(request.stream)
        connection = await self._take(origin)
        try:
            asked = h11.Request(
                method=request.method, target=request.url.raw_path, headers=request.headers.raw
            )
            head = await connection.ask(asked, body)
            read = 0
            while read < REPLY_READ_MAX and (part := await connection.part()) is not None:
                read += len(part)
        except (OSError, h11.ProtocolError) as error:
            raise _translate_error(error) from error
        finally:
            self._give_back(origin, connection)
        return httpx.Response(head.status_code, stream=_LET_GO)

    async def aclose(self) -> None:
        """Ends the connections that are kept."""
        kept, self._kept = self._kept, []
        for _, connection in kept:
            connection.close()

    async def _take(self, origin: Origin) -> KeptConnection:
        await self._room.acquire()
        self._taken += 1
        try:
            return self._reuse(origin) or await self._open(origin)
        except BaseException:
            self._leave()
            raise

    def _reuse(self, origin: Origin) -> KeptConnection | None:
        oldest = time.monotonic() - KEPT_SECONDS
        while self._kept and (self._kept[0][1].kept_at < oldest or not self._kept[0][1].usable):
            self._kept.pop(0)[1].close()
        for place in range(len(self._kept) - 1, -1, -1):
            if self._kept[place][0] == origin and self._kept[place][1].usable:
                return self._kept.pop(place)[1]
        return None

    async def _open(self, origin: Origin) -> KeptConnection:
        scheme, host, port, trusts_any = origin
        if self._taken + len(self._kept) > self._connections_max:
            self._kept.pop(0)[1].close()
        context = None
        if scheme == "https":
            context = self._any_context if trusts_any else self._context
        try:
            return await connect(host, port, context)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error

    def _give_back(self, origin: Origin, connection: KeptConnection) -> None:
        self._leave()
        if connection.finish():
            self._kept.append((origin, connection))
        if len(self._kept) > KEPT_MAX:
            self._kept.pop(0)[1].close()

    def _leave(self) -> None:
        self._taken -= 1
        self._room.release()

    @cached_property
    def _context(self) -> ssl.SSLContext:
        context = _build_context()
        # Since 3.13 Python refuses a private authority that earlier ones trust: on all alike.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self._ca_bundle is not None:
            context.load_verify_locations(self._ca_bundle)
        return context

    @cached_property
    def _any_context(self) -> ssl.SSLContext:
        context = _build_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context


def _build_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class HttpSender:
    """Sends over connections that are kept; `deadline` is in seconds, for the whole exchange.

    `ca_bundle` is a file of authorities, or of receivers' own certificates, trusted besides the
    system's.
    """

    def __init__(
        self,
        deadline: float = WEBHOOK_DEADLINE_SECONDS,
        *,
        connections_max: int = CONNECTIONS_MAX,
        ca_bundle: str | None = None,
    ) -> None:
        self._deadline = deadline
        self._transport = KeptConnections(connections_max, ca_bundle)

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        """Makes one attempt; whatever goes wrong is in the reply."""
        begun = time.monotonic()
        code, error = None, None
        try:
            async with asyncio.timeout(self._deadline):
                reply = await self._transport.handle_async_request(_request(outgoing))
                code = reply.status_code
        except TimeoutError:
            error = "timeout"
        except Exception as failure:  # noqa: BLE001  an address may break any layer below
            error = _reason(failure)
        return ReceiverReply(code, error, round((time.monotonic() - begun) * 1000))

    async def close(self) -> None:
        """Ends kept connections."""
        await self._transport.aclose()


def _request(outgoing: Outgoing) -> httpx.Request:
    """Builds the httpx request with all headers at once: adding them later takes three times."""
    url = _parse_url(outgoing.url)
    headers = [(b"Host", url.netloc)] if url.host else []
    headers += [(name.encode(), value.encode("ascii")) for name, value in outgoing.headers]
    headers.append((b"Content-Length", b"%d" % len(outgoing.body)))
    stream, told = httpx.ByteStream(outgoing.body), {_TRUSTS_ANY: outgoing.trusts_any}
    return httpx.Request("POST", url, headers=headers, stream=stream, extensions=told)


@lru_cache(maxsize=64)
def _parse_url(url: str) -> httpx.URL:
    """An endpoint's address, which is the same for all that it gets."""
    return httpx.URL(url)


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    """Scheme, host and port; raises UnsupportedProtocol for any scheme but http and https."""
    ports = {"http": 80, "https": 443}
    if url.scheme not in ports:
        raise httpx.UnsupportedProtocol(f"{url.scheme} is not http")
    return url.scheme, url.raw_host.decode("ascii"), url.port or ports[url.scheme]


def _translate_error(error: OSError | h11.ProtocolError) -> httpx.TransportError:
    if isinstance(error, h11.RemoteProtocolError):
        return httpx.RemoteProtocolError(str(error))
    if isinstance(error, h11.LocalProtocolError):
        return httpx.LocalProtocolError(str(error))
    return httpx.ReadError(str(error))


def _reason(failure: Exception) -> str:
    if isinstance(failure, httpx.ConnectError):
        return "tls_failed" if isinstance(failure.__cause__, ssl.SSLError) else "connect_failed"
    if isinstance(failure, httpx.ProtocolError | httpx.ReadError | httpx.WriteError):
        return "connection_lost"
    return "not_sendable"
