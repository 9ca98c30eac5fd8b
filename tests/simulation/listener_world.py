"""A service, listeners and their targets in one virtual time; only the inbox is the real one."""

import asyncio
import contextvars
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import CORO_CREATED, getcoroutinestate
from pathlib import Path
from typing import Any, Final, Literal, cast

from simulation.virtual_loop import PROCESS, VirtualLoop
from support.listening import OUTCOME, plan_for
from svc.errors import LocalError
from svc.listen.forward.pump import ForwardOptions
from svc.listen.http.answers import TargetAnswer
from svc.listen.http.connection import TargetReply
from svc.listen.http.dial import BrokenExchange, CannotConnect, OpenConnection
from svc.listen.http.requests import HttpHead, HttpRequest
from svc.listen.inbox.history import InboxHistory, InboxScope
from svc.listen.inbox.interfaces import Batch, StoreResult
from svc.listen.inbox.listeners import ListenerId, archive_before_reset
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import Pipeline
from svc.listen.output_records import ListenerRecord
from svc.listen.plan import ListenerPlan
from svc.listen.targets import Target
from svc.signature import header_value
from svc.state import Database, Tx
from svc.state.opening import BusyRetry
from svc.state.schema import MIGRATIONS

START: Final = 1_700_000_000
SECRET: Final = "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3"
_AGAIN_SECONDS: Final = 0.25  # until a store that has failed is tried again
_WAY: Final = 0.0005  # seconds from one end of a connection to the other
_GRACE: Final = 0.8
NOTED_SECONDS: Final = 0.1  # in which an end is on the disk: a crash before may repeat it

What = Literal["answer", "close", "hang", "crash", "garbage"]


@dataclass(frozen=True)
class Reaction:
    """What a target does with one request: after `delay` seconds; `down` are those after a crash."""

    what: What = "answer"
    status: int = 200
    delay: float = 0.01
    down: float = 0.0


@dataclass(eq=False)
class Event:
    """One event of the service; after a reset another one may have the same `name`."""

    name: str
    object_id: str
    type: str
    body: bytes
    generation: int


@dataclass(eq=False)
class Try:
    """One request that reached a target. `heard` is what the listener heard of it, and when."""

    event: Event
    listener: "SimListener"
    run: int
    at: float
    heard: int | str | None = None
    heard_at: float = 0.0
    alone: bool = True
    redelivered: int = 0
    kept: bool = False
    request: bytes = b""


Script = Callable[[Event, int], Reaction]


@dataclass(eq=False)
class SimTarget:
    """Somebody's program: may be down, and does with each request what its script says."""

    world: "ListenerWorld"
    url: str
    script: Script
    up: bool = True
    unfit: Reaction | None = None  # what it does with all requests, where it is of no use
    unfit_spans: list[tuple[float, float]] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    outside: dict[tuple["SimListener", Event], float] = field(default_factory=dict)
    open: set["SimWire"] = field(default_factory=set)
    connecting: Counter["SimListener"] = field(default_factory=Counter)
    counts: dict[Event, int] = field(default_factory=dict)

    def take(self, wire: "SimWire", event: Event) -> None:
        """Reads a request that has arrived."""
        loop = self.world.loop
        if not self.up:
            wire.lose()
            return
        number = self.counts[event] = self.counts.get(event, 0) + 1
        reaction = self.unfit or self.script(event, number)
        match reaction.what:
            case "hang":
                return
            case "crash":
                loop.call_later(reaction.delay, self.crash, reaction.down)
            case "close":
                loop.call_later(reaction.delay, wire.lose)
            case "garbage":
                broken = BrokenExchange("unreadable", "the answer is no HTTP")
                loop.call_later(reaction.delay, wire.tell, broken)
            case _:
                answer = TargetAnswer(reaction.status, b"", reusable=True)
                loop.call_later(reaction.delay, wire.tell, answer)

    def crash(self, down: float) -> None:
        """Ends with all its connections, and comes back later."""
        self.stop()
        self.world.loop.call_later(down, self.start)

    def sicken(self, reaction: Reaction, seconds: float) -> None:
        """Answers nothing for so long, whoever asks."""
        now = self.world.loop.time()
        self.unfit = reaction
        self.unfit_spans.append((now, now + seconds))
        self.world.loop.call_later(seconds, self.recover)

    def recover(self) -> None:
        self.unfit = None

    def stop(self) -> None:
        self.up = False
        for wire in sorted(self.open, key=lambda one: one.number):
            wire.lose()

    def start(self) -> None:
        self.up = True


