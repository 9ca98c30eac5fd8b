"""A second inbox, in memory: what the seam asks for and nothing of SQLite."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from svc.errors import LocalError
from svc.listen.inbox.forgetting import KEEP_SECONDS
from svc.listen.inbox.interfaces import (
    Batch,
    EndedEvent,
    ForwardVerdict,
    InboundEvent,
    OpenItem,
    Retries,
    StoreResult,
)


@dataclass
class KeptRow:
    """What is to become of an event at one target; `verdict` is None while it was not tried."""

    verdict: ForwardVerdict | None = None
    attempts: int = 0
    next_at: float = 0.0
    last_at: float = 0.0
    sent: int = 0

    @property
    def is_open(self) -> bool:
        return self.verdict in (None, "later")


@dataclass
class KeptEvent:
    """One kept event."""

    seq: int
    inbound: InboundEvent
    rows: dict[str, KeptRow] = field(default_factory=dict)

    @property
    def outcome(self) -> str | None:
        verdicts = {row.verdict for row in self.rows.values()}
        if any(row.is_open for row in self.rows.values()):
            return None
        return "failed" if "failed" in verdicts else "forwarded" if verdicts else "unrouted"


class MemoryInbox:
    """Keeps everything as long as the object lives; two halves may use it from two threads."""

    def __init__(self, *, retake_failed: bool = False) -> None:
        self.entries: dict[str, KeptEvent] = {}
        self._by_seq: dict[int, KeptEvent] = {}
        self._retake_failed = retake_failed
        self._lock = threading.Lock()

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        with self._lock:
            for one in batch.attempts:
                row = self._by_seq[one.seq].rows[one.target]
                row.sent += one.sent
                if one.verdict not in ("unsent", "cut"):
                    row.verdict, row.next_at, row.last_at = one.verdict, one.next_at, one.started_at
                    row.attempts += 1
            for url in batch.well:
                for row in self._rows(url):
                    row.next_at = 0.0
            batch.ended = [
                EndedEvent(one.seq, one.type, self._by_seq[one.seq].outcome == "forwarded")
                for one in batch.attempts
                if self._by_seq[one.seq].outcome is not None
            ]
            return [self._keep(inbound) for inbound in batch.inbound_events]

    def begin(self, targets: Sequence[str], *, ordered: bool, anew: bool) -> None:
        """Begins a run."""

    def leave(self, target: str) -> list[OpenItem]:
        raise NotImplementedError

    def due(self, target: str, after: int, most: int) -> list[OpenItem]:
        with self._lock:
            found = [
                _item(one, target)
                for one in self._by_seq.values()
                if one.seq > after and target in one.rows and one.rows[target].verdict is None
            ]
            return found[:most]

    def again(self, target: str, now: float, most: int) -> Retries:
        with self._lock:
            later = {
                one.seq: one.rows[target].next_at
                for one in self._by_seq.values()
                if target in one.rows and one.rows[target].verdict == "later"
            }
        found = [_item(self._by_seq[seq], target) for seq, at in later.items() if at <= now]
        soonest = min((at for at in later.values() if at > now), default=None)
        return Retries(found[:most], soonest)

    def count(self, targets: Sequence[str]) -> int:
        with self._lock:
            return sum(
                any(url in one.rows and one.rows[url].is_open for url in targets)
                for one in self._by_seq.values()
            )

    def count_failed(self, seqs: Collection[int]) -> int:
        with self._lock:
            return sum(self._by_seq[seq].outcome == "failed" for seq in seqs)

    def prune(self, now: float, after: int) -> None:
        with self._lock:
            old = [
                name
                for name, one in self.entries.items()
                if one.outcome in ("forwarded", "unrouted")
                and one.inbound.delivery.received_at < now - KEEP_SECONDS
            ]
            for name in old:
                del self._by_seq[self.entries.pop(name).seq]

    def _rows(self, url: str) -> list[KeptRow]:
        return [one.rows[url] for one in self._by_seq.values() if url in one.rows]

    def _keep(self, inbound: InboundEvent) -> StoreResult:
        known = self.entries.get(inbound.delivery.facts.id)
        if known is None:
            seq = max(self._by_seq, default=0) + 1
            entry = KeptEvent(seq, inbound, {url: KeptRow() for url in inbound.targets})
            self.entries[inbound.delivery.facts.id] = self._by_seq[seq] = entry
            return StoreResult(seq, duplicate=False, again=False, open=inbound.outcome is None)
        if self._retake_failed and known.outcome == "failed":
            for row in known.rows.values():
                if row.verdict == "failed":
                    row.verdict, row.next_at = "later", 0.0
            return StoreResult(known.seq, duplicate=False, again=True, open=True)
        return StoreResult(known.seq, duplicate=True, again=False, open=known.outcome is None)


def _item(one: KeptEvent, target: str) -> OpenItem:
    delivery, row = one.inbound.delivery, one.rows[target]
    return OpenItem(
        one.seq,
        delivery.facts.id,
        delivery.facts.type,
        delivery.facts.object_id,
        delivery.headers,
        delivery.body,
        row.attempts,
        row.last_at,
        row.sent,
    )
