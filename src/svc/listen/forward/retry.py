"""When a forward is tried again, and which event a target dies of (spec: Delivery and retries)."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from svc.listen.forward.connection import TargetReply
from svc.listen.forward.queue import ForwardItem
from svc.service.facts import (
    WEBHOOK_RETRY_DELAYS,
    WEBHOOK_RETRY_INTERVAL,
    WEBHOOK_RETRY_WINDOW_SECONDS,
)

RetryMode = Literal["fast", "real", "off"]

_FAST_FIRST_SECONDS: Final = 1.0
_FAST_MOST_SECONDS: Final = 30.0
_MOST_CLOSES: Final = 5  # a target that dies of one event must not stop all others for ever


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an event at a target after an attempt.

    With `hold` the target is away: everything for it waits, and this event goes first. Else the
    event alone is tried again after `later` seconds; None where it was taken or is given up.
    """

    hold: bool = False
    later: float | None = None


def decide(retry: RetryMode, reply: TargetReply, attempt: int, closes: int = 0) -> Decision:
    """Decides after attempt number `attempt` (from 1).

    `closes` counts the attempts of this run in which the target closed the connection of this
    event alone, this one included; those before a restart or at a target that was away do not
    count. `fast`: a target that is away is waited for, an HTTP error is final. `real`: the
    service's own schedule for every failure. `off`: one attempt.
    """
    if reply.is_taken:
        return Decision()
    if retry == "real":
        return Decision(later=real_delay(attempt))
    away = reply.trouble == "unreachable" or (reply.trouble == "closed" and closes < _MOST_CLOSES)
    return Decision(hold=retry == "fast" and away)


def real_delay(attempt: int) -> float | None:
    """Gives the service's delay after an attempt, in seconds; None after the last one.

    An attempt is made only if it falls within three days of the first (assumptions: Delivery).
    """
    if attempt <= len(WEBHOOK_RETRY_DELAYS):
        return WEBHOOK_RETRY_DELAYS[attempt - 1]
    so_far = sum(WEBHOOK_RETRY_DELAYS)
    so_far += WEBHOOK_RETRY_INTERVAL * (attempt - len(WEBHOOK_RETRY_DELAYS))
    return WEBHOOK_RETRY_INTERVAL if so_far <= WEBHOOK_RETRY_WINDOW_SECONDS else None


def seconds_left(retry: RetryMode, attempts: int, last_at: float, now: float) -> float:
    """Gives how long an event that was tried in an earlier run still has to wait, in seconds.

    The service's schedule goes on where it stood at the last attempt (`last_at`, unix seconds);
    the other ways of retrying begin anew.
    """
    delay = real_delay(attempts) if retry == "real" and attempts else None
    return 0.0 if delay is None else min(max(last_at + delay - now, 0.0), delay)


def hold_seconds(failures: int) -> float:
    """Gives how long a target is left alone after so many failures in a row (from 1)."""
    return min(_FAST_FIRST_SECONDS * 2.0 ** min(failures - 1, 10), _FAST_MOST_SECONDS)


class Agenda:
    """Calls back with each item when its time has come."""

    def __init__(self, due: Callable[[ForwardItem], None]) -> None:
        self._due = due
        self._heap: list[tuple[float, int, ForwardItem]] = []
        self._seqs: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, seconds: float, item: ForwardItem) -> None:
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


class Suspects:
    """Remembers who was under way when a target closed connections, until each was tried alone."""

    def __init__(self) -> None:
        self._under_way: dict[int, bool] = {}  # whether it has been alone all the time
        self._suspected: set[int] = set()
        self._charged: dict[int, int] = {}

    def __bool__(self) -> bool:
        """True while somebody is suspected: until then one goes at a time."""
        return bool(self._suspected)

    def sent(self, seq: int) -> None:
        """Notes that an event is on its way to the target."""
        alone = not self._under_way
        if not alone:
            self._under_way = dict.fromkeys(self._under_way, False)
        self._under_way[seq] = alone

    def heard(self, seq: int, *, closed: bool) -> int:
        """Notes how an attempt ended; gives how often the target has closed on this event alone."""
        alone = self._under_way.pop(seq, False)
        if closed:
            self._suspected.add(seq)
            if alone:
                self._charged[seq] = self._charged.get(seq, 0) + 1
        return self._charged.get(seq, 0)

    def forget(self, seq: int) -> None:
        """Suspects an event no more: it was answered, given up or closed."""
        self._suspected.discard(seq)
        self._charged.pop(seq, None)
