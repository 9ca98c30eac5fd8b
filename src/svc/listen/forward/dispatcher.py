"""Forwards every open event to each of its targets.

The dispatcher shares only the inbox with the receiver. The result of each attempt goes to the
inbox, which decides when an event has ended; unless a stop cut it off, to `emit` as a record that
is printed; and once it is final, to `pending_acks`, which answers the senders that wait.

`listener` makes one `Dispatcher` for a listener; `ingest` passes each new event to `hand_over`.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.forward.pending_acks import PendingAcks
from svc.listen.forward.pump import Attempted, ForwardOptions, Pump, PumpHooks
from svc.listen.forward.request import ForwardSender, build_record
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.interfaces import (
    EndedEvent,
    ForwardAttempt,
    InboundEvent,
    Inbox,
    OpenItem,
    StoreResult,
    TargetRest,
)
from svc.listen.output_records import ListenerRecord, TargetAway
from svc.listen.owners import own_task
from svc.listen.progress import ListenerProgress
from svc.listen.routes import AnyTarget, Routes

_SAY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class DispatcherDeps:
    """The dependencies of the dispatcher."""

    inbox: Inbox
    writer: InboxWriter
    pending_acks: PendingAcks
    progress: ListenerProgress
    clock: Clock
    emit: Callable[[ListenerRecord], None]
    on_event_ended: Callable[[], None]


class Dispatcher:
    """Owns one pump for each target.

    Args:
        sender: creates the object that sends to a target.

    Attributes:
        seconds: the longest time limit of an attempt, over all targets.
    """

    def __init__(
        self,
        routes: Routes,
        options: ForwardOptions,
        sender: Callable[[AnyTarget], ForwardSender],
        deps: DispatcherDeps,
    ) -> None:
        self._routes = routes
        self._options = options
        self._deps = deps
        self._saying: asyncio.Task[None] | None = None
        self._started = self._closed = False
        deps.writer.on_results(self._results)
        self._pumps = {
            str(target): Pump(sender(target), options, self._hooks(target), deps.clock)
            for target in routes.targets
        }
        self.seconds = max((pump.seconds for pump in self._pumps.values()), default=0.0)

    async def start(self, leave: Callable[[OpenItem], None] | None = None) -> None:
        """Starts the pumps, which begin with the events that an earlier run left open (R50).

        With `leave` these events are left for a later run, and passed to it one by one.

        Raises:
            LocalError: the inbox cannot be read.
        """
        ordered, anew = self._options.ordered, self._options.retry != "real"
        begin = partial(self._deps.inbox.begin, [*self._pumps], ordered=ordered, anew=anew)
        await self._deps.writer.read(begin)
        if leave is not None:
            await self._leave(leave)
        self._started = True
        for pump in self._pumps.values():
            pump.pump()

    def hand_over(self, stored: StoreResult, inbound: InboundEvent) -> None:
        """Passes a stored event to the pumps of its targets; a redelivery of one is not repeated.

        The answer of a redelivery waits for the result of the first delivery.
        """
        if self._closed:  # it stays open in the inbox
            return
        sent, facts = inbound.delivery, inbound.delivery.facts
        self._deps.pending_acks.note_stored(stored.seq, (facts.id, sent.body))
        if stored.again:
            self._deps.progress.note_started(stored.seq)
        if not self._started or (stored.duplicate and not stored.again):  # the first page has it
            return
        event = (stored.seq, facts.id, facts.type, facts.object_id)
        item = OpenItem(*event, sent.headers, sent.body, redelivered=inbound.redelivered)
        for target in self._routes.match(facts.type):
            pump = self._pumps[str(target)]
            if stored.again or str(target) in stored.waits:
                # Also where it waits: what it waits for may have been closed by another program.
                pump.look_again()
            else:
                pump.offer(item)

    @property
    def idle(self) -> bool:
        """Whether every event has ended at every target."""
        return all(pump.idle for pump in self._pumps.values())

    async def pending(self) -> int:
        """Counts the events that are still to be forwarded, without those left for a later run.

        It also updates how many failed events a replay has forwarded since.
        """
        inbox, progress = self._deps.inbox, self._deps.progress
        read = self._deps.writer.read_all
        if not self._pumps:
            return 0
        try:
            pending = await read(partial(inbox.count, [*self._pumps]))
            failed = await read(partial(inbox.count_failed, progress.failed))
        except LocalError:  # it was told; what is in memory is known
            return len({seq for pump in self._pumps.values() for seq in pump.held})
        progress.retaken = len(progress.failed) - failed
        return pending

    async def close(self, grace: float) -> None:
        """Waits `grace` seconds for attempts under way; unfinished events stay in the inbox."""
        self._closed = True
        if self._saying is not None:
            self._saying.cancel()
        await asyncio.gather(*(pump.close(grace) for pump in self._pumps.values()))
        if self._pumps and self._started:
            self._deps.writer.end_run([*self._pumps])

    async def _leave(self, leave: Callable[[OpenItem], None]) -> None:
        left: list[OpenItem] = []
        for url in self._pumps:
            while page := await self._deps.writer.read(partial(self._deps.inbox.leave, url)):
                left += page
        left.sort(key=lambda one: (one.seq, one.attempts))
        for one in {one.seq: one for one in left}.values():  # that of the most attempts
            leave(one)

    def _hooks(self, target: AnyTarget) -> PumpHooks:
        inbox, writer, pending_acks = self._deps.inbox, self._deps.writer, self._deps.pending_acks
        url = str(target)
        read = writer.read_all  # what has ended by now is open no more
        return PumpHooks(
            due=lambda *page: read(partial(inbox.due, url, *page)),
            again=lambda *page: read(partial(inbox.again, url, *page)),
            limit=lambda item: pending_acks.seconds_left((item.event_id, item.body)),
            tried=partial(self._note_tried, target),
            well=partial(writer.well, url),
            rests=partial(self._rests, url),
        )

    def _note_tried(self, target: AnyTarget, item: OpenItem, tried: Attempted) -> None:
        reply, verdict, now = tried.reply, tried.verdict, self._deps.clock.now()
        if verdict == "failed" and self._deps.pending_acks.is_handed_back(reply):
            verdict = "returned"
        which = (item.seq, item.type, str(target), item.attempt, now - reply.milliseconds / 1000)
        heard = (reply.milliseconds, reply.status, reply.error, reply.body)
        next_at = 0.0 if tried.retry_in is None else now + tried.retry_in
        self._deps.writer.record(
            ForwardAttempt(*which, *heard, verdict, reply.sent, next_at, tried.ailing)
        )
        if verdict == "cut":
            return
        if verdict not in ("later", "unsent"):
            self._deps.pending_acks.note_reply(item.seq, reply)
        event, anew = (item.event_id, item.type), tried.signed_anew
        self._deps.emit(
            build_record(reply, target, event, now, item.attempt, tried.retry_in, signed_anew=anew)
        )

    def _results(self, ended: Sequence[EndedEvent], freed: Collection[str]) -> None:
        """Handles the events that have ended, and the targets that may take further events."""
        progress = self._deps.progress
        for one in ended:
            if not one.returned:
                progress.note_settled(one.seq, taken=one.taken)
                progress.note_ended(one.seq, one.type)
            self._deps.pending_acks.note_ended(one.seq, taken=one.taken)
        for url in freed:
            if url in self._pumps:
                self._pumps[url].look_again()
        if ended:
            self._deps.on_event_ended()

    # --- targets that are left alone ------------------------------------------------------------

    def _rests(self, url: str, why: str | None, last: int | None) -> None:
        self._deps.writer.rest(TargetRest(url, self._pumps[url].health.since, why, last))
        if why is not None and self._saying is None and not self._closed:
            self._saying = asyncio.get_running_loop().create_task(own_task(self._say))

    async def _say(self) -> None:
        """Reports every 30 s the targets that are away and have events waiting."""
        await asyncio.sleep(_SAY_SECONDS)
        while away := [pump for pump in self._pumps.values() if pump.health.why is not None]:
            for pump in away:
                await own_task(partial(self._say_of, pump))
            await asyncio.sleep(_SAY_SECONDS)
        self._saying = None

    async def _say_of(self, pump: Pump) -> None:
        url = str(pump.target)
        count = partial(self._deps.inbox.count, [url])
        try:
            events = await self._deps.writer.read_all(count)
        except LocalError:  # it was told, and the next count is in 30 s
            return
        health, now = pump.health, self._deps.clock.now()
        if health.why is None or not events:
            return
        next_in = None if health.next_at is None else max(health.next_at - now, 0.0)
        self._deps.emit(TargetAway(now, url, events, health.why, now - health.since, next_in))
