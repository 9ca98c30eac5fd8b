"""Reads a log as one job of a group: each event goes to one of the jobs that share its queue.

An event is acknowledged after the target's 2xx. An event that a healthy target refuses is put aside
with the answer. If the target is away, the event is given back with a delay, and the job takes none
for as long: else this job would fail fastest, take most events, and use up their deliveries (R129).

`svc events listen --from LOG --group NAME` makes a `GroupSource` the source of its listener.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from svc.clock import Clock
from svc.errors import NotFound, SvcError
from svc.listen.commands import CommandTarget
from svc.listen.forward.pending_acks import AWAY
from svc.listen.http.dial import CannotConnect, Connect, open_connection
from svc.listen.ingest import Ingest
from svc.listen.log.connection import LogConnection, Message
from svc.listen.log.credentials import KEY_WRONG
from svc.listen.log.errors import LogMissing, NoResponder
from svc.listen.log.messages import (
    Trust,
    Unreadable,
    count_published_again,
    delivery_of,
    group_of,
    read_metadata,
)
from svc.listen.log.source import LogSource
from svc.listen.log.streams import BACK_SECONDS, group_name, make_group
from svc.listen.output_records import ListenerRecord
from svc.listen.routes import AnyTarget
from svc.service.facts import Mode

_TAKEN: Final = 200
_NOT_NOW: Final = 503  # this job ends, or its disk takes nothing
# No verdict on a target's answer is one of these: the attempt itself has failed.
_BACK: Final = frozenset((502, _NOT_NOW, 504, AWAY))
_RENEW_SECONDS: Final = 10.0  # a third of the time after which another job gets it
_PROBE_SECONDS: Final = 0.25
_PAUSE_SECONDS: Final = 1.0
_END_SECONDS: Final = 1.0
_NANO: Final = 1_000_000_000
_NOTHING: Final = "408"  # the time is up
# A dead connection is noticed by heartbeats that do not come.
_ONE: Final = {"batch": 1, "expires": 30 * _NANO, "idle_heartbeat": 2 * _NANO}


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """The jobs that share the events of a log, and how many events one of them has at once."""

    group: str
    mode: Mode
    concurrency: int
    trust: Trust


class GroupSource(LogSource):
    """Passes a listener its share of a queue, and reports to the log how each event ended."""

    def __init__(
        self,
        connection: LogConnection,
        consumer_group: ConsumerGroup,
        targets: Sequence[AnyTarget],
        clock: Clock,
        ingest: Ingest,
        emit: Callable[[ListenerRecord], None],
        connect: Connect = open_connection,
    ) -> None:
        super().__init__(connection, clock, ingest, emit, consumer_group.trust)
        self._connect = connect
        self._group = consumer_group
        self._targets = tuple(targets)
        # Where the receipts of what is under way are acknowledged, and how often each was given.
        self._out: dict[str, int] = {}
        self._said: set[Future[None]] = set()
        self._asked = 0  # how many events were asked for
        self._looking = asyncio.Lock()  # whether the target accepts connections
        self._room = asyncio.Event()
        self._away = True
        self._failures = 0  # of the target in a row
        self._rests_until = 0.0

    async def start(self) -> None:
        """Begins to take."""
        lanes = range(self._group.concurrency)
        self._begin(*(self._take_on() for _ in lanes), self._renew())

    async def close(self) -> None:
        """Hands back events without a verdict, and waits until the log has confirmed the others."""
        for receipt in tuple(self._out):
            self._handle_answer(receipt, _NOT_NOW)
        waiting = [asyncio.wrap_future(one) for one in self._said]
        if waiting:
            await asyncio.wait(waiting, timeout=_END_SECONDS)

    async def _take_on(self) -> None:
        """Takes one event after the other; there are as many of it as may be under way at once."""
        while True:
            try:
                await self._until_ready()
                found = await self._next()
                if found is not None:
                    self._tell_state(None)
                    await self._give(*found, self._clock.now())
            except NoResponder as error:  # a queue that was deleted; where another one begins is
                self._tell_state(await self._why_silent() or error.message)  # not ours to say
                await asyncio.sleep(_PAUSE_SECONDS)
            except SvcError as error:
                if error.code == KEY_WRONG:  # only another run has another key
                    raise
                self._tell_state(error.message)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _next(self) -> tuple[Message, int, int] | None:
        self._asked += 1
        try:
            return await self._ask(self._pull())
        finally:
            self._asked -= 1
            self._room.set()

    async def _why_silent(self) -> str | None:
        """Says so where there is no queue any more; None where it is only not led."""
        try:
            waiting = await self._ask(count_waiting(self._connection, self._group))
        except SvcError:
            return None
        missing = _build_missing(self._connection, self._group)
        return None if waiting is not None else missing.message

    async def _pull(self) -> tuple[Message, int, int] | None:
        """Waits for one event; gives None where none has come in half a minute.

        For one alone: a queue with copies says that a page is whole before its messages come, and
        the client library's `fetch` keeps a lone event back until the page is full. Runs in the
        loop of the connection.

        Raises:
            LogDown, AuthError: the queue cannot be read.
        """
        stream = self._connection.address.stream(self._group.mode)
        verb = f"CONSUMER.MSG.NEXT.{stream}.{group_name(self._group.group)}"
        [found] = await self._connection.gather(verb, _ONE, most=1)
        metadata = read_metadata(found.reply)
        if metadata is not None:
            return found, *metadata
        if found.status != _NOTHING:
            await asyncio.sleep(_PROBE_SECONDS)  # its leader changes, or a person deletes it
        return None

    async def _give(self, one: Message, seq: int, delivered: int, now: float) -> None:
        receipt = one.reply
        try:
            delivery = delivery_of(one, now, self._group.trust)
        except Unreadable as error:
            word = back_after(delivered)  # another job may have the key or secret that it needs
            try:
                await self._refuse(error, seq, len(one.body))
                word = word if error.by == "secret" else f"+TERM {error.message}".encode()
            finally:
                self._say(receipt, word)
            return
        if self._away:  # it was asked for before that was known: another job may have it
            self._say(receipt, back_after(delivered))
            return
        if group_of(one) not in ("", self._group.group):  # given again to another one
            self._keep(self._connection.submit(self._acknowledge(receipt)))
            return
        self._out[receipt] = delivered
        self._ingest.admit(
            delivery,
            partial(self._handle_answer, receipt),
            redelivered=delivered - 1 + count_published_again(one),
        )

    async def _until_ready(self) -> None:
        """Waits for room, and for a target that is not away."""
        # One alone shows whether a target that was away takes events again.
        while len(self._out) + self._asked >= (1 if self._failures else self._group.concurrency):
            self._room.clear()
            await self._room.wait()
        async with self._looking:
            while self._away:
                rest = self._rests_until - self._loop.time()
                if rest > 0:
                    await asyncio.sleep(rest)
                elif all([await self._accepts(target) for target in self._targets]):
                    self._away = False
                else:
                    await asyncio.sleep(_PROBE_SECONDS)

    async def _accepts(self, target: AnyTarget) -> bool:
        """Returns whether a target accepts connections; what it answers is seen by an event."""
        if isinstance(target, CommandTarget):
            return target.find()[0] is not None
        try:
            async with asyncio.timeout(2):
                wire = await self._connect(target, None)
        except (CannotConnect, TimeoutError):
            return False
        wire.close()
        return True

    def _handle_answer(self, receipt: str, status: int) -> None:
        delivered = self._out.pop(receipt, None)
        if delivered is None:
            return
        self._room.set()
        if status == _TAKEN:
            self._failures = 0
            self._keep(self._connection.submit(self._acknowledge(receipt)))
        elif status == _NOT_NOW and self.died.done():  # this job ends: another may have it at once
            self._say(receipt, b"-NAK")
        elif status in _BACK:
            self._rest()
            self._say(receipt, back_after(delivered))
        else:
            self._failures = 0
            self._say(receipt, f"+TERM the target answered {status}".encode())

    def _rest(self) -> None:
        """Takes nothing for a while; those that were under way together count once."""
        now = self._loop.time()
        if now >= self._rests_until:
            self._rests_until = now + BACK_SECONDS[min(self._failures, len(BACK_SECONDS) - 1)]
            self._failures += 1
        self._away = True

    async def _acknowledge(self, receipt: str) -> None:
        """Waits for the log to have heard it; otherwise another job gets the event as well."""
        for _ in range(3):
            try:
                await self._connection.request(receipt, b"+ACK", seconds=2)
            except SvcError:
                await asyncio.sleep(_PROBE_SECONDS)
            else:
                return

    def _say(self, receipt: str, word: bytes) -> None:
        async def say() -> None:
            with suppress(SvcError):  # then the log notices by itself, after 30 s
                await self._connection.publish(receipt, word)

        self._keep(self._connection.submit(say()))

    def _keep(self, said: "Future[None]") -> None:
        self._said.add(said)
        said.add_done_callback(self._said.discard)

    async def _renew(self) -> None:
        """Keeps what is under way from going to another job."""
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            for receipt in tuple(self._out):
                self._say(receipt, b"+WPI")


async def ensure(
    connection: LogConnection, consumer_group: ConsumerGroup, start: dict[str, Any]
) -> int:
    """Makes sure that the group's queue is there and returns how many events wait in it.

    A missing queue is made, to begin at `start`, if the user may do that.

    Raises:
        NotFound: it is missing and the user may not make it.
    """
    waiting = await count_waiting(connection, consumer_group)
    if waiting is not None:
        return waiting
    try:
        await make_group(connection, consumer_group.mode, consumer_group.group, start)
    except SvcError as error:
        raise _build_missing(
            connection, consumer_group, f", and it could not be made: {error.message.rstrip('.')}."
        ) from error
    return await count_waiting(connection, consumer_group) or 0


async def count_waiting(connection: LogConnection, consumer_group: ConsumerGroup) -> int | None:
    """Counts the events that wait in the queue; None where the log has none of that name."""
    stream = connection.address.stream(consumer_group.mode)
    try:
        found = await connection.info(f"CONSUMER.INFO.{stream}.{group_name(consumer_group.group)}")
    except LogMissing:
        return None
    return int(found.get("num_pending", 0))


def _build_missing(
    connection: LogConnection, consumer_group: ConsumerGroup, why: str = "."
) -> NotFound:
    return NotFound(
        f"The log has no group {consumer_group.group}{why}",
        code="log_group_missing",
        param="--group",
        hint=f"svc events log create --to {connection.address} --group {consumer_group.group}",
    )


def back_after(delivered: int) -> bytes:
    """Returns the answer that gives an event back to the queue, with the delay for its next try.

    `delivered` counts how often the event was handed out.
    """
    seconds = BACK_SECONDS[min(delivered, len(BACK_SECONDS)) - 1]
    return b"-NAK " + json.dumps({"delay": seconds * _NANO}).encode()
