"""A `Pump` sends the events of one target: order for each object, retries, rests, concurrency.

`dispatcher` makes one for each target. A pump reads the open events from the ledger of the inbox in
pages, has a few in memory, and sends each over one of its *lanes*, connections that carry one
request at a time. The newest event is handed over in memory (`offer`) if no older one is ready.
If memory may be out of date, the pump drops it and reads the ledger again: that is the only repair.
Nothing in memory is needed after a restart.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.forward.health import TargetHealth
from svc.listen.forward.request import FORWARD_SECONDS, ForwardSender, TargetRequest
from svc.listen.forward.retry import RetryMode, rest_seconds, retry_in
from svc.listen.http.connection import ForwardLane, TargetReply
from svc.listen.inbox.interfaces import ForwardVerdict, OpenItem, Retries
from svc.listen.owners import own, own_task
from svc.listen.values import value_class

_WINDOW_ITEMS: Final = 512
_WINDOW_BYTES: Final = 8 * 1024 * 1024
_PAGE_ITEMS: Final = 256
_FRESH_SECONDS: Final = 1.0  # for so long what the ledger had as open is taken to be open
_REREAD_SECONDS: Final = 1.0
_TIMER_SECONDS: Final = 60.0  # a loop's timer stands still while the machine sleeps
_TOLERANCE_SECONDS: Final = 0.001
# Where a target dies with several events under way, one of them may be to blame, and not the rest.
_TOGETHER_SECONDS: Final = 10.0
PROBE_SECONDS: Final = 1.0
_NO_TIME: Final = "there was no time left to send it"
_CUT: Final = "the listener ended before the answer came"


@dataclass(frozen=True, slots=True)
class ForwardOptions:
    """How a listener forwards; `seconds` is the limit for one attempt, unless its target has one.

    `rest` gives the seconds in which an unfit target is left alone after so many probes in a row.
    """

    concurrency: int = 8
    ordered: bool = False
    retry: RetryMode = "fast"
    seconds: float = FORWARD_SECONDS
    rest: Callable[[int], float] = rest_seconds


@value_class
class Attempted:
    """An attempt that ended: how, and what becomes of the event at its target.

    `retry_in` (seconds) is when it is tried again, None where it is not. `signed_anew`: the request
    had a header which says that its signature is a new one. `ailing`: as in `ForwardAttempt`.
    """

    reply: TargetReply
    verdict: ForwardVerdict
    signed_anew: bool = False
    retry_in: float | None = None
    ailing: bool = False


@dataclass(frozen=True, slots=True)
class PumpHooks:
    """The callbacks of a pump.

    `due` reads events behind a seq that were not tried, `again` those that are due again; both get
    the most to read. `limit` returns the seconds that an attempt may take. `tried` is called after
    each attempt, `well` at the first success after failures, `rests` with the reason that the
    target is left alone (None: it no longer is) and the seq after which nothing is sent before more
    is read (None: as before).
    """

    due: Callable[[int, int], Awaitable[list[OpenItem]]]
    again: Callable[[float, int], Awaitable[Retries]]
    limit: Callable[[OpenItem], float]
    tried: Callable[[OpenItem, Attempted], None]
    well: Callable[[], None]
    rests: Callable[[str | None, int | None], None]


class Pump:
    """Sends the open events of one target over its lanes, and decides after each attempt.

    Attributes:
        seconds: the limit for one attempt.
    """

    def __init__(
        self, sender: ForwardSender, options: ForwardOptions, hooks: PumpHooks, clock: Clock
    ) -> None:
        self.target = sender.target
        self.seconds = sender.seconds or options.seconds
        self._sender = sender
        self._options = options
        self._hooks = hooks
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self.health = TargetHealth(options.concurrency, clock)
        self._idle: list[ForwardLane] = [sender.link() for _ in range(options.concurrency)]
        self._hand: dict[int, tuple[OpenItem, ForwardLane, TargetRequest]] = {}
        self._alone: int | None = None  # what has been under way with no other beside it
        self._gone: set[int] = set()  # what has left the lanes since a page was asked for
        # Each with the loop's time when the ledger had it as open.
        self._window: deque[tuple[float, OpenItem]] = deque()
        self._due_again: deque[tuple[float, OpenItem]] = deque()
        self._bytes = self._cursor = self._turn = 0
        # Where they wait for a lane: a kill has all marked that was read (R124).
        self._few = min(options.concurrency, _PAGE_ITEMS)
        self._page = self._few  # so many are read at once
        # For how many reasons the ledger may have more; what an earlier run left open is the first.
        self._behind = 1
        self._declined = inf  # the newest event that was left in the ledger, where that is known
        self._look_at: float | None = 0.0  # unix time; None where nothing is to be tried again
        self._reading: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._resting: asyncio.TimerHandle | None = None
        self._quiet = asyncio.Event()
        self._closed = self._over = False

    def offer(self, item: OpenItem) -> None:
        """Accepts the newest event, or leaves it in the ledger if older ones have to go first."""
        if item.seq <= self._cursor and not self._behind:  # it was read from the ledger
            return
        if self._behind or self._is_full or self._resting is not None:
            self._behind += 1
            self._declined = item.seq
        else:
            self._add(self._loop.time(), item)
            self._cursor = item.seq
        self.pump()

    def look_again(self) -> None:
        """Reads events whose next attempt is due, or whose turn has come."""
        self._look_at = 0.0
        self.pump()

    def pump(self) -> None:
        """Starts as much work as may run at once, and reads on."""
        while self._may_start() and (item := self._next()) is not None:
            self._send(self._idle.pop(), item)
        self._refill()

    @property
    def idle(self) -> bool:
        """True when nothing is under way and nothing waits, retries included."""
        busy = self._hand or self._window or self._due_again or self._reading is not None
        return not (busy or self._behind or self._look_at is not None)

    @property
    def held(self) -> set[int]:
        """The seqs of the events that are in memory."""
        return {*self._hand, *(one.seq for _, one in (*self._window, *self._due_again))}

    async def close(self, grace: float) -> None:
        """Waits `grace` seconds for attempts under way, then cuts them off; others stay open."""
        self._closed = True
        if self._resting is not None:
            self._resting.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while self._hand:
                    self._quiet.clear()
                    await self._quiet.wait()
        for item, link, request in self._hand.values():
            cut = TargetReply(0.0, trouble="closed", error=_CUT, sent=link.sent)
            self._hooks.tried(item, Attempted(cut, "cut", request.signed_anew))
            link.close()
        self._over = True
        for link in self._idle:
            link.close()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    # --- what goes next -------------------------------------------------------------------------

    def _may_start(self) -> bool:
        if not self._idle or self._closed or self._resting is not None:
            return False
        return not (self.health.probes and self._hand)

    def _next(self) -> OpenItem | None:
        waiting = self._due_again or self._window
        if not waiting:
            return None
        # What was read so long ago may have been closed by another program.
        if self._loop.time() - waiting[0][0] > _FRESH_SECONDS:
            self._page = self._few
            self._forget()
            return None
        _, item = waiting.popleft()
        if waiting is self._window:
            self._bytes -= len(item.body)
        return item

    def _forget(self, *back: int) -> None:
        """Drops what is in memory and reads it again, and what has come back from a lane."""
        here = [self._cursor + 1, *(one.seq for _, one in self._window), *self._hand, *back]
        self._cursor = min(here) - 1
        if self._due_again:
            self._look_at = 0.0
        self._window.clear()
        self._due_again.clear()
        self._bytes = 0
        self._behind += 1
        self._declined = inf
        self._turn += 1

    def _add(self, seen_at: float, item: OpenItem) -> None:
        self._window.append((seen_at, item))
        self._bytes += len(item.body)

    # --- the ledger -----------------------------------------------------------------------------

    def _refill(self) -> None:
        if self._reading is not None or self._resting is not None or self._closed:
            return
        self._wind()
        due = self._is_due() and not self._due_again
        if due or (self._behind and (len(self._window) < self._page / 2 or self._is_level)):
            read = self._read_again if due else self._read_on
            self._reading = self._loop.create_task(own_task(partial(self._patiently, read)))

    @property
    def _is_full(self) -> bool:
        return len(self._window) >= _WINDOW_ITEMS or self._bytes >= _WINDOW_BYTES

    @property
    def _is_level(self) -> bool:
        """True for a target that keeps up when all is read that was left in the ledger.

        An empty page, read at once, has the next event handed over: behind a log or many senders
        there is always another one by the time that there is room for a page.
        """
        return self._cursor >= self._declined and self._page == _PAGE_ITEMS and not self._is_full

    def _is_due(self) -> bool:
        return self._look_at is not None and self._look_at <= self._clock.now() + _TOLERANCE_SECONDS

    def _look_soon(self, at: float) -> None:
        self._look_at = at if self._look_at is None else min(at, self._look_at)

    def _wind(self) -> None:
        """Keeps one timer, for the soonest of what is to be tried again."""
        if self._look_at is None or self._is_due():
            return
        at = self._loop.time() + min(self._look_at - self._clock.now(), _TIMER_SECONDS)
        if self._timer is not None:
            if self._timer.when() < at + _TOLERANCE_SECONDS:  # it may ring early
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(at, own(self._handle_timer))

    def _handle_timer(self) -> None:
        self._timer = None
        self.pump()

    async def _patiently(self, read: Callable[[], Awaitable[None]]) -> None:
        try:
            await read()  # made here: a task that is cancelled before it begins leaves none behind
        except LocalError:  # the inbox is busy or its disk is full, which was told: look again
            await asyncio.sleep(_REREAD_SECONDS)
        finally:
            self._reading = None
        self.pump()

    async def _read_on(self) -> None:
        """Reads what was not tried, behind the cursor."""
        self._gone.clear()  # here, where the cursor is looked at, and not when the task was made
        turn, behind = self._turn, self._behind
        self._page = min(2 * self._page, _PAGE_ITEMS)
        # Of a target that keeps up, as many as there is room for: it is soonest level so.
        room = _WINDOW_ITEMS - len(self._window)
        most = room if self._page == _PAGE_ITEMS else self._page
        page = await self._hooks.due(self._cursor, most)
        if turn != self._turn:  # memory was dropped meanwhile, and the cursor is another one
            return
        for seen_at, item in self._select_fresh(page):
            self._add(seen_at, item)
        if page:
            self._cursor = page[-1].seq
            if self._page < _PAGE_ITEMS:
                self._hooks.rests(self.health.why, max(self.held, default=0))
        else:  # what was declined meanwhile is still to be read
            self._behind -= behind

    async def _read_again(self) -> None:
        """Reads what is due again, and when the next one is."""
        turn, now = self._turn, self._clock.now() + _TOLERANCE_SECONDS
        self._gone.clear()
        self._look_at = None  # what is put off meanwhile may be missing in the page
        found: Retries | None = None
        try:
            found = await self._hooks.again(now, self._page + len(self._hand))
        finally:
            if found is None or turn != self._turn:
                self._look_at = 0.0
        if turn != self._turn:
            return
        self._due_again.extend(self._select_fresh(found.items))
        if self._due_again:
            self._look_at = 0.0
        elif found.soonest is not None:
            self._look_soon(found.soonest)

    def _select_fresh(self, page: list[OpenItem]) -> list[tuple[float, OpenItem]]:
        """Leaves out what is in the lanes, and what has left them since the page was asked for."""
        seen_at = self._loop.time()
        known = self._gone | self._hand.keys()
        return [(seen_at, one) for one in page if one.seq not in known]

    # --- an attempt -----------------------------------------------------------------------------

    def _send(self, link: ForwardLane, item: OpenItem) -> None:
        request = self._request(item)
        self._hand[item.seq] = item, link, request
        limit = min(self.seconds, self._hooks.limit(item))
        if limit > 0:
            on_reply = partial(self._handle_reply, item)
            link.exchange(request.data, limit, on_reply, lambda: self._request(item, 1).data)
        else:
            late = TargetReply(0.0, trouble="timeout", error=_NO_TIME, sent=0)
            self._loop.call_soon(own(self._handle_reply), item, late)

    def _request(self, item: OpenItem, again: int = 0) -> TargetRequest:
        """Returns what to send, and notes whether it is under way with no other beside it."""
        beside = len(self._hand) > (item.seq in self._hand)
        self._alone = None if beside else item.seq
        return self._sender.request(item.headers, item.body, item.redelivered + again)

    def _handle_reply(self, item: OpenItem, reply: TargetReply) -> None:
        if self._over:  # it was cut off
            return
        _, link, request = self._hand.pop(item.seq)
        if self._reading is not None:
            self._gone.add(item.seq)
        self._idle.append(link)
        try:
            self._judge(item, reply, request)
        finally:
            self.pump()
            if not self._hand:
                self._quiet.set()

    def _judge(self, item: OpenItem, reply: TargetReply, request: TargetRequest) -> None:
        fast, anew = self._options.retry == "fast", request.signed_anew
        if fast and reply.trouble == "unreachable":
            self._handle_away(item, reply, request)
            return
        ailing = fast and self.health.is_ailing(item)
        verdict: ForwardVerdict = "done" if reply.is_taken else "failed"
        later = None if verdict == "done" else retry_in(self._options.retry, reply, item.attempt)
        if later is not None:
            verdict = "later"
            if fast and reply.trouble == "closed" and self._alone != item.seq:
                later = min(later, _TOGETHER_SECONDS)
            self._look_soon(self._clock.now() + later)
        self._hooks.tried(item, Attempted(reply, verdict, anew, later, ailing))
        if self.health.note_reply(reply, ailing=ailing):
            self._hooks.well()
            self._look_at = 0.0
        if reply.status is not None and self.health.why is not None and not self._is_away:
            self._wake()
        if fast and self.health.is_unfit and self._resting is None:
            self._rest(self.health.rest_of(self._options.rest), reply.error, self._wake)

    # --- a target that is away, or answers nothing ----------------------------------------------

    def _handle_away(self, item: OpenItem, reply: TargetReply, request: TargetRequest) -> None:
        if self._resting is None:
            self._hooks.tried(item, Attempted(reply, "unsent", request.signed_anew, PROBE_SECONDS))
            self._rest(PROBE_SECONDS, reply.error, self._probe)
        self._forget(item.seq)  # of a page under way, too: another lane may have found it away

    def _rest(self, seconds: float, why: str | None, then: Callable[[], None]) -> None:
        """Leaves the target alone for so long; what waits for it is read again afterwards."""
        self._forget()
        if not self._closed:
            self._resting = self._loop.call_later(seconds, own(then))
        if self.health.rests(why):
            self._hooks.rests(why or "", max(self.held, default=0) if self._is_away else None)

    def _probe(self) -> None:
        """Looks whether the port is open: connects and sends nothing."""
        link = self._idle.pop()  # of what has found it away, and nothing was begun since

        def probed(reply: TargetReply) -> None:
            self._idle.append(link)
            if self._closed:
                link.close()
            elif reply.trouble is None:
                self._wake()
            else:
                self._resting = self._loop.call_later(PROBE_SECONDS, own(self._probe))

        link.probe(self.seconds, probed)

    @property
    def _is_away(self) -> bool:
        """True while its port is looked at: what had reached it before may still be answered."""
        return self._resting is not None and self.health.next_at is None

    def _wake(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        self._look_at = 0.0
        if self.health.wakes():
            self._hooks.rests(None, None)
        self.pump()
