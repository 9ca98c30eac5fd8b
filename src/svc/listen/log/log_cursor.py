"""Reads a log at a listener's own pace, from a position that is kept on its own machine.

The log keeps nothing for the listener. It announces each event without its body; the listener then
asks for the events behind its position, which its own inbox stores. So a laptop may sleep, and the
log need not be tidied up after it.

`svc events listen --from LOG` without a group makes a `CursorSource` the source of its listener.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from svc.clock import Clock
from svc.errors import AuthError, LocalError, SvcError
from svc.listen.inbox.interfaces import Position
from svc.listen.ingest import Ingest
from svc.listen.log.connection import LogConnection, Message, StoredMessage, read_page
from svc.listen.log.credentials import KEY_WRONG
from svc.listen.log.messages import (
    Trust,
    Unreadable,
    count_published_again,
    delivery_of,
    group_of,
    id_of,
)
from svc.listen.log.source import LogSource
from svc.listen.log.streams import Start, find_start, mark_of, report
from svc.listen.output_records import ListenerRecord, LogReplaced, Missed
from svc.listen.owners import own
from svc.service.facts import Mode

_TAKEN: Final = 200
_MOST_OUT: Final = 512  # given and not yet kept
_PAUSES: Final = (0.2, 0.5, 1.0, 2.0)
_POLL_SECONDS: Final = 3.0  # without an announcement; so is a dead connection noticed
_LAGGING_SECONDS: Final = (0.005, 0.02, 0.05, 0.1, 0.2)  # a server that has not stored it yet
_REPORT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Cursor:
    """The events that a listener reads, by subjects (`filters`; none: all), and its `name`."""

    name: str
    mode: Mode
    trust: Trust
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a listener's position is read and moved; both block."""

    read: Callable[[], Position | None]
    move: Callable[[Position], None]


