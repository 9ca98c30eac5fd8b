"""One kept-alive connection to a target: no proxy, no redirect, one deadline (R53, R54).

httpx is not used here: at best it sends 4,000 requests a second on one core, which is less than
arrive; what a forward needs of HTTP is one request and one answer.
"""

import asyncio
import ipaddress
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from svc.listen.answers import Answer, AnswerReader, Unreadable
from svc.listen.targets import Address, Target

Trouble = Literal["unreachable", "closed", "timeout", "unreadable", "forbidden"]

_CONNECT_WORDS: Final = {
    ConnectionRefusedError: "connection refused: is the server running?",
    ConnectionResetError: "connection reset",
    socket.gaierror: "its host name is not known",
    ssl.SSLCertVerificationError: "its certificate is not valid",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """How one exchange ended: with a status, or with trouble and a sentence about it."""

    milliseconds: float
    status: int | None = None
    body: bytes = b""
    trouble: Trouble | None = None
    error: str | None = None


class _Broken(Exception):  # noqa: N818  control flow inside this module
    def __init__(self, trouble: Trouble, text: str, *, before_answer: bool = False) -> None:
        super().__init__(text)
        self.trouble = trouble
        self.text = text
        self.before_answer = before_answer


class _Forbidden(Exception):  # noqa: N818
    """A name leads to an address that may not be forwarded to."""


class _Wire(asyncio.Protocol):
    """An open connection that carries one exchange at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._waiter: asyncio.Future[Answer] | None = None

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._waiter is None or self._waiter.done():
            self.close()  # nobody asked: an answer to nothing must not meet the next request
            return
        self._feed(data)

    def eof_received(self) -> None:
        reading = self._reader is not None and self._reader.started
        if reading and self._waiter is not None and not self._waiter.done():
            self._feed(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        started = self._reader is not None and self._reader.started
        self._fail(_Broken("closed", "it closed without a whole answer", before_answer=not started))

    def send(self, request: bytes) -> "asyncio.Future[Answer]":
        assert self._transport is not None
        self._reader = AnswerReader()
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._waiter

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def expire(self) -> None:
        self._fail(_Broken("timeout", "no answer in time"))

    def _feed(self, data: bytes) -> None:
        assert self._reader is not None
        assert self._waiter is not None
        try:
            answer = self._reader.feed(data)
        except Unreadable as error:
            self._fail(_Broken("unreadable", str(error)))
            return
        if answer is not None:
            if not answer.reusable:
                self.close()
            self._waiter.set_result(answer)

    def _fail(self, broken: _Broken) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(broken)
        self.close()


class Link:
    """Sends requests to one target, one after the other, over one connection."""

    def __init__(self, target: Target, context: ssl.SSLContext | None = None) -> None:
        self._target = target
        self._context = context
        self._wire: _Wire | None = None

    async def exchange(self, request: bytes, limit: float) -> Reply:
        """Sends one request and waits for its answer, at most `limit` seconds in all.

        Never raises: trouble is part of the reply.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            answer = await self._attempt(request, started + limit)
        except _Broken as broken:
            spent = (loop.time() - started) * 1000
            return Reply(spent, trouble=broken.trouble, error=broken.text)
        return Reply((loop.time() - started) * 1000, answer.status, answer.body)

    def close(self) -> None:
        """Closes the connection; an exchange under way ends as closed."""
        if self._wire is not None:
            self._wire.close()

    async def _attempt(self, request: bytes, deadline: float) -> Answer:
        if self._wire is not None and self._wire.usable:
            try:
                return await _exchange(self._wire, request, deadline)
            except _Broken as broken:
                # The target had closed an idle connection before it saw the request.
                if not broken.before_answer:
                    raise
        self._wire = await self._connect(deadline)
        return await _exchange(self._wire, request, deadline)

    async def _connect(self, deadline: float) -> _Wire:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._open()
        except _Forbidden as error:
            raise _Broken("forbidden", str(error)) from None
        except TimeoutError:
            raise _Broken("unreachable", "no connection in time") from None
        except OSError as error:
            words = _CONNECT_WORDS.get(type(error), (error.strerror or str(error)).lower())
            raise _Broken("unreachable", words) from None

    async def _open(self) -> _Wire:
        """Connects to an address that was checked, not to a name that could change (R53)."""
        loop = asyncio.get_running_loop()
        target = self._target
        last = OSError("its host name has no address")
        for address in await resolve(target):
            with suppress(ConnectionRefusedError):
                last = ConnectionRefusedError()
                _, wire = await loop.create_connection(
                    _Wire,
                    str(address),
                    target.port,
                    ssl=self._context,
                    server_hostname=target.host if self._context else None,
                )
                return wire
        raise last


async def resolve(target: Target) -> list[Address]:
    """Gives the addresses of a target, all of them allowed.

    Raises:
        OSError: the name is not known.
        _Forbidden: it leads to an address that is not allowed (R53).
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(ipaddress.ip_address(info[4][0]) for info in found))
    for address in addresses:
        if not target.allows(address):
            raise _Forbidden(f"{target.host} leads to {address}, which is not on this machine")
    return addresses


async def _exchange(wire: _Wire, request: bytes, deadline: float) -> Answer:
    waiter = wire.send(request)
    timer = asyncio.get_running_loop().call_at(deadline, wire.expire)
    try:
        return await waiter
    except asyncio.CancelledError:
        wire.close()  # its answer may still come and must not meet the next request
        raise
    finally:
        timer.cancel()
