"""The receiving half of a listener: verify, store, answer, report (R46, R49, R50, R51).

It shares only the inbox with the forwarding half; `hand_over` is how it says that there is work.

`listener` makes one `Ingest`. The receiver passes it requests (`take`), a team's log deliveries
(`admit`); it stores them by `inbox.commit`, answers, and hands new events to the dispatcher.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class Ingest:
    """Handles the requests of a receiver, and answers each of them once.

    `plan.only` and `plan.where` decide what is forwarded; all else is only kept. `hand_over` is
    called with each event that is to be forwarded; `on_event_ended` after each event that no target
    is to get.

    Raises:
        SignatureError: a secret of the plan cannot be one (promise R48).
    """

    plan: ListenerPlan
    writer: InboxWriter
    pending_acks: PendingAcks
    progress: ListenerProgress
    clock: Clock
    emit: Callable[[ListenerRecord], None]
    hand_over: Callable[[StoreResult, InboundEvent], None]
    on_event_ended: Callable[[], None]
    _intake: Intake = field(init=False)
    _waits: bool = field(init=False)
    _sequencer: Sequencer = field(init=False, default_factory=Sequencer)
    _closing: bool = field(init=False, default=False)
    _store_trouble: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._intake = Intake(self.plan.secrets, self.plan.known)
        self._waits = self.plan.ack == "forwarded"

    def verify_with(self, secrets: Sequence[str]) -> None:
        """Verifies deliveries by other secrets from now on; raises SignatureError."""
        self._intake = Intake(secrets, self.plan.known)

    def close(self) -> None:
        """Answers 503 from now on, so that the sender comes again."""
        self._closing = True

    def take(self, request: HttpRequest, answer: Answer) -> None:
        """Verifies a whole request; a good one is answered once it is stored, or forwarded."""
        if self._closing:
            answer(503)
            return
        verdict = self._intake.verify(request, self.clock.now())
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
        wrong_mode = livemode is not None and livemode != (self.plan.mode == "live")
        targets: Sequence[AnyTarget] = ()
        wanted = self._is_wanted(delivery)
        if wanted and not wrong_mode:
            targets = self.plan.routes.match(delivery.facts.type)
        outcome: DeliveryOutcome | None = None if targets else "unrouted"
        if wrong_mode:
            outcome = "withheld"
        urls, ordered = tuple(map(str, targets)), self.plan.forwarding.ordered
        inbound = InboundEvent(delivery, outcome, position, redelivered, urls, ordered)
        if self._waits and not wrong_mode:
            key = delivery.facts.id, delivery.body
            if self.pending_acks.join(key, answer):
                self._note_received(inbound, duplicate=True, wrong_mode=False)
                return
            self.pending_acks.start(key, answer)
        self.writer.store(
            inbound, lambda stored: self._handle_stored(inbound, stored, answer, wanted=wanted)
        )

    def refuse(self, status: int, head: HttpHead | None, largest: int) -> None:
        """Counts a request that is no delivery; reports only a delivery that is too large.

        `largest` is the most that a body may have, in bytes.
        """
        if head is None or status != _TOO_LARGE:
            self.progress.refused += 1
            return
        sizes = head.values(b"content-length")
        size = int(sizes[0]) if sizes else largest
        message = f"The body is over {largest} bytes."
        now = self.clock.now()
        self.reject(Rejected(now, "body_too_large", message, size, head.headers))

    def _is_wanted(self, delivery: Delivery) -> bool:
        only, where = self.plan.only, self.plan.where
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
        if self._store_trouble is not None and not self.writer.in_trouble:
            self.report_store_state(None)
        forwarding = outcome is None and stored.open
        if forwarding and (self._waits or not stored.duplicate):
            # Before its 200 leaves and its line is written: a target is to have it soon, and it is
            # on the disk. A forward is never reported in this same call.
            self.hand_over(stored, inbound)
        if not self._waits or not forwarding:
            if self._waits:
                self.pending_acks.release((delivery.facts.id, delivery.body), 200)
            answer(200)
        if not wanted:
            return
        self._note_received(inbound, duplicate=stored.duplicate, wrong_mode=outcome == "withheld")
        if outcome == "unrouted" and not stored.duplicate:
            self.progress.note_ended(stored.seq, delivery.facts.type)
            self.on_event_ended()

    def _handle_lost(self, delivery: Delivery, why: LocalError, answer: Answer) -> None:
        large = isinstance(why, Oversized)
        status, reason = (_TOO_LARGE, "body_too_large") if large else (503, "not_stored")
        self.pending_acks.release((delivery.facts.id, delivery.body), status)
        answer(status)
        if not large:
            self.report_store_state(why)
        size = len(delivery.body)
        self.reject(Rejected(self.clock.now(), reason, str(why), size, verified=True))

    def report_store_state(self, trouble: LocalError | None) -> None:
        """Reports once that the inbox fails for a reason, and once that it works again."""
        reason = None if trouble is None else str(trouble)
        if reason != self._store_trouble:
            self._store_trouble = reason
            self.emit(StoreState(self.clock.now(), reason))

    def _note_received(self, inbound: InboundEvent, *, duplicate: bool, wrong_mode: bool) -> None:
        delivery = inbound.delivery
        progress, facts = self.progress, delivery.facts
        progress.received += 1
        progress.duplicates += duplicate
        progress.withheld += wrong_mode and not duplicate
        late = not duplicate and self._sequencer.is_late(facts)
        self.emit(
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
        self.progress.rejected += 1
        self.emit(rejected)
