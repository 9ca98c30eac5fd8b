"""Sending one webhook over HTTP: the one place in the sandbox that uses httpx."""

import asyncio
import ssl
import sys
import time
from dataclasses import dataclass
from typing import Protocol

# httpx imports a command line of its own, with rich and pygments, when click is installed, and
# uvicorn brings click along; httpx copes with the ImportError that this causes.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
import httpx  # noqa: E402

from svc.spec import WEBHOOK_DEADLINE_SECONDS  # noqa: E402

REPLY_READ_MAX = 64 * 1024  # bytes of the answer's body that are looked at
CONNECTIONS_MAX = 256
KEPT_MAX = 64
KEPT_SECONDS = 4.0  # less than the 5 s after which many servers close an idle connection


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request to a receiver, complete and signed."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class ReceiverReply:
    """How a receiver answered: a status, or the reason why there is none; `ms` milliseconds."""

    code: int | None
    error: str | None
    ms: int

    @property
    def accepted(self) -> bool:
        """2xx; a redirect is a failure and is not followed (spec: Delivery and retries)."""
        return self.code is not None and 200 <= self.code < 300  # noqa: PLR2004  the class of 2xx


class WebhookSender(Protocol):
    """What carries a request to a receiver."""

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        """Makes one attempt; whatever goes wrong is in the reply."""

    async def close(self) -> None:
        """Ends kept connections."""


class HttpSender:
    """Sends over connections that are kept; `deadline` is in seconds, for the whole exchange.

    Bare transports carry no cookies, follow no redirects and know no proxies.
    """

    def __init__(self, deadline: float = WEBHOOK_DEADLINE_SECONDS) -> None:
        self._deadline = deadline
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        """Makes one attempt; whatever goes wrong is in the reply."""
        begun = time.monotonic()
        code, error = None, None
        try:
            async with asyncio.timeout(self._deadline):
                code = await self._post(outgoing)
        except TimeoutError:
            error = "timeout"
        except Exception as failure:  # noqa: BLE001  an address may break any layer below
            error = _reason(failure)
        return ReceiverReply(code, error, round((time.monotonic() - begun) * 1000))

    async def close(self) -> None:
        """Ends kept connections."""
        transports, self._transports = self._transports, {}
        for transport in transports.values():
            await transport.aclose()

    async def _post(self, outgoing: Outgoing) -> int:
        request = httpx.Request(
            "POST", outgoing.url, headers=list(outgoing.headers), content=outgoing.body
        )
        reply = await self._transport(request.url.scheme).handle_async_request(request)
        try:
            read = 0
            async for chunk in reply.aiter_raw():
                read += len(chunk)
                if read >= REPLY_READ_MAX:
                    break
        finally:
            await reply.aclose()
        return reply.status_code

    def _transport(self, scheme: str) -> httpx.AsyncHTTPTransport:
        if scheme not in self._transports:
            # A plain connection needs no certificates: an empty context saves reading them.
            context = ssl.create_default_context() if scheme == "https" else _empty_context()
            limits = httpx.Limits(
                max_connections=CONNECTIONS_MAX,
                max_keepalive_connections=KEPT_MAX,
                keepalive_expiry=KEPT_SECONDS,
            )
            self._transports[scheme] = httpx.AsyncHTTPTransport(
                verify=context, limits=limits, trust_env=False
            )
        return self._transports[scheme]


def _empty_context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _reason(failure: Exception) -> str:
    if isinstance(failure, httpx.ConnectError):
        return "tls_failed" if "SSL" in str(failure) else "connect_failed"
    if isinstance(failure, httpx.ProtocolError | httpx.ReadError | httpx.WriteError):
        return "connection_lost"
    return "not_sendable"
