"""Things to do later, with one timer for all of them."""

import asyncio
import heapq
from collections.abc import Callable

from svc.listen.backlog import Item


class Agenda:
    """Calls back with each item when its time has come."""

    def __init__(self, due: Callable[[Item], None]) -> None:
        self._due = due
        self._heap: list[tuple[float, int, Item]] = []
        self._seqs: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, seconds: float, item: Item) -> None:
        """Notes that an item is due in so many seconds; its body is not kept meanwhile."""
        when = asyncio.get_running_loop().time() + seconds
        self._seqs.add(item.seq)
        heapq.heappush(self._heap, (when, item.seq, item.without_body()))
        self._wind()

    def holds(self, seq: int) -> bool:
        """Says whether an item still waits for its time."""
        return seq in self._seqs

    def drop(self, seq: int) -> None:
        """Takes an item off."""
        self._seqs.discard(seq)
        self._heap = [one for one in self._heap if one[1] != seq]
        heapq.heapify(self._heap)
        self._wind()

    def close(self) -> None:
        """Calls nobody any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _wind(self) -> None:
        self.close()
        if self._heap:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(self._heap[0][0], self._ring)

    def _ring(self) -> None:
        _, seq, item = heapq.heappop(self._heap)
        self._seqs.discard(seq)
        self._wind()
        self._due(item)
