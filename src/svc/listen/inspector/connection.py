"""One connection of a browser: one request, one answer, every step on a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from svc.listen.framing import Head, Refused, Request, RequestReader
from svc.listen.inspector.answer import Answer
from svc.listen.inspector.feed import Feed
from svc.listen.reading import READ_BYTES, ReadingProtocol

HEAD_MAX: Final = 16 * 1024
BODY_MAX: Final = 16 * 1024
_REQUEST_SECONDS: Final = 8.0
_ANSWER_SECONDS: Final = 60.0
_LEAVE_SECONDS: Final = 30.0  # for a slow reader of a large page
_BEHIND_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class House:
    """What all connections share: the guard, who answers, who has news, and who is in."""

    check: Callable[[Head], None]
    respond: Callable[[Request], Awaitable[Answer]]
    feed: Feed
    guests: "set[PageConnection]" = field(default_factory=set)
    buffer: bytearray = field(default_factory=lambda: bytearray(READ_BYTES))


class PageConnection(ReadingProtocol):
    """Reads one request with the receiver's own framing and closes after the answer.

    A connection for each request is what leaves nothing to confuse; on this machine it costs
    nothing.
    """

    def __init__(self, house: House) -> None:
        super().__init__(house.buffer)
        self._house = house
        self._reader = RequestReader(house.check, HEAD_MAX, BODY_MAX)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._reading = True
        self._closing = False
        self.since = asyncio.get_running_loop().time()

    @property
    def patient(self) -> bool:
        """True once its request has come whole."""
        return not self._reading

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._house.guests.add(self)
        self._allow(_REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        self._transport = None
        self._house.guests.discard(self)
        self._house.feed.leave(self._push)
        self._allow(None)

    def eof_received(self) -> bool:
        """Keeps the half that we write open while an answer is being made."""
        return not self._reading and not self._closing

    def data_received(self, data: bytes) -> None:
        if not self._reading:
            return
        try:
            request = self._reader.feed(data)
        except Refused as refusal:
            self._send(Answer(refusal.status))
            return
        if request is not None:
            self._reading = False
            self._allow(_ANSWER_SECONDS)
            self._task = asyncio.get_running_loop().create_task(self._answer(request))
        elif self._transport is not None:
            self._transport.write(self._reader.to_send())

    def cut(self) -> None:
        """Closes the connection without another word."""
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.abort()

    async def _answer(self, request: Request) -> None:
        answer = await self._house.respond(request)
        if answer.streams:
            self._begin(answer)
        else:
            self._send(answer)

    def _begin(self, answer: Answer) -> None:
        """Keeps the connection open and pushes news down it."""
        self._allow(None)
        if self._transport is not None:
            self._transport.write(answer.to_bytes())
            if not self._house.feed.watch(self._push):
                self.cut()

    def _push(self, data: bytes) -> None:
        if self._transport is None or self._transport.get_write_buffer_size() > _BEHIND_MAX:
            self.cut()
        else:
            self._transport.write(data)

    def _send(self, answer: Answer) -> None:
        """Says the last word; reads on, so that a sender in mid-body sees it."""
        self._reading, self._closing = False, True
        self._allow(_LEAVE_SECONDS)
        if self._transport is not None:
            self._transport.write(answer.to_bytes())
            if self._transport.can_write_eof():
                self._transport.write_eof()

    def _allow(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = None if seconds is None else loop.call_later(seconds, self.cut)
