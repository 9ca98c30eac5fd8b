"""The way to one target: so many at once, in order where asked, waiting while it is away."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from svc.errors import LocalError
from svc.listen.forward.connection import TargetConnection, TargetReply
from svc.listen.forward.queue import Admission, Backlog, ForwardItem, ItemPage, ObjectTurns
from svc.listen.forward.request import FORWARD_SECONDS, TargetSender
from svc.listen.forward.retry import Agenda, RetryMode, Suspects, decide, hold_seconds
from svc.listen.targets import Target

T = TypeVar("T")

_REREAD_SECONDS: Final = 1.0
_FRESH_SECONDS: Final = 1.0  # for so long an open event is taken to be open
_NO_TIME: Final = TargetReply(0.0, trouble="timeout", error="there was no time left to send it")


@dataclass(frozen=True, slots=True)
class ForwardOptions:
    """How a listener forwards; `seconds` is the limit for one attempt.

    `hold` gives the seconds in which a target is left alone after so many failures in a row.
    """

    concurrency: int = 8
    ordered: bool = False
    retry: RetryMode = "fast"
    seconds: float = FORWARD_SECONDS
    hold: Callable[[int], float] = hold_seconds


@dataclass(frozen=True, slots=True)
class TargetHooks:
    """What a queue asks and tells.

    `load` reads open items behind a cursor; `load_of` those of one object from one seq to another.
    `reload` reads one item again, None where the target gets it no more. `returned` hears of an
    item that is left to the inbox once more. `limit` gives the seconds that an item's attempt may
    take. `tried` hears of each attempt, with the seconds until the next one or None. `ended` hears
    how the last one ended.
    """

    load: Callable[[Target, int], Awaitable[ItemPage]]
    load_of: Callable[[Target, str, int, int], Awaitable[ItemPage]]
    reload: Callable[[Target, ForwardItem], Awaitable[ForwardItem | None]]
    returned: Callable[[Target, ForwardItem], None]
    limit: Callable[[ForwardItem], float]
    tried: Callable[[Target, ForwardItem, TargetReply, float | None], None]
    ended: Callable[[Target, ForwardItem, TargetReply], None]


class TargetQueue:
    """Hands items to one target and decides what to do when it does not take them."""

    def __init__(self, sender: TargetSender, options: ForwardOptions, hooks: TargetHooks) -> None:
        self.target = sender.target
        self._sender = sender
        self._options = options
        self._hooks = hooks
        self._backlog = Backlog(lambda seq: hooks.load(self.target, seq), self.pump)
        self._turns = ObjectTurns(ordered=options.ordered)
        self._suspects = Suspects()
        self._agenda = Agenda(self._due)
        self._idle: list[TargetConnection] = [sender.link() for _ in range(options.concurrency)]
        self._busy: set[TargetConnection] = set()
        self._quiet: asyncio.Event = asyncio.Event()
        self._reading: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._held: asyncio.TimerHandle | None = None
        self._closed = False

    def offer(self, item: ForwardItem) -> bool:
        """Takes the newest item, to be sent with the next `pump`; false: it is in the inbox."""
        return self._backlog.offer(item)

    def look(self) -> None:
        """Looks for items in the inbox that were not offered here."""
        self._backlog.look()
        self.pump()

    def skip_to(self, seq: int) -> None:
        """Before any work: leaves everything up to `seq` alone."""
        self._backlog.skip_to(seq)

    def urge(self, item: ForwardItem) -> None:
        """Takes an item that is not the newest and is not in memory."""
        self._backlog.put_back(item)
        self.pump()

    def pump(self) -> None:
        """Starts as much work as may run at once."""
        while self._may_start() and (item := self._next()) is not None:
            link = self._idle.pop()
            self._busy.add(link)
            self._begin(link, item)

    @property
    def idle(self) -> bool:
        """True when nothing is under way and nothing waits, retries included."""
        waiting = self._busy or self._reading or len(self._agenda)
        return not waiting and self._turns.idle and self._backlog.caught_up

    async def close(self, grace: float) -> None:
        """Lets what is under way end for `grace` seconds, then stops; the rest stays open."""
        self._closed = True
        self._agenda.close()
        if self._held is not None:
            self._held.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while self._busy:
                    self._quiet.clear()
                    await self._quiet.wait()
        for link in (*self._idle, *self._busy):
            link.close()
        tasks = list(self._reading)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._backlog.close()

    def _may_start(self) -> bool:
        if self._closed or self._held is not None or not self._idle:
            return False
        # After a failure one probes alone, and so does each on whom the target may have died.
        return not ((self._failures or self._suspects) and self._busy)

    def _next(self) -> ForwardItem | None:
        ready = self._turns.next()
        if ready is not None:
            return ready
        while (item := self._backlog.take()) is not None:
            admission = self._turns.admit(item)
            if admission == "goes" and item.wait <= 0:
                return item
            self._put_off(item, admission)
        return None

    def _put_off(self, item: ForwardItem, admission: Admission) -> None:
        if admission == "goes":
            self._wait(item, item.wait)
            return
        if admission == "passed over":
            self._hooks.returned(self.target, item)
        if (holder := self._turns.held_by(item)) is not None:
            self._read(self._look_at(holder))

    def _wait(self, item: ForwardItem, seconds: float) -> None:
        self._turns.hold(item)
        self._agenda.add(seconds, item)

    def _begin(self, link: TargetConnection, item: ForwardItem) -> None:
        if asyncio.get_running_loop().time() - item.seen_at > _FRESH_SECONDS:
            self._read(self._begin_anew(link, item))
        else:
            self._send(link, item)

    def _send(self, link: TargetConnection, item: ForwardItem) -> None:
        def heard(reply: TargetReply) -> None:
            self._heard(link, item, reply)

        self._suspects.sent(item.seq)
        limit = min(self._options.seconds, self._hooks.limit(item))
        if limit > 0:
            request = self._sender.request(item.headers, item.body, item.redelivered)
            link.exchange(request, limit, heard)
        else:
            asyncio.get_running_loop().call_soon(heard, _NO_TIME)

    def _heard(self, link: TargetConnection, item: ForwardItem, reply: TargetReply) -> None:
        closes = self._suspects.heard(item.seq, closed=reply.trouble == "closed")
        decision = decide(self._options.retry, reply, item.attempt, closes)
        if decision.hold:
            self._hold(item, reply)
        else:
            self._suspects.forget(item.seq)
            self._hooks.tried(self.target, item, reply, decision.later)
            self._settle(item, reply, decision.later)
            self._failures = 0
        self._go_on(link)

    def _go_on(self, link: TargetConnection) -> None:
        """Gives the link its next item; starts the others again where only one was probing."""
        self._busy.discard(link)
        self._idle.append(link)
        self.pump()
        if not self._busy:
            self._quiet.set()

    def _settle(self, item: ForwardItem, reply: TargetReply, delay: float | None) -> None:
        if delay is None:
            self._leave(item)
            self._hooks.ended(self.target, item, reply)
        else:
            self._wait(replace(item, attempt=item.attempt + 1), delay)

    def _hold(self, item: ForwardItem, reply: TargetReply) -> None:
        """Leaves the target alone for a while; this item goes first when it is tried again."""
        loop = asyncio.get_running_loop()
        if self._held is None:
            self._failures += 1
            self._held = loop.call_later(self._options.hold(self._failures), self._release)
        self._turns.keep(replace(item, attempt=item.attempt + 1))
        self._hooks.tried(self.target, item, reply, max(self._held.when() - loop.time(), 0.0))

    def _release(self) -> None:
        self._held = None
        self.pump()

    def _due(self, item: ForwardItem) -> None:
        self._turns.keep(item)
        self.pump()

    def _leave(self, item: ForwardItem) -> None:
        """Ends an item's turn; reads who comes next of its object where they were passed over."""
        if self._turns.leave(item):
            self._read(self._resume(item.object_id))

    def _read(self, reading: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(reading)
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _begin_anew(self, link: TargetConnection, item: ForwardItem) -> None:
        """Sends an item that has waited, if it is still open: it may have been closed elsewhere."""
        fresh = await _patiently(lambda: self._hooks.reload(self.target, item))
        if fresh is not None:
            self._send(link, replace(fresh, attempt=item.attempt))
            return
        self._suspects.forget(item.seq)
        self._leave(item)
        self._go_on(link)

    async def _look_at(self, holder: ForwardItem) -> None:
        """Takes its turn from an item that waits and was closed elsewhere, for others want it."""
        fresh = await _patiently(lambda: self._hooks.reload(self.target, holder))
        if not self._agenda.holds(holder.seq):  # its time has come, and it is looked at anyway
            return
        if fresh is not None:
            self._turns.hold(holder)
            return
        self._agenda.drop(holder.seq)
        self._leave(holder)
        self.pump()

    async def _resume(self, object_id: str) -> None:
        more = True
        while more:
            first, last = self._turns.passed_over(object_id)
            load = partial(self._hooks.load_of, self.target, object_id, first, last)
            page = await _patiently(load)
            more = self._turns.resume(object_id, page.items, page.last or last)
        self.pump()


async def _patiently(read: Callable[[], Awaitable[T]]) -> T:
    """Reads the inbox, again after a second where the state database is busy."""
    while True:
        try:
            return await read()
        except LocalError:
            await asyncio.sleep(_REREAD_SECONDS)
