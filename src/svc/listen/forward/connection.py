"""One kept-alive connection to a target: no proxy, no redirect, one deadline (R53, R54).

httpx is not used here: at best it sends 4,000 requests a second on one core, which is less than
arrive; what a forward needs of HTTP is one request and one answer.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, Literal

from svc.listen.forward.dial import (
    BrokenExchange,
    CannotConnect,
    Connect,
    OpenConnection,
    open_connection,
)
from svc.listen.forward.http import TargetAnswer
from svc.listen.owners import owned, owned_task
from svc.listen.records import Forwarded
from svc.listen.targets import Target
from svc.listen.values import value_class
from svc.redaction import redact, redact_bytes
from svc.service.facts import is_success

ForwardTrouble = Literal["unreachable", "forbidden", "closed", "timeout", "unreadable"]

_LATE: Final = "no answer in time"
_RESOLUTION_SECONDS: Final = 0.001


@value_class
class TargetReply:
    """How one exchange ended: with a status, or with trouble and a sentence about it.

    `idle_closed`: a connection that was kept from before ended without one byte of an answer, as
    one does that the target closed for having been idle.
    """

    milliseconds: float
    status: int | None = None
    body: bytes = b""
    trouble: ForwardTrouble | None = None
    error: str | None = None
    idle_closed: bool = False

    @property
    def is_taken(self) -> bool:
        """Whether the target took the event: it answered with a 2xx."""
        return is_success(self.status)


def told_of(
    reply: TargetReply,
    target: Target,
    event: tuple[str, str],
    now: float,
    attempt: int,
    retry_in: float | None = None,
    *,
    signed_anew: bool = False,
) -> Forwarded:
    """Gives an attempt that ended at `now` (Unix seconds) as a record; `event` is id and type."""
    spent, body = reply.milliseconds, reply.body
    url, status = str(target), reply.status
    return Forwarded(
        now, *event, url, status, spent, attempt, reply.error, body, retry_in, signed_anew
    )


class TargetConnection:
    """Sends requests to one target, one after the other, over one connection; made inside a loop.

    A request is written once. Only a connection that had ended before its first byte was written
    is replaced without a word; whatever happens afterwards is told, for the target may have read
    the request (`idle_closed` where that is unlikely). Works with callbacks: a task for each of
    thousands of forwards a second costs more than the forward itself.

    Attributes:
        has_sent: whether the request of the exchange under way has been written.
    """

    def __init__(
        self,
        target: Target,
        context: ssl.SSLContext | None = None,
        connect: Connect = open_connection,
    ) -> None:
        self._target = target
        self._context = context
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._wire: OpenConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._told: Callable[[TargetReply], None] | None = None
        self._request = b""
        self._kept = False  # whether the connection had carried another exchange before
        self._carried = False
        self.has_sent = False
        self._started = 0.0
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def exchange(self, request: bytes, limit: float, told: Callable[[TargetReply], None]) -> None:
        """Sends one request and later tells how it ended, after `limit` seconds at most."""
        self._started = self._loop.time()
        self._deadline = self._started + limit
        self._request, self._told = request, told
        self._wind()
        self.has_sent = False
        if self._wire is not None and self._wire.is_open():
            self._kept, self.has_sent = self._carried, True
            self._wire.send(request, self._heard)
        else:
            self._drop()
            self._kept = self._carried = False
            self._connecting = self._loop.create_task(owned_task(self._open, self._broken))

    def probe(self, limit: float, told: Callable[[TargetReply], None]) -> None:
        """Opens a new connection and sends nothing; tells whether there was trouble."""
        self._drop()
        self.exchange(b"", limit, told)

    def close(self) -> None:
        """Closes the connection; nobody is told of an exchange under way."""
        self._told, self._request = None, b""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drop()

    def _broken(self) -> None:
        """Ends an exchange that a bug has ended, so that its lane is free again (R121)."""
        self._tell(trouble="closed", error="a bug in svc ended it")

    async def _open(self) -> None:
        try:
            self._wire = await self._connect(self._target, self._context)
        except CannotConnect as error:
            self._tell(trouble=error.trouble, error=str(error))
        else:
            if self._request:
                self.has_sent = True
                self._wire.send(self._request, self._heard)
            else:
                self._tell()

    def _heard(self, heard: TargetAnswer | BrokenExchange) -> None:
        if isinstance(heard, TargetAnswer):
            self._carried = True
            # Before anything is kept or shown of it: a debug page holds the environment (R126).
            self._tell(heard.status, redact_bytes(heard.body))
        else:
            idle = self._kept and heard.trouble == "closed" and not heard.begun
            self._tell(trouble=heard.trouble, error=redact(heard.text), idle_closed=idle)

    def _wind(self) -> None:
        """Keeps one timer for many exchanges: it looks again when it rings before the deadline."""
        if self._timer is not None:
            if self._timer.when() <= self._deadline:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline, owned(self._ring))

    def _ring(self) -> None:
        self._timer = None
        if self._told is None:
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
            self._tell(begun.status, redact_bytes(begun.body))
            return
        self._tell(
            trouble="unreachable" if connecting else "timeout",
            error="no connection in time" if connecting else _LATE,
        )

    def _drop(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _tell(
        self,
        status: int | None = None,
        body: bytes = b"",
        trouble: ForwardTrouble | None = None,
        error: str | None = None,
        *,
        idle_closed: bool = False,
    ) -> None:
        told, self._told, self._request = self._told, None, b""
        if told is not None:
            spent = (self._loop.time() - self._started) * 1000
            told(TargetReply(spent, status, body, trouble, error, idle_closed))


async def exchange_once(link: TargetConnection, request: bytes, limit: float) -> TargetReply:
    """Sends one request over a link that is closed afterwards."""
    done: asyncio.Future[TargetReply] = asyncio.get_running_loop().create_future()

    def told(reply: TargetReply) -> None:
        if not done.done():  # cancelled in the very pass of the loop in which the answer came
            done.set_result(reply)

    try:
        link.exchange(request, limit, told)
        return await done
    finally:
        link.close()
