"""Payments in the sandbox: every step of an attempt to pay, and of its order.

Steps save both documents first and emit afterwards, payment events before order events, so that
every event shows what a GET would show right after the change (assumptions: Order).

`shopper` begins an attempt and approves or fails it, `jobs` ends delayed attempts and expired
authorisations, `orders` captures and cancels, `refunds` and `disputes` take money back.
"""

from datetime import timedelta
from typing import Final

from svc.sandbox import clock
from svc.sandbox.parameters.described import build_stored
from svc.sandbox.parameters.kinds import amount_too_large
from svc.sandbox.parameters.problems import Problem, build_unexpected_state
from svc.sandbox.parameters.tables import Params
from svc.sandbox.reference import fx
from svc.sandbox.reference.cards import message_for
from svc.sandbox.resources import clearance, operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.payments import RESOURCE

KIND: Final = RESOURCE.name
AUTHORIZATION: Final = timedelta(days=7)
DISPUTE_AFTER: Final = 5  # seconds from the capture, for the cards and accounts that dispute

EXPIRE: Final = "payment.expire"  # names of jobs
SETTLE: Final = "payment.settle"
DISPUTE: Final = "payment.dispute"


def begin(tx: Transaction, order: Doc, method: str) -> Doc:
    """Stores a new attempt to pay an order; one of the steps below follows at once."""
    fields = build_stored(
        RESOURCE,
        {},
        order=order["id"],
        status="processing",
        amount=order["amount_total"],
        currency=order["currency"],
        method=method,
        _dispute_reason=None,
        _refund_scenario="normal",
    )
    payment = tx.new(KIND, fields)
    tx.add(payment)
    order["latest_payment"] = payment["id"]
    return payment


def approve(tx: Transaction, order: Doc, payment: Doc) -> None:
    """The attempt succeeded: captured, or held where the order is captured by hand."""
    if order["capture_method"] == "manual":
        expiry = tx.now + AUTHORIZATION
        payment["status"] = order["status"] = "authorized"
        payment["authorization_expires_at"] = clock.text(expiry)
        tx.save(payment)
        tx.save(order)
        tx.schedule_at(expiry, EXPIRE, payment["id"])
        tx.emit("payment.authorized", payment)
    else:
        collect(tx, order, payment, payment["amount"])


def process(tx: Transaction, order: Doc, payment: Doc) -> None:
    """A delayed method was accepted; its result is open."""
    payment["status"] = order["status"] = "processing"
    tx.save(payment)
    tx.save(order)
    tx.emit("payment.processing", payment)


def fail(
    tx: Transaction, order: Doc, payment: Doc, code: str, decline_type: str | None = None
) -> None:
    """The attempt failed for good; the order waits for another one."""
    payment["status"] = "failed"
    payment["failure_code"] = code
    payment["failure_message"] = message_for(code)
    payment["decline_type"] = decline_type
    order["status"] = "requires_payment"
    tx.save(payment)
    tx.save(order)
    tx.emit("payment.failed", payment)


def collect(tx: Transaction, order: Doc, payment: Doc, amount: int) -> None:
    """Captures `amount` minor units; what else was authorised goes back to the shopper."""
    target = order["settlement_currency"]
    payment["status"] = "captured"
    payment["amount_captured"] = amount
    payment["amount_released"] = payment["amount"] - amount
    payment["settlement_currency"] = target
    payment["settlement_amount"] = fx.convert(amount, payment["currency"], target)
    payment["fx_rate"] = fx.number(fx.rate(payment["currency"], target))
    fee = fx.share(payment["settlement_amount"], tx.settings["payment_fee_bps"])
    payment["fee"] = fee or None
    payment["captured_at"] = tx.now_text
    order["status"] = "paid"
    order["amount_captured"] += amount
    order["paid_at"] = tx.now_text
    tx.save(payment)
    tx.save(order)
    tx.cancel_jobs(EXPIRE, payment["id"])
    tx.move_balance(target, payment["settlement_amount"] - fee)
    tx.emit("payment.captured", payment)
    tx.emit("order.paid", order)
    clearance.plan(tx, order)
    if payment["_dispute_reason"]:
        tx.schedule(DISPUTE_AFTER, DISPUTE, payment["id"], reason=payment["_dispute_reason"])


def take_back(tx: Transaction, payment: Doc, amount: int) -> None:
    """Takes minor units of a captured payment from the balance; a negative amount returns them.

    The total of all refunds and disputes is converted, not each amount: rounding then never makes
    several parts cost more or less than one refund of their sum.
    """
    cost = cost_of(payment, amount)
    payment["_taken"] = payment.get("_taken", 0) + amount
    tx.save(payment)
    tx.move_balance(payment["settlement_currency"], -cost)


def cost_of(payment: Doc, amount: int) -> int:
    """Converts an amount that `take_back` is to take to what it costs the balance."""
    source, target = payment["currency"], payment["settlement_currency"]
    taken = payment.get("_taken", 0)
    return fx.convert(taken + amount, source, target) - fx.convert(taken, source, target)


def void(tx: Transaction, order: Doc, reason: str | None) -> None:
    """Releases what is authorised and cancels the order."""
    payment = find_latest(tx, order)
    payment["status"] = "cancelled"
    payment["amount_released"] = payment["amount"]
    tx.save(payment)
    mark_cancelled(tx, order, reason)
    tx.save(order)
    tx.cancel_jobs(EXPIRE, payment["id"])
    tx.emit("payment.cancelled", payment)
    tx.emit("order.cancelled", order)


def mark_cancelled(tx: Transaction, order: Doc, reason: str | None) -> None:
    order["status"] = "cancelled"
    order["cancellation_reason"] = reason
    order["cancelled_at"] = tx.now_text


def capture(tx: Transaction, order: Doc, params: Params) -> Doc:
    """Captures an authorised order in full or in part, once; answers the payment."""
    if order["capture_method"] != "manual":
        message = "Only an order with capture_method manual can be captured by a request."
        raise Problem(400, "capture_not_allowed", message)
    if order["status"] != "authorized":
        message = f"The order is {order['status']}; only an authorised order can be captured."
        raise build_unexpected_state("order", order["status"], message)
    payment = find_latest(tx, order)
    if tx.now >= clock.parse(payment["authorization_expires_at"]):
        message = "The authorisation has expired; the shopper has to pay again."
        raise build_unexpected_state("order", order["status"], message)
    amount = int(params.get("amount") or payment["amount"])
    if amount > payment["amount"]:
        raise amount_too_large("amount", payment["amount"])
    collect(tx, order, payment, amount)
    return payment


def find_latest(tx: Transaction, order: Doc) -> Doc:
    """The last attempt to pay an order; there must have been one."""
    return tx.stored(KIND, order["latest_payment"])


def order_of(tx: Transaction, payment: Doc) -> Doc:
    """The order of a payment; from here on `tx` uses the settings of that order and its key."""
    order = tx.stored("order", payment["order"])
    tx.act_for(order.get("_key"), order["id"])
    return order


OPERATIONS: Final = operation.operations(RESOURCE)
