"""The plan of a listener: what `svc events listen` and `receive` make of their options.

A `ListenerPlan` goes to the `listener`; `ingest` and the inspector read it too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from svc.listen.forward.pending_acks import status_for_sender
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.request import HeaderText
from svc.listen.forward.signing import HeaderSigner
from svc.listen.http.connection import TargetReply
from svc.listen.progress import Until
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.routes import Routes
from svc.listen.targets import AS_USUAL, TargetTrust
from svc.listen.verify.diagnosis import KnownSecret
from svc.service.facts import Mode

Ack = Literal["received", "forwarded"]  # when the sender is answered

_USUAL_LIMITS: Final = ReceiverLimits()
_USUAL_WAY: Final = ForwardOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
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
    routes: Routes
    events: tuple[str, ...] = ()
    path: str = ""
    url: str = ""
    endpoint: str | None = None
    inspector: str | None = None
    forwarding: ForwardOptions = _USUAL_WAY
    headers: tuple[HeaderText, ...] = ()
    limits: ReceiverLimits = _USUAL_LIMITS
    until: Until | None = None
    has_child_process: bool = False
    resume: bool = True
    timeout: float | None = None
    ready_file: Path | None = None
    hosts: tuple[str, ...] = ()
    ack: Ack = "received"
    known: tuple[KnownSecret, ...] = ()
    signs: HeaderSigner | Literal["late", "original"] = "late"
    trust: TargetTrust = AS_USUAL
    verdict: Callable[[TargetReply], int] = status_for_sender
    only: frozenset[str] | None = None
    where: Callable[[bytes], bool] | None = None
    pending: int = 0
