"""Backpressure: deliveries that come faster than they are forwarded wait for those before them.

Memory has no room for many of them. The others are read back from the inbox when their turn comes,
which costs a quarter of all that an event costs; a sender that gets its 200 some milliseconds later
costs nothing. A target that is slow or away is not waited for.

`commit` asks `holds` before it stores a group of deliveries; the answers to their senders wait too.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from svc.errors import LocalError
from svc.listen.inbox.interfaces import StoreResult
from svc.listen.owners import own

_OPEN_MAX: Final = 256  # as many as a target may get at a time, and half of what its queue holds
_WAIT_SECONDS: Final = 0.1


class Backpressure:
    """Counts the events that are to be forwarded, and holds groups of deliveries back if many are.

    A group waits 0.1 s at most; after that in vain, none is held back before the events are few.
    """

    def __init__(self, go: Callable[[], None]) -> None:
        """`go` is called, from the loop, when what was held back may go."""
        self._go = go
        self._open = 0
        self._timer: asyncio.TimerHandle | None = None
        self._in_vain = False

    @property
    def holding(self) -> bool:
        """True while a group waits."""
        return self._timer is not None

    def holds(self) -> bool:
        """Returns whether a group that is about to be stored has to wait."""
        if self._timer is None and self._open > _OPEN_MAX and not self._in_vain:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_WAIT_SECONDS, own(self._give_up))
        return self.holding

    def note_stored(self, stored: Iterable[StoreResult | LocalError]) -> None:
        """Counts what of a group is to be forwarded."""
        for one in stored:
            if not isinstance(one, LocalError) and one.open and not one.duplicate:
                self._open += 1

    def note_ended(self, count: int) -> None:
        """Counts events that have ended; what an earlier run had left open was never counted."""
        self._open = max(self._open - count, 0)
        if count and self._open <= _OPEN_MAX:
            self._in_vain = False
            self.release()

    def release(self) -> None:
        """Lets the groups continue that wait, if there are any."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            asyncio.get_running_loop().call_soon(own(self._go))

    def _give_up(self) -> None:
        self._in_vain = True
        self.release()
