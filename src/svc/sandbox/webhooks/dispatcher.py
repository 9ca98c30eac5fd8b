"""Webhook attempts under way: a queue for each endpoint, a few at a time in each."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from svc.sandbox.clock import SECOND, VirtualClock, micros
from svc.sandbox.faults.webhooks import BAD_SIGNATURE, DROP, WebhookFaults, WebhookRule
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store import deliveries, jobs
from svc.sandbox.store.commit import GroupCommit
from svc.sandbox.store.jobs import BrokenJobs, Job
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks import attempts
from svc.sandbox.webhooks.attempts import PreparedAttempt, with_bad_signature
from svc.sandbox.webhooks.sender import ReceiverReply, WebhookSender

LANE_WIDTH = 8  # attempts at one endpoint at a time; a slow one holds up nobody else
_LATE = SECOND  # an attempt that is later than this counts from when it was really made


@dataclass(slots=True)
class EndpointQueue:
    """One endpoint's jobs: those under way, and those that broke."""

    flying: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    parking: BrokenJobs = field(default_factory=BrokenJobs)
    closing: bool = False  # the endpoint is being disabled: nothing passes that moment
    blocked: bool = False  # more is due than may fly at present

    def busy(self, now: int) -> list[int]:
        """The jobs that are not to be started now."""
        return [*self.flying, *self.parking.held(now)]