class SimWire:
    """A connection to a target, for one exchange at a time."""

    def __init__(self, target: SimTarget, listener: "SimListener", *, beside: bool) -> None:
        """Takes whether something else was under way when it began to be opened."""
        self._beside = beside
        self.number = target.world.number()
        self._target = target
        self._listener = listener
        self._told: Callable[[TargetAnswer | BrokenExchange], None] | None = None
        self._context = contextvars.copy_context()
        self._try: Try | None = None
        self._lost = False
        self._kept = False  # whether it carried another exchange before
        self._late = False
        target.open.add(self)

    def is_open(self) -> bool:
        return not self._lost

    def status_so_far(self) -> TargetAnswer | None:
        self._late = True  # asked for when the time is over, and only then
        return None

    def send(self, request: bytes, told: Callable[[TargetAnswer | BrokenExchange], None]) -> None:
        target = self._target
        event = target.world.events[request.partition(b"\r\n\r\n")[2]]
        self._told = told
        others = [wire for wire in target.open if wire._is_of(self._listener) and wire is not self]
        for wire in others:
            if wire._try is not None:
                wire._try.alone = False
        self._try = Try(event, self._listener, self._listener.run, target.world.loop.time())
        beside = others or target.connecting[self._listener] or (self._beside and not self._kept)
        self._try.alone = not beside
        self._try.redelivered = _marked(request)
        self._try.kept, self._kept = self._kept, True
        self._try.request = request
        target.tries.append(self._try)
        outside = target.world.context
        target.world.loop.call_later(_WAY, target.take, self, event, context=outside)

    def tell(self, heard: TargetAnswer | BrokenExchange) -> None:
        """Has the listener hear something, unless either end has gone."""
        if not self._lost:
            self._say(heard)

    def lose(self) -> None:
        """Ends the connection from the target's side, once: its process may be lost by then."""
        if self._lost:
            return
        self._lost = True
        self._target.open.discard(self)
        self._say(BrokenExchange("closed", "it closed the connection without a whole answer"))

    def close(self) -> None:
        if self._told is not None and self._try is not None:
            self._hear("late" if self._late else "let go")
        self._told = None
        self._lost = True
        self._target.open.discard(self)

    def cut(self) -> None:
        """Ends with the process that held it."""
        self._told = self._try = None
        self._target.open.discard(self)

    def _say(self, heard: TargetAnswer | BrokenExchange) -> None:
        loop = self._target.world.loop
        loop.call_later(_WAY, self._tell, heard, context=self._context)

    def _tell(self, heard: TargetAnswer | BrokenExchange) -> None:
        told, self._told = self._told, None
        if told is not None:
            self._hear(heard.status if isinstance(heard, TargetAnswer) else heard.trouble)
            told(heard)

    def _hear(self, what: int | str) -> None:
        assert self._try is not None
        self._try.heard, self._try.heard_at = what, self._target.world.loop.time()
        self._try = None

    def _is_of(self, listener: "SimListener") -> bool:
        return self._listener is listener and self._try is not None


class SimInbox(SqliteInbox):
    """An inbox on a disk that may be full, which it finds before a commit or at its end."""

    def __init__(self, world: "ListenerWorld", scope: str, *, retake_failed: bool) -> None:
        super().__init__(world.state, scope, retake_failed=retake_failed, listed_at_once=3)
        self._world = world

    def _write(
        self, tx: Tx, batch: Batch, *, whole: bool = False
    ) -> list[StoreResult | LocalError]:
        kept = super()._write(tx, batch, whole=whole)
        if self._world.was_full(now := self._world.loop.time(), now):
            raise LocalError("The disk is full.")
        return kept


class SimQuickInbox(SimInbox):
    """An inbox whose groups need no thread, but for one in five: as if another process wrote."""

    log_is_long = False

    def store_at_once(self, batch: Batch) -> list[StoreResult | LocalError] | None:
        self._groups = getattr(self, "_groups", 0) + 1
        if not self._groups % 5:
            return None
        return self._state.write_at_once(lambda tx: self._write(tx, batch))

    def copy_log(self) -> None:
        """There is none in memory."""


