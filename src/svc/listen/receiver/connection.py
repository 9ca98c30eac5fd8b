"""One connection of the webhook receiver: its phases, its deadlines, its answers.

`server` makes one for each client; whole requests go to the hooks of the listener.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from svc.listen.http.reading import ReadingProtocol
from svc.listen.http.requests import (
    HttpHead,
    HttpRequest,
    Refused,
    RequestReader,
    build_closing_answer,
)
from svc.listen.owners import report
from svc.listen.receiver.slots import Slots
from svc.service.facts import WEBHOOK_BODY_MAX

_GRACE_SECONDS: Final = 0.05  # what came while a connection waited is read in that time
_TAKEN: Final = 200


@dataclass(frozen=True, slots=True)
class ReceiverLimits:
    """What a sender may cost; bytes and seconds (promises R51, R57).

    `connections` are those with a request, `reserved` as many more for those that brought a
    delivery before; `sockets` counts the silent ones too.
    """

    head_bytes: int = 16 * 1024
    body_bytes: int = WEBHOOK_BODY_MAX
    connections: int = 32
    reserved: int = 8
    sockets: int = 512
    wait_seconds: float = 1.0
    contended_seconds: float = 0.25  # while others wait: who means it sends a request at once
    head_seconds: float = 5.0
    body_seconds: float = 8.0
    answer_seconds: float = 8.7  # from the request's first byte; the sender gives up at 10
    kept_seconds: float = 60.0
    linger_seconds: float = 1.0


class Phase(Enum):
    """What a connection waits for."""

    SILENT = auto()
    WAIT = auto()
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    LINGER = auto()


@dataclass(frozen=True, slots=True)
class ReceiverHooks:
    """What all connections of a receiver share.

    `check` lets a head pass or raises Refused. `request` is called with a whole request and the
    function that answers it. `refused` is called with the status of each request that was turned
    away, and with its head if that had passed the check.
    """

    check: Callable[[HttpHead], None]
    request: Callable[[HttpRequest, Callable[[int], None]], None]
    refused: Callable[[int, HttpHead | None], None]
    limits: ReceiverLimits


class ReceiverConnection(ReadingProtocol):
    """Reads one request at a time and keeps to its limits.

    An error of the peer or of a hook ends only this connection; none reaches a caller, such as the
    forwarding half that answers a sender (promise R121).
    """

    def __init__(
        self,
        hooks: ReceiverHooks,
        slots: Slots,
        peers: "set[ReceiverConnection]",
    ) -> None:
        super().__init__()
        limits = hooks.limits
        self._hooks = hooks
        self._slots = slots
        self._peers = peers
        self._reader = RequestReader(hooks.check, limits.head_bytes, limits.body_bytes)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._turn = 0
        self._peer_done = False
        self._held = b""
        self._timeout = limits.head_seconds  # a new connection has no longer to begin
        self.phase = Phase.SILENT
        self.since = self._loop.time()
        self._first_byte = self._served = self.since
        self.proven = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._peers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        self._transport = None
        self._handle_gone()

    def eof_received(self) -> bool:
        """Keeps the writing side open while an answer is being made."""
        self._peer_done = True
        return self.phase in (Phase.WAIT, Phase.ANSWER)

    def data_received(self, data: bytes) -> None:
        try:  # spelled out, as for an answer: thousands of each come in a second
            self._take(data)
        except Exception as error:  # noqa: BLE001  this connection is the owner
            self._handle_error(error)

    def _take(self, data: bytes) -> None:
        match self.phase:
            case Phase.SILENT:
                self._begin(data)
            case Phase.LINGER:
                pass
            case Phase.ANSWER:
                self._hold(self._reader.hold(data))
            case Phase.WAIT:
                self._held += data
                self._hold(len(self._held))
            case _:
                self._read(data)

    def serve(self) -> None:
        """Continues with the request that waited for a slot."""
        self._run_step(self._serve)

    def _serve(self) -> None:
        data, self._held = self._held, b""
        self._enter(Phase.HEAD)
        self._served = self.since
        if self._transport is not None:
            self._transport.resume_reading()
        self._read(data)

    def seconds_unfinished(self) -> float:
        """Returns the age of an incomplete request in seconds; 0 if it is whole or just begun."""
        now = self._loop.time()
        if self.phase not in (Phase.HEAD, Phase.BODY) or now - self._served < _GRACE_SECONDS:
            return 0.0
        return now - self._first_byte

    def make_way(self) -> None:
        """Ends an incomplete request; one whose head passed the check gets a 503, for a retry."""
        half = self.phase is Phase.BODY
        self._run_step((lambda: self._refuse(Refused(503))) if half else self.cut)

    def expire(self, now: float) -> None:
        """Ends a connection that overstays its phase; `now` is the loop's time in seconds."""
        self._run_step(lambda: self._expire(now))

    def _expire(self, now: float) -> None:
        limits, waited = self._hooks.limits, now - self.since
        match self.phase:
            case Phase.SILENT if waited > self._timeout:
                self.cut()
            case Phase.WAIT if waited > limits.wait_seconds:
                self._refuse(Refused(503))
            case Phase.HEAD if waited > limits.head_seconds:
                self.cut()
            case Phase.BODY if waited > limits.body_seconds:
                self._refuse(Refused(400))
            case Phase.LINGER if waited > limits.linger_seconds:
                self.cut()
            case Phase.ANSWER if now - self._first_byte > limits.answer_seconds:
                self._answer(self._turn, 504)

    def cut(self) -> None:
        """Closes the connection without another word."""
        self._handle_gone()
        if self._transport is not None:
            self._transport.abort()

    def finish(self) -> None:
        """Closes the connection once the written bytes have been sent."""
        if self._transport is not None:
            self._transport.close()

    def _run_step(self, step: Callable[[], None]) -> None:
        """Runs a step; an error ends this connection alone, and is a bug but for a gone peer."""
        try:
            step()
        except Exception as error:  # noqa: BLE001  this connection is the owner
            self._handle_error(error)

    def _handle_error(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            report(error)
        self.cut()

    def _handle_gone(self) -> None:
        self._peers.discard(self)
        self._enter(Phase.LINGER)
        self._turn += 1  # an answer that is still being made is not sent
        self._slots.leave(self)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.since = self._loop.time()

    def _begin(self, data: bytes) -> None:
        self._first_byte = self._loop.time()
        self._held = data
        if self._slots.take(self):
            self._serve()
            return
        self._enter(Phase.WAIT)
        self._hold(len(data))

    def _read(self, data: bytes) -> None:
        """Reads what came, or, where that is nothing, what came before the last answer."""
        try:
            request = self._reader.feed(data) if data else self._reader.next()
        except Refused as refusal:
            self._refuse(refusal)
            return
        if request is not None:
            self._slots.mark_complete(self)
            self.phase = Phase.ANSWER  # whose deadline counts from the first byte
            turn = self._turn = self._turn + 1
            self._hooks.request(request, lambda status: self.answer(turn, status))
            return
        pending = self._reader.to_send()
        if pending and self._transport is not None:
            self._transport.write(pending)
        if self._reader.in_body and self.phase is not Phase.BODY:
            self._enter(Phase.BODY)

    def answer(self, turn: int, status: int) -> None:
        """Answers the request with the number `turn`, unless its turn is over; raises nothing."""
        try:
            self._answer(turn, status)
        except Exception as error:  # noqa: BLE001  as for what came
            self._handle_error(error)

    def _answer(self, turn: int, status: int) -> None:
        """Sends an answer once; a later one for the same request is dropped."""
        if turn != self._turn or self.phase is not Phase.ANSWER or self._transport is None:
            return
        self.proven = self.proven or status == _TAKEN  # only signed deliveries are answered so
        sent, carries_on = self._reader.answer(status)
        self._transport.write(sent)
        if self._peer_done or not carries_on:
            self._linger()
            return
        self._enter(Phase.SILENT)
        self._timeout = self._hooks.limits.kept_seconds
        self._slots.leave(self)
        self._transport.resume_reading()
        if self._reader.started:
            self._begin(b"")

    def _hold(self, waiting: int) -> None:
        if waiting > self._hooks.limits.head_bytes and self._transport is not None:
            self._transport.pause_reading()

    def _refuse(self, refusal: Refused) -> None:
        self._hooks.refused(refusal.status, refusal.head)
        if self._transport is not None:
            self._transport.write(build_closing_answer(refusal.status))
            self._linger()

    def _linger(self) -> None:
        """Says goodbye but reads on for a moment, so that a sender in mid-body sees the answer."""
        self._enter(Phase.LINGER)
        self._slots.leave(self)
        if self._transport is not None:
            self._transport.resume_reading()
            if self._transport.can_write_eof():
                self._transport.write_eof()
