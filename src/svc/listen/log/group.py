"""One of the jobs that share a queue of a log: each event goes to one of them.

An event is acknowledged after the target's 2xx. What a healthy target refuses is put aside with
its answer. What finds the target away is given back with a delay, and the job takes nothing for as
long: without that it would fail fastest, take most, and use up every event's deliveries (R129).
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
from svc.listen.forward.connection import TargetReply
from svc.listen.forward.dial import CannotConnect, open_connection
from svc.listen.forward.waiting import AWAY
from svc.listen.log.connection import LogConnection
from svc.listen.log.messages import Trust, Unreadable, delivery_of, group_of, published_again
from svc.listen.log.pulling import Broken, Pulled, Pulling
from svc.listen.log.source import LogSource
from svc.listen.log.streams import BACK_SECONDS, group_consumer, group_name, make_group, stream_info
from svc.listen.log.troubles import LogRefusal, is_missing
from svc.listen.receive import Reception
from svc.listen.records import ListenerRecord
from svc.listen.targets import Target
from svc.service.facts import Mode

_TAKEN: Final = 200
_NOT_NOW: Final = 503
_BACK: Final = frozenset((502, 504, AWAY))  # no target answers so: the attempt itself has failed
_AWAY_STATUSES: Final = frozenset((408, 425, 429, 502, 503, 504))
_RENEW_SECONDS: Final = 10.0  # a third of the time after which another job gets it
_PROBE_SECONDS: Final = 0.25
_PAUSE_SECONDS: Final = 1.0
_END_SECONDS: Final = 1.0
_NANO: Final = 1_000_000_000


def verdict_for_group(reply: TargetReply) -> int:
    """Turns a target's reply into a verdict for those who share a queue: taken, away or refused."""
    if reply.is_taken:
        return _TAKEN
    if reply.status is None or reply.status in _AWAY_STATUSES:
        return AWAY
    return min(reply.status, AWAY - 1)


@dataclass(frozen=True, slots=True)
class Queue:
    """The shared queue of one group, and how much of it one job has at once."""

    group: str
    mode: Mode
    concurrency: int
    trust: Trust


class GroupSource(LogSource):
    """Gives a reception its share of a queue, and tells the log what became of it."""

    def __init__(
        self,
        connection: LogConnection,
        queue: Queue,
        targets: Sequence[Target],
        clock: Clock,
        reception: Reception,
        tell: Callable[[ListenerRecord], None],
    ) -> None:
        super().__init__(connection, clock, reception, tell)
        self._queue = queue
        self._targets = tuple(targets)
        # Where the receipts of what is under way are acknowledged, and how often each was given.
        self._out: dict[str, int] = {}
        self._said: set[Future[None]] = set()
        self._room = asyncio.Event()
        self._away = True
        self._failures = 0  # of the target in a row
        self._rests_until = 0.0

    async def start(self) -> None:
        """Begins to take."""
        self._begin(self._take_on(), self._renew())

    async def close(self) -> None:
        """Hands back what has no verdict, and sees to it that the log has heard the others."""
        for receipt in tuple(self._out):
            self._answered(receipt, _NOT_NOW)
        waiting = [asyncio.wrap_future(one) for one in self._said]
        if waiting:
            await asyncio.wait(waiting, timeout=_END_SECONDS)

    async def _take_on(self) -> None:
        while True:
            pulling = Pulling(
                self._connection,
                self._connection.address.stream(self._queue.mode),
                group_name(self._queue.group),
            )
            try:
                await self._take(pulling)
            except Broken:
                await self._look_for_queue()
                await asyncio.sleep(_PROBE_SECONDS)
            except SvcError as error:
                self._tell_state(error.message)
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                self._hand_back(pulling.left())
                self._connection.submit(pulling.close())

    async def _look_for_queue(self) -> None:
        """Tells of a queue that somebody has deleted: where another one begins is theirs to say."""
        try:
            there = await self._ask(is_there(self._connection, self._queue))
        except SvcError as error:
            self._tell_state(error.message)
            return
        if not there:
            self._tell_state(_missing(self._connection, self._queue).message)

    async def _take(self, pulling: Pulling) -> None:
        while True:
            room = await self._until_ready(pulling)
            page = await self._ask(pulling.page(room))
            self._tell_state(None)
            now = self._clock.now()
            for one in page:
                self._give(one, now)

    def _give(self, one: Pulled, now: float) -> None:
        receipt, delivered = one.message.reply, one.ticket.delivered
        try:
            delivery = delivery_of(one.message, now, self._queue.trust)
        except Unreadable as error:
            self._refuse(error, one.ticket.seq, len(one.message.body))
            self._say(receipt, f"+TERM {error.message}".encode())
            return
        if group_of(one.message) not in ("", self._queue.group):  # given again to another one
            self._keep(self._connection.submit(self._acknowledge(receipt)))
            return
        self._out[receipt] = delivered
        self._reception.admit(
            delivery,
            partial(self._answered, receipt),
            redelivered=delivered - 1 + published_again(one.message),
        )

    async def _until_ready(self, pulling: Pulling) -> int:
        """Waits for room, and for a target that is not away; gives how much may be taken.

        What was asked for before the target was found away may still come: another job is to have
        it, and not only when the log misses its acknowledgement.
        """
        while len(self._out) >= self._most:
            self._room.clear()
            await self._room.wait()
        while self._away:
            self._hand_back(await self._ask(_left_of(pulling)))
            rest = self._rests_until - self._loop.time()
            if rest > 0:
                await asyncio.sleep(min(rest, _PROBE_SECONDS))
            elif all([await accepts(target) for target in self._targets]):
                self._away = False
            else:
                await asyncio.sleep(_PROBE_SECONDS)
        return self._most - len(self._out)

    @property
    def _most(self) -> int:
        """One alone shows whether a target that was away takes events again."""
        return 1 if self._failures else self._queue.concurrency

    def _hand_back(self, left: Sequence[Pulled]) -> None:
        """Gives back what was not tried: another job may have it at once."""
        for one in left:
            self._say(one.message.reply, b"-NAK")

    def _answered(self, receipt: str, status: int) -> None:
        delivered = self._out.pop(receipt, None)
        if delivered is None:
            return
        self._room.set()
        if status == _TAKEN:
            self._failures = 0
            self._keep(self._connection.submit(self._acknowledge(receipt)))
        elif status in _BACK:
            self._rest()
            self._say(receipt, back_after(delivered))
        elif status == _NOT_NOW:  # this job ends, or could not keep it
            self._say(receipt, b"-NAK")
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


