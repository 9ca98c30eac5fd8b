"""Runs the jobs that are due, in order: on time, or when the clock is turned forward.

The `engine` starts one `Runner`, which takes due jobs from `store.jobs` and runs the handler of
each in a transaction; a webhook attempt is made by `webhooks.attempts`. Each endpoint has a lane,
so that a slow receiver holds up no other; ordinary jobs have the lane `MAIN`. `svc sandbox advance`
calls `advance` by a control and prints its counts; `engine.resend` has an attempt made at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import sub
from typing import NamedTuple

from svc.errors import LocalError
from svc.sandbox.clock import SECOND, AdvanceUntil, VirtualClock
from svc.sandbox.faults.webhooks import Reorder
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store import documents, jobs
from svc.sandbox.store.commit import GroupCommit
from svc.sandbox.store.jobs import BrokenJobs, Job, earliest
from svc.sandbox.store.sqlite import DISK_FULL, Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.attempts import WebhookAttempts
from svc.service.facts import MODES

JobHandler = Callable[[Transaction, Job], None]
Pause = Callable[[asyncio.Event, float | None], Awaitable[None]]

IDLE_JOBS_MAX = 10_000
IDLE_SECONDS_MAX = 365 * 24 * 3600
_BATCH = 200  # jobs of one moment that share a commit
_LANE_WIDTH = 8  # attempts at one endpoint at a time
_NAP_MAX_SECONDS = 60.0  # how late a change of the real clock may be noticed
_TROUBLE_SECONDS = 1.0  # between two tries while the store does not answer
_GRACE_SECONDS = 0.5  # what a stopping sandbox gives to attempts under way

_log = logging.getLogger(__name__)


class Counts(NamedTuple):
    """What an advance did: handlers run, events created, webhook attempts made, jobs that broke."""

    jobs: int = 0
    events: int = 0
    deliveries: int = 0
    broken: int = 0

    def since(self, before: "Counts") -> "Counts":
        """The difference to `before`; `broken` is the number of now."""
        jobs, events, deliveries, _ = map(sub, self, before)
        return Counts(jobs, events, deliveries, self.broken)


@dataclass(slots=True)
class Advance:
    """A turning of the clock under way: its aim, where it began, and what ends it before that.

    `gone` is set when its asker has hung up, `replaced` when all tables were or are to be. Of what
    could not be saved `unsaved` is the cause, and `again` says how many attempts are made again.
    """

    to: int | None
    until: AdvanceUntil | None
    gone: asyncio.Event
    before: Counts
    idle_jobs_max: int
    replaced: bool = False
    unsaved: LocalError | None = None
    again: int = 0

    @property
    def is_over(self) -> bool:
        return self.replaced or self.unsaved is not None or self.gone.is_set()


async def pause(woken: asyncio.Event, seconds: float | None) -> None:
    """Waits for the event, or for `seconds` of real time if they are given."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await woken.wait()


@dataclass(slots=True)
class EndpointLane:
    """The jobs of one webhook endpoint that are under way."""

    under_way: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    closing: bool = False  # the endpoint is being disabled: nothing passes that moment
    blocked: bool = False  # more is due than may fly at present


