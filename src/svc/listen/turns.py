"""One at a time per changed object: who may go and who waits (`--ordered`)."""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from svc.listen.backlog import Item

_PARKED_MAX: Final = 512
_BODY_KEPT: Final = 4096  # a larger one is read back when its turn comes

Admission = Literal["goes", "waits", "passed over"]


@dataclass(slots=True)
class _Queue:
    """Those who wait for one object's turn.

    What was passed over lies in the inbox, from `first` to `last`; both are 0 where nothing was.
    `holder` has the turn and waits to be tried again.
    """

    parked: deque[Item] = field(default_factory=deque)
    first: int = 0
    last: int = 0
    holder: Item | None = None


class Turns:
    """Gives each object's turn to one item at a time; without `ordered` everyone may go.

    An item keeps its turn while it waits to be tried again. No more than 512 items wait here;
    those above are passed over, so that a crowded object does not hold up the others, and are read
    from the inbox once the object's queue has gone.
    """

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered
        self._queues: dict[str, _Queue] = {}
        self._count = 0
        self._ready: list[tuple[int, Item]] = []

    @property
    def idle(self) -> bool:
        """True when nobody has a turn or waits for one."""
        return not (self._ready or self._queues)

    @property
    def parked(self) -> int:
        """How many items wait here for a turn."""
        return self._count

    def next(self) -> Item | None:
        """Gives an item that has its turn already."""
        return heapq.heappop(self._ready)[1] if self._ready else None

    def admit(self, item: Item) -> Admission:
        """Says whether the item may go now, is kept here until its turn comes, or is not."""
        if not self._ordered or not item.object_id:
            return "goes"
        queue = self._queues.get(item.object_id)
        if queue is None:
            self._queues[item.object_id] = _Queue()
            return "goes"
        if queue.first or self._count >= _PARKED_MAX:
            queue.first = min(queue.first or item.seq, item.seq)
            queue.last = max(queue.last, item.seq)
            return "passed over"
        self._park(queue, item)
        return "waits"

    def keep(self, item: Item) -> None:
        """Takes back an item that keeps its turn and goes again first."""
        if queue := self._queue_of(item):
            queue.holder = None
        heapq.heappush(self._ready, (item.seq, item))

    def hold(self, item: Item) -> None:
        """Notes that an item has its turn and waits to be tried again."""
        if queue := self._queue_of(item):
            queue.holder = item.without_body()

    def held_by(self, item: Item) -> Item | None:
        """Gives, until `hold` is called again, who has the turn of an item's object and waits."""
        queue = self._queue_of(item)
        if queue is None:
            return None
        holder, queue.holder = queue.holder, None
        return holder

    def leave(self, item: Item) -> bool:
        """Ends an item's turn; the next one of the same object gets it.

        True when that one was passed over: the turn is kept until `resume` is told who comes.
        """
        queue = self._queue_of(item)
        return queue is not None and self._pass_on(item.object_id, queue)

    def passed_over(self, object_id: str) -> tuple[int, int]:
        """Gives the seqs from and to which an object's items were passed over."""
        queue = self._queues[object_id]
        return queue.first, queue.last

    def resume(self, object_id: str, items: Sequence[Item], end: int) -> bool:
        """Takes an object's items up to the seq `end`; true when more are to be read now."""
        queue = self._queues[object_id]
        for item in items:
            self._park(queue, item)
        queue.first = end + 1 if queue.last > end else 0
        queue.last = queue.last if queue.first else 0
        return self._pass_on(object_id, queue)

    def _queue_of(self, item: Item) -> _Queue | None:
        return self._queues.get(item.object_id) if self._ordered else None

    def _park(self, queue: _Queue, item: Item) -> None:
        queue.parked.append(item if len(item.body) <= _BODY_KEPT else item.without_body())
        self._count += 1

    def _pass_on(self, object_id: str, queue: _Queue) -> bool:
        if queue.parked:
            self._count -= 1
            self.keep(queue.parked.popleft())
        elif queue.first:
            return True
        else:
            del self._queues[object_id]
        return False
