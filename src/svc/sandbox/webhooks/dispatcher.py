"""Makes the webhook attempts that are due: a queue for each endpoint, a few at a time in each.

`jobs.runner` calls `launch` as the clock moves; `engine.resend` makes one at once. Each attempt is
built and recorded by `attempts`, changed as fault rules say, and sent by a `WebhookSender`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from svc.sandbox.clock import SECOND, VirtualClock
from svc.sandbox.faults import chaos
from svc.sandbox.faults.webhooks import WebhookFaults, WebhookRule
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store import documents, jobs
from svc.sandbox.store.commit import GroupCommit
from svc.sandbox.store.jobs import BrokenJobs, Job, earliest
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks import attempts
from svc.sandbox.webhooks.attempts import PreparedAttempt, with_bad_signature
from svc.sandbox.webhooks.sender import ReceiverReply, WebhookSender
from svc.service.facts import MODES

QUEUE_WIDTH = 8  # attempts at one endpoint at a time; a slow one holds up no other
_LATE = 2 * SECOND  # an attempt that is as late as this counts from when it was really made


@dataclass(slots=True)
class EndpointQueue:
    """One endpoint's jobs that are under way."""

    under_way: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    closing: bool = False  # the endpoint is being disabled: nothing passes that moment
    blocked: bool = False  # more is due than may fly at present