class SimListener:
    """One listener as a process: it can be started, stopped and lost at any moment."""

    def __init__(self, world: "ListenerWorld", scope: str, plan: ListenerPlan) -> None:
        self.world = world
        self.scope = scope
        self.plan = plan
        self.run = 0
        self.lost_at: list[float] = []
        self.answers: list[tuple[Event, int, float]] = []
        self.sent: Counter[Event] = Counter()
        self.records: list[ListenerRecord] = []
        self.pipeline: Pipeline | None = None
        self.closed_since_stop: list[int] = []  # by each act of another program
        self._ending = False

    @property
    def runs(self) -> bool:
        return self.pipeline is not None

    def start(self) -> None:
        if self.pipeline is not None or self._ending:  # it holds the claim of its scope
            return
        self.run += 1
        self._process = object()
        self.context = contextvars.copy_context()
        self.context.run(PROCESS.set, self._process)
        self.context.run(self._start)

    def _start(self) -> None:
        world = self.world
        retake = self.plan.ack == "forwarded"
        kind = SimQuickInbox if self.run % 2 else SimInbox
        inbox = kind(world, self.scope, retake_failed=retake)
        # Under the loop's eyes: what is made here looks for the loop that runs.
        asyncio._set_running_loop(world.loop) if not world.loop.is_running() else None
        try:
            self.pipeline = Pipeline(
                self.plan, inbox, world, self.records.append, lambda: None, self._connect
            )
            looking = self.pipeline.writer._looking
            assert looking is not None
            looking.cancel()  # there is no file to look for twice a second of all those days
            self._starting = self.pipeline.dispatcher.start()
            self._started = world.loop.create_task(self._starting)
        finally:
            asyncio._set_running_loop(None) if not world.loop.is_running() else None

    def deliver(self, event: Event, told: Callable[[int], None]) -> None:
        """Has the service send an event; `told` hears the answer, if one comes."""
        self.sent[event] += 1
        if self.pipeline is None:
            told(0)
            return
        value = header_value(event.body, [SECRET], int(self.world.now())).encode()
        lines = ((b"Svc-Signature", value),)
        head = HttpHead(b"POST", b"/", lines, {b"svc-signature": [value]})
        request = HttpRequest(head, event.body)
        outside = self.world.context

        answered: list[int] = []

        def answer(status: int) -> None:
            if answered:  # a connection drops it
                return
            answered.append(status)
            self.answers.append((event, status, self.world.loop.time()))
            self.world.loop.call_soon(told, status, context=outside)

        # In a copy, for the service may send several at once.
        self.context.copy().run(self.pipeline.ingest.take, request, answer)

    async def stop(self) -> int | None:
        """Ends it as a signal would; gives how many events it says are pending.

        Where the disk is full to the end, what it could not note is lost with it.
        """
        pipeline, self.pipeline = self.pipeline, None
        if pipeline is None:  # it was stopped twice at the same moment
            return None
        loop = self.world.loop
        self._ending, begun = True, loop.time()
        self.closed_since_stop.clear()
        await asyncio.wait([self._started])  # before a listener looks for signals
        ending = loop.create_task(pipeline.close(_GRACE), context=self.context.copy())
        try:
            pending = await ending
        finally:
            self._ending = False
        if self.world.was_full(begun, loop.time()):
            self.lost_at.append(loop.time())
            return None
        return pending

    def lose(self) -> None:
        """Ends it as a power cut would."""
        if self.pipeline is not None:
            self.pipeline = None
            self.lost_at.append(self.world.loop.time())
            self.world.loop.lose(self._process)
            if getcoroutinestate(self._starting) == CORO_CREATED:
                self._starting.close()
            for target in self.world.targets.values():
                del target.connecting[self]
                for wire in tuple(target.open):
                    if wire._listener is self:
                        wire.cut()

    async def _connect(self, target: Target, context: object) -> OpenConnection:
        del context
        sim = self.world.targets[str(target)]
        under_way = [one for one in sim.tries if one.listener is self and one.heard is None]
        for one in under_way:
            one.alone = False
        beside = any(one.run == self.run for one in under_way)
        sim.connecting[self] += 1
        try:
            await asyncio.sleep(_WAY)
        finally:
            sim.connecting[self] -= 1
        if not sim.up:
            raise CannotConnect("connection refused", "unreachable")
        return cast("OpenConnection", SimWire(sim, self, beside=beside))