class CursorSource(LogSource):
    """Passes a listener the events behind its position in the log, in the log's order."""

    def __init__(
        self,
        connection: LogConnection,
        cursor: Cursor,
        place: Place,
        clock: Clock,
        ingest: Ingest,
        emit: Callable[[ListenerRecord], None],
    ) -> None:
        super().__init__(connection, clock, ingest, emit, cursor.trust)
        self._cursor = cursor
        self._place = place
        everything = connection.address.subjects(cursor.mode)
        self._subjects = cursor.filters or (everything,)
        # One subject can be asked for; several are picked here.
        self._subject = self._subjects[0] if len(self._subjects) == 1 else everything
        self._out = 0  # given and not yet answered
        self._fewer = asyncio.Event()
        self._refused = False
        self._announced = 0  # the newest number that the log has told of
        self._news = asyncio.Event()
        self._gone_before = 0

    async def start(self) -> None:
        """Begins to read."""
        self._begin(self._follow_on(), self._report_on(), woken=self._news.set)

    async def close(self) -> None:
        """Reports for the last time how far it has read."""
        with suppress(SvcError, TimeoutError):
            async with asyncio.timeout(0.3):
                await self._report()

    async def _follow_on(self) -> None:
        """Reads until it is stopped, from its own position again after every fault."""
        failures = 0
        while True:
            try:
                await self._follow()
                failures = 0
            except SvcError as error:
                if error.code == KEY_WRONG:  # only another run has another key
                    raise
                if not isinstance(error, LocalError):
                    self._tell_state(error.message)
                await asyncio.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])
                failures += 1
            await self._handle_settled(0)

    async def _follow(self) -> None:
        """Reads from the own position until reading has to begin anew."""
        self._refused, self._announced = False, 0
        mode = self._cursor.mode
        position = await asyncio.to_thread(self._place.read) or Position(0, "")
        subscribe, address = self._connection.subscribe, self._connection.address
        ends = [
            await self._ask(subscribe(address.notices(subject), self._handle_notice))
            for subject in self._subjects
        ]
        generation = self._connection.client.generation
        try:
            start = await self._ask(find_start(self._connection, mode, position))
            await self._tell_of(position, start)
            self._tell_state(None)
            await self._read(start, generation)
        finally:
            for end in ends:
                self._connection.submit(end())
        if self._refused:
            raise LocalError("An event could not be kept; it is read again.")

    async def _read(self, start: Start, generation: int) -> None:
        seq, before, empty = start.seq, None, 0
        stream = self._connection.address.stream(self._cursor.mode)
        while not self._refused and generation == self._connection.client.generation:
            self._news.clear()
            asked = read_page(self._connection, stream, {"seq": seq}, self._subject)
            page = await self._ask(asked)
            if page:
                if not self._cursor.filters:
                    self._tell_gap(seq, page[0].seq - seq)
                before = await self._give(page, start.made, before)
                seq, empty = page[-1].seq + 1, 0
                await self._handle_settled(_MOST_OUT)
            elif seq <= self._announced and empty < len(_LAGGING_SECONDS):
                await asyncio.sleep(_LAGGING_SECONDS[empty])
                empty += 1
            elif await self._is_another(start, seq):
                return

    async def _is_another(self, start: Start, seq: int) -> bool:
        """Waits for news; without any, says whether the log is another one by now."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                await self._news.wait()
                return False
        await self._handle_settled(0)
        whole = find_start(self._connection, self._cursor.mode, Position(0, ""))
        now = await self._ask(whole)
        return now.made != start.made or now.last + 1 < seq

    async def _give(
        self, page: Sequence[StoredMessage], made: str, before: int | None
    ) -> int | None:
        """Hands a page over; gives the number of the last that was handed over."""
        now, passed = self._clock.now(), None  # what was passed behind the last
        for one in page:
            if self._cursor.filters and one.subject not in self._subjects:
                continue
            try:
                delivery = delivery_of(one.message, now, self._cursor.trust)
            except Unreadable as error:
                await self._refuse(error, one.seq, len(one.message.body))
                passed = one
                continue
            if group_of(one.message):  # given to a group again: it was in the log before
                passed = one
                continue
            position = Position(one.seq, mark_of(made, delivery.facts.id), before)
            before, passed = one.seq, None
            self._out += 1
            again = count_published_again(one.message)
            self._ingest.admit(delivery, self._handle_answer, position, again)
        if passed is None:
            return before
        await self._handle_settled(0)
        if not self._refused:  # else it would be told again at each start
            position = Position(passed.seq, mark_of(made, id_of(passed.message)))
            await asyncio.to_thread(self._place.move, position)
        return None

    async def _tell_of(self, position: Position, start: Start) -> None:
        """Tells of what is gone, each of it once, however often reading begins anew."""
        if start.other:
            await self._handle_settled(0)
            there = (start.behind, start.gone)
            now, address = self._clock.now(), str(self._connection.address)
            self._emit(LogReplaced(now, address, position.seq, *there))
            begins = Position(start.seq - 1, mark_of(start.made, ""))
            await asyncio.to_thread(self._place.move, begins)
        self._tell_gap(start.seq - start.missed, start.missed)

    def _tell_gap(self, seq: int, missed: int) -> None:
        first, self._gone_before = max(seq, self._gone_before), max(seq + missed, self._gone_before)
        if seq + missed > first:
            address = str(self._connection.address)
            self._emit(Missed(self._clock.now(), seq + missed - first, address))

    def _handle_answer(self, status: int) -> None:
        self._out -= 1
        self._fewer.set()
        if status != _TAKEN:
            self._refused = True
            self._news.set()

    async def _handle_settled(self, most: int) -> None:
        while self._out > most:
            self._fewer.clear()
            await self._fewer.wait()

    async def _handle_notice(self, notice: Message) -> None:
        number = notice.headers.get("Nats-Sequence", "")
        if number.isascii() and number.isdigit():
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(own(self._note), int(number[:18]))

    def _note(self, seq: int) -> None:
        self._announced = max(self._announced, seq)
        self._news.set()

    async def _report_on(self) -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            try:
                await self._report()
            except AuthError:  # its log has no such reports
                return
            except SvcError:
                continue  # an admin sees the one before

    async def _report(self) -> None:
        """Tells the log how far this listener is, for an admin to look at."""
        position = await asyncio.to_thread(self._place.read)
        if position is not None:
            name, now = self._cursor.name, self._clock.now()
            await self._ask(report(self._connection, self._cursor.mode, name, position.seq, now))


async def check_right(connection: LogConnection, mode: Mode) -> None:
    """Checks at the start that the user may hear of new events; raises AuthError."""

    async def ignore(_: Message) -> None:
        """Nothing is done with it yet."""

    address = connection.address
    end = await connection.subscribe(address.notices(address.subjects(mode)), ignore)
    await end()
