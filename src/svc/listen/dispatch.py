"""The forwarding half of a listener: every open event to all its targets, each once.

What became of each attempt and of each event goes back into the inbox, which is all that it shares
with the receiving half.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.backlog import Item, Page
from svc.listen.delivery import Delivery
from svc.listen.flights import Flights
from svc.listen.forward import HeaderText, Sender
from svc.listen.keeper import Keeper
from svc.listen.lane import Lane, Manner, Watcher
from svc.listen.link import Reply
from svc.listen.progress import Progress
from svc.listen.records import Forwarded, Record, is_success
from svc.listen.routes import Routes
from svc.listen.seam import Attempt, Inbox, Kept, OpenItem
from svc.listen.targets import Target

_REREAD_SECONDS: Final = 1.0


@dataclass(slots=True)
class Ticket:
    """One event whose forwards are under way.

    `missing` are the targets where it has not ended, `given` those whose lane holds it.
    """

    event_id: str
    type: str
    missing: set[Target]
    given: set[Target] = field(default_factory=set)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Desk:
    """What the dispatcher works with."""

    inbox: Inbox
    keeper: Keeper
    flights: Flights
    progress: Progress
    clock: Clock
    tell: Callable[[Record], None]
    ended: Callable[[], None]


class Dispatcher:
    """Owns one lane for each target."""

    def __init__(
        self, routes: Routes, manner: Manner, extra: Sequence[HeaderText], desk: Desk
    ) -> None:
        self._routes = routes
        self._manner = manner
        self._desk = desk
        self._tickets: dict[int, Ticket] = {}
        self._taking_up: set[asyncio.Task[None]] = set()
        self._left = 0
        watcher = Watcher(self._load, self._reload, self._limit, self._tried, self._target_ended)
        self._lanes = {
            target: Lane(Sender(target, extra), manner, watcher) for target in routes.targets
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
        for lane in self._lanes.values():
            lane.skip_to(self._left)

    def start(self) -> None:
        """Begins with what an earlier run left open (promise R50)."""
        self.look()

    def look(self) -> None:
        """Looks for events that somebody else has put into the inbox."""
        for lane in self._lanes.values():
            lane.look()

    def hand_over(self, kept: Kept, delivery: Delivery) -> None:
        """Sends an open event on its way, unless it is already.

        A copy waits with the first one; only one that was left alone is taken up for its sake.
        """
        if kept.again or (kept.duplicate and self._was_left(kept.seq)):
            self.take_up(kept.seq)
        elif not kept.duplicate:
            self._dispatch(kept.seq, delivery)

    def take_up(self, seq: int) -> None:
        """Sends an open event to the targets that have not taken it, newest or not."""
        task = asyncio.get_running_loop().create_task(self._take_up(seq))
        self._taking_up.add(task)
        task.add_done_callback(self._taking_up.discard)

    @property
    def idle(self) -> bool:
        """True when every event has ended at every target."""
        return not self._taking_up and all(lane.idle for lane in self._lanes.values())

    async def close(self, grace: float) -> None:
        """Gives attempts under way `grace` seconds; what has not ended stays open in the inbox."""
        for task in self._taking_up:
            task.cancel()
        for lane in self._lanes.values():
            await lane.close(grace)

    def _dispatch(self, seq: int, delivery: Delivery) -> None:
        facts = delivery.facts
        targets = self._routes.match(facts.type)
        self._tickets[seq] = Ticket(facts.id, facts.type, set(targets))
        self._desk.progress.started(seq)
        item = Item(seq, facts.id, facts.type, facts.object_id, delivery.headers, delivery.body)
        for target in targets:
            self._lanes[target].offer(item)

    def _was_left(self, seq: int) -> bool:
        return seq <= self._left and seq not in self._tickets

    async def _take_up(self, seq: int) -> None:
        while True:
            try:
                one = await self._desk.keeper.read(lambda: self._desk.inbox.open_item(seq))
                break
            except LocalError:  # the state database is busy; the event is still in it
                await asyncio.sleep(_REREAD_SECONDS)
        if one is None or seq in self._tickets:
            return
        ticket = self._reopen(one)
        for target in ticket.missing:
            ticket.given.add(target)
            self._lanes[target].urge(_item(one, target))

    async def _read_after(self, seq: int) -> list[OpenItem]:
        return await self._desk.keeper.read(lambda: self._desk.inbox.open_after(seq))

    async def _load(self, target: Target, after: int) -> Page:
        found = await self._read_after(after)
        items = []
        for one in found:
            ticket = self._tickets.get(one.seq) or self._reopen(one)
            if target in ticket.missing - ticket.given:
                ticket.given.add(target)
                items.append(_item(one, target))
        return Page(items, found[-1].seq if found else None)

    async def _reload(self, target: Target, seq: int) -> Item | None:
        found = await self._desk.keeper.read(lambda: self._desk.inbox.open_item(seq))
        return None if found is None else _item(found, target)

    def _reopen(self, one: OpenItem) -> Ticket:
        """Makes the ticket of an event that an earlier run received or memory had no room for."""
        targets = self._routes.match(one.type)
        missing = {target for target in targets if str(target) not in one.done}
        ticket = Ticket(one.event_id, one.type, missing)
        if targets:
            self._tickets[one.seq] = ticket
            self._desk.progress.started(one.seq)
            if not missing:  # the earlier run ended between the last forward and noting it
                self._event_ended(one.seq, ticket)
        return ticket

    def _limit(self, item: Item) -> float:
        left = self._desk.flights.seconds_left(item.event_id)
        return self._manner.seconds if left is None else left

    def _tried(self, target: Target, item: Item, reply: Reply, retry_in: float | None) -> None:
        now = self._desk.clock.now()
        started = now - reply.milliseconds / 1000
        url = str(target)
        attempt = Attempt(
            item.seq,
            url,
            item.attempt,
            started,
            reply.milliseconds,
            reply.status,
            reply.error,
            reply.body,
        )
        self._desk.keeper.record(attempt)
        self._desk.tell(
            Forwarded(
                now,
                item.event_id,
                item.type,
                url,
                reply.status,
                reply.milliseconds,
                item.attempt,
                reply.error,
                reply.body,
                retry_in,
            )
        )

    def _target_ended(self, target: Target, item: Item, reply: Reply) -> None:
        ticket = self._tickets[item.seq]
        ticket.missing.discard(target)
        ticket.failed |= not is_success(reply.status)
        flight = self._desk.flights.find(item.event_id)
        if flight is not None:
            flight.heard(reply)
        if not ticket.missing:
            self._event_ended(item.seq, ticket)

    def _event_ended(self, seq: int, ticket: Ticket) -> None:
        del self._tickets[seq]
        progress = self._desk.progress
        self._desk.keeper.settle(seq, "failed" if ticket.failed else "forwarded")
        progress.settled(seq, taken=not ticket.failed)
        progress.ended(ticket.type)
        self._desk.flights.land(ticket.event_id)
        self._desk.ended()


def _item(one: OpenItem, target: Target) -> Item:
    attempt = one.tried.get(str(target), 0) + 1
    return Item(one.seq, one.event_id, one.type, one.object_id, one.headers, one.body, attempt)
