"""One at a time per changed object: who may go and who waits (`--ordered`)."""

import heapq
from collections import deque
from typing import Final

from svc.listen.backlog import Item

_PARKED_MAX: Final = 512


class Turns:
    """Gives each object's turn to one item at a time; without `ordered` everyone may go."""

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered
        self._parked: dict[str, deque[Item]] = {}
        self._count = 0
        self._ready: list[tuple[int, Item]] = []

    @property
    def idle(self) -> bool:
        """True when nobody waits here."""
        return not self._ready and not self._count

    @property
    def crowded(self) -> bool:
        """True when no more should be admitted until some have left."""
        return self._count >= _PARKED_MAX

    def next(self) -> Item | None:
        """Gives an item that has its turn already."""
        return heapq.heappop(self._ready)[1] if self._ready else None

    def admit(self, item: Item) -> bool:
        """Says whether the item may go now; if not, it is kept until its turn comes."""
        if not self._ordered or not item.object_id:
            return True
        parked = self._parked.get(item.object_id)
        if parked is None:
            self._parked[item.object_id] = deque()
            return True
        parked.append(item)
        self._count += 1
        return False

    def keep(self, item: Item) -> None:
        """Takes back an item that keeps its turn and goes again first."""
        heapq.heappush(self._ready, (item.seq, item))

    def leave(self, item: Item) -> None:
        """Ends an item's turn; the next one of the same object gets it."""
        parked = self._parked.get(item.object_id) if self._ordered else None
        if parked is None:
            return
        if parked:
            self._count -= 1
            self.keep(parked.popleft())
        else:
            del self._parked[item.object_id]
