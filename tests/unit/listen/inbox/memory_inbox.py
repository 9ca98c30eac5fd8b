"""A second inbox, in memory: what the seam asks for and nothing of SQLite."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from svc.errors import LocalError
from svc.listen.inbox.inbox import (
    Arrival,
    Batch,
    DeliveryOutcome,
    ForwardAttempt,
    Kept,
    OpenItem,
    Tried,
)
from svc.listen.inbox.sqlite import KEEP_SECONDS

PAGE = 16


@dataclass
class KeptEvent:
    """One kept event."""

    seq: int
    arrival: Arrival
    outcome: DeliveryOutcome | None
    attempts: list[ForwardAttempt] = field(default_factory=list)


class MemoryInbox:
    """Keeps everything as long as the object lives; two halves may use it from two threads."""

    def __init__(self, *, retake_failed: bool = False) -> None:
        self.entries: dict[str, KeptEvent] = {}
        self._by_seq: dict[int, KeptEvent] = {}
        self._retake_failed = retake_failed
        self._lock = threading.Lock()

    def store(self, batch: Batch) -> list[Kept | LocalError]:
        with self._lock:
            for attempt in batch.attempts:
                self._by_seq[attempt.seq].attempts.append(attempt)
            for seq, outcome in batch.settled:
                self._by_seq[seq].outcome = outcome
            return [self._keep(arrival) for arrival in batch.arrivals]

    def open_after(self, seq: int, object_id: str | None = None) -> list[OpenItem]:
        with self._lock:
            found = [
                one
                for one in self._by_seq.values()
                if one.seq > seq
                and one.outcome is None
                and object_id in (None, one.arrival.delivery.facts.object_id)
            ]
            return [_item(one) for one in found[:PAGE]]

    def open_types(self, seq: int) -> Mapping[str, int]:
        with self._lock:
            found = [one for one in self._by_seq.values() if one.seq > seq and one.outcome is None]
            return Counter(one.arrival.delivery.facts.type for one in found)

    def open_item(self, seq: int) -> OpenItem | None:
        with self._lock:
            one = self._by_seq.get(seq)
            return None if one is None or one.outcome is not None else _item(one)

    def prune(self, now: float) -> int:
        with self._lock:
            old = [
                name
                for name, one in self.entries.items()
                if one.outcome and one.arrival.delivery.received_at < now - KEEP_SECONDS
            ]
            for name in old:
                del self._by_seq[self.entries.pop(name).seq]
            return len(old)

    def _keep(self, arrival: Arrival) -> Kept:
        known = self.entries.get(arrival.delivery.facts.id)
        if known is None:
            seq = max(self._by_seq, default=0) + 1
            entry = KeptEvent(seq, arrival, arrival.outcome)
            self.entries[arrival.delivery.facts.id] = self._by_seq[seq] = entry
            return Kept(seq, duplicate=False, again=False, open=arrival.outcome is None)
        if self._retake_failed and known.outcome == "failed":
            known.outcome = None
            known.attempts = [replace(one, final=False) for one in known.attempts]
            return Kept(known.seq, duplicate=False, again=True, open=True)
        return Kept(known.seq, duplicate=True, again=False, open=known.outcome is None)


def _item(one: KeptEvent) -> OpenItem:
    delivery = one.arrival.delivery
    tried: dict[str, Tried] = {}
    ended: dict[str, bool] = {}
    for attempt in one.attempts:
        before = tried.get(attempt.target, Tried(0, 0))
        at = attempt.started_at + attempt.milliseconds / 1000
        tried[attempt.target] = Tried(before.attempts + 1, max(before.last_at, at))
        taken = attempt.status in range(200, 300)
        if taken or attempt.final:
            ended[attempt.target] = ended.get(attempt.target, False) or taken
    return OpenItem(
        one.seq,
        delivery.facts.id,
        delivery.facts.type,
        delivery.facts.object_id,
        delivery.headers,
        delivery.body,
        tried,
        ended,
    )
