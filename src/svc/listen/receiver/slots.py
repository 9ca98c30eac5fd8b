"""Limits the number of requests that are served at once; further clients wait (promise R57).

`server` has one `Slots`; each connection takes a slot when a request begins and leaves it
afterwards.
"""

from collections import deque
from typing import Protocol


class SlotHolder(Protocol):
    """The methods of a connection that `Slots` calls."""

    @property
    def proven(self) -> bool:
        """Whether the connection has sent a delivery with a valid signature of the service."""

    def serve(self) -> None:
        """Continues with the request that waited for a slot."""

    def seconds_unfinished(self) -> float:
        """Returns for how many seconds its request has been incomplete in a slot."""

    def make_way(self) -> None:
        """Ends the connection with its incomplete request, which frees the slot."""


class Slots:
    """A fixed number of slots, further slots for proven clients, and a queue.

    Proven clients in the queue are served first. Any client that knows the address can begin
    requests and leave them incomplete: while another client waits, requests that have been
    incomplete for too long are ended, unproven clients first, the oldest request first.
    """

    def __init__(self, count: int, reserved: int, timeout: float) -> None:
        """Creates `count` slots for all clients and `reserved` more for proven clients.

        A request that is incomplete for more than `timeout` seconds may be ended for another.
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
        """Whether a client waits for a slot."""
        return bool(self._queue)

    def take(self, client: SlotHolder) -> bool:
        """Returns True if the client gets a slot now; else adds the client to the queue.

        If no slot is free, a request that has been incomplete for too long is ended for it.
        """
        if not self._has_room(client):
            self._evict()
            if not self._has_room(client):
                self._queue.append(client)
                return False
        self._hold(client)
        return True

    def mark_complete(self, client: SlotHolder) -> None:
        """Notes that a request is complete: it is no longer ended for another client."""
        self._reading.discard(client)

    def leave(self, client: SlotHolder) -> None:
        """Removes a client from its slot or from the queue; a free slot goes to the next one."""
        if client in self._holders:
            self._holders.discard(client)
            self._reading.discard(client)
            self._call_next()
        elif client in self._queue:
            self._queue.remove(client)

    def relieve(self) -> None:
        """Ends requests that have been incomplete for too long, as long as a client waits."""
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
