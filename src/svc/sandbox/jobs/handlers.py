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


def expire_authorization(world: Transaction, job: Job) -> None:
    """Seven days without a capture: the authorisation is released, the order cancelled."""
    if payment := _subject(world, job, payments.KIND, "authorized"):
        payments.void(world, payments.order_of(world, payment), EXPIRED)


def settle_payment(world: Transaction, job: Job) -> None:
    """The shopper's bank answers a delayed debit."""
    if payment := _subject(world, job, payments.KIND, "processing"):
        finish_debit(world, payment, job.args["failure_code"])


def finish_debit(world: Transaction, payment: Doc, failure_code: str | None) -> None:
    """Ends a payment in `processing`: collected, or failed with a code."""
    order = payments.order_of(world, payment)
    world.cancel_jobs(payments.SETTLE, payment["id"])
    if failure_code is None:
        payments.collect(world, order, payment, payment["amount"])
    else:
        payments.fail(world, order, payment, failure_code)


def dispute_payment(world: Transaction, job: Job) -> None:
    """The shopper of a disputing card or account goes to the bank."""
    payment = _subject(world, job, payments.KIND, "captured")
    if payment and disputes.can_open(world, payment):
        disputes.open_dispute(world, payment, job.args["reason"])


def settle_refund(world: Transaction, job: Job) -> None:
    """The network answers a refund."""
    if refund := _subject(world, job, refunds.KIND, "pending"):
        finish_refund(world, refund, job.args["failure_reason"])


def finish_refund(world: Transaction, refund: Doc, failure_reason: str | None) -> None:
    """Ends a pending refund: succeeded, or failed with a reason."""
    world.cancel_jobs(refunds.SETTLE, refund["id"])
    if failure_reason is None:
        refunds.succeed(world, refund)
    else:
        refunds.fail(world, refund, failure_reason)


def send_payout(world: Transaction, job: Job) -> None:
    """One hour after its creation a payout is handed over, or rejected at once."""
    if payout := _subject(world, job, payouts.KIND, "created"):
        if job.args["failure_reason"] is None:
            payouts.send(world, payout)
        else:
            payouts.fail(world, payout, job.args["failure_reason"])


def settle_payout(world: Transaction, job: Job) -> None:
    """A day after its creation the receiving bank answers."""
    if payout := _subject(world, job, payouts.KIND, "sent"):
        if job.args["failure_reason"] is None:
            payouts.arrive(world, payout)
        else:
            payouts.fail(world, payout, job.args["failure_reason"])


def lapse_dispute(world: Transaction, job: Job) -> None:
    """The deadline passed without evidence."""
    if dispute := _subject(world, job, disputes.KIND, "needs_response"):
        disputes.close(world, dispute, "lost")


def decide_dispute(world: Transaction, job: Job) -> None:
    """The bank decides as the evidence foretold."""
    if dispute := _subject(world, job, disputes.KIND, "under_review"):
        disputes.close(world, dispute, job.args["outcome"])


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


def _subject(world: Transaction, job: Job, kind: str, status: str) -> Doc | None:
    doc = world.get(kind, job.subject)
    return doc if doc is not None and doc["status"] == status else None
