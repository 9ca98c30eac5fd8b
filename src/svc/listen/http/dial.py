"""Opens connections to a target's checked address; a name could change since (R53).

`connection` calls `open_connection` and sends over the `OpenConnection` that it gets.
"""

import asyncio
import ipaddress
import select
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Literal

from svc.errors import system_words
from svc.listen.http.answers import AnswerReader, TargetAnswer, UnreadableAnswer
from svc.listen.http.reading import ReadingProtocol
from svc.listen.targets import IpAddress, Target


@dataclass(frozen=True, slots=True)
class BrokenExchange:
    """An exchange that ended without an answer: why, in a word and in a sentence.

    `begun`: some of an answer had come.
    """

    trouble: Literal["closed", "unreadable"]
    text: str
    begun: bool = False
    reusable: ClassVar = False


class OpenConnection(ReadingProtocol):
    """Writes a request and reads its answer; bytes that were not requested end the connection."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__()
        self._is_quiet = _make_is_quiet(connected)
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._on_answer: Callable[[TargetAnswer | BrokenExchange], None] | None = None

    def is_open(self) -> bool:
        """Returns whether another request can be sent: asks the system, not only the loop.

        Bytes that came since the last answer, or the connection's end, make it unfit; the loop may
        not have handled them yet.
        """
        if self._transport is None or self._transport.is_closing():
            return False
        return self._is_quiet()

    def send(
        self, request: bytes, on_answer: Callable[[TargetAnswer | BrokenExchange], None]
    ) -> None:
        """Sends one request; calls back once, with the answer or the reason for none."""
        self._on_answer = on_answer
        self._reader = AnswerReader()
        if self._transport is None:
            self.connection_lost(None)
        else:
            self._transport.write(request)

    def status_so_far(self) -> TargetAnswer | None:
        """Returns an answer whose body has not ended, if its head has come."""
        return self._reader.status_so_far() if self._reader is not None else None

    def close(self) -> None:
        """Closes the connection without a callback."""
        self._on_answer = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._on_answer is None or self._reader is None:
            self.close()  # an answer to nothing must not meet the next request
            return
        answer: TargetAnswer | BrokenExchange | None
        try:
            answer = self._reader.feed(data)
        except UnreadableAnswer as error:
            answer = self.status_so_far() or BrokenExchange("unreadable", str(error))
        if answer is not None:
            self._report(answer)

    def eof_received(self) -> None:
        if self._on_answer is not None and self._reader is not None and self._reader.started:
            self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        self._transport = None
        text = "it closed the connection without a whole answer"
        begun = self._reader is not None and self._reader.started
        self._report(self.status_so_far() or BrokenExchange("closed", text, begun))

    def _report(self, answer: TargetAnswer | BrokenExchange) -> None:
        """Tells once how an exchange ended; a status counts where its head was whole."""
        on_answer, self._on_answer = self._on_answer, None
        if not answer.reusable:
            self.close()
        if on_answer is not None:
            on_answer(answer)


def _make_is_quiet(connected: socket.socket) -> Callable[[], bool]:
    """Returns a function: whether a socket has neither unread bytes nor an end of stream."""
    if not hasattr(select, "poll"):  # Windows
        return partial(_is_read, connected)
    has: Any = select
    news = has.poll()  # an error that is raised and caught costs three times as much
    news.register(connected, has.POLLIN)
    return lambda: not news.poll(0)


def _is_read(connected: socket.socket) -> bool:
    try:
        connected.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


_V4: Final = 4


class CannotConnect(Exception):  # noqa: N818  it says what is the matter
    """There is no connection; `forbidden`: there must not be one."""

    def __init__(self, text: str, trouble: Literal["unreachable", "forbidden"]) -> None:
        super().__init__(text)
        self.trouble = trouble


Connect = Callable[[Target, ssl.SSLContext | None], Awaitable[OpenConnection]]


async def open_connection(target: Target, context: ssl.SSLContext | None) -> OpenConnection:
    """Connects to the first address of a target that answers.

    Raises:
        CannotConnect: none does, or the name leads to an address that is not allowed.
    """
    last: OSError = OSError("its host name has no address")
    for address in await resolve(target):
        try:
            return await _open(address, target, context)
        except OSError as error:
            last = error
    raise CannotConnect(_words(last), "unreachable") from None


async def resolve(target: Target) -> list[IpAddress]:
    """Returns the addresses of a target, all of them allowed.

    Raises:
        CannotConnect: the name is not known, or leads to an address that is not allowed (R53).
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CannotConnect(_words(error), "unreachable") from None
    addresses = list(dict.fromkeys(ipaddress.ip_address(info[4][0]) for info in found))
    for address in addresses:
        if not target.allows(address):
            why = "never allowed" if target.allow_remote else "not on this machine"
            text = f"{target.host} leads to {address}, which is {why}"
            raise CannotConnect(text, "forbidden")
    return addresses


async def _open(
    address: IpAddress, target: Target, context: ssl.SSLContext | None
) -> OpenConnection:
    loop = asyncio.get_running_loop()
    unchecked = context is not None and context.verify_mode == ssl.CERT_NONE
    if unchecked and not address.is_private:  # as those of this machine are
        text = f"--insecure-target is for private addresses, and {address} is not one"
        raise CannotConnect(text, "forbidden")
    name = target.host if context else None
    family = socket.AF_INET if address.version == _V4 else socket.AF_INET6
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.setblocking(False)
        await loop.sock_connect(connected, (str(address), target.port))
        _, wire = await loop.create_connection(
            lambda: OpenConnection(connected), sock=connected, ssl=context, server_hostname=name
        )
    except BaseException:
        connected.close()
        raise
    return wire


def _words(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.gaierror):
        return "its host name is not known"
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message.lower()
        return f"its certificate is not trusted ({why}): --ca-bundle FILE, or --insecure-target"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or str(error)).lower().replace('_', ' ')}"
    return system_words(error)
