"""Who is served now and who waits: so many requests at once, whatever knocks (promise R57)."""

from collections import deque
from typing import Final, Protocol

_PATIENCE_SECONDS: Final = 0.25  # a sender that means it sends its whole head at once


class Client(Protocol):
    """A connection, as far as slots are concerned."""

    def serve(self) -> None:
        """Goes on with the request that waited."""

    def loiters(self, seconds: float) -> bool:
        """Says whether it holds a slot with half a head for longer than that."""

    def cut(self) -> None:
        """Ends the connection; it leaves its slot."""


class Slots:
    """A fixed number of slots and a queue for them."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._holders: set[Client] = set()
        self._queue: deque[Client] = deque()

    def take(self, client: Client) -> bool:
        """Gives a slot, if need be that of one that loiters; else queues the client."""
        if not self._free:
            self._evict()
        if self._free:
            self._free -= 1
            self._holders.add(client)
            return True
        self._queue.append(client)
        return False

    def leave(self, client: Client) -> None:
        """Takes the slot or the place in the queue back; the next one in it is served."""
        if client in self._holders:
            self._holders.discard(client)
            self._free += 1
            self._call_next()
        elif client in self._queue:
            self._queue.remove(client)

    def _call_next(self) -> None:
        while self._free and self._queue:
            client = self._queue.popleft()
            self._free -= 1
            self._holders.add(client)
            client.serve()

    def _evict(self) -> None:
        for holder in self._holders:
            if holder.loiters(_PATIENCE_SECONDS):
                holder.cut()
                return
