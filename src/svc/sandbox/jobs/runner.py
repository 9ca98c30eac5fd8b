"""Runs the jobs that are due, in order: on time, or when the clock is turned forward.

The `engine` starts one `Runner`, which takes due jobs from `store.jobs`, runs the handler of each
in a transaction and leaves webhook attempts to the dispatcher. `svc sandbox advance` calls
`advance` by a control and prints its counts.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import sub
from typing import NamedTuple

from svc.errors import LocalError
from svc.sandbox.clock import SECOND, AdvanceUntil, VirtualClock
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store import jobs
from svc.sandbox.store.commit import GroupCommit
from svc.sandbox.store.jobs import Job, earliest
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.dispatcher import WebhookDispatcher

JobHandler = Callable[[Transaction, Job], None]
Pause = Callable[[asyncio.Event, float | None], Awaitable[None]]

IDLE_JOBS_MAX = 10_000
IDLE_SECONDS_MAX = 365 * 24 * 3600
_BATCH = 200  # jobs of one moment that share a commit
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


@dataclass(frozen=True, slots=True)
class Advance:
    """A turning of the clock under way: its aim, whether its asker has gone, where it began."""

    to: int | None
    until: AdvanceUntil | None
    gone: asyncio.Event
    before: Counts
    idle_jobs_max: int


async def pause(woken: asyncio.Event, seconds: float | None) -> None:
    """Waits for the event, or for `seconds` of real time if they are given."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await woken.wait()