@dataclass(slots=True)
class WebhookDispatcher:
    """Makes the attempts that are due; `on_done` is called whenever one is over.

    `broken` are the jobs that raised an exception, those of the runner included: the numbers of
    both are of one table.
    """

    store: Store
    groups: GroupCommit
    clock: VirtualClock
    sender: WebhookSender
    wall: Callable[[], float]
    faults: WebhookFaults
    made: int = 0
    on_done: Callable[[], object] = lambda: None
    broken: BrokenJobs = field(default_factory=BrokenJobs)
    _queues: dict[str, EndpointQueue] = field(init=False, default_factory=dict)

    @property
    def under_way(self) -> int:
        """How many attempts have begun and are not over."""
        return sum(len(queue.under_way) for queue in self._queues.values())

    @property
    def moving(self) -> bool:
        """True while attempts are under way that fault rules do not hold back."""
        return self.under_way > self.faults.holding.held

    @property
    def holds(self) -> bool:
        """True while a fault rule holds attempts back until there are more."""
        return self.faults.holding.held > 0

    def release_held(self) -> None:
        """Releases held attempts, when nothing more comes that they could wait for."""
        self.faults.holding.release()

    def next_due(self, *, free: bool = False) -> int | None:
        """The moment of the next job (microseconds); `free` leaves blocked lanes out."""
        queues = [(name, self._queue_of(name)) for name in self._names()]
        return earliest(
            jobs.next_due(self.store, name, self._list_busy(queue))
            for name, queue in queues
            if not (free and queue.blocked)
        )

    def launch(self, until: int) -> None:
        """Starts due attempts that have room; no transaction may be open."""
        for name in self._names():
            self._fill(name, self._queue_of(name), until)

    async def finish_now(self, job: Job) -> None:
        """Makes one attempt, due or held, and returns when it is over."""
        queue = self._queue_of(job.lane)
        if job.seq in queue.under_way:
            self.release_held()
        else:
            self._start(queue, job, at_once=True)
        await asyncio.wait([queue.under_way[job.seq]])

    async def stop(self, grace: float) -> None:
        """Waits `grace` seconds for attempts under way, then cuts them short: made again later."""
        tasks = [task for queue in self._queues.values() for task in queue.under_way.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.wait(tasks)

    def clear(self) -> None:
        """Begins anew: the tables were emptied."""
        self._queues.clear()
        self.broken.clear()

    def _queue_of(self, name: str) -> EndpointQueue:
        return self._queues.setdefault(name, EndpointQueue())

    def _list_busy(self, queue: EndpointQueue) -> list[int]:
        """The jobs that are not to be started now."""
        return [*queue.under_way, *self.broken.list_waiting(self.clock.now())]

    def _names(self) -> list[str]:
        kind = webhook_endpoints.KIND
        return [name for mode in MODES for name in documents.ids_of(self.store, mode, kind)]

    def _fill(self, name: str, queue: EndpointQueue, until: int) -> None:
        queue.blocked = True
        if queue.closing:
            return
        room = QUEUE_WIDTH + self.faults.holding.held - len(queue.under_way)
        waiting = jobs.due(self.store, name, until, QUEUE_WIDTH + 1, self._list_busy(queue))
        for job in waiting[: max(room, 0)]:
            queue.closing = job.name == jobs.DISABLE
            if queue.closing and queue.under_way:
                queue.closing = False
                self.release_held()
                return
            self._start(queue, job)
            if queue.closing:
                return
        queue.blocked = len(waiting) > room

    def _start(self, queue: EndpointQueue, job: Job, *, at_once: bool = False) -> None:
        queue.under_way[job.seq] = asyncio.create_task(
            self._attempt_job(queue, job, at_once=at_once)
        )

    async def _attempt_job(self, queue: EndpointQueue, job: Job, *, at_once: bool) -> None:
        try:
            if job.name == jobs.DISABLE:
                await self.groups.run(job.mode, lambda tx: _disable(tx, job))
            else:
                await self._attempt(job, at_once=at_once)
        except Exception:  # noqa: BLE001  one broken attempt must not stop the others
            self.broken.add(job, self.clock.now())
        else:
            self.broken.done(job)
        finally:
            queue.under_way.pop(job.seq, None)
            queue.closing = queue.closing and job.name != jobs.DISABLE
            self.on_done()

    async def _attempt(self, job: Job, *, at_once: bool) -> None:
        rule = self._rule_for(job, at_once=at_once)
        async with self.faults.turn(rule):
            attempt = await self._make(job, rule)
            if rule is not None and attempt is not None:
                await self._send_copies(attempt, rule)

    def _rule_for(self, job: Job, *, at_once: bool) -> WebhookRule | None:
        """The fault rule for an attempt that is still owed, or what chaos makes of it."""
        if not self.faults.every() and not self.groups.read(
            job.mode, lambda tx: tx.is_set("chaos")
        ):
            return None
        found = self.groups.read(job.mode, lambda tx: attempts.subject_of(tx, job.subject))
        if found is None or found[0].status != "pending":
            return None
        delivery, order, share = found
        rule = self.faults.pick(delivery.type, job.lane, order, at_once=at_once)
        return rule or chaos.rule_for(share, delivery.id)

    async def _make(self, job: Job, rule: WebhookRule | None) -> PreparedAttempt | None:
        start, age = self._start_of(job), 0 if rule is None else rule.age
        wall = int(self.wall())
        attempt = self.groups.read(
            job.mode, lambda tx: attempts.prepare(tx, job, wall, age=age), start
        )
        if attempt is None:
            # No receiver is left for it: its endpoint or event is gone.
            await self.groups.run(job.mode, lambda tx: jobs.finish(tx.store, job))
            return None
        reply = await self._send(attempt, rule)
        await self.groups.run(job.mode, lambda tx: attempts.record(tx, attempt, reply), start)
        self.made += 1
        return attempt

    async def _send_copies(self, attempt: PreparedAttempt, rule: WebhookRule) -> None:
        for number in range(rule.copies):
            await self.faults.pause(rule)
            copying = partial(
                attempts.copy_of, attempt=attempt, number=number, wall=int(self.wall())
            )
            copy = self.groups.read(attempt.job.mode, copying)
            if copy is None:
                return
            recording = partial(
                attempts.record_copy, attempt=copy, reply=await self._send(copy, None)
            )
            await self.groups.run(attempt.job.mode, recording)
            self.made += 1

    async def _send(self, attempt: PreparedAttempt, rule: WebhookRule | None) -> ReceiverReply:
        """The one place through which every request to a receiver goes."""
        if not attempt.allowed:
            return ReceiverReply(None, "remote_not_allowed", 0)
        if rule is not None and rule.effect == "drop":
            return ReceiverReply(None, "dropped_by_fault_rule", 0)
        if rule is not None and rule.effect == "bad_signature":
            return await self.sender.send(with_bad_signature(attempt.outgoing))
        return await self.sender.send(attempt.outgoing)

    def _start_of(self, job: Job) -> int:
        """When the attempt is made: its due moment, unless it was held or the sandbox was down."""
        now, due = self.clock.now(), job.due
        return now if now - due >= _LATE or due > now else due


def _disable(tx: Transaction, job: Job) -> None:
    if jobs.finish(tx.store, job):
        webhook_endpoints.disable_failing(tx, job.subject)
