"""The handlers of jobs, by name: a debit is collected, a refund settles, a payout arrives.

A job that finds its subject in another state than it was scheduled for has been overtaken by a
call and does nothing.

`runner` calls one for each due job; `svc sandbox settle` and `fail` call the same steps at once.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from svc.sandbox.resources import clearance, disputes, payments, payouts, refunds, webhook_endpoints
from svc.sandbox.store import jobs
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.jobs import Job
from svc.sandbox.store.transaction import Transaction

JobAct = Callable[[Transaction, Doc, Mapping[str, Any]], None]


def finish_debit(tx: Transaction, payment: Doc, failure_code: str | None) -> None:
    """Ends a payment in `processing`: collected, or failed with a code."""
    order = payments.order_of(tx, payment)
    tx.cancel_jobs(payments.SETTLE, payment["id"])
    if failure_code is None:
        payments.collect(tx, order, payment, payment["amount"])
    else:
        payments.fail(tx, order, payment, failure_code)


def finish_refund(tx: Transaction, refund: Doc, failure_reason: str | None) -> None:
    """Ends a pending refund: succeeded, or failed with a reason."""
    tx.cancel_jobs(refunds.SETTLE, refund["id"])
    if failure_reason is None:
        refunds.succeed(tx, refund)
    else:
        refunds.fail(tx, refund, failure_reason)


def _finish_payout(tx: Transaction, payout: Doc, args: Mapping[str, Any]) -> None:
    if args["failure_reason"] is not None:
        payouts.fail(tx, payout, args["failure_reason"])
    elif payout["status"] == "created":
        payouts.send(tx, payout)
    else:
        payouts.arrive(tx, payout)


def _dispute(tx: Transaction, payment: Doc, args: Mapping[str, Any]) -> None:
    if disputes.can_open(tx, payment):
        disputes.open_dispute(tx, payment, args["reason"])


def _void(tx: Transaction, payment: Doc, _: Mapping[str, Any]) -> None:
    payments.void(tx, payments.order_of(tx, payment), "authorization_expired")


def _while(kind: str, status: str, act: JobAct) -> Callable[[Transaction, Job], None]:
    """Acts on a job's subject, as long as that has the status which it was scheduled for."""

    def handle(tx: Transaction, job: Job) -> None:
        doc = tx.get(kind, job.subject)
        if doc is not None and doc["status"] == status:
            act(tx, doc, job.args)

    return handle


HANDLERS: Final[Mapping[str, Callable[[Transaction, Job], None]]] = {
    payments.EXPIRE: _while(payments.KIND, "authorized", _void),
    payments.SETTLE: _while(
        payments.KIND,
        "processing",
        lambda tx, payment, args: finish_debit(tx, payment, args["failure_code"]),
    ),
    payments.DISPUTE: _while(payments.KIND, "captured", _dispute),
    clearance.CHARGE: _while(
        clearance.KIND, "paid", lambda tx, order, args: clearance.charge(tx, order, args["charged"])
    ),
    refunds.SETTLE: _while(
        refunds.KIND,
        "pending",
        lambda tx, refund, args: finish_refund(tx, refund, args["failure_reason"]),
    ),
    payouts.SEND: _while(payouts.KIND, "created", _finish_payout),
    payouts.SETTLE: _while(payouts.KIND, "sent", _finish_payout),
    disputes.LAPSE: _while(
        disputes.KIND, "needs_response", lambda tx, dispute, _: disputes.close(tx, dispute, "lost")
    ),
    disputes.DECIDE: _while(
        disputes.KIND,
        "under_review",
        lambda tx, dispute, args: disputes.close(tx, dispute, args["outcome"]),
    ),
    jobs.DISABLE: lambda tx, job: webhook_endpoints.disable_failing(tx, job.subject),
}
