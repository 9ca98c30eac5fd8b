"""The events that wait for one target: a window in memory, the rest in the inbox.

The window keeps memory flat however many events pile up; while it is full, new ones are only in
the inbox and are read back in order when their turn comes. A restart is the same case.
"""

import asyncio
import heapq
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from svc.errors import LocalError

_WINDOW_ITEMS: Final = 512
_WINDOW_BYTES: Final = 8 * 1024 * 1024
_LOW: Final = 64
_PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Item:
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

    def without_body(self) -> "Item":
        """Gives the same to be kept for long: it has to be read again before it is sent."""
        return replace(self, headers=b"", body=b"", seen_at=-math.inf)


@dataclass(frozen=True, slots=True)
class Page:
    """Some items behind a cursor. `last` is the newest seq looked at, None at the end."""

    items: list[Item]
    last: int | None


class Backlog:
    """Gives items in the order of their arrival; those put back go first."""

    def __init__(self, load: Callable[[int], Awaitable[Page]], wake: Callable[[], None]) -> None:
        self._load = load
        self._wake = wake
        self._first: list[tuple[int, Item]] = []
        self._window: deque[Item] = deque()
        self._bytes = 0
        self._cursor = 0
        self._asked = 0  # how often something was said to be in the inbox
        self._behind = True  # what an earlier run left open comes first
        self._loading: asyncio.Task[None] | None = None

    def offer(self, item: Item) -> bool:
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

    def put_back(self, item: Item) -> None:
        """Returns an item that goes before everything younger."""
        heapq.heappush(self._first, (item.seq, item))

    def take(self) -> Item | None:
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

    def _add(self, item: Item) -> None:
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
