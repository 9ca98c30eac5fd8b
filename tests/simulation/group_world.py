"""The queue of a log and the jobs that share it, in the virtual time of a listener's world."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from random import Random
from types import SimpleNamespace
from typing import Any, Final, cast

from simulation.listener_world import Event, ListenerWorld, SimListener
from svc.errors import LocalError
from svc.listen.forward.pending_acks import status_for_group
from svc.listen.inbox.interfaces import Batch, StoreResult
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import Pipeline
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import Message
from svc.listen.log.errors import LogDown
from svc.listen.log.group import ConsumerGroup, GroupSource
from svc.listen.log.messages import Trust, headers_of
from svc.listen.log.streams import ACK_SECONDS, MAX_DELIVERIES
from svc.listen.verify.verify import Delivery, read_facts

_WAY: Final = 0.0005
_SILENT_SECONDS: Final = 5.0
_KEY: Final = "logkey_" + "k" * 43
_ADDRESS: Final = LogAddress.parse("nats://127.0.0.1/shop", "--from")
_STREAM: Final = _ADDRESS.stream("test")
_OVER: Final = Message("", "", {}, b"", "408")


@dataclass(eq=False)
class Handout:
    """One time that the queue gave an event to a job."""

    event: Event
    job: "SimJob"
    run: int
    at: float


@dataclass(eq=False)
class _Pull:
    job: "SimJob"
    batch: int
    ended: asyncio.Future[None]
    messages: list[Message] = field(default_factory=list)


class SimGroupQueue:
    """A durable consumer as a server keeps it: gives, waits for words, gives again."""

    def __init__(self, world: ListenerWorld, rng: Random) -> None:
        self.world = world
        self.rng = rng
        self.down = False
        self.given: list[Handout] = []
        self.ended: dict[Event, str] = {}  # "taken", or why it was put aside
        self.said: list[tuple[float, SimJob, bytes]] = []
        self._events: list[Event] = []
        self._times: Counter[Event] = Counter()
        self._again: dict[Event, float] = {}  # when it is to be given again
        self._out: dict[Event, asyncio.TimerHandle] = {}
        self._next = 0
        self._pulls: list[_Pull] = []
        self._silent: list[_Pull] = []

    def publish(self, event: Event) -> None:
        self._events.append(event)
        self._serve()

    def fall(self) -> None:
        """Has no leader: what is under way to a job is lost."""
        self.down = True
        for pull in self._pulls:  # the jobs notice it by the silence
            self._silent.append(pull)
            self.world.loop.call_later(
                _SILENT_SECONDS, self._break, pull, context=self.world.context
            )
        self._pulls.clear()

    def _break(self, pull: _Pull) -> None:
        if pull in self._silent and not pull.ended.done():
            pull.ended.set_exception(LogDown("The log: it did not answer in time."))

    def rise(self) -> None:
        self.down = False
        self._serve()

    def pull(self, job: "SimJob", batch: int, *, wait: float) -> _Pull:
        """Serves a request, for so many seconds."""
        pull = _Pull(job, batch, self.world.loop.create_future())
        self._pulls.append(pull)
        self._serve()
        self.world.loop.call_later(wait, self.leave, pull, context=self.world.context)
        return pull

    def leave(self, pull: _Pull) -> None:
        if pull in self._pulls:
            self._pulls.remove(pull)
            if not pull.ended.done() and not self.world.loop.is_closed():
                pull.ended.set_result(None)

    def forget(self, job: "SimJob") -> None:
        """Drops what a job that is no more has asked for: nothing may wake it."""
        self._pulls = [one for one in self._pulls if one.job is not job]
        self._silent = [one for one in self._silent if one.job is not job]

    def hear(self, job: "SimJob", receipt: str, word: bytes) -> None:
        """Takes a job's word for an event."""
        event = self._events[int(receipt.split(".")[5]) - 1]
        self.said.append((self.world.loop.time(), job, word))
        timer = self._out.pop(event, None)
        if timer is not None:
            timer.cancel()
        verb, _, more = word.decode().partition(" ")
        if verb == "+ACK":
            self._again.pop(event, None)
            self.ended.setdefault(event, "taken")
        elif timer is None:
            return  # its time was over
        elif verb == "+TERM":
            self.ended[event] = more
        elif verb == "+WPI":
            self._lease(event)
        else:
            delay = int(more.partition(":")[2].strip(" }")) / 1e9 if more else 0.0
            self._back(event, delay)

    def _back(self, event: Event, delay: float) -> None:
        self._again[event] = self.world.loop.time() + delay
        self.world.loop.call_later(delay, self._serve, context=self.world.context)

    def _lease(self, event: Event) -> None:
        def missed() -> None:
            self._out.pop(event, None)
            self._back(event, 0.0)

        later = self.world.loop.call_later
        self._out[event] = later(ACK_SECONDS, missed, context=self.world.context)

    def _serve(self) -> None:
        while self._pulls and not self.down and (event := self._first()) is not None:
            self._give(self._pulls[0], event)

    def _first(self) -> Event | None:
        now = self.world.loop.time()
        for event, at in self._again.items():
            if at <= now:
                del self._again[event]
                return event
        if self._next < len(self._events):
            self._next += 1
            return self._events[self._next - 1]
        return None

    def _give(self, pull: _Pull, event: Event) -> None:
        if event in self.ended:
            return
        if self._times[event] >= MAX_DELIVERIES:
            self.ended[event] = "max_deliver"
            return
        self._times[event] += 1
        self._lease(event)
        job, seq = pull.job, self._events.index(event) + 1
        self.given.append(Handout(event, job, job.run, self.world.loop.time()))
        receipt = f"$JS.ACK.{_STREAM}.g_ci.{self._times[event]}.{seq}.{len(self.given)}.0.0"
        facts = read_facts(event.body)
        delivery = Delivery(event.body, b"", self.world.now(), facts, self.world.now())
        headers = headers_of(delivery, _ADDRESS, "test", _KEY, again=False)
        pull.messages.append(Message("", receipt, headers, event.body))
        if len(pull.messages) == pull.batch:
            self.leave(pull)


