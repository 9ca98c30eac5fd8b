"""Holds the answers to senders until a target has answered (`--ack forwarded`, R50, R51).

`ingest` opens a `PendingAck` in place of answering 200; `dispatcher` releases it with the outcome.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.http.connection import TargetReply
from svc.listen.inbox.interfaces import Answer
from svc.listen.owners import own

# The id of an event, and its body: an event after a sandbox's reset may get the same id.
AckKey = tuple[str, bytes]

_TAKEN: Final = 200
_REFUSED: Final = 502
_LATE: Final = 504
_LATE_SECONDS: Final = 0.2  # for a verdict that comes at the last moment
_AWAY_STATUSES: Final = frozenset((408, 425, 429, 502, 503, 504))
AWAY: Final = 599  # never sent to a client: the target is away, another consumer may take the event


@dataclass(slots=True)
class PendingAck:
    """One event on its way to all its targets, and the answers to those who wait for its outcome.

    `status` is the worst verdict of a target so far; `deadline` is in the loop's time.
    """

    deadline: float
    answers: list[Answer]
    status: int = _TAKEN
    timer: asyncio.TimerHandle | None = None

    def release(self, status: int) -> None:
        """Answers everyone."""
        if self.timer is not None:
            self.timer.cancel()
        for answer in self.answers:
            answer(status)
        self.answers.clear()


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


class PendingAcks:
    """All events whose senders wait; `verdict` turns a target's reply into their answer."""

    def __init__(self, verdict: Callable[[TargetReply], int] = status_for_sender) -> None:
        self._verdict = verdict
        self._open: dict[AckKey, PendingAck] = {}
        self._keys: dict[int, AckKey] = {}

    def join(self, key: AckKey, answer: Answer) -> bool:
        """Lets a copy of an event wait for the outcome of the first; False if none is under way.

        After its deadline the first is no longer under way: another process may have closed the
        event, and then its outcome is never reported here.
        """
        if self.seconds_left(key) <= 0:
            self.release(key, _LATE)
        pending_ack = self._open.get(key)
        if pending_ack is not None:
            pending_ack.answers.append(answer)
        return pending_ack is not None

    def start(self, key: AckKey, answer: Answer) -> None:
        """Waits for an event's outcome from now on; at the deadline its senders get an answer."""
        loop = asyncio.get_running_loop()
        pending_ack = self._open[key] = PendingAck(loop.time() + FORWARD_SECONDS, [answer])
        limit = FORWARD_SECONDS + _LATE_SECONDS
        pending_ack.timer = loop.call_later(limit, own(pending_ack.release), _LATE)

    def note_stored(self, seq: int, key: AckKey) -> None:
        """Records the number in the inbox of an event whose sender waits."""
        if self._open and key in self._open:  # where none waits, no body has to be hashed
            self._keys[seq] = key

    def note_reply(self, seq: int, reply: TargetReply) -> None:
        """Records a target's reply to an event; the worst verdict counts."""
        pending_ack = self._open.get(self._keys[seq]) if seq in self._keys else None
        if pending_ack is not None:
            pending_ack.status = max(pending_ack.status, self._verdict(reply))

    def is_handed_back(self, reply: TargetReply) -> bool:
        """Returns whether an event with this reply goes to another consumer."""
        return self._verdict(reply) == AWAY

    def note_ended(self, seq: int, *, taken: bool) -> None:
        """Answers everyone who waits for an event that has ended at all its targets."""
        key = self._keys.pop(seq, None)
        if key is None or key not in self._open:
            return
        # One that a target did not take, if only before anyone waited for it, is no success.
        status = self._open[key].status
        self.release(key, _REFUSED if status == _TAKEN and not taken else status)

    def release(self, key: AckKey, status: int) -> None:
        """Ends a waiter, if there is one, and answers everyone."""
        pending_ack = self._open.pop(key, None)
        if pending_ack is not None:
            pending_ack.release(status)

    def seconds_left(self, key: AckKey) -> float:
        """Returns the seconds until no sender of an event waits any more; infinite if none does."""
        if not self._open or (pending_ack := self._open.get(key)) is None:
            return inf
        return pending_ack.deadline - asyncio.get_running_loop().time()
