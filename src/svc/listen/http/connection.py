"""One kept-alive connection to a target: no proxy, no redirect, one deadline (R53, R54).

httpx is not used here: at best it sends 4,000 requests a second on one core, which is less than
arrive; what a forward needs of HTTP is one request and one answer.

`request.TargetSender` opens a `TargetConnection` for each lane of a pump: request bytes in, a
`TargetReply` out.
"""

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import Final, Literal, Protocol

from svc.listen.http.answers import TargetAnswer
from svc.listen.http.dial import (
    BrokenExchange,
    CannotConnect,
    Connect,
    OpenConnection,
    open_connection,
)
from svc.listen.owners import own, own_task
from svc.listen.targets import Target
from svc.listen.values import value_class
from svc.redaction import redact, redact_bytes
from svc.service.facts import is_success

ForwardTrouble = Literal["unreachable", "forbidden", "closed", "timeout", "unreadable"]

_RESOLUTION_SECONDS: Final = 0.001
# An idle connection that was closed says so at once; later another program may have had the event
# taken, and only the ledger knows.
_AGAIN_SECONDS: Final = 1.0


@value_class
class TargetReply:
    """How an exchange ended: a status, or trouble in words.

    `sent` counts the requests that may have arrived, `body` is the beginning of the answer's body.
    """

    milliseconds: float
    status: int | None = None
    body: bytes = b""
    trouble: ForwardTrouble | None = None
    error: str | None = None
    sent: int = 1

    @property
    def is_taken(self) -> bool:
        """Whether the target took the event: it answered with a 2xx."""
        return is_success(self.status)


class ForwardLane(Protocol):
    """What carries one request after the other to a target, as `TargetConnection` does."""

    sent: int

    def exchange(
        self,
        request: bytes,
        limit: float,
        on_reply: Callable[[TargetReply], None],
        again: Callable[[], bytes] | None = None,
    ) -> None: ...

    def probe(self, limit: float, on_reply: Callable[[TargetReply], None]) -> None: ...

    def close(self) -> None: ...


class TargetConnection:
    """Sends requests to one target, one after the other, over one connection; made inside a loop.

    If a kept connection closes at once, without an answer, the target had most likely closed it as
    idle: the request that `again` builds is sent once more, over a new connection. Other failures
    are reported, for the target may have read the request. Works with callbacks: a task for each of
    thousands of forwards a second costs more than the forward itself.

    Attributes:
        sent: how many requests of the exchange under way may have arrived.
    """

    def __init__(
        self,
        target: Target,
        context: ssl.SSLContext | None = None,
        connect: Connect = open_connection,
    ) -> None:
        self._connect = partial(connect, target, context)
        self._loop = asyncio.get_running_loop()
        self._wire: OpenConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._on_reply: Callable[[TargetReply], None] | None = None
        self._again: Callable[[], bytes] | None = None
        self._carried = False  # whether the connection has carried an exchange
        self.sent = 0
        self._started = 0.0
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def exchange(
        self,
        request: bytes,
        limit: float,
        on_reply: Callable[[TargetReply], None],
        again: Callable[[], bytes] | None = None,
    ) -> None:
        """Sends one request and calls back with the result, after `limit` seconds at most."""
        self._started = self._loop.time()
        self._deadline = self._started + limit
        self._on_reply, self._again, self.sent = on_reply, again, 0
        self._wind()
        if self._wire is not None and self._wire.is_open():
            self._send(self._wire, request)
        else:
            self._open(request)

    def probe(self, limit: float, on_reply: Callable[[TargetReply], None]) -> None:
        """Opens a new connection and sends nothing; calls back with the reason of a failure."""
        self._drop()
        self.exchange(b"", limit, on_reply)

    def close(self) -> None:
        """Closes the connection; the callback of an exchange under way is not called."""
        self._on_reply = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drop()

    def _open(self, request: bytes) -> None:
        self._drop()
        self._carried = False
        work = partial(self._connect_and_send, request)
        # A bug that ends it leaves its lane free (R121).
        broken = partial(self._report, trouble="closed", error="a bug in svc ended it")
        self._connecting = self._loop.create_task(own_task(work, broken))

    async def _connect_and_send(self, request: bytes) -> None:
        try:
            self._wire = await self._connect()
        except CannotConnect as error:
            self._report(trouble=error.trouble, error=str(error))
        else:
            if request:
                self._send(self._wire, request)
            else:
                self._report()

    def _send(self, wire: OpenConnection, request: bytes) -> None:
        self.sent += 1
        wire.send(request, self._handle_answer)

    def _handle_answer(self, answer: TargetAnswer | BrokenExchange) -> None:
        if isinstance(answer, TargetAnswer):
            self._carried = True
            # Before anything is kept or shown of it: a debug page holds the environment (R126).
            self._report(answer.status, redact_bytes(answer.body))
        elif self._again and self._was_closed_idle(answer):
            self._open(self._again())
        else:
            self._report(trouble=answer.trouble, error=redact(answer.text))

    def _was_closed_idle(self, answer: BrokenExchange) -> bool:
        silent = self._carried and answer.trouble == "closed" and not answer.begun
        return silent and self._loop.time() - self._started < _AGAIN_SECONDS

    def _wind(self) -> None:
        """Keeps one timer for many exchanges: it looks again when it rings before the deadline."""
        if self._timer is None or self._timer.when() > self._deadline:
            self._timer = self._loop.call_at(self._deadline, own(self._wake))

    def _wake(self) -> None:
        self._timer = None
        if self._on_reply is None:
            return
        if self._loop.time() + _RESOLUTION_SECONDS < self._deadline:
            self._wind()
        else:
            self._expire()

    def _expire(self) -> None:
        connecting = self._connecting is not None and not self._connecting.done()
        begun = self._wire.status_so_far() if self._wire is not None else None
        self._drop()
        if begun is not None:  # the target has said what it had to say; its body is let go
            self._report(begun.status, redact_bytes(begun.body))
        elif connecting:
            self._report(trouble="unreachable", error="no connection in time")
        else:
            self._report(trouble="timeout", error="no answer in time")

    def _drop(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _report(
        self,
        status: int | None = None,
        body: bytes = b"",
        trouble: ForwardTrouble | None = None,
        error: str | None = None,
    ) -> None:
        on_reply, self._on_reply, self._again = self._on_reply, None, None
        if self.sent and trouble == "unreachable":  # the request before may have arrived
            trouble = "closed"
        if on_reply is not None:
            spent = (self._loop.time() - self._started) * 1000
            on_reply(TargetReply(spent, status, body, trouble, error, self.sent))


async def exchange_once(link: ForwardLane, request: bytes, limit: float) -> TargetReply:
    """Sends one request over a link that is closed afterwards."""
    done: asyncio.Future[TargetReply] = asyncio.get_running_loop().create_future()

    def on_reply(reply: TargetReply) -> None:
        if not done.done():  # cancelled in the very pass of the loop in which the answer came
            done.set_result(reply)

    try:
        link.exchange(request, limit, on_reply)
        return await done
    finally:
        link.close()
