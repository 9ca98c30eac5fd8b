"""The events that wait for one target: a window in memory, the rest in the inbox.

The window keeps memory flat however many events pile up; while it is full, new ones are only in
the inbox and are read back in order when their turn comes. A restart is the same case. With
`--ordered` one of each changed object goes at a time.
"""

import asyncio
import heapq
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from svc.errors import LocalError
from svc.listen.values import value_class

_WINDOW_ITEMS: Final = 512
_WINDOW_BYTES: Final = 8 * 1024 * 1024
_LOW: Final = 64
_PAUSE_SECONDS: Final = 1.0


@value_class
class ForwardItem:
    """One event on its way to one target; `attempt` is the number of the next try, from 1.

    `seen_at` is the loop's time when the inbox had it as open; `wait` are the seconds from then in
    which it is not to be tried. `redelivered`: how often somebody may have had it already.
    """

    seq: int
    event_id: str
    type: str
    object_id: str
    headers: bytes
    body: bytes
    attempt: int
    seen_at: float
    wait: float = 0.0
    redelivered: int = 0

    def without_body(self) -> "ForwardItem":
        """Gives the same to be kept for long: it has to be read again before it is sent."""
        return replace(self, headers=b"", body=b"", seen_at=-math.inf)


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Some items behind a cursor. `last` is the newest seq looked at, None at the end."""

    items: list[ForwardItem]
    last: int | None


class Backlog:
    """Gives items in the order of their arrival; those put back go first."""

    def __init__(
        self, load: Callable[[int], Awaitable[ItemPage]], wake: Callable[[], None]
    ) -> None:
        self._load = load
        self._wake = wake
        self._first: list[tuple[int, ForwardItem]] = []
        self._window: deque[ForwardItem] = deque()
        self._bytes = 0
        self._cursor = 0
        self._asked = 0  # how often something was said to be in the inbox
        self._behind = True  # what an earlier run left open comes first
        self._loading: asyncio.Task[None] | None = None

    def offer(self, item: ForwardItem) -> bool:
        """Adds the newest item, or leaves it in the inbox while the window is full: false."""
        full = len(self._window) >= _WINDOW_ITEMS or self._bytes >= _WINDOW_BYTES
        if self._behind or full:
            self.look()
            return False
        self._add(item)
        self._cursor = item.seq
        return True

    def look(self) -> None:
        """Reads on in the inbox once, whatever was offered."""
        self._behind = True
        self._asked += 1
        self.refill()

    def skip_to(self, seq: int) -> None:
        """Begins behind `seq`."""
        self._cursor = seq

    def put_back(self, item: ForwardItem) -> None:
        """Returns an item that goes before everything younger."""
        heapq.heappush(self._first, (item.seq, item))

    def take(self) -> ForwardItem | None:
        """Gives the next item, if one is in memory; `wake` is called when more have come."""
        if self._first and not (self._window and self._window[0].seq < self._first[0][0]):
            return heapq.heappop(self._first)[1]
        if not self._window:
            self.refill()
            return None
        item = self._window.popleft()
        self._bytes -= len(item.body)
        if len(self._window) < _LOW:
            self.refill()
        return item

    def refill(self) -> None:
        """Reads on in the inbox if something is there that memory does not hold."""
        if self._behind and self._loading is None and len(self._window) < _LOW:
            self._loading = asyncio.get_running_loop().create_task(self._read())

    @property
    def caught_up(self) -> bool:
        """True when nothing waits, neither here nor in the inbox."""
        return not (self._behind or self._window or self._first)

    async def close(self) -> None:
        """Ends a read that is under way."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)

    def _add(self, item: ForwardItem) -> None:
        self._window.append(item)
        self._bytes += len(item.body)

    async def _read(self) -> None:
        asked = self._asked
        try:
            page = await self._load(self._cursor)
            for item in page.items:
                self._add(item)
            if page.last is not None:
                self._cursor = page.last
            elif self._asked == asked:
                # Also where the newest one was closed from outside and is not to be found any more.
                self._behind = False
        except LocalError:  # the inbox is busy or its disk is full: nothing is lost, look again
            await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self._loading = None
        self.refill()
        self._wake()