class ListenerWorld:
    """Everything of one history. Is its own clock: the time of day and that of the loop are one."""

    def __init__(self, state: Database) -> None:
        self.loop = VirtualLoop()
        self.state = state
        self.context = contextvars.copy_context()
        self.targets: dict[str, SimTarget] = {}
        self.listeners: list[SimListener] = []
        self.events: dict[bytes, Event] = {}
        self.full_spans: list[tuple[float, float]] = []
        self._number = 0

    def now(self) -> float:
        return START + self.loop.time()

    def monotonic(self) -> float:
        return self.loop.time()

    def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nobody may wait {seconds} s in the loop")

    def was_full(self, begun: float, ended: float) -> bool:
        """Says whether the disk was full at some time between two moments."""
        return any(start <= ended and begun < end for start, end in self.full_spans)

    def noted_by(self, at: float) -> float:
        """Gives when what was known at a moment is on the disk, at the latest."""
        for start, end in sorted(self.full_spans):
            if start - NOTED_SECONDS <= at < end:
                at = end + _AGAIN_SECONDS
        return at + NOTED_SECONDS

    def number(self) -> int:
        self._number += 1
        return self._number

    def target(self, port: int, script: Script = lambda *_: Reaction()) -> SimTarget:
        url = f"http://localhost:{port}"
        made = self.targets[url] = SimTarget(self, url, script)
        return made

    def listener(
        self,
        *forward_to: str,
        scope: str = "one",
        ack: Literal["received", "forwarded"] = "received",
        **forwarding: Any,
    ) -> SimListener:
        urls = forward_to or tuple(self.targets)
        plan = plan_for(*urls, path="/", url="", ack=ack, forwarding=ForwardOptions(**forwarding))
        made = SimListener(self, scope, plan)
        self.listeners.append(made)
        return made

    def started(self, *forward_to: str, **told: Any) -> SimListener:
        """The same, at work."""
        made = self.listener(*forward_to, **told)
        made.start()
        return made

    def event(
        self, number: int, object_id: str = "", type_: str = "order.paid", generation: int = 0
    ) -> Event:
        """Makes an event of the service; another `generation` is another one of the same id."""
        name = f"evt_{number}"
        object_id = object_id or f"ord_{number}"
        body = json.dumps(
            {
                "id": name,
                "type": type_,
                "created": f"2023-11-14T22:13:{20 + generation}Z",
                "livemode": False,
                "data": {"object": {"id": object_id}},
            }
        ).encode()
        event = Event(name, object_id, type_, body, generation)
        return self.events.setdefault(body, event)

    def send(self, listener: SimListener, *events: Event, then: float = 0) -> list[int]:
        """Delivers events without a pause; gives their answers as they come, after so many seconds."""
        answers: list[int] = []
        for event in events:
            self.loop.call_soon(listener.deliver, event, answers.append)
        if then:
            self.loop.run_for(then)
        return answers

    def outcomes(self, listener: SimListener) -> dict[str, str | None]:
        """How each event in a listener's inbox ended, None where it has not; the newest of a name."""
        return dict(self._outcomes(listener))

    def _outcomes(self, listener: SimListener) -> list[tuple[str, str | None]]:
        rows = self.state.rows(
            f"SELECT event_id, {OUTCOME} FROM inbox JOIN listeners ON listeners.id = listener"
            " WHERE scope = ? ORDER BY seq",
            (listener.scope,),
        )
        return [(row["event_id"], row["outcome"]) for row in rows]

    def open_events(self, listener: SimListener) -> int:
        """Counts the events in a listener's inbox that have not ended."""
        return sum(outcome is None for _, outcome in self._outcomes(listener))

    def replay(self, listener: SimListener, *only: Event) -> list[Event]:
        """Has another program send what is pending and close it, as `replay --pending` does."""
        archive = InboxHistory(self.state, InboxScope("", "", None))
        rows = self.state.rows(
            f"SELECT seq, type, body, {OUTCOME} FROM inbox JOIN payloads ON inbox_seq = seq"
            " JOIN listeners ON listeners.id = listener WHERE scope = ?",
            (listener.scope,),
        )
        rows = [row for row in rows if row["outcome"] is None]
        rows = [row for row in rows if not only or self.events[row["body"]] in only]
        for row in rows:
            event = self.events[row["body"]]
            sent = []
            for target in listener.plan.routes.match(row["type"]):
                self.targets[str(target)].outside[listener, event] = self.loop.time()
                archive.begin_replay(row["seq"], str(target))
                sent.append((str(target), self.now(), TargetReply(1.0, 200)))
            archive.note_replays(row["seq"], sent, taken=True, pending=True)
        listener.closed_since_stop.append(len(rows))
        return [self.events[row["body"]] for row in rows]

    def reset(self, listener: SimListener) -> None:
        """Has a listener notice that its sandbox was reset."""
        listener.closed_since_stop.append(self.open_events(listener))
        archive_before_reset(self.state, ListenerId(listener.scope, None, "/"))

    def close(self) -> None:
        for listener in self.listeners:
            listener.lose()
        self.loop.close()
        assert not self.loop.trouble, self.loop.trouble


def _marked(request: bytes) -> int:
    """Reads how often an event says that it may have come before."""
    name = b"\r\nSvc-Redelivered: "
    return int(request.partition(name)[2].partition(b"\r\n")[0] or b"0")


class InMemory(Database):
    """A database that has no file which could be deleted."""

    def check_in_place(self) -> None:
        """Finds nothing."""


def in_memory() -> Database:
    """The real schema in a database that is gone with the process."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in MIGRATIONS:
        for statement in step:
            connection.execute(statement)
    clock = _NoClock()
    return InMemory(connection, Path(":memory:"), clock, BusyRetry(clock))


def wipe(state: Database) -> None:
    """Empties a database for the next history."""
    with state.write() as tx:
        for table in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            tx.execute(f"DELETE FROM {table['name']}")


class _NoClock:
    """The time of a database that nobody else holds: it never waits."""

    def now(self) -> float:
        return START

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError(f"the database was busy: {seconds}")


def tried(target: SimTarget) -> Sequence[str]:
    """The names of the events that reached a target, in order."""
    return [one.event.name for one in target.tries]
