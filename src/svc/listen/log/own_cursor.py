"""A listener that reads a log at its own pace: it alone knows how far it is.

The log keeps nothing for it but a consumer that vanishes by itself; made anew wherever the
listener's own inbox says. So a laptop may sleep, and nobody has to tidy up after it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from svc.clock import Clock
from svc.errors import CheckFailed, LocalError, SvcError
from svc.listen.inbox.inbox import Position
from svc.listen.log.connection import LogConnection
from svc.listen.log.messages import delivery_of
from svc.listen.log.pulling import Broken, Interfered, Pulled, PulledSource, Pulling
from svc.listen.log.streams import Start, find_start
from svc.listen.log.troubles import LogDown, LogRefusal, is_missing
from svc.listen.receive import Reception
from svc.listen.records import ListenerRecord, Missed
from svc.service.facts import Mode

_IDLE_SECONDS: Final = 300
_NANO: Final = 1_000_000_000
_TAKEN: Final = 200
_MOST_OUT: Final = 512  # given and not yet kept
_PAUSES: Final = (0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where and as whom a listener reads; `filters` are subjects, none for all.

    `secrets` are those of the service's endpoint, as far as they are known here.
    """

    name: str
    mode: Mode
    filters: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)


class CursorSource(PulledSource):
    """Gives a reception what the log has behind the listener's position, in the log's order."""

    def __init__(
        self,
        connection: LogConnection,
        cursor: Cursor,
        position: Callable[[], Position | None],
        clock: Clock,
        reception: Reception,
        tell: Callable[[ListenerRecord], None],
    ) -> None:
        super().__init__(connection, clock, reception, tell)
        self._cursor = cursor
        self._position = position
        self._out = 0
        self._fewer = asyncio.Event()
        self._refused = False
        self._read = False  # something, since the consumer was made
        self._gone_before = 0

    async def start(self) -> None:
        """Begins to read."""
        self._begin(self._follow_on())

    async def close(self) -> None:
        """Lets go of the consumer; it would vanish by itself."""
        with suppress(SvcError, TimeoutError):
            async with asyncio.timeout(0.3):
                await self._ask(self._delete())

    async def _follow_on(self) -> None:
        """Reads until it is stopped, from its own position again after every fault."""
        failures, taken = 0, False
        while True:
            try:
                await self._follow(taken=taken)
            except Broken as error:
                taken = isinstance(error, Interfered)
                failures = 0 if self._read else failures + 1
                if failures:
                    await _pause(failures)
            except SvcError as error:
                self._tell_state(error.message)
                failures += 1
                await _pause(failures)
            await self._settled(0)

    async def _follow(self, *, taken: bool) -> None:
        """Reads from the own position; where the consumer was `taken` perhaps not yet."""
        self._refused = self._read = False
        if taken:
            await self._ask(refuse_twin(self._connection, self._cursor))
        position = await asyncio.to_thread(self._position) or Position(0, "")
        start = await self._ask(find_start(self._connection, self._cursor.mode, position))
        self._tell_missed(position, start)
        await self._ask(self._make(start.seq))
        pulling = Pulling(
            self._connection, self._connection.address.stream(self._cursor.mode), self._cursor.name
        )
        self._tell_state(None)
        number, before = 0, None
        try:
            while not self._refused:
                page = await self._ask(pulling.page())
                number, before = self._give(page, number, before)
                self._read = True
                await self._settled(_MOST_OUT)
        finally:
            self._connection.submit(pulling.close())
        raise LocalError("An event could not be kept; it is read again.")

    def _tell_missed(self, position: Position, start: Start) -> None:
        """Tells of what is gone, each of it once, however often reading begins anew."""
        gone_before, self._gone_before = max(position.seq, self._gone_before), start.seq - 1
        if start.missed and start.seq - 1 > gone_before:
            missed = start.seq - 1 - gone_before
            self._tell(Missed(self._clock.now(), missed, str(self._connection.address)))

    def _give(
        self, page: Sequence[Pulled], number: int, before: int | None
    ) -> tuple[int, int | None]:
        """Hands a page over; raises Broken where one is missing in between."""
        now = self._clock.now()
        for one in page:
            if one.ticket.number != number + 1:
                raise Interfered("A message was lost on the way.")
            number = one.ticket.number
            delivery = delivery_of(one.message, now, self._cursor.secrets)
            position = Position(one.ticket.seq, delivery.facts.id, before)
            before = one.ticket.seq
            self._out += 1
            self._reception.admit(delivery, self._answered, position)
        return number, before

    def _answered(self, status: int) -> None:
        self._out -= 1
        self._fewer.set()
        self._refused |= status != _TAKEN

    async def _settled(self, most: int) -> None:
        while self._out > most:
            self._fewer.clear()
            await self._fewer.wait()

    async def _make(self, seq: int) -> None:
        """Makes the consumer anew at a place."""
        cursor = self._cursor
        config = {
            "name": cursor.name,
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": seq,
            "ack_policy": "none",
            "replay_policy": "instant",
            "inactive_threshold": _IDLE_SECONDS * _NANO,
            "num_replicas": 1,
            "mem_storage": True,
        }
        if cursor.filters:
            config["filter_subjects"] = list(cursor.filters)
        stream = self._connection.address.stream(cursor.mode)
        await self._delete()
        body = {"stream_name": stream, "config": config, "action": "create"}
        await self._connection.api(f"CONSUMER.CREATE.{stream}.{cursor.name}", body, seconds=10)

    async def _delete(self) -> None:
        stream = self._connection.address.stream(self._cursor.mode)
        try:
            await self._connection.api(f"CONSUMER.DELETE.{stream}.{self._cursor.name}")
        except LogRefusal as error:
            if not is_missing(error):
                raise


async def _pause(failures: int) -> None:
    await asyncio.sleep(_PAUSES[min(failures, len(_PAUSES)) - 1])


async def refuse_twin(connection: LogConnection, cursor: Cursor) -> None:
    """Looks whether somebody reads with the same name at this moment.

    Raises:
        CheckFailed: somebody does; the two would take each other's events.
    """
    stream = connection.address.stream(cursor.mode)
    try:
        for _ in range(10):  # what a run that was killed had asked for is dropped soon
            info = await connection.info(f"CONSUMER.INFO.{stream}.{cursor.name}")
            if not info.get("num_waiting"):
                return
            await asyncio.sleep(0.2)
    except LogDown:
        return  # whoever has no leader gives nobody anything: its server has gone
    except LogRefusal as error:
        if is_missing(error):
            return
        raise
    raise CheckFailed(
        f"Another listener reads this log as {cursor.name} at this moment.",
        code="log_cursor_in_use",
        param="--name",
        hint="Give this one a name of its own: --name NAME",
    )


def opened(
    connection: LogConnection,
    cursor: Cursor,
    position: Callable[[], Position | None],
    clock: Clock,
) -> Callable[[Reception, Callable[[ListenerRecord], None]], CursorSource]:
    """Gives what a listener opens its source with."""
    return partial(CursorSource, connection, cursor, position, clock)