_PARKED_MAX: Final = 512
_BODY_KEPT: Final = 4096  # a larger one is read back when its turn comes

Admission = Literal["goes", "waits", "passed over"]


@dataclass(slots=True)
class _ObjectQueue:
    """Those who wait for one object's turn.

    What was passed over lies in the inbox, from `first` to `last`; both are 0 where nothing was.
    `holder` has the turn and waits to be tried again.
    """

    parked: deque[ForwardItem] = field(default_factory=deque)
    first: int = 0
    last: int = 0
    holder: ForwardItem | None = None


class ObjectTurns:
    """Gives each object's turn to one item at a time; without `ordered` everyone may go.

    An item keeps its turn while it waits to be tried again. No more than 512 items wait here;
    those above are passed over, so that a crowded object does not hold up the others, and are read
    from the inbox once the object's queue has gone.
    """

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered
        self._queues: dict[str, _ObjectQueue] = {}
        self._count = 0
        self._ready: list[tuple[int, ForwardItem]] = []

    @property
    def idle(self) -> bool:
        """True when nobody has a turn or waits for one."""
        return not (self._ready or self._queues)

    @property
    def parked(self) -> int:
        """How many items wait here for a turn."""
        return self._count

    def next(self) -> ForwardItem | None:
        """Gives an item that has its turn already."""
        return heapq.heappop(self._ready)[1] if self._ready else None

    def admit(self, item: ForwardItem) -> Admission:
        """Says whether the item may go now, is kept here until its turn comes, or is not."""
        if not self._ordered or not item.object_id:
            return "goes"
        queue = self._queues.get(item.object_id)
        if queue is None:
            self._queues[item.object_id] = _ObjectQueue()
            return "goes"
        if queue.first or self._count >= _PARKED_MAX:
            queue.first = min(queue.first or item.seq, item.seq)
            queue.last = max(queue.last, item.seq)
            return "passed over"
        self._park(queue, item)
        return "waits"

    def keep(self, item: ForwardItem) -> None:
        """Takes back an item that keeps its turn and goes again first."""
        if queue := self._queue_of(item):
            queue.holder = None
        heapq.heappush(self._ready, (item.seq, item))

    def hold(self, item: ForwardItem) -> None:
        """Notes that an item has its turn and waits to be tried again."""
        if queue := self._queue_of(item):
            queue.holder = item.without_body()

    def held_by(self, item: ForwardItem) -> ForwardItem | None:
        """Gives, until `hold` is called again, who has the turn of an item's object and waits."""
        queue = self._queue_of(item)
        if queue is None:
            return None
        holder, queue.holder = queue.holder, None
        return holder

    def leave(self, item: ForwardItem) -> bool:
        """Ends an item's turn; the next one of the same object gets it.

        True when that one was passed over: the turn is kept until `resume` is told who comes.
        """
        queue = self._queue_of(item)
        return queue is not None and self._pass_on(item.object_id, queue)

    def passed_over(self, object_id: str) -> tuple[int, int]:
        """Gives the seqs from and to which an object's items were passed over."""
        queue = self._queues[object_id]
        return queue.first, queue.last

    def resume(self, object_id: str, items: Sequence[ForwardItem], end: int) -> bool:
        """Takes an object's items up to the seq `end`; true when more are to be read now."""
        queue = self._queues[object_id]
        for item in items:
            self._park(queue, item)
        queue.first = end + 1 if queue.last > end else 0
        queue.last = queue.last if queue.first else 0
        return self._pass_on(object_id, queue)

    def _queue_of(self, item: ForwardItem) -> _ObjectQueue | None:
        return self._queues.get(item.object_id) if self._ordered else None

    def _park(self, queue: _ObjectQueue, item: ForwardItem) -> None:
        queue.parked.append(item if len(item.body) <= _BODY_KEPT else item.without_body())
        self._count += 1

    def _pass_on(self, object_id: str, queue: _ObjectQueue) -> bool:
        if queue.parked:
            self._count -= 1
            self.keep(queue.parked.popleft())
        elif queue.first:
            return True
        else:
            del self._queues[object_id]
        return False
