"""Things to do later, with one timer for all of them."""

import asyncio
import heapq
from collections.abc import Callable


class Agenda:
    """Calls back with each seq and attempt number when its time has come."""

    def __init__(self, due: Callable[[int, int], None]) -> None:
        self._due = due
        self._heap: list[tuple[float, int, int]] = []
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, seconds: float, seq: int, attempt: int) -> None:
        """Notes that attempt number `attempt` of event `seq` is due in so many seconds."""
        when = asyncio.get_running_loop().time() + seconds
        heapq.heappush(self._heap, (when, seq, attempt))
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
        _, seq, attempt = heapq.heappop(self._heap)
        self._wind()
        self._due(seq, attempt)
