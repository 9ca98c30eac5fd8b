"""Messages of a group's queue, pulled in pages; every silence ends the pulling."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from svc.errors import SvcError
from svc.listen.log.connection import LogConnection, Message
from svc.listen.log.messages import Ticket, ticket_of
from svc.listen.log.troubles import LogDown

_PAGE_BYTES: Final = 8 * 1024 * 1024  # more than the largest event, and little enough for memory
_EXPIRES_SECONDS: Final = 30.0
_HEARTBEAT_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 5.0  # two heartbeats were missed
_NANO: Final = 1_000_000_000
# What ends one page without a fault: its time was up, it is full, nothing was there.
_PAGE_ENDS: Final = ("404", "408")


class Broken(SvcError):  # noqa: N818  it says what is the matter
    """The queue is gone, or the connection was lost in between."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A message and its place."""

    message: Message
    ticket: Ticket


class Pulling:
    """Pulls from one consumer; everything here runs in the loop of the connection."""

    def __init__(self, connection: LogConnection, stream: str, consumer: str) -> None:
        self._connection = connection
        self._next = f"CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._generation = connection.generation
        self._subject = ""
        self._end: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._got: list[Pulled] = []
        self._asked = 0  # how many may still come of the page that was asked for
        self._fault: Broken | None = None
        self._news = asyncio.Event()

    async def page(self, most: int) -> list[Pulled]:
        """Gives what has come, at least one, in order; waits for as long as it takes.

        Raises:
            Broken, LogDown, AuthError: nothing more comes; what was given before is whole.
        """
        if self._end is None:
            self._subject, self._end = await self._connection.subscribe(self._heard)
        while not self._got:
            await self._look(most)
        got, self._got = self._got, []
        return got

    def left(self) -> list[Pulled]:
        """Gives what has come and was not asked for any more."""
        got, self._got = self._got, []
        return got

    async def close(self) -> None:
        """Asks for nothing more; what was not given is not lost, for nobody has said it was."""
        if self._end is not None:
            await self._end()

    async def _look(self, most: int) -> None:
        if self._fault is not None:
            raise self._fault
        if self._connection.generation != self._generation:
            raise Broken("The connection was lost in between.")
        self._news.clear()
        if self._asked <= 0:
            await self._ask(most)
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                await self._news.wait()
        except TimeoutError:
            self._connection.doubt()
            raise LogDown("The log has been silent for too long.", retryable=True) from None

    async def _ask(self, most: int) -> None:
        self._asked = most
        wanted = {
            "batch": most,
            "max_bytes": _PAGE_BYTES,
            "expires": int(_EXPIRES_SECONDS * _NANO),
            "idle_heartbeat": int(_HEARTBEAT_SECONDS * _NANO),
        }
        await self._connection.ask_for(self._next, json.dumps(wanted).encode(), self._subject)

    async def _heard(self, message: Message) -> None:
        status = message.headers.get("Status")
        if status is None:
            self._take(message)
        elif status != "100":
            self._ended(status, message.headers.get("Description", ""))
        self._news.set()

    def _take(self, message: Message) -> None:
        ticket = ticket_of(message.reply)
        if ticket is not None:
            self._asked -= 1
            self._got.append(Pulled(message, ticket))

    def _ended(self, status: str, text: str) -> None:
        self._asked = 0
        words = text.lower()
        full = "maxbytes" in words or "batch completed" in words
        if status not in _PAGE_ENDS and not full:
            self._fault = Broken(f"The log ended the reading: {text or status}.")
