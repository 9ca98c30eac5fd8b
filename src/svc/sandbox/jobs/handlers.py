"""What happens by itself: the handlers of the jobs that the state machines schedule.

A job that finds its subject in another state than it was scheduled for has been overtaken by a
call and does nothing.
"""

from collections.abc import Callable, Mapping
from typing import Final

from svc.sandbox.resources import disputes, payments, payouts, refunds
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.jobs import Job
from svc.sandbox.store.transaction import Transaction

EXPIRED: Final = "authorization_expired"


def expire_authorization(tx: Transaction, job: Job) -> None:
    """Seven days without a capture: the authorisation is released, the order cancelled."""
    if payment := _subject(tx, job, payments.KIND, "authorized"):
        payments.void(tx, payments.order_of(tx, payment), EXPIRED)


def settle_payment(tx: Transaction, job: Job) -> None:
    """The shopper's bank answers a delayed debit."""
    if payment := _subject(tx, job, payments.KIND, "processing"):
        finish_debit(tx, payment, job.args["failure_code"])


def finish_debit(tx: Transaction, payment: Doc, failure_code: str | None) -> None:
    """Ends a payment in `processing`: collected, or failed with a code."""
    order = payments.order_of(tx, payment)
    tx.cancel_jobs(payments.SETTLE, payment["id"])
    if failure_code is None:
        payments.collect(tx, order, payment, payment["amount"])
    else:
        payments.fail(tx, order, payment, failure_code)


def dispute_payment(tx: Transaction, job: Job) -> None:
    """The shopper of a disputing card or account goes to the bank."""
    payment = _subject(tx, job, payments.KIND, "captured")
    if payment and disputes.can_open(tx, payment):
        disputes.open_dispute(tx, payment, job.args["reason"])


def settle_refund(tx: Transaction, job: Job) -> None:
    """The network answers a refund."""
    if refund := _subject(tx, job, refunds.KIND, "pending"):
        finish_refund(tx, refund, job.args["failure_reason"])


def finish_refund(tx: Transaction, refund: Doc, failure_reason: str | None) -> None:
    """Ends a pending refund: succeeded, or failed with a reason."""
    tx.cancel_jobs(refunds.SETTLE, refund["id"])
    if failure_reason is None:
        refunds.succeed(tx, refund)
    else:
        refunds.fail(tx, refund, failure_reason)


def send_payout(tx: Transaction, job: Job) -> None:
    """One hour after its creation a payout is handed over, or rejected at once."""
    if payout := _subject(tx, job, payouts.KIND, "created"):
        if job.args["failure_reason"] is None:
            payouts.send(tx, payout)
        else:
            payouts.fail(tx, payout, job.args["failure_reason"])


def settle_payout(tx: Transaction, job: Job) -> None:
    """A day after its creation the receiving bank answers."""
    if payout := _subject(tx, job, payouts.KIND, "sent"):
        if job.args["failure_reason"] is None:
            payouts.arrive(tx, payout)
        else:
            payouts.fail(tx, payout, job.args["failure_reason"])


def lapse_dispute(tx: Transaction, job: Job) -> None:
    """The deadline passed without evidence."""
    if dispute := _subject(tx, job, disputes.KIND, "needs_response"):
        disputes.close(tx, dispute, "lost")


def decide_dispute(tx: Transaction, job: Job) -> None:
    """The bank decides as the evidence foretold."""
    if dispute := _subject(tx, job, disputes.KIND, "under_review"):
        disputes.close(tx, dispute, job.args["outcome"])


HANDLERS: Final[Mapping[str, Callable[[Transaction, Job], None]]] = {
    payments.EXPIRE: expire_authorization,
    payments.SETTLE: settle_payment,
    payments.DISPUTE: dispute_payment,
    refunds.SETTLE: settle_refund,
    payouts.SEND: send_payout,
    payouts.SETTLE: settle_payout,
    disputes.LAPSE: lapse_dispute,
    disputes.DECIDE: decide_dispute,
}


def _subject(tx: Transaction, job: Job, kind: str, status: str) -> Doc | None:
    doc = tx.get(kind, job.subject)
    return doc if doc is not None and doc["status"] == status else None
