"""Refunds in the sandbox: pending until the network confirms or refuses (assumptions: Refund).

`api` creates them for `/v1/refunds`; a job, `svc sandbox settle` or `fail` ends them.
"""

from typing import Final

from svc.sandbox.parameters.described import build_stored
from svc.sandbox.parameters.kinds import amount_too_large
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import Params
from svc.sandbox.resources import disputes, operation, payments
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.refunds import RESOURCE

KIND: Final = RESOURCE.name
SETTLE: Final = "refund.settle"  # the name of its job

# Seconds until the network answers, and why it refuses, by the card's scenario.
_SCENARIOS: Final = {
    "normal": (5, None),
    "slow": (24 * 3600, None),
    "fails": (5, "expired_or_canceled_card"),
}


def create(tx: Transaction, params: Params) -> Doc:
    """Accepts a refund of all that is left of a payment, or of a part of it."""
    payment = operation.find_named(tx, payments.KIND, params["payment"], "payment")
    fields = build_stored(
        RESOURCE,
        params,
        order=payment["order"],
        amount=_refundable(tx, payment, params.get("amount")),
        currency=payment["currency"],
        status="pending",
    )
    refund = tx.new(KIND, fields)
    tx.add(refund)
    _count(tx, payment, refund["amount"])
    tx.emit("refund.created", refund)
    delay, failure = _SCENARIOS[payment["_refund_scenario"]]
    tx.schedule(delay, SETTLE, refund["id"], failure_reason=failure)
    return refund


def succeed(tx: Transaction, refund: Doc) -> None:
    """The network confirmed a refund: the balance pays at the payment's rate, or it fails."""
    payment = tx.stored(payments.KIND, refund["payment"])
    if not _is_covered(tx, payment, refund["amount"]):
        fail(tx, refund, "insufficient_funds")
        return
    refund["status"] = "succeeded"
    tx.save(refund)
    payments.take_back(tx, payment, refund["amount"])
    tx.emit("refund.succeeded", refund)


def fail(tx: Transaction, refund: Doc, reason: str) -> None:
    """The network refused a pending refund: its amount can be refunded again."""
    refund["status"] = "failed"
    refund["failure_reason"] = reason
    tx.save(refund)
    _count(tx, tx.stored(payments.KIND, refund["payment"]), -refund["amount"])
    tx.emit("refund.failed", refund)


def _refundable(tx: Transaction, payment: Doc, wanted: int | None) -> int:
    """The amount to refund; raises Problem where the payment's state does not allow it."""
    if payment["status"] != "captured":
        message = f"The payment is {payment['status']}; only a captured payment can be refunded."
        raise Problem(400, "payment_not_refundable", message)
    if payment["amount_refunded"] == payment["amount_captured"]:
        message = "The payment has been refunded in full already."
        raise Problem(400, "payment_already_refunded", message)
    left = disputes.compute_undisputed(tx, payment)
    if left == 0:
        message = "What is left of the payment is disputed; it cannot be refunded."
        raise Problem(400, "payment_disputed", message)
    amount = left if wanted is None else wanted
    if amount > left:
        raise amount_too_large("amount", left)
    if not _is_covered(tx, payment, amount):
        message = f"The {payment['settlement_currency']} balance does not cover the refund."
        raise Problem(400, "balance_insufficient", message)
    return amount


def _is_covered(tx: Transaction, payment: Doc, amount: int) -> bool:
    """Whether the balance pays for a refund: it may fall below zero unless the setting says no."""
    if tx.settings["negative_balance"] == "allow":
        return True
    return tx.balance(payment["settlement_currency"]) >= payments.cost_of(payment, amount)


def _count(tx: Transaction, payment: Doc, delta: int) -> None:
    order = payments.order_of(tx, payment)
    payment["amount_refunded"] += delta
    order["amount_refunded"] += delta
    tx.save(payment)
    tx.save(order)


OPERATIONS: Final = operation.operations(RESOURCE, create=create)
