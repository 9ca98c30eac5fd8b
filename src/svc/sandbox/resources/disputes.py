"""Disputes in the sandbox: evidence, its submission, the bank's decision (assumptions: Dispute).

`api` runs `update` and `accept` for `/v1/disputes`. `svc sandbox dispute` and `decide` open and
close a dispute by `control`, jobs do so for test cards and when the time to answer has passed.
`refunds` asks how much of a payment is not disputed.
"""

from datetime import timedelta
from typing import Final

from svc.sandbox import clock
from svc.sandbox.parameters.described import build_stored
from svc.sandbox.parameters.problems import build_invalid, build_unexpected_state, too_long
from svc.sandbox.parameters.tables import Params
from svc.sandbox.resources import operation, payments
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.disputes import EVIDENCE, RESOURCE

KIND: Final = RESOURCE.name
LAPSE: Final = "dispute.lapse"  # names of jobs
DECIDE: Final = "dispute.decide"

OPEN: Final = ("needs_response", "under_review")
_RESPONSE_TIME: Final = timedelta(days=14)
_DECIDED_AFTER: Final = 5  # seconds, where the evidence says how it will end
_OUTCOMES: Final = {"winning_evidence": "won", "losing_evidence": "lost"}
_KEYS: Final = tuple(field.name for field in EVIDENCE.fields)
_EVIDENCE_MAX: Final = 150_000


def can_open(tx: Transaction, payment: Doc) -> bool:
    """A dispute needs something captured that is left, and no other dispute that is open."""
    captured = payment["status"] == "captured" and compute_undisputed(tx, payment) > 0
    return captured and not any(each["status"] in OPEN for each in _every(tx, payment))


def compute_undisputed(tx: Transaction, payment: Doc) -> int:
    """The minor units of a payment that are neither refunded nor held or lost by a dispute."""
    held = sum(each["amount"] for each in _every(tx, payment) if each["status"] != "won")
    return int(payment["amount_captured"] - payment["amount_refunded"] - held)


def _every(tx: Transaction, payment: Doc) -> list[Doc]:
    return tx.find(KIND, payment=payment["id"]) if payment["disputed"] else []


def open_dispute(tx: Transaction, payment: Doc, reason: str, due: str | None = None) -> Doc:
    """The shopper disputes what is left of a payment; its amount leaves the balance."""
    amount = compute_undisputed(tx, payment)
    payment["disputed"] = True
    last = (tx.now + _RESPONSE_TIME).replace(hour=23, minute=59, second=59)
    due = due or clock.text(last)
    fields = build_stored(
        RESOURCE,
        {},
        payment=payment["id"],
        order=payment["order"],
        amount=amount,
        currency=payment["currency"],
        reason=reason,
        status="needs_response",
        evidence_status="none",
        evidence_due_by=due,
    )
    dispute = tx.new(KIND, fields)
    tx.add(dispute)
    payments.take_back(tx, payment, amount)
    tx.schedule_at(clock.parse(due), LAPSE, dispute["id"])
    tx.emit("dispute.opened", dispute)
    return dispute


def update(tx: Transaction, dispute: Doc, params: Params) -> Doc:
    """Merges evidence into the draft; with `submit` true hands it in, which is final."""
    _refuse_unless_awaited(tx, dispute)
    evidence = _merge(dispute["evidence"], params.get("evidence", {}))
    submit = params.get("submit") is True
    if submit and not evidence:
        raise build_invalid("evidence_missing", "evidence", "There is no evidence to submit.")
    dispute["evidence"] = evidence
    dispute["evidence_status"] = "draft" if evidence else "none"
    if submit:
        _submit(tx, dispute)
    else:
        tx.save(dispute)
    return dispute


def accept(tx: Transaction, dispute: Doc, params: Params) -> Doc:  # noqa: ARG001  takes none
    """Accepts the dispute as lost; this cannot be taken back."""
    _refuse_unless_awaited(tx, dispute)
    close(tx, dispute, "lost")
    return dispute


def close(tx: Transaction, dispute: Doc, outcome: str) -> None:
    """Decides an open dispute, `won` or `lost`; what is won comes back to the balance."""
    dispute["status"] = outcome
    dispute["closed_at"] = tx.now_text
    tx.save(dispute)
    tx.cancel_jobs(LAPSE, dispute["id"])
    tx.cancel_jobs(DECIDE, dispute["id"])
    if outcome == "won":
        payments.take_back(tx, tx.stored(payments.KIND, dispute["payment"]), -dispute["amount"])
    tx.emit(f"dispute.{outcome}", dispute)


def _submit(tx: Transaction, dispute: Doc) -> None:
    dispute["status"] = "under_review"
    dispute["evidence_status"] = "submitted"
    dispute["evidence_submitted_at"] = tx.now_text
    tx.save(dispute)
    tx.cancel_jobs(LAPSE, dispute["id"])
    tx.emit("dispute.evidence_submitted", dispute)
    outcome = _OUTCOMES.get(dispute["evidence"].get("uncategorized_text", ""))
    if outcome:
        tx.schedule(_DECIDED_AFTER, DECIDE, dispute["id"], outcome=outcome)


def _refuse_unless_awaited(tx: Transaction, dispute: Doc) -> None:
    status = dispute["status"]
    if status != "needs_response":
        message = f"The dispute is {status}; it takes no answer any more."
        raise build_unexpected_state(KIND, status, message)
    if tx.now >= clock.parse(dispute["evidence_due_by"]):
        message = "The time to answer the dispute has passed."
        raise build_unexpected_state(KIND, status, message)


def _merge(present: Doc, changes: Params | None) -> Doc:
    """The evidence after an update, in the order of the table; None removes all of it."""
    both = {} if changes is None else {**present, **changes}
    evidence = {key: both[key] for key in _KEYS if both.get(key)}
    if sum(map(len, evidence.values())) > _EVIDENCE_MAX:
        raise too_long("evidence", f"{_EVIDENCE_MAX} characters in all")
    return evidence


OPERATIONS: Final = operation.operations(RESOURCE, update=update, accept=accept)
