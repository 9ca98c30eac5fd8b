"""Payments: one object per checkout attempt, and every step that it and its order take.

Steps save both documents first and emit afterwards, payment events before order events, so that
every event shows what a GET would show right after the change (assumptions: Order).
"""

from datetime import timedelta
from typing import Final

from svc.sandbox import clock
from svc.sandbox.parameters import schema
from svc.sandbox.parameters.kinds import Amount, Choice, Text, amount_too_large
from svc.sandbox.parameters.problems import Problem, unexpected_state
from svc.sandbox.parameters.tables import Parameter, Params
from svc.sandbox.reference import cards, fx
from svc.sandbox.reference.cards import message_for
from svc.sandbox.resources import goods, operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import ID_PREFIXES, PAYMENT_STATUSES

KIND: Final = "payment"
AUTHORIZATION: Final = timedelta(days=7)
DISPUTE_AFTER: Final = 5  # seconds from the capture, for the cards and accounts that dispute

EXPIRE: Final = "payment.expire"  # names of jobs
SETTLE: Final = "payment.settle"
DISPUTE: Final = "payment.dispute"

CAPTURE: Final = (Parameter("amount", Amount(), clearable=False),)  # empty is not all
FILTERS: Final = (
    Parameter("order", Text(), clearable=False),
    Parameter("status", Choice(PAYMENT_STATUSES), clearable=False),
)
ANSWER: Final = schema.resource(
    KIND,
    {
        "order": schema.identifier(ID_PREFIXES["order"]),
        "status": schema.words(PAYMENT_STATUSES),
        "amount": schema.POSITIVE,
        "amount_captured": schema.AMOUNT,
        "amount_released": schema.AMOUNT,
        "amount_refunded": schema.AMOUNT,
        "currency": schema.CURRENCY,
        "method": schema.TEXT,
        "card": schema.nullable(
            schema.strict(
                {"brand": schema.words(brand.name for brand in cards.BRANDS), "last4": schema.LAST4}
            )
        ),
        "payment_method": schema.nullable(schema.ref("PaymentMethod")),
        "retried": schema.BOOLEAN,
        "acquirer": schema.nullable(schema.TEXT),
        "failure_code": schema.nullable(schema.TEXT),
        "failure_message": schema.nullable(schema.TEXT),
        "decline_type": schema.nullable(schema.words(("soft", "hard"))),
        "disputed": schema.BOOLEAN,
        "settlement_currency": schema.nullable(schema.CURRENCY),
        "settlement_amount": schema.nullable(schema.AMOUNT),
        "fx_rate": schema.nullable(schema.RATE),
        "authorization_expires_at": schema.nullable(schema.TIMESTAMP),
        "captured_at": schema.nullable(schema.TIMESTAMP),
    },
)


def begin(tx: Transaction, order: Doc, method: str) -> Doc:
    """Stores a new attempt to pay an order; one of the steps below follows at once."""
    fields = {
        "order": order["id"],
        "status": "processing",
        "amount": order["amount_total"],
        "amount_captured": 0,
        "amount_released": 0,
        "amount_refunded": 0,
        "currency": order["currency"],
        "method": method,
        "card": None,
        "payment_method": None,
        "retried": False,
        "acquirer": None,
        "failure_code": None,
        "failure_message": None,
        "decline_type": None,
        "disputed": False,
        "settlement_currency": None,
        "settlement_amount": None,
        "fx_rate": None,
        "authorization_expires_at": None,
        "captured_at": None,
        "_dispute_reason": None,
        "_refund_scenario": "normal",
    }
    payment = tx.new(KIND, fields)
    tx.add(payment)
    order["latest_payment"] = payment["id"]
    return payment


def approve(tx: Transaction, order: Doc, payment: Doc) -> None:
    """The attempt succeeded: captured, or held where the order is captured by hand."""
    if order["capture_method"] == "manual":
        _authorize(tx, order, payment)
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
    payment["fx_rate"] = goods.number(fx.rate(payment["currency"], target))
    payment["captured_at"] = tx.now_text
    order["status"] = "paid"
    order["amount_captured"] += amount
    order["paid_at"] = tx.now_text
    tx.save(payment)
    tx.save(order)
    tx.cancel_jobs(EXPIRE, payment["id"])
    tx.move_balance(target, payment["settlement_amount"])
    tx.emit("payment.captured", payment)
    tx.emit("order.paid", order)
    if payment["_dispute_reason"]:
        tx.schedule(DISPUTE_AFTER, DISPUTE, payment["id"], reason=payment["_dispute_reason"])


def take_back(tx: Transaction, payment: Doc, amount: int) -> None:
    """Takes minor units of a captured payment from the balance; a negative amount returns them.

    What refunds and disputes take of a payment is one running total, and the total is converted:
    in parts it costs what it costs at once, and never more than the capture brought.
    """
    source, target = payment["currency"], payment["settlement_currency"]
    before = payment.get("_taken", 0)
    payment["_taken"] = before + amount
    tx.save(payment)
    after = fx.convert(payment["_taken"], source, target)
    tx.move_balance(target, fx.convert(before, source, target) - after)


def void(tx: Transaction, order: Doc, reason: str | None) -> None:
    """Releases what is authorised and cancels the order."""
    payment = latest(tx, order)
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
        message = "Only an order with capture_method manual is captured by a call."
        raise Problem(400, "capture_not_allowed", message)
    if order["status"] != "authorized":
        message = f"The order is {order['status']}; only an authorised order can be captured."
        raise unexpected_state("order", order["status"], message)
    payment = latest(tx, order)
    if tx.now >= clock.parse(payment["authorization_expires_at"]):
        message = "The authorisation has expired; the shopper has to pay again."
        raise unexpected_state("order", order["status"], message)
    amount = int(params.get("amount") or payment["amount"])
    if amount > payment["amount"]:
        raise amount_too_large("amount", payment["amount"])
    collect(tx, order, payment, amount)
    return payment


def latest(tx: Transaction, order: Doc) -> Doc:
    """The last attempt to pay an order; there must have been one."""
    return tx.stored(KIND, order["latest_payment"])


def order_of(tx: Transaction, payment: Doc) -> Doc:
    """The order that a payment belongs to."""
    return tx.stored("order", payment["order"])


def _authorize(tx: Transaction, order: Doc, payment: Doc) -> None:
    expiry = tx.now + AUTHORIZATION
    payment["status"] = order["status"] = "authorized"
    payment["authorization_expires_at"] = clock.text(expiry)
    tx.save(payment)
    tx.save(order)
    tx.schedule_at(expiry, EXPIRE, payment["id"])
    tx.emit("payment.authorized", payment)


_OF: Final = operation.NounOperations("/v1/payments", "payments", KIND, "Payment")
OPERATIONS: Final = (
    operation.NounOperations("/v1/orders", "payments", "order", "Payment").act(
        "captureOrder",
        "Capture an authorised payment",
        capture,
        CAPTURE,
        step="/capture",
        refuses=("capture_not_allowed", "order_unexpected_state", "amount_too_large"),
    ),
    _OF.retrieve("retrievePayment", "Retrieve a payment"),
    _OF.listing("listPayments", "List payments", FILTERS),
)