@dataclass(slots=True)
class Runner:
    """Runs ordinary jobs one after the other in the order of their due moments.

    Of each webhook endpoint a few attempts are made at a time. A job leaves its row only together
    with its effects; one that broke is set aside, and the others go on.
    """

    store: Store
    groups: GroupCommit
    clock: VirtualClock
    attempts: WebhookAttempts
    handlers: Mapping[str, JobHandler]
    holds_webhooks: Callable[[], bool]
    pause: Pause
    # Held by the task that runs jobs; while it is held, no other task runs any.
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _broken: BrokenJobs = field(init=False, default_factory=BrokenJobs)
    _lanes: dict[str, EndpointLane] = field(init=False, default_factory=dict)
    _woken: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _background: asyncio.Task[None] | None = field(default=None, init=False)
    _done: Counts = field(default=Counts(), init=False)
    _advance: Advance | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._holding.changed = self.wake

    def wake(self) -> None:
        """Has the runner look again: jobs were added, an attempt is over, the clock moved."""
        self._woken.set()

    def start(self) -> None:
        """Begins to run jobs as they fall due."""
        self._background = asyncio.create_task(self._run_forever())

    async def stop(self) -> None:
        """Ends the runner; attempts cut short here are made again at the next start."""
        if self._background is not None:
            self._background.cancel()
            await asyncio.wait([self._background])
            self._background = None
        await self.cut_short(_GRACE_SECONDS)

    async def cut_short(self, grace: float) -> None:
        """Waits `grace` seconds for attempts under way, then cuts them short: made again later."""
        tasks = [task for lane in self._lanes.values() for task in lane.under_way.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.wait(tasks)

    def end_advance(self) -> None:
        """Ends an advance that is under way within one turn of the loop: all is to be replaced."""
        if self._advance is not None:
            self._advance.replaced = True
            self.wake()

    def clear(self) -> None:
        """Begins anew: the tables were replaced."""
        self.end_advance()  # one that came meanwhile: its aim is a moment of the old clock
        self._lanes.clear()  # a sandbox that many tests share is emptied thousands of times
        self._broken.clear()

    @property
    def under_way(self) -> int:
        """How many webhook attempts have begun and are not over."""
        return sum(len(lane.under_way) for lane in self._lanes.values())

    @property
    def broken(self) -> int:
        """How many jobs broke and wait to be tried again."""
        return len(self._broken)

    def next_due(self) -> int | None:
        """The moment of the next job (microseconds), held ones included; None if there is none."""
        return self._find_next(self._list_endpoints())

    async def finish_now(self, job: Job) -> None:
        """Makes one attempt, due or held, and returns when it is over."""
        lane = self._lane(job.lane)
        if job.seq in lane.under_way:
            self._holding.release()
        else:
            self._start(lane, job, at_once=True)
        await asyncio.wait([lane.under_way[job.seq]])

    async def advance(
        self,
        *,
        to: int | None = None,
        until: AdvanceUntil | None = None,
        gone: asyncio.Event | None = None,
        freeze: bool = False,
        idle_jobs_max: int = IDLE_JOBS_MAX,
    ) -> Counts:
        """Runs what falls due on the way to a moment (microseconds), to the next job or until idle.

        Returns when the webhook attempts of all these moments are over, however long that takes.
        When `gone` is set, the caller has hung up: it ends with the present jobs, and the
        clock stays where they are. Until idle it ends after `idle_jobs_max` jobs and attempts. With
        `freeze` the clock stands still first, so that it reaches the moment exactly.

        It ends at the first thing that cannot be saved, and the clock stands where it was saved
        last.

        Raises:
            Problem: 409, another caller is turning the clock; 400, the sandbox was reset meanwhile;
                507, the disk is full.
            LocalError: something could not be saved for another reason.
        """
        if self._advance is not None:
            message = "Another request is turning the clock; wait for it, or end it."
            raise Problem(409, "clock_advancing", message)
        gone = gone or asyncio.Event()
        self._advance = advance = Advance(to, until, gone, self._counts(), idle_jobs_max)
        watch = asyncio.create_task(self._wake_when(advance.gone))
        try:
            async with self.lock:
                try:
                    await self._turn(advance, freeze=freeze)
                except LocalError as error:
                    advance.unsaved = error
                if advance.replaced:
                    message = "A reset or an import has ended this advance."
                    raise Problem(400, "sandbox_reset", message)
                if advance.unsaved is not None:
                    raise await self._return(advance, advance.unsaved)
                return self._counts().since(advance.before)
        finally:
            watch.cancel()
            self._advance = None
            self.wake()

    @property
    def advancing(self) -> tuple[int | str | None, Counts] | None:
        """Where the clock is being turned to (microseconds, `next` or `idle`); counts so far."""
        now = self._advance
        if now is None:
            return None
        return now.until or now.to, self._counts().since(now.before)

    async def _turn(self, advance: "Advance", *, freeze: bool) -> None:
        await self.groups.save_clock()  # nothing is sent where nothing can be saved
        if freeze and not advance.is_over:
            self.clock.switch("frozen")
        self._broken.clear()  # all of them are tried again
        await self._drain(self.clock.now(), advance)
        to, until = advance.to, advance.until
        last = self.clock.now() + IDLE_SECONDS_MAX * SECOND if to is None else to
        while not advance.is_over and (due := self.next_due()) is not None and due <= last:
            self.clock.move_to(due)
            await self._drain(due, advance)
            if until == "next" or (until == "idle" and self._is_exhausted(advance)):
                break
        if to is not None and not advance.is_over:
            self.clock.move_to(to)
        # Made as well: the attempts that fault rules hold back until there are more of them.
        while self._holding.held and not advance.is_over:
            self._holding.release()
            await self._drain(self.clock.now(), advance)
        await self.groups.save_clock()

    async def _return(self, advance: "Advance", error: LocalError) -> Exception:
        """Sets the clock back to where it was saved last; returns what the asker is to learn.

        Attempts under way end first: their answers may still be saved. Those that a rule holds back
        were not sent, and are cut short.
        """
        while self.under_way > self._holding.held:
            self._woken.clear()
            await self._woken.wait()
        await self.cut_short(0)
        self.groups.return_clock()
        self._broken.forget_after(self.clock.now())
        if error.code != DISK_FULL:
            return error
        done = self._counts().since(advance.before)
        said = f"jobs done: {done.jobs}, webhook attempts: {done.deliveries}"
        if advance.again:
            said += f", made again for their answers could not be saved: {advance.again}"
        elif not any((done.jobs, done.deliveries)):
            said = "nothing was done"
        return Problem(
            507,
            "storage_full",
            f"{error.message} The clock stands at {self.clock.now_text()}; {said}. Free some "
            "space, and advance again.",
        )

    async def _wake_when(self, gone: asyncio.Event) -> None:
        await gone.wait()
        self.wake()

    async def _run_forever(self) -> None:
        while True:
            self._woken.clear()
            waits = self.groups.fails
            try:
                async with self.lock:
                    if waits:  # nothing is sent while no answer to it can be saved
                        await self.groups.save_clock()
                    await self._run_ready(self.clock.now(), held=self.holds_webhooks())
                nap = self._nap()
            except Exception as error:  # noqa: BLE001  time must go on, whatever broke
                silent = isinstance(error, LocalError)
                why = "the store does not answer" if silent else "they could not be looked at"
                if not (silent and waits):  # once, and not every second
                    _log.exception("the jobs that are due wait: %s", why)
                nap = _TROUBLE_SECONDS
            await self.pause(self._woken, nap)

    def _nap(self) -> float | None:
        names = [] if self.holds_webhooks() else self._list_endpoints()
        free = [name for name in names if not self._lane(name).blocked]
        due = earliest((self._find_next(free), self._broken.next(self.clock.now())))
        wait = None if due is None else self.clock.seconds_until(due)
        return None if wait is None else min(wait, _NAP_MAX_SECONDS)

    async def _drain(self, until: int, advance: "Advance") -> None:
        """Runs everything due at or before a moment, held or not, and waits for the answers."""
        while not advance.is_over:
            self._woken.clear()
            await self._run_ready(until, held=False)
            if self.under_way > self._holding.held:
                await self._woken.wait()
                continue
            due = self.next_due()
            if due is None or due > until:
                return
            self._holding.release()  # or it would hold up what is due

    async def _run_ready(self, until: int, *, held: bool) -> None:
        self.groups.commit()
        while not self._is_over and (batch := self._batch(until)):
            await asyncio.gather(*(self._run(job) for job in batch))
        if not held and not self._is_over:
            for name in self._list_endpoints():
                self._fill(name, self._lane(name), until)

    def _batch(self, until: int) -> list[Job]:
        """The next jobs that share their due moment: what they add comes after them."""
        found = jobs.due(self.store, jobs.MAIN, until, _BATCH, self._list_busy(jobs.MAIN))
        return [job for job in found if job.due == found[0].due]

    def _fill(self, name: str, lane: EndpointLane, until: int) -> None:
        """Starts the due jobs of an endpoint that have room."""
        lane.blocked = True
        if lane.closing:
            return
        room = _LANE_WIDTH + self._holding.held - len(lane.under_way)
        waiting = jobs.due(self.store, name, until, _LANE_WIDTH + 1, self._list_busy(name))
        for job in waiting[: max(room, 0)]:
            if job.name == jobs.DISABLE and lane.under_way:
                self._holding.release()
                return
            self._start(lane, job)
            lane.closing = job.name == jobs.DISABLE
            if lane.closing:
                return
        lane.blocked = len(waiting) > room

    def _start(self, lane: EndpointLane, job: Job, *, at_once: bool = False) -> None:
        async def run() -> None:
            try:
                await self._run(job, at_once=at_once)
            finally:
                del lane.under_way[job.seq]
                lane.closing = lane.closing and job.name != jobs.DISABLE
                self.wake()

        lane.under_way[job.seq] = asyncio.create_task(run())

    async def _run(self, job: Job, *, at_once: bool = False) -> None:
        try:
            if job.name == jobs.ATTEMPT:
                await self.attempts.make(job, at_once=at_once)
            else:
                await self._handle(job)
        except Exception as error:  # noqa: BLE001  one broken job must stop neither time nor others
            if isinstance(error, LocalError) and self._advance is not None:
                self._advance.unsaved = error
                self._advance.again += job.name == jobs.ATTEMPT
            self._broken.add(job, self.clock.now(), error)
        else:
            self._broken.done(job)

    async def _handle(self, job: Job) -> None:
        is_main = job.lane == jobs.MAIN
        due = job.due if is_main else None
        emitted = await self.groups.run(job.mode, lambda tx: self._perform(tx, job), due)
        if is_main:
            self._done = Counts(self._done.jobs + 1, self._done.events + emitted)

    def _perform(self, tx: Transaction, job: Job) -> int:
        if jobs.finish(tx.store, job):  # else an earlier job of this moment cancelled it
            self.handlers[job.name](tx, job)
        return tx.emitted

    def _find_next(self, endpoints: Iterable[str]) -> int | None:
        """The moment of the next ordinary job, or of the next one in a lane of these endpoints."""
        return earliest(
            jobs.next_due(self.store, name, self._list_busy(name))
            for name in (jobs.MAIN, *endpoints)
        )

    def _list_busy(self, name: str) -> list[int]:
        """The jobs of a lane that are not to be started now."""
        return [*self._lane(name).under_way, *self._broken.list_waiting(self.clock.now())]

    def _list_endpoints(self) -> list[str]:
        kind = webhook_endpoints.KIND
        return [name for mode in MODES for name in documents.ids_of(self.store, mode, kind)]

    def _lane(self, name: str) -> EndpointLane:
        return self._lanes.setdefault(name, EndpointLane())

    @property
    def _holding(self) -> Reorder:
        return self.attempts.faults.holding

    def _counts(self) -> Counts:
        return Counts(self._done.jobs, self._done.events, self.attempts.made, self.broken)

    @property
    def _is_over(self) -> bool:
        return self._advance is not None and self._advance.is_over

    def _is_exhausted(self, advance: Advance) -> bool:
        done = self._counts().since(advance.before)
        return done.jobs + done.deliveries >= advance.idle_jobs_max
