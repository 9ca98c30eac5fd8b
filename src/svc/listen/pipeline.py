"""Connects the two halves of a listener, `ingest` and `forward.dispatcher`, over one inbox.

`listener` makes one `Pipeline` for each run, from the `ListenerPlan` that `svc events listen`
builds of its options. Deliveries go in at `ingest`; records come out through a callback.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from svc.clock import Clock
from svc.listen.forward.dispatcher import Dispatcher, DispatcherDeps
from svc.listen.forward.pending_acks import PendingAcks, status_for_sender
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.request import ForwardSender, HeaderText
from svc.listen.forward.signing import HeaderSigner, LateSigner
from svc.listen.http.connection import TargetReply
from svc.listen.http.dial import Connect, open_connection
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.interfaces import Inbox
from svc.listen.ingest import Ack, Ingest, IngestDeps
from svc.listen.output_records import ListenerRecord
from svc.listen.progress import ListenerProgress, Until
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.routes import AnyTarget, Routes
from svc.listen.running.senders import sender_for
from svc.listen.targets import AS_USUAL, TargetTrust
from svc.listen.verify.diagnosis import KnownSecret
from svc.listen.verify.verify import Intake
from svc.service.facts import Mode


@dataclass(frozen=True, slots=True)
class ListenerPlan:
    """The options of a listener; `timeout` is the limit for the whole run, in seconds.

    `path` is the one path that is answered, `hosts` are the host names of a tunnel; the endpoint at
    the service has the address `url` and the types `events`. `has_child_process`: a command runs
    beside the listener, which `until` does not end before `Listener.finish` is called. `known` are
    secrets of other endpoints, to explain a rejection with. Without `resume`, events that earlier
    runs left open are reported and stay open, unless a sender waits for the outcome of one.
    `signs` says how forwarded events are signed: `late` ones anew (R123), all of them as they came,
    or by a given signer; `trust` says whose certificates are good. `verdict` turns a target's reply
    into the answer for the sender that waits for it. `only` are the types that are forwarded of an
    endpoint that sends others too; `where` decides by the payload whether an event is forwarded.
    `pending` counts the events that earlier runs left open.
    """

    mode: Mode
    secrets: tuple[str, ...]
    path: str
    url: str
    routes: Routes
    events: tuple[str, ...]
    endpoint: str | None
    inspector: str | None
    forwarding: ForwardOptions
    headers: tuple[HeaderText, ...]
    limits: ReceiverLimits
    until: Until | None
    has_child_process: bool
    resume: bool
    timeout: float | None
    ready_file: Path | None
    hosts: tuple[str, ...] = ()
    ack: Ack = "received"
    known: tuple[KnownSecret, ...] = ()
    signs: HeaderSigner | Literal["late", "original"] = "late"
    trust: TargetTrust = AS_USUAL
    verdict: Callable[[TargetReply], int] = status_for_sender
    only: frozenset[str] | None = None
    where: Callable[[bytes], bool] | None = None
    pending: int = 0


class Pipeline:
    """Both halves of a listener on one inbox; made inside an event loop, used once.

    `emit` is called with a record of everything that happens, `on_event_ended` after each event
    that has ended.
    """

    def __init__(
        self,
        plan: ListenerPlan,
        inbox: Inbox,
        clock: Clock,
        emit: Callable[[ListenerRecord], None],
        on_event_ended: Callable[[], None],
        connect: Connect = open_connection,
    ) -> None:
        """Checks the secrets first; raises SignatureError: a secret cannot be one (promise R48)."""
        self.progress = ListenerProgress(plan.until)
        self.writer = InboxWriter(inbox, results_first=plan.ack == "forwarded")
        # Under `forwarded` the sender tries again; a second hand at it would only double events.
        options = plan.forwarding
        if plan.ack == "forwarded":
            options = replace(options, retry="off")
        acks = PendingAcks(plan.verdict)
        shared = (self.writer, acks, self.progress, clock, emit)
        forwarding = DispatcherDeps(inbox, *shared, on_event_ended)
        self._late = LateSigner(plan.secrets, clock)
        signers = {"late": self._late, "original": None}
        sign = signers[plan.signs] if isinstance(plan.signs, str) else plan.signs

        def sender(target: AnyTarget) -> ForwardSender:
            return sender_for(target, plan.headers, connect, sign, plan.trust)

        self.dispatcher = Dispatcher(plan.routes, options, sender, forwarding)
        ingest = IngestDeps(*shared, self.dispatcher.hand_over, on_event_ended)
        self._known = plan.known
        self.ingest = Ingest(
            Intake(plan.secrets, plan.known),
            plan.routes,
            plan.mode,
            plan.ack,
            ingest,
            ordered=options.ordered,
            only=plan.only,
            where=plan.where,
        )
        self.writer.on_trouble(self.ingest.report_store_state)

    def use_secrets(self, secrets: Sequence[str]) -> None:
        """Verifies, and signs anew, by these secrets from now on.

        Raises:
            SignatureError: a secret cannot be one (promise R48).
        """
        self.ingest.verify_with(Intake(secrets, self._known))
        self._late.secrets = tuple(secrets)

    @property
    def idle(self) -> bool:
        """True when every delivery is kept and every event has ended at every target."""
        return self.writer.idle and self.dispatcher.idle

    async def close(self, grace: float) -> int:
        """Ends both halves, attempts after `grace` seconds; returns how many events are pending."""
        self.ingest.close()
        await self.dispatcher.close(grace)
        pending = await self.dispatcher.pending()
        await self.writer.close()
        return pending
