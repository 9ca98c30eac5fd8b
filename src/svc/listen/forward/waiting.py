"""Senders that wait for the target's verdict (`--ack forwarded`, promises R50, R51)."""

import asyncio
from collections.abc import Callable
from typing import Final

from svc.listen.forward.connection import TargetReply
from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.inbox.inbox import Answer
from svc.listen.owners import owned

WaiterKey = tuple[str, int]

_TAKEN: Final = 200
_REFUSED: Final = 502
_LATE: Final = 504
_LATE_SECONDS: Final = 0.2  # for a verdict that comes at the last moment
_AWAY_STATUSES: Final = frozenset((408, 425, 429, 502, 503, 504))
AWAY: Final = 599  # no answer for anybody outside: the target is away, somebody else may have it


def key_of(event_id: str, body: bytes) -> WaiterKey:
    """Tells an event from another one that a sandbox, after a reset, gives the same id."""
    return event_id, hash(body)


class Waiter:
    """One event on its way to all its targets, and everyone who waits to hear how it ends."""

    def __init__(self, deadline: float, verdict: Callable[[TargetReply], int]) -> None:
        self.deadline = deadline
        self.status = _TAKEN
        self.timer: asyncio.TimerHandle | None = None
        self._verdict = verdict
        self._answers: list[Answer] = []

    def join(self, answer: Answer) -> None:
        """Adds a sender; it gets the same answer as the first one."""
        self._answers.append(answer)

    def heard(self, reply: TargetReply) -> None:
        """Notes one target's verdict; the worst one counts."""
        self.status = max(self.status, self._verdict(reply))

    def fail(self) -> None:
        """Notes that a target did not take the event, if only before anybody waited for it."""
        if self.status == _TAKEN:
            self.status = _REFUSED

    def release(self, status: int | None = None) -> None:
        """Answers everyone, with the targets' verdict unless another status is given."""
        if self.timer is not None:
            self.timer.cancel()
        for answer in self._answers:
            answer(self.status if status is None else status)
        self._answers.clear()


def status_for_sender(reply: TargetReply) -> int:
    """Turns a target's reply into the answer for the service (promise R51)."""
    if reply.trouble == "timeout":
        return _LATE
    return _TAKEN if reply.is_taken else _REFUSED


def status_for_group(reply: TargetReply) -> int:
    """Turns a target's reply into a verdict for those who share a queue: taken, away or refused."""
    if reply.is_taken:
        return _TAKEN
    if reply.status is None or reply.status in _AWAY_STATUSES:
        return AWAY
    return min(reply.status, AWAY - 1)


class Waiters:
    """All events that somebody waits for; `verdict` turns a target's reply into their answer."""

    def __init__(self, verdict: Callable[[TargetReply], int] = status_for_sender) -> None:
        self._verdict = verdict
        self._open: dict[WaiterKey, Waiter] = {}
        self._keys: dict[int, WaiterKey] = {}

    def join(self, key: WaiterKey, answer: Answer) -> bool:
        """Lets a copy wait for the first one's outcome; False if none is under way.

        One whose time is over is under way no more: what it waited for may have been closed
        elsewhere, and then nothing of it is heard again.
        """
        left = self.seconds_left(key)
        if left is not None and left <= 0:
            self.release(key, _LATE)
        waiter = self._open.get(key)
        if waiter is not None:
            waiter.join(answer)
        return waiter is not None

    def start(self, key: WaiterKey, answer: Answer) -> None:
        """Opens a waiter; its time runs from now, and then its senders are answered."""
        loop = asyncio.get_running_loop()
        waiter = Waiter(loop.time() + FORWARD_SECONDS, self._verdict)
        waiter.join(answer)
        waiter.timer = loop.call_later(
            FORWARD_SECONDS + _LATE_SECONDS, owned(waiter.release), _LATE
        )
        self._open[key] = waiter

    def kept(self, seq: int, key: WaiterKey) -> None:
        """Notes where the inbox has the event of a waiter."""
        if key in self._open:
            self._keys[seq] = key

    def find(self, key: WaiterKey) -> Waiter | None:
        """Gives an open waiter."""
        return self._open.get(key)

    def heard(self, seq: int, reply: TargetReply) -> None:
        """Notes what a target made of an event."""
        waiter = self.find(self._keys[seq]) if seq in self._keys else None
        if waiter is not None:
            waiter.heard(reply)

    def is_handed_back(self, reply: TargetReply) -> bool:
        """Says whether somebody else is to have what a target has replied so to."""
        return self._verdict(reply) == AWAY

    def ended(self, seq: int, *, taken: bool) -> None:
        """Answers everyone who waits for an event that has ended at all its targets."""
        key = self._keys.pop(seq, None)
        waiter = self.find(key) if key is not None else None
        if waiter is None or key is None:
            return
        if not taken:
            waiter.fail()
        self.release(key)

    def release(self, key: WaiterKey, status: int | None = None) -> None:
        """Ends a waiter, if there is one, and answers everyone."""
        waiter = self._open.pop(key, None)
        if waiter is not None:
            waiter.release(status)

    def seconds_left(self, key: WaiterKey) -> float | None:
        """Gives the time until nobody waits any more; None if nobody has waited at all."""
        waiter = self._open.get(key)
        return None if waiter is None else waiter.deadline - asyncio.get_running_loop().time()
