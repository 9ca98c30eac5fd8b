"""An open connection to a target that carries one exchange at a time."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from svc.listen.answers import Answer, AnswerReader, Unreadable
from svc.listen.reading import ReadingProtocol


@dataclass(frozen=True, slots=True)
class Broken:
    """An exchange that ended without an answer: why, in a word and in a sentence."""

    trouble: Literal["closed", "unreadable"]
    text: str


class Wire(ReadingProtocol):
    """Writes a request and reads its answer; what comes unasked ends the connection."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__()
        self._socket = connected
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._told: Callable[[Answer | Broken], None] | None = None

    def is_open(self) -> bool:
        """Says whether another request can be sent: asks the system, not only the loop.

        What has come since the last answer, its end above all, makes it unfit; the loop may not
        have got round to that yet.
        """
        if self._transport is None or self._transport.is_closing():
            return False
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def send(self, request: bytes, told: Callable[[Answer | Broken], None]) -> None:
        """Sends one request; the answer, or why there is none, is told once."""
        self._told = told
        self._reader = AnswerReader()
        if self._transport is None:
            self.connection_lost(None)
        else:
            self._transport.write(request)

    def status_so_far(self) -> Answer | None:
        """Gives what came of an answer whose body has no end."""
        return self._reader.status_so_far() if self._reader is not None else None

    def close(self) -> None:
        """Closes the connection and tells nobody."""
        self._told = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._told is None or self._reader is None:
            self.close()  # an answer to nothing must not meet the next request
            return
        try:
            answer = self._reader.feed(data)
        except Unreadable as error:
            self._end(Broken("unreadable", str(error)), close=True)
            return
        if answer is not None:
            self._tell(answer, close=not answer.reusable)

    def eof_received(self) -> None:
        if self._told is not None and self._reader is not None and self._reader.started:
            self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        self._transport = None
        text = "it closed the connection without a whole answer"
        self._end(Broken("closed", text), close=False)

    def _end(self, broken: Broken, *, close: bool) -> None:
        """Tells that the answer broke off; its status counts where its head was whole."""
        self._tell(self.status_so_far() or broken, close=close)

    def _tell(self, heard: Answer | Broken, *, close: bool) -> None:
        told, self._told = self._told, None
        if close:
            self.close()
        if told is not None:
            told(heard)