@dataclass(slots=True)
class Runner:
    """Runs ordinary jobs one after the other in the order of their due moments.

    Webhook attempts go to the dispatcher. A job leaves its row only together with its effects; one
    whose handler broke is set aside, and the others go on.
    """

    store: Store
    groups: GroupCommit
    clock: VirtualClock
    dispatcher: WebhookDispatcher
    handlers: Mapping[str, JobHandler]
    holds_webhooks: Callable[[], bool]
    pause: Pause
    era: int = 0  # how many times the tables were replaced
    # Held by the task that runs jobs; while it is held, no other task runs any.
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _woken: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _background: asyncio.Task[None] | None = field(default=None, init=False)
    _done: Counts = field(default=Counts(), init=False)
    _advance: Advance | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.dispatcher.on_done = self.dispatcher.faults.holding.changed = self.wake

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
        await self.dispatcher.stop(_GRACE_SECONDS)

    def clear(self) -> None:
        """Begins anew: the tables were replaced."""
        self.era += 1
        self.dispatcher.clear()

    @property
    def broken(self) -> int:
        """How many jobs broke and wait to be tried again."""
        return len(self.dispatcher.broken)

    def next_due(self) -> int | None:
        """The moment of the next job (microseconds), held ones included; None if there is none."""
        return earliest((self._next_main(), self.dispatcher.next_due()))

    async def advance(
        self,
        *,
        to: int | None = None,
        until: AdvanceUntil | None = None,
        gone: asyncio.Event | None = None,
        idle_jobs_max: int = IDLE_JOBS_MAX,
    ) -> Counts:
        """Runs what falls due on the way to a moment (microseconds), to the next job or until idle.

        Returns when the webhook attempts of all these moments are over, however long that takes.
        When `gone` is set, the caller has hung up: it ends with the present jobs, and the
        clock stays where they are. Until idle it ends after `idle_jobs_max` jobs and attempts.

        Raises:
            Problem: 409, another caller is turning the clock.
        """
        if self._advance is not None:
            message = "Another request is turning the clock; wait for it, or end it."
            raise Problem(409, "clock_advancing", message)
        gone = gone or asyncio.Event()
        self._advance = advance = Advance(to, until, gone, self._counts(), idle_jobs_max)
        watch = asyncio.create_task(self._wake_when(advance.gone))
        try:
            async with self.lock:
                await self._turn(advance)
                await self.groups.save_clock()
                return self._counts().since(advance.before)
        finally:
            watch.cancel()
            self._advance = None
            self.wake()

    @property
    def advancing(self) -> tuple[int | str, Counts] | None:
        """Where the clock is being turned to (microseconds, `next` or `idle`); counts so far."""
        now = self._advance
        if now is None:
            return None
        return now.until or now.to or 0, self._counts().since(now.before)

    async def _turn(self, advance: "Advance") -> None:
        self.dispatcher.broken.clear()  # all of them are tried again
        await self._drain(self.clock.now(), advance)
        to, until = advance.to, advance.until
        last = self.clock.now() + IDLE_SECONDS_MAX * SECOND if to is None else to
        while not advance.gone.is_set() and (due := self.next_due()) is not None and due <= last:
            self.clock.move_to(due)
            await self._drain(due, advance)
            if until == "next" or (until == "idle" and self._is_exhausted(advance)):
                break
        if to is not None and not advance.gone.is_set():
            self.clock.move_to(to)
        await self._release_held(advance)

    async def _wake_when(self, gone: asyncio.Event) -> None:
        await gone.wait()
        self.wake()

    async def _run_forever(self) -> None:
        while True:
            self._woken.clear()
            try:
                async with self.lock:
                    await self._run_ready(self.clock.now(), held=self.holds_webhooks())
                nap = self._nap()
            except Exception as error:  # noqa: BLE001  time must go on, whatever broke
                silent = isinstance(error, LocalError)
                why = "the store does not answer" if silent else "they could not be looked at"
                _log.exception("the jobs that are due wait: %s", why)
                nap = _TROUBLE_SECONDS
            await self.pause(self._woken, nap)

    def _nap(self) -> float | None:
        webhook = None if self.holds_webhooks() else self.dispatcher.next_due(free=True)
        retry = self.dispatcher.broken.next(self.clock.now())
        due = earliest((self._next_main(), webhook, retry))
        wait = None if due is None else self.clock.seconds_until(due)
        return None if wait is None else min(wait, _NAP_MAX_SECONDS)

    async def _drain(self, until: int, advance: "Advance") -> None:
        """Runs everything due at or before a moment, held or not, and waits for the answers."""
        while not advance.gone.is_set():
            self._woken.clear()
            await self._run_ready(until, held=False)
            if self.dispatcher.moving:
                await self._woken.wait()
                continue
            due = self.next_due()
            if due is None or due > until:
                return
            self.dispatcher.release_held()  # or it would hold up what is due

    async def _release_held(self, advance: "Advance") -> None:
        """Makes the attempts that fault rules hold back until there are more of them."""
        while self.dispatcher.holds and not advance.gone.is_set():
            self.dispatcher.release_held()
            await self._drain(self.clock.now(), advance)

    async def _run_ready(self, until: int, *, held: bool) -> None:
        self.groups.commit()
        while batch := self._batch(until):
            await asyncio.gather(*(self._run(job) for job in batch))
        if not held:
            self.dispatcher.launch(until)

    def _batch(self, until: int) -> list[Job]:
        """The next jobs that share their due moment: what they add comes after them."""
        found = jobs.due(self.store, jobs.MAIN, until, _BATCH, self._list_held())
        return [job for job in found if job.due == found[0].due]

    async def _run(self, job: Job) -> None:
        try:
            emitted = await self.groups.run(job.mode, lambda tx: self._perform(tx, job), job.due)
        except Exception:  # noqa: BLE001  one broken handler must not stop time
            self.dispatcher.broken.add(job, self.clock.now())
        else:
            self.dispatcher.broken.done(job)
            done = self._done
            self._done = Counts(done.jobs + 1, done.events + emitted)

    def _perform(self, tx: Transaction, job: Job) -> int:
        if jobs.finish(tx.store, job):  # else an earlier job of this moment cancelled it
            self.handlers[job.name](tx, job)
        return tx.emitted

    def _next_main(self) -> int | None:
        return jobs.next_due(self.store, jobs.MAIN, self._list_held())

    def _list_held(self) -> list[int]:
        return self.dispatcher.broken.list_waiting(self.clock.now())

    def _counts(self) -> Counts:
        return Counts(self._done.jobs, self._done.events, self.dispatcher.made, self.broken)

    def _is_exhausted(self, advance: Advance) -> bool:
        done = self._counts().since(advance.before)
        return done.jobs + done.deliveries >= advance.idle_jobs_max
