"""The forwarding half of a listener: every open event to all its targets, each once.

What became of each attempt and of each event goes back into the inbox, which is all that it shares
with the receiving half.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.forward.connection import TargetReply
from svc.listen.forward.dial import Connect, open_connection
from svc.listen.forward.items import ForwardItems, attempted
from svc.listen.forward.queue import ForwardItem, ItemPage
from svc.listen.forward.request import HeaderSigner, HeaderText, TargetSender
from svc.listen.forward.target_queue import ForwardOptions, TargetHooks, TargetQueue
from svc.listen.forward.waiting import AWAY, WaiterKey, Waiters, key_of
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.inbox import Arrival, Inbox, Kept, OpenItem
from svc.listen.progress import ListenerProgress
from svc.listen.records import ListenerRecord
from svc.listen.routes import Routes
from svc.listen.targets import Target

_REREAD_SECONDS: Final = 1.0


@dataclass(slots=True)
class OpenForward:
    """One event whose forwards are under way.

    `missing` are the targets where it has not ended, `given` those whose queue has had it.
    """

    waiter: WaiterKey
    type: str
    missing: set[Target]
    given: set[Target] = field(default_factory=set)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class DispatcherDeps:
    """What the dispatcher works with."""

    inbox: Inbox
    writer: InboxWriter
    waiters: Waiters
    progress: ListenerProgress
    clock: Clock
    tell: Callable[[ListenerRecord], None]
    ended: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Marking:
    """How events that come from a log are forwarded: what may come a second time says so.

    `sign` signs them anew, since an event that was fetched late has a signature that is too old.
    """

    sign: HeaderSigner | None


class Dispatcher:
    """Owns one queue for each target."""

    def __init__(
        self,
        routes: Routes,
        options: ForwardOptions,
        extra: Sequence[HeaderText],
        deps: DispatcherDeps,
        connect: Connect = open_connection,
        marking: Marking | None = None,
    ) -> None:
        self._items = ForwardItems(options.retry, deps.clock, marked=marking is not None)
        self._routes = routes
        self._options = options
        self._deps = deps
        self._tickets: dict[int, OpenForward] = {}
        self._taking_up: set[asyncio.Task[None]] = set()
        self._left = 0
        self._closed = False
        hooks = TargetHooks(
            self._load,
            self._load_of,
            self._reload,
            self._returned,
            self._limit,
            self._tried,
            self._target_ended,
        )
        sign = marking.sign if marking is not None else None
        self._queues = {
            target: TargetQueue(TargetSender(target, extra, connect, sign), options, hooks)
            for target in routes.targets
        }

    async def leave(self, tell: Callable[[OpenItem], None]) -> None:
        """Before `start`: tells what an earlier run left open instead of forwarding it.

        Raises:
            LocalError: the inbox cannot be read.
        """
        while found := await self._read_after(self._left):
            for one in found:
                tell(one)
            self._left = found[-1].seq
        for queue in self._queues.values():
            queue.skip_to(self._left)

    def start(self) -> None:
        """Begins with what an earlier run left open (promise R50)."""
        self.look()

    def look(self) -> None:
        """Looks for events that somebody else has put into the inbox."""
        for queue in self._queues.values():
            queue.look()

    def hand_over(self, kept: Kept, arrival: Arrival) -> None:
        """Sends an open event on its way, unless it is already.

        A copy waits with the first one; only one that was left alone is taken up for its sake.
        """
        if self._closed:  # it stays open in the inbox
            return
        if kept.again or (kept.duplicate and self._was_left(kept.seq)):
            task = asyncio.get_running_loop().create_task(self._take_up(kept.seq))
            self._taking_up.add(task)
            task.add_done_callback(self._taking_up.discard)
        elif not kept.duplicate:
            self._dispatch(kept.seq, arrival)

    @property
    def idle(self) -> bool:
        """True when every event has ended at every target."""
        return not self._taking_up and all(queue.idle for queue in self._queues.values())

    async def pending(self) -> int:
        """Counts the events that are still to be forwarded, those that were left alone excepted."""
        taken_up = sum(seq <= self._left for seq in self._tickets)
        try:
            counts = await self._deps.writer.read(
                lambda: self._deps.inbox.open_types(self._left), after_results=True
            )
        except LocalError:  # what is in memory is known
            return len(self._tickets)
        return taken_up + sum(n for kind, n in counts.items() if self._routes.match(kind))

    async def close(self, grace: float) -> None:
        """Gives attempts under way `grace` seconds; what has not ended stays open in the inbox."""
        self._closed = True
        for task in self._taking_up:
            task.cancel()
        await asyncio.gather(*(queue.close(grace) for queue in self._queues.values()))

    def _dispatch(self, seq: int, arrival: Arrival) -> None:
        facts = arrival.delivery.facts
        targets = self._routes.match(facts.type)
        item = self._items.arrived(seq, arrival)
        given = [target for target in targets if self._queues[target].offer(item)]
        if given:  # the others read it from the inbox when they have room
            key = key_of(facts.id, arrival.delivery.body)
            self._tickets[seq] = OpenForward(key, facts.type, set(targets), set(given))
        for target in given:
            self._queues[target].pump()

    def _was_left(self, seq: int) -> bool:
        return seq <= self._left and seq not in self._tickets

    async def _take_up(self, seq: int) -> None:
        read = partial(self._deps.inbox.open_item, seq)
        while True:
            try:
                one = await self._deps.writer.read(read, after_results=True)
                break
            except LocalError:  # the state database is busy; the event is still in it
                await asyncio.sleep(_REREAD_SECONDS)
        if one is None or seq in self._tickets:
            return
        ticket = self._ticket_of(one)
        for target in tuple(ticket.missing):
            if target not in ticket.given:
                ticket.given.add(target)
                self._queues[target].urge(self._items.read(one, target))

    async def _read_after(self, seq: int, object_id: str | None = None) -> list[OpenItem]:
        # What has ended by now is no longer open in what is read.
        return await self._deps.writer.read(
            lambda: self._deps.inbox.open_after(seq, object_id), after_results=True
        )

    async def _load(self, target: Target, after: int) -> ItemPage:
        found = await self._read_after(after)
        return ItemPage(self._give(target, found), found[-1].seq if found else None)

    async def _load_of(self, target: Target, object_id: str, first: int, last: int) -> ItemPage:
        found = await self._read_after(first - 1, object_id)
        found = [one for one in found if one.seq <= last]
        return ItemPage(self._give(target, found), found[-1].seq if found else None)

    def _give(self, target: Target, found: Sequence[OpenItem]) -> list[ForwardItem]:
        """Picks what a queue has not had yet."""
        items = []
        for one in found:
            if target not in self._routes.match(one.type):
                continue
            ticket = self._tickets.get(one.seq) or self._ticket_of(one, only_for=target)
            if target in ticket.missing - ticket.given:
                ticket.given.add(target)
                items.append(self._items.read(one, target))
        return items

    def _ticket_of(self, one: OpenItem, only_for: Target | None = None) -> OpenForward:
        """Makes the ticket of an event that an earlier run received or memory had no room for.

        It is not kept where it is of no use to `only_for`.
        """
        targets = self._routes.match(one.type)
        missing = {target for target in targets if str(target) not in one.ended}
        failed = not all(one.ended.values())
        ticket = OpenForward(
            key_of(one.event_id, one.body), one.type, missing, set(targets) - missing, failed
        )
        if only_for is None or only_for in missing:
            self._tickets[one.seq] = ticket
            self._deps.progress.started(one.seq)
        elif not missing and only_for == targets[0]:
            # The earlier run ended between the last forward and noting it.
            self._event_ended(one.seq, ticket)
        return ticket

    async def _reload(self, target: Target, item: ForwardItem) -> ForwardItem | None:
        """Reads an item again; drops it where it was closed, or its target has it, meanwhile."""
        one = await self._deps.writer.read(lambda: self._deps.inbox.open_item(item.seq))
        if one is None:
            ticket = self._tickets.pop(item.seq, None)
            if ticket is not None:
                self._deps.waiters.release(ticket.waiter)
            return None
        if str(target) in one.ended:
            self._end_at(target, item.seq, taken=one.ended[str(target)])
            return None
        return self._items.read(one, target)

    def _returned(self, target: Target, item: ForwardItem) -> None:
        ticket = self._tickets.get(item.seq)
        if ticket is None:  # the event was closed elsewhere while it waited here
            return
        ticket.given.discard(target)
        if not ticket.given:
            del self._tickets[item.seq]

    def _limit(self, item: ForwardItem) -> float:
        left = self._deps.waiters.seconds_left(key_of(item.event_id, item.body))
        return self._options.seconds if left is None else left

    def _tried(
        self, target: Target, item: ForwardItem, reply: TargetReply, retry_in: float | None
    ) -> None:
        attempt, told = attempted(target, item, reply, retry_in, self._deps.clock.now())
        self._deps.writer.record(attempt)
        self._deps.tell(told)

    def _target_ended(self, target: Target, item: ForwardItem, reply: TargetReply) -> None:
        ticket = self._tickets.get(item.seq)
        waiter = self._deps.waiters.find(ticket.waiter) if ticket is not None else None
        if waiter is not None:
            waiter.heard(reply)
        self._end_at(target, item.seq, taken=reply.is_taken)

    def _end_at(self, target: Target, seq: int, *, taken: bool) -> None:
        ticket = self._tickets.get(seq)
        if ticket is None:  # the event was closed elsewhere while it was under way
            return
        ticket.missing.discard(target)
        ticket.failed |= not taken
        if not ticket.missing:
            self._event_ended(seq, ticket)

    def _event_ended(self, seq: int, ticket: OpenForward) -> None:
        self._tickets.pop(seq, None)
        progress = self._deps.progress
        waiter = self._deps.waiters.find(ticket.waiter)
        if waiter is not None and waiter.status == AWAY:
            self._deps.writer.settle(seq, "returned")
        else:
            self._deps.writer.settle(seq, "failed" if ticket.failed else "forwarded")
            progress.settled(seq, taken=not ticket.failed)
            progress.ended(seq, ticket.type)
        if waiter is not None and ticket.failed:
            waiter.fail()
        self._deps.waiters.release(ticket.waiter)
        self._deps.ended()
