"""An event on its way to a target: as a queue holds it, and what each attempt leaves behind."""

import asyncio

from svc.clock import Clock
from svc.listen.forward.connection import TargetReply, told_of
from svc.listen.forward.queue import ForwardItem
from svc.listen.forward.retry import RetryMode, seconds_left
from svc.listen.inbox.inbox import Arrival, ForwardAttempt, OpenItem
from svc.listen.records import Forwarded
from svc.listen.targets import Target


class ForwardItems:
    """Makes what queues hold; `marked`: what may come a second time says how often it may have."""

    def __init__(self, retry: RetryMode, clock: Clock, *, marked: bool) -> None:
        self._retry = retry
        self._clock = clock
        self._marked = marked
        self._first: int | None = None  # what came before it may have been sent by an earlier run

    def arrived(self, seq: int, arrival: Arrival) -> ForwardItem:
        """Gives an event that has just been received, for its first attempt."""
        self._first = seq if self._first is None else self._first
        delivery, facts = arrival.delivery, arrival.delivery.facts
        return ForwardItem(
            seq,
            facts.id,
            facts.type,
            facts.object_id,
            delivery.headers,
            delivery.body,
            attempt=1,
            seen_at=asyncio.get_running_loop().time(),
            redelivered=arrival.redelivered if self._marked else 0,
        )

    def read(self, one: OpenItem, target: Target) -> ForwardItem:
        """Gives an event that was read from the inbox, for its next attempt at a target."""
        tried = one.tried.get(str(target))
        attempts, wait = 0, 0.0
        if tried is not None:
            attempts, now = tried.attempts, self._clock.now()
            wait = seconds_left(self._retry, attempts, tried.last_at, now)
        return ForwardItem(
            one.seq,
            one.event_id,
            one.type,
            one.object_id,
            one.headers,
            one.body,
            attempt=attempts + 1,
            seen_at=asyncio.get_running_loop().time(),
            wait=wait,
            redelivered=self._redelivered(one),
        )

    def _redelivered(self, one: OpenItem) -> int:
        """Counts who may have had an event; a run that ended may have sent all that it had."""
        if not self._marked:
            return 0
        earlier = self._first is None or one.seq < self._first
        return one.redelivered + earlier


def attempted(
    target: Target, item: ForwardItem, reply: TargetReply, retry_in: float | None, now: float
) -> tuple[ForwardAttempt, Forwarded]:
    """Gives an attempt that ended at `now` (Unix seconds) for the inbox, and for who is told."""
    kept = ForwardAttempt(
        item.seq,
        str(target),
        item.attempt,
        now - reply.milliseconds / 1000,
        reply.milliseconds,
        reply.status,
        reply.error,
        reply.body,
        final=retry_in is None,
    )
    event = (item.event_id, item.type)
    return kept, told_of(reply, target, event, now, item.attempt, retry_in)
