"""The receiving half of a listener: verify, store, answer, report (R46, R49, R50, R51).

It shares only the inbox with the forwarding half; `hand_over` is how it says that there is work.

`listener` makes one `Ingest`. The receiver passes it requests (`take`), a team's log deliveries
(`admit`); it stores them by `inbox.commit`, answers, and hands new events to the dispatcher.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.forward.pending_acks import PendingAcks
from svc.listen.http.requests import HttpHead, HttpRequest
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.interfaces import (
    Answer,
    DeliveryOutcome,
    InboundEvent,
    Oversized,
    Position,
    StoreResult,
)
from svc.listen.output_records import EventReceived, ListenerRecord, Rejected, StoreState
from svc.listen.plan import ListenerPlan
from svc.listen.progress import ListenerProgress
from svc.listen.routes import AnyTarget
from svc.listen.verify.verify import Delivery, Intake, Sequencer

_TOO_LARGE: Final = 413


@dataclass(frozen=True, slots=True)
class IngestDeps:
    """The dependencies of the ingest.

    `hand_over` is called with each event that is to be forwarded; `on_event_ended` after each event
    that no target is to get.
    """

    writer: InboxWriter
    pending_acks: PendingAcks
    progress: ListenerProgress
    clock: Clock
    emit: Callable[[ListenerRecord], None]
    hand_over: Callable[[StoreResult, InboundEvent], None]
    on_event_ended: Callable[[], None]


class Ingest:
    """Handles the requests of a receiver, and answers each of them once."""

    def __init__(self, plan: ListenerPlan, deps: IngestDeps) -> None:
        """Has `plan.only` and `plan.where` decide what is forwarded; all else is only kept.

        Raises:
            SignatureError: a secret of the plan cannot be one (promise R48).
        """
        self._plan = plan
        self._intake = Intake(plan.secrets, plan.known)
        self._live = plan.mode == "live"
        self._waits = plan.ack == "forwarded"
        self._deps = deps
        self._sequencer = Sequencer()
        self._closing = False
        self._store_trouble: str | None = None

    def verify_with(self, secrets: Sequence[str]) -> None:
        """Verifies deliveries by other secrets from now on; raises SignatureError."""
        self._intake = Intake(secrets, self._plan.known)

    def close(self) -> None:
        """Answers 503 from now on, so that the sender comes again."""
        self._closing = True

    def take(self, request: HttpRequest, answer: Answer) -> None:
        """Verifies a whole request; a good one is answered once it is stored, or forwarded."""
        if self._closing:
            answer(503)
            return
        verdict = self._intake.verify(request, self._deps.clock.now())
        if isinstance(verdict, Rejected):
            answer(400)
            self.reject(verdict)
            return
        self.admit(verdict, answer)

    def admit(
        self,
        delivery: Delivery,
        answer: Answer,
        position: Position | None = None,
        redelivered: int = 0,
    ) -> None:
        """Stores a verified delivery; one of a team's log comes with its `position` there.

        `redelivered` counts how often the log handed it out before.
        """
        if self._closing:
            answer(503)
            return
        livemode = delivery.facts.livemode
        wrong_mode = livemode is not None and livemode != self._live
        targets: Sequence[AnyTarget] = ()
        wanted = self._is_wanted(delivery)
        if wanted and not wrong_mode:
            targets = self._plan.routes.match(delivery.facts.type)
        outcome: DeliveryOutcome | None = None if targets else "unrouted"
        if wrong_mode:
            outcome = "withheld"
        urls, ordered = tuple(map(str, targets)), self._plan.forwarding.ordered
        inbound = InboundEvent(delivery, outcome, position, redelivered, urls, ordered)
        if self._waits and not wrong_mode:
            key = delivery.facts.id, delivery.body
            if self._deps.pending_acks.join(key, answer):
                self._note_received(inbound, duplicate=True, wrong_mode=False)
                return
            self._deps.pending_acks.start(key, answer)
        self._deps.writer.store(
            inbound, lambda stored: self._handle_stored(inbound, stored, answer, wanted=wanted)
        )

    def refuse(self, status: int, head: HttpHead | None, largest: int) -> None:
        """Counts a request that is no delivery; reports only a delivery that is too large.

        `largest` is the most that a body may have, in bytes.
        """
        if head is None or status != _TOO_LARGE:
            self._deps.progress.refused += 1
            return
        sizes = head.values(b"content-length")
        size = int(sizes[0]) if sizes else largest
        message = f"The body is over {largest} bytes."
        now = self._deps.clock.now()
        self.reject(Rejected(now, "body_too_large", message, size, head.headers))

    def _is_wanted(self, delivery: Delivery) -> bool:
        only, where = self._plan.only, self._plan.where
        if only is not None and delivery.facts.type not in only:
            return False
        return where is None or where(delivery.body)

    def _handle_stored(
        self,
        inbound: InboundEvent,
        stored: StoreResult | LocalError,
        answer: Answer,
        *,
        wanted: bool,
    ) -> None:
        delivery, outcome = inbound.delivery, inbound.outcome
        if isinstance(stored, LocalError):
            self._handle_lost(delivery, stored, answer)
            return
        if self._store_trouble is not None and not self._deps.writer.in_trouble:
            self.report_store_state(None)
        forwarding = outcome is None and stored.open
        if forwarding and (self._waits or not stored.duplicate):
            # Before its 200 leaves and its line is written: a target is to have it soon, and it is
            # on the disk. A forward is never reported in this same call.
            self._deps.hand_over(stored, inbound)
        if not self._waits or not forwarding:
            if self._waits:
                self._deps.pending_acks.release((delivery.facts.id, delivery.body), 200)
            answer(200)
        if not wanted:
            return
        self._note_received(inbound, duplicate=stored.duplicate, wrong_mode=outcome == "withheld")
        if outcome == "unrouted" and not stored.duplicate:
            self._deps.progress.note_ended(stored.seq, delivery.facts.type)
            self._deps.on_event_ended()

    def _handle_lost(self, delivery: Delivery, why: LocalError, answer: Answer) -> None:
        large = isinstance(why, Oversized)
        status, reason = (_TOO_LARGE, "body_too_large") if large else (503, "not_stored")
        self._deps.pending_acks.release((delivery.facts.id, delivery.body), status)
        answer(status)
        if not large:
            self.report_store_state(why)
        size = len(delivery.body)
        self.reject(Rejected(self._deps.clock.now(), reason, str(why), size, verified=True))

    def report_store_state(self, trouble: LocalError | None) -> None:
        """Reports once that the inbox fails for a reason, and once that it works again."""
        reason = None if trouble is None else str(trouble)
        if reason != self._store_trouble:
            self._store_trouble = reason
            self._deps.emit(StoreState(self._deps.clock.now(), reason))

    def _note_received(self, inbound: InboundEvent, *, duplicate: bool, wrong_mode: bool) -> None:
        delivery = inbound.delivery
        progress, facts = self._deps.progress, delivery.facts
        progress.received += 1
        progress.duplicates += duplicate
        progress.withheld += wrong_mode and not duplicate
        late = not duplicate and self._sequencer.is_late(facts)
        self._deps.emit(
            EventReceived(
                delivery.received_at,
                facts.id,
                facts.type,
                facts.object_id,
                facts.created,
                facts.livemode,
                facts.amount,
                facts.currency,
                duplicate,
                late,
                wrong_mode,
                delivery.body,
                delivery.came_at,
                inbound.redelivered,
                delivery.end_to_end,
            )
        )

    def reject(self, rejected: Rejected) -> None:
        """Counts and reports a request that was not accepted, here or by a source."""
        self._deps.progress.rejected += 1
        self._deps.emit(rejected)
