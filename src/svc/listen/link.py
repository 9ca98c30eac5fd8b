"""One kept-alive connection to a target: no proxy, no redirect, one deadline (R53, R54).

httpx is not used here: at best it sends 4,000 requests a second on one core, which is less than
arrive; what a forward needs of HTTP is one request and one answer.
"""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from svc.listen.answers import Answer
from svc.listen.connecting import CannotConnect, open_wire
from svc.listen.targets import Target
from svc.listen.wire import Broken, Wire

Trouble = Literal["unreachable", "forbidden", "closed", "timeout", "unreadable"]

_LATE: Final = "no answer in time"


@dataclass(frozen=True, slots=True)
class Reply:
    """How one exchange ended: with a status, or with trouble and a sentence about it."""

    milliseconds: float
    status: int | None = None
    body: bytes = b""
    trouble: Trouble | None = None
    error: str | None = None


class Link:
    """Sends requests to one target, one after the other, over one connection.

    Works with callbacks: a task for each of thousands of forwards a second costs more than the
    forward itself.
    """

    def __init__(self, target: Target, context: ssl.SSLContext | None = None) -> None:
        self._target = target
        self._context = context
        self._wire: Wire | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._told: Callable[[Reply], None] | None = None
        self._request = b""
        self._started = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._may_resend = False

    def exchange(self, request: bytes, limit: float, told: Callable[[Reply], None]) -> None:
        """Sends one request and later tells how it ended, after `limit` seconds at most."""
        loop = asyncio.get_running_loop()
        self._started = loop.time()
        self._timer = loop.call_at(self._started + limit, self._expire)
        self._request, self._told = request, told
        if self._wire is not None and self._wire.usable:
            self._may_resend = True
            self._wire.send(request, self._heard)
        else:
            self._connect()

    def close(self) -> None:
        """Closes the connection; nobody is told of an exchange under way."""
        self._finish()
        self._drop()

    def _connect(self) -> None:
        self._may_resend = False
        self._connecting = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        try:
            self._wire = await open_wire(self._target, self._context)
        except CannotConnect as error:
            self._tell(trouble=error.trouble, error=str(error))
        else:
            self._wire.send(self._request, self._heard)

    def _heard(self, heard: Answer | Broken) -> None:
        if isinstance(heard, Answer):
            self._tell(heard.status, heard.body)
        elif heard.before_answer and self._may_resend:
            self._connect()  # it had closed the idle connection before it saw the request
        else:
            self._tell(trouble=heard.trouble, error=heard.text)

    def _expire(self) -> None:
        connecting = self._connecting is not None and not self._connecting.done()
        self._drop()
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
        trouble: Trouble | None = None,
        error: str | None = None,
    ) -> None:
        spent = (asyncio.get_running_loop().time() - self._started) * 1000
        told = self._finish()
        if told is not None:
            told(Reply(spent, status, body, trouble, error))

    def _finish(self) -> Callable[[Reply], None] | None:
        if self._timer is not None:
            self._timer.cancel()
        told, self._told, self._request = self._told, None, b""
        return told


async def exchange_once(link: Link, request: bytes, limit: float) -> Reply:
    """Sends one request over a link that is closed afterwards."""
    done: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    try:
        link.exchange(request, limit, done.set_result)
        return await done
    finally:
        link.close()
