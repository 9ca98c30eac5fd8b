"""Who is served now and who waits: so many requests at once, whatever knocks (promise R57)."""

from collections import deque
from typing import Protocol


class SlotHolder(Protocol):
    """A connection, as far as slots are concerned."""

    @property
    def proven(self) -> bool:
        """True once it has brought what only the service could sign."""

    def serve(self) -> None:
        """Goes on with the request that waited."""

    def seconds_unfinished(self) -> float:
        """Says for how many seconds it has held a slot with a part of a request."""

    def make_way(self) -> None:
        """Gives its unfinished request up; it leaves its slot."""


class Slots:
    """A fixed number of slots, some more for who has proven itself, and a queue for all of them.

    A client that knows the address can begin requests and not end them. While another waits, the
    oldest of those give way.
    """

    def __init__(self, count: int, reserved: int, timeout: float) -> None:
        """Takes how many slots are for anybody, and how many more for proven clients alone.

        A request that is unfinished after `timeout` seconds gives way.
        """
        self._count = count
        self._reserved = reserved
        self._timeout = timeout
        self._holders: set[SlotHolder] = set()
        self._reading: set[SlotHolder] = set()  # those of them whose request is not whole yet
        self._queue: deque[SlotHolder] = deque()
        self._calling = False

    @property
    def contested(self) -> bool:
        """True while a client waits for a slot."""
        return bool(self._queue)

    def take(self, client: SlotHolder) -> bool:
        """Gives a slot, if need be that of an unfinished request; else queues the client."""
        if not self._has_room(client):
            self._evict()
        if self._has_room(client):
            self._hold(client)
            return True
        self._queue.append(client)
        return False

    def whole(self, client: SlotHolder) -> None:
        """Notes that a request is whole: it keeps its slot."""
        self._reading.discard(client)

    def leave(self, client: SlotHolder) -> None:
        """Takes the slot or the place in the queue back; the next one in it is served."""
        if client in self._holders:
            self._holders.discard(client)
            self._reading.discard(client)
            self._call_next()
        elif client in self._queue:
            self._queue.remove(client)

    def relieve(self) -> None:
        """Lets unfinished requests give way, the oldest first, as long as a client waits."""
        while self._queue and self._evict():
            pass

    def _hold(self, client: SlotHolder) -> None:
        self._holders.add(client)
        self._reading.add(client)

    def _has_room(self, client: SlotHolder) -> bool:
        most = self._count + (self._reserved if client.proven else 0)
        return len(self._holders) < most

    def _call_next(self) -> None:
        # Who is served may be refused and leave at once: a queue of them is long.
        if self._calling or not self._queue:
            return
        self._calling = True
        try:
            while (client := self._next()) is not None:
                self._queue.remove(client)
                self._hold(client)
                client.serve()
        finally:
            self._calling = False

    def _next(self) -> SlotHolder | None:
        proven = (client for client in self._queue if client.proven)
        client = next(proven, None) or next(iter(self._queue), None)
        return client if client is not None and self._has_room(client) else None

    def _evict(self) -> bool:
        late = [one for one in self._reading if one.seconds_unfinished() > self._timeout]
        if not late:
            return False
        max(late, key=lambda one: (not one.proven, one.seconds_unfinished())).make_way()
        return True