class WebhookDispatcher:
    """Makes the attempts that are due; `landed` is called whenever one is over."""

    def __init__(
        self,
        store: Store,
        groups: GroupCommit,
        clock: VirtualClock,
        sender: WebhookSender,
        wall: Callable[[], float],
        faults: WebhookFaults,
    ) -> None:
        self._store = store
        self._groups = groups
        self._clock = clock
        self._sender = sender
        self._wall = wall
        self._faults = faults
        self._lanes: dict[str, EndpointQueue] = {}
        self.landed: Callable[[], None] = _nothing
        self.made = 0
        faults.holding.changed = self._tell

    @property
    def moving(self) -> bool:
        """True while attempts are under way that fault rules do not hold back."""
        flying = sum(len(lane.flying) for lane in self._lanes.values())
        return flying > self._faults.holding.held

    @property
    def holds(self) -> bool:
        """True while a fault rule holds attempts back until there are more."""
        return self._faults.holding.held > 0

    @property
    def broken(self) -> int:
        """How many jobs broke and wait to be tried again."""
        return sum(len(lane.parking) for lane in self._lanes.values())

    def retry(self) -> None:
        """Has broken jobs tried again at the next occasion."""
        for lane in self._lanes.values():
            lane.parking.clear()

    def next_retry(self) -> int | None:
        """When the first broken job is tried again (microseconds)."""
        now = self._clock.now()
        moments = [lane.parking.next(now) for lane in self._lanes.values()]
        return min((moment for moment in moments if moment is not None), default=None)

    def let_go(self) -> None:
        """Has what is held back go: nothing more comes that it could wait for."""
        self._faults.holding.release()

    def next_due(self, *, free: bool = False) -> int | None:
        """The moment of the next job (microseconds); `free` leaves blocked lanes out."""
        moments, now = [], self._clock.now()
        for name in self._names():
            lane = self._lanes.setdefault(name, EndpointQueue())
            if not (free and lane.blocked):
                moments.append(jobs.next_due(self._store, name, lane.busy(now)))
        return min((due for due in moments if due is not None), default=None)

    def launch(self, until: int) -> None:
        """Starts what is due at or before a moment and has room; no transaction may be open."""
        for name in self._names():
            self._fill(name, self._lanes.setdefault(name, EndpointQueue()), until)

    async def finish_now(self, job: Job) -> None:
        """Makes one attempt, due or held, and returns when it is over."""
        lane = self._lanes.setdefault(job.lane, EndpointQueue())
        if job.seq in lane.flying:
            self.let_go()
        else:
            self._start(lane, job, at_once=True)
        await asyncio.wait([lane.flying[job.seq]])

    async def ground(self, grace: float) -> None:
        """Waits `grace` seconds for attempts under way, then cuts them short: made again later."""
        tasks = [task for lane in self._lanes.values() for task in lane.flying.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.wait(tasks)

    def forget(self) -> None:
        """Begins anew: the tables were emptied."""
        self._lanes.clear()

    def _tell(self) -> None:
        self.landed()

    def _names(self) -> list[str]:
        sql = "SELECT id FROM docs WHERE mode = ? AND kind = ?"
        modes = ("test", "live")
        return [
            row[0] for mode in modes for row in self._store.all(sql, mode, webhook_endpoints.KIND)
        ]

    def _fill(self, name: str, lane: EndpointQueue, until: int) -> None:
        lane.blocked = True
        if lane.closing:
            return
        room = LANE_WIDTH + self._faults.holding.held - len(lane.flying)
        waiting = jobs.due(self._store, name, until, LANE_WIDTH + 1, lane.busy(self._clock.now()))
        for job in waiting[: max(room, 0)]:
            lane.closing = job.name == jobs.DISABLE
            if lane.closing and lane.flying:
                lane.closing = False
                self.let_go()
                return
            self._start(lane, job)
            if lane.closing:
                return
        lane.blocked = len(waiting) > room

    def _start(self, lane: EndpointQueue, job: Job, *, at_once: bool = False) -> None:
        lane.flying[job.seq] = asyncio.create_task(self._fly(lane, job, at_once=at_once))

    async def _fly(self, lane: EndpointQueue, job: Job, *, at_once: bool) -> None:
        try:
            jobs.refuse_unreadable(job)
            if job.name == jobs.DISABLE:
                await self._groups.run(job.mode, lambda world: _disable(world, job))
            else:
                await self._attempt(job, at_once=at_once)
        except Exception:  # noqa: BLE001  one broken attempt must not stop the others
            lane.parking.park(job, self._clock.now())
        else:
            lane.parking.done(job)
        finally:
            lane.flying.pop(job.seq, None)
            lane.closing = lane.closing and job.name != jobs.DISABLE
            self.landed()

    async def _attempt(self, job: Job, *, at_once: bool) -> None:
        rule = await self._rule_for(job, at_once=at_once)
        async with self._faults.turn(rule):
            attempt = await self._make(job, rule)
            if rule is not None and attempt is not None:
                await self._send_copies(attempt, rule)

    async def _rule_for(self, job: Job, *, at_once: bool) -> WebhookRule | None:
        """The fault rule for an attempt that is still owed."""
        if not self._faults.every():
            return None
        delivery = await self._groups.read(
            job.mode, lambda world: deliveries.retrieve(world.store, job.subject)
        )
        if delivery is None or delivery.status != "pending":
            return None
        return self._faults.pick(delivery.type, job.lane, at_once=at_once)

    async def _make(self, job: Job, rule: WebhookRule | None) -> PreparedAttempt | None:
        start, age = self._start_of(job), 0 if rule is None else rule.age
        wall = int(self._wall())
        attempt = await self._groups.read(
            job.mode, lambda world: attempts.prepare(world, job, wall, age=age), start
        )
        if attempt is None:
            await self._groups.run(job.mode, lambda world: attempts.give_up(world, job))
            return None
        reply = await self._send(attempt, rule)
        await self._groups.run(
            job.mode, lambda world: attempts.record(world, attempt, reply), start
        )
        self.made += 1
        return attempt

    async def _send_copies(self, attempt: PreparedAttempt, rule: WebhookRule) -> None:
        for number in range(rule.copies):
            await self._faults.pause(rule)
            await self._send_copy(attempt, number)

    async def _send_copy(self, attempt: PreparedAttempt, number: int) -> None:
        mode, wall = attempt.job.mode, int(self._wall())
        copy = await self._groups.read(
            mode, lambda world: attempts.copy_of(world, attempt, number, wall)
        )
        if copy is None:
            return
        reply = await self._send(copy, None)
        await self._groups.run(mode, lambda world: attempts.record_copy(world, copy, reply))
        self.made += 1

    async def _send(self, attempt: PreparedAttempt, rule: WebhookRule | None) -> ReceiverReply:
        """The one place through which every request to a receiver goes."""
        if not attempt.allowed:
            return ReceiverReply(None, "remote_not_allowed", 0)
        if rule is not None and rule.effect == DROP:
            return ReceiverReply(None, "dropped_by_fault_rule", 0)
        if rule is not None and rule.effect == BAD_SIGNATURE:
            return await self._sender.send(with_bad_signature(attempt.outgoing))
        return await self._sender.send(attempt.outgoing)

    def _start_of(self, job: Job) -> int:
        """When the attempt is made: its due moment, unless it was held or the sandbox was down."""
        now, due = self._clock.now(), micros(job.due)
        return now if now - due >= _LATE or due > now else due


def _disable(world: Transaction, job: Job) -> None:
    if jobs.finish(world.store, job):
        webhook_endpoints.disable_failing(world, job.subject)


def _nothing() -> None:
    """Stands in until somebody wants to hear of landings."""