class FakeConnection:
    """What a job asks its log through; answers come late, or not at all."""

    address = _ADDRESS

    def __init__(self, queue: SimGroupQueue, job: "SimJob") -> None:
        self._queue = queue
        self._job = job
        # Its losses are seen by what is not answered.
        self.client = SimpleNamespace(on_state_change=None)

    def submit(self, call: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return asyncio.run_coroutine_threadsafe(call, self._queue.world.loop)

    async def gather(self, _: str, asked: Mapping[str, Any], most: int) -> list[Message]:
        del most
        await self._reach(_SILENT_SECONDS)
        pull = self._queue.pull(self._job, asked["batch"], wait=asked["expires"] / 1e9)
        try:
            await pull.ended
        finally:
            self._queue.leave(pull)
        await asyncio.sleep(_WAY)
        return pull.messages or [_OVER]

    async def request(self, receipt: str, word: bytes, seconds: float) -> Message:
        await self._reach(seconds)
        lost = self._queue.rng.random()
        if lost > 0.05:
            self._queue.hear(self._job, receipt, word)
        if lost < 0.1:
            await asyncio.sleep(seconds)
            raise LogDown("The log: it did not answer in time.")
        return _OVER

    async def publish(self, receipt: str, word: bytes) -> None:
        await self._reach(_SILENT_SECONDS)
        self._queue.hear(self._job, receipt, word)

    async def _reach(self, seconds: float) -> None:
        await asyncio.sleep(_WAY)
        if self._queue.down:
            await asyncio.sleep(seconds)
            raise LogDown("The log: it did not answer in time.")


class _InboxOfJob(SqliteInbox):
    """An inbox whose disk may be full."""

    is_full = False

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        if self.is_full and batch.inbound_events:
            raise LocalError("The disk is full.")
        return super().store(batch)


class SimJob(SimListener):
    """One job as a process: a listener whose source is its share of the queue."""

    def __init__(self, queue: SimGroupQueue, scope: str, port: int, concurrency: int) -> None:
        world = queue.world
        made = world.listener(
            f"{port}", scope=scope, ack="forwarded", concurrency=concurrency, retry="off"
        )
        world.listeners.remove(made)
        super().__init__(world, scope, made.plan)
        self.plan = replace(self.plan, verdict=status_for_group, signs="original")
        self.queue = queue
        self.is_full = False
        self.ended_at: list[float] = []
        self._source: GroupSource | None = None
        world.listeners.append(self)

    def _start(self) -> None:
        world = self.world
        asyncio._set_running_loop(world.loop) if not world.loop.is_running() else None
        try:
            inbox = _InboxOfJob(world.state, self.scope, retake_failed=True, listed_at_once=3)
            self.inbox = inbox
            inbox.is_full = self.is_full
            inbox.hand_back()
            self.pipeline = Pipeline(
                self.plan, inbox, world, self.records.append, lambda: None, self._connect
            )
            trust = Trust(_STREAM, (_KEY,))
            queue = ConsumerGroup("ci", "test", self.plan.forwarding.concurrency, trust)
            self._source = GroupSource(
                cast("Any", FakeConnection(self.queue, self)),
                queue,
                self.plan.routes.targets,
                world,
                self.pipeline.ingest,
                self.records.append,
                self._connect,
            )
            self._starting = self._begin(self.pipeline, self._source)
            world.loop.create_task(self._starting)
        finally:
            asyncio._set_running_loop(None) if not world.loop.is_running() else None

    async def _begin(self, pipeline: Pipeline, source: GroupSource) -> None:
        await pipeline.dispatcher.start()
        if self.pipeline is pipeline:
            await source.start()

    async def stop(self) -> int | None:
        """Ends it as a signal would: what has no verdict goes back."""
        source = self._source
        if self.pipeline is None or source is None:
            return None
        self.ended_at.append(self.world.loop.time())
        ending = self.world.loop.create_task(self._leave(source), context=self.context.copy())
        pending: int | None = await ending
        return pending

    async def _leave(self, source: GroupSource) -> int | None:
        pipeline, self.pipeline = self.pipeline, None
        if pipeline is None:
            return None
        self._ending = True
        try:
            await source.stop_accepting()
            pending = await pipeline.close(0.8)
            await source.close()
        finally:
            self._ending = False
        return pending

    def lose(self) -> None:
        if self.pipeline is not None:
            self.ended_at.append(self.world.loop.time())
            self.queue.forget(self)
        super().lose()

    def fill_disk(self, *, full: bool) -> None:
        self.is_full = full
        if self.pipeline is not None:
            self.inbox.is_full = full