async def _left_of(pulling: Pulling) -> list[Pulled]:
    return pulling.left()  # in the loop in which it is filled


async def accepts(target: Target) -> bool:
    """Says whether a target accepts connections."""
    import ssl

    context = ssl.create_default_context() if target.scheme == "https" else None
    try:
        async with asyncio.timeout(2):
            wire = await open_connection(target, context)
    except (CannotConnect, TimeoutError):
        return False
    wire.close()
    return True


async def ensure(connection: LogConnection, queue: Queue, start: dict[str, Any]) -> None:
    """Makes sure that the queue is there; one that is missing is made where that is allowed.

    Raises:
        NotFound: it is missing and the user may not make it.
    """
    if await is_there(connection, queue):
        return
    info = await stream_info(connection, queue.mode)
    wanted = group_consumer(queue.group, int(info["config"]["num_replicas"]), start=start)
    try:
        await make_group(connection, queue.mode, wanted)
    except SvcError as error:
        raise _missing(connection, queue, f", and it could not be made: {error.message}") from error


async def is_there(connection: LogConnection, queue: Queue) -> bool:
    """Says whether the log has the queue."""
    stream = connection.address.stream(queue.mode)
    try:
        await connection.info(f"CONSUMER.INFO.{stream}.{group_name(queue.group)}")
    except LogRefusal as error:
        if not is_missing(error):
            raise
        return False
    return True


def _missing(connection: LogConnection, queue: Queue, why: str = ".") -> NotFound:
    return NotFound(
        f"The log has no group {queue.group}{why}",
        code="log_group_missing",
        param="--group",
        hint=f"svc events log create --to {connection.address} --group {queue.group}",
    )


def opened(
    connection: LogConnection, queue: Queue, targets: Sequence[Target], clock: Clock
) -> Callable[[Reception, Callable[[ListenerRecord], None]], GroupSource]:
    """Gives what a listener opens its source with."""
    return partial(GroupSource, connection, queue, targets, clock)


def back_after(delivered: int) -> bytes:
    """Gives the words with which an event goes back that was given so often, and its delay."""
    seconds = BACK_SECONDS[min(delivered, len(BACK_SECONDS)) - 1]
    return b"-NAK " + json.dumps({"delay": seconds * _NANO}).encode()
