"""Orders: creating, pricing, updating and cancelling them (assumptions: Order, Order states)."""

from collections.abc import Mapping
from typing import Any, Final

from svc.sandbox.parameters import schema
from svc.sandbox.parameters.kinds import Amount, Choice, Currency
from svc.sandbox.parameters.metadata import Metadata, merged
from svc.sandbox.parameters.problems import invalid, unexpected_state
from svc.sandbox.parameters.tables import Parameter, Params
from svc.sandbox.reference import methods
from svc.sandbox.resources import goods, operation, payments, quotes
from svc.sandbox.store.documents import Doc, public
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import (
    AMOUNT_MAX,
    CANCELLATION_REASONS,
    CAPTURE_METHODS,
    ID_PREFIXES,
    ORDER_STATUSES,
)

KIND: Final = "order"
_SECRET_LENGTH: Final = 24

CREATE: Final = (
    Parameter("amount", Amount(), required=True),
    Parameter("currency", Currency(), required=True),
    Parameter("settlement_currency", Currency()),
    Parameter("shipping", goods.SHIPPING, required=True),
    Parameter("items", goods.ITEMS, required=True),
    Parameter("capture_method", Choice(CAPTURE_METHODS), clearable=False),
    Parameter("metadata", Metadata()),
)
CANCEL: Final = (Parameter("cancellation_reason", Choice(CANCELLATION_REASONS)),)
FILTERS: Final = (Parameter("status", Choice(ORDER_STATUSES), clearable=False),)

EXAMPLE: Final[Mapping[str, Any]] = {"amount": 12900, **goods.EXAMPLE}
_LANDED_COST: Final = schema.strict(
    {
        "duty": schema.AMOUNT,
        "vat": schema.AMOUNT,
        "fees": schema.AMOUNT,
        "total": schema.AMOUNT,
        "currency": schema.CURRENCY,
        "guaranteed": schema.BOOLEAN,
        "quote": schema.identifier(ID_PREFIXES["landed_cost_quote"]),
    }
)
ANSWER: Final = schema.resource(
    KIND,
    {
        "status": schema.words(ORDER_STATUSES),
        "amount": schema.integer(1),
        "currency": schema.CURRENCY,
        "settlement_currency": schema.CURRENCY,
        "shipping": goods.SHOWN_SHIPPING,
        "items": goods.shown_list(),
        "capture_method": schema.words(CAPTURE_METHODS),
        "methods": {"type": "array", "items": schema.TEXT, "minItems": 1, "uniqueItems": True},
        "landed_cost": _LANDED_COST,
        "amount_total": schema.POSITIVE,
        "amount_captured": schema.AMOUNT,
        "amount_refunded": schema.AMOUNT,
        "latest_payment": schema.nullable(schema.identifier(ID_PREFIXES["payment"])),
        "cancellation_reason": schema.nullable(
            schema.words((*CANCELLATION_REASONS, "authorization_expired"))
        ),
        "cancelled_at": schema.nullable(schema.TIMESTAMP),
        "paid_at": schema.nullable(schema.TIMESTAMP),
        "metadata": schema.METADATA,
    },
)

_WHY_NOT_CANCELLED: Final = {
    "paid": "The order is paid and cannot be cancelled; refund its payment instead.",
    "processing": "The order's payment is being processed; wait for its result.",
    "cancelled": "The order is cancelled already.",
}


def create(tx: Transaction, params: Params) -> Doc:
    """Stores a new order with its methods and its landed cost."""
    identity = tx.new_id(ID_PREFIXES[KIND])
    fields = {
        "status": "requires_payment",
        "amount": params["amount"],
        "currency": params["currency"],
        "settlement_currency": _settlement_currency(tx, params),
        "shipping": goods.shown_shipping(params["shipping"]),
        "items": goods.shown_items(params["items"]),
        "capture_method": params.get("capture_method", "automatic"),
        "methods": [],
        "landed_cost": {},
        "amount_total": 0,
        "amount_captured": 0,
        "amount_refunded": 0,
        "latest_payment": None,
        "cancellation_reason": None,
        "cancelled_at": None,
        "paid_at": None,
        "metadata": merged({}, params.get("metadata")),
        "_client_secret": tx.new_secret(f"{identity}_secret_", _SECRET_LENGTH),
    }
    order = tx.new(KIND, fields, identity)
    _price(tx, order)
    tx.add(order)
    return order


def created_view(order: Doc) -> Doc:
    """The answer to a creation, the only one that shows the client secret."""
    return {**public(order), "client_secret": order["_client_secret"]}


def update(tx: Transaction, order: Doc, params: Params) -> Doc:
    """Changes an unpaid order and computes its methods and landed cost again."""
    if order["status"] != "requires_payment":
        message = f"The order is {order['status']}; only an unpaid order can be updated."
        raise unexpected_state(KIND, order["status"], message)
    for name in ("amount", "currency"):
        order[name] = params.get(name, order[name])
    if "settlement_currency" in params:
        order["settlement_currency"] = _settlement_currency(tx, params)
    if "shipping" in params:
        order["shipping"] = goods.shown_shipping(params["shipping"])
    if "items" in params:
        order["items"] = goods.shown_items(params["items"])
    if "capture_method" in params:
        order["capture_method"] = params["capture_method"]
    if "metadata" in params:
        order["metadata"] = merged(order["metadata"], params["metadata"])
    _price(tx, order)
    tx.save(order)
    return order


def cancel(tx: Transaction, order: Doc, params: Params) -> Doc:
    """Cancels an unpaid or authorised order; what was authorised is released."""
    reason = params.get("cancellation_reason")
    if order["status"] == "requires_payment":
        payments.mark_cancelled(tx, order, reason)
        tx.save(order)
        tx.emit("order.cancelled", order)
    elif order["status"] == "authorized":
        payments.void(tx, order, reason)
    else:
        message = _WHY_NOT_CANCELLED[order["status"]]
        raise unexpected_state(KIND, order["status"], message)
    return order


def _settlement_currency(tx: Transaction, params: Params) -> str:
    return params.get("settlement_currency") or str(tx.settings["settlement_currency"])


def _price(tx: Transaction, order: Doc) -> None:
    """Sets what follows from amount, items and destination; makes a quote for it."""
    shipping, items = order["shipping"], order["items"]
    order["methods"] = methods.offered(
        order["currency"], shipping["country"], order["capture_method"]
    )
    quote = quotes.make(
        tx,
        currency=order["currency"],
        shipping=shipping,
        items=items,
        ship_from=str(tx.settings["country"]),
        freight=max(0, order["amount"] - goods.value(items)),
    )
    order["landed_cost"] = {
        **{name: quote[name] for name in ("duty", "vat", "fees", "total")},
        "currency": order["currency"],
        "guaranteed": quote["guaranteed"],
        "quote": quote["id"],
    }
    collected = quote["total"] if tx.settings["collect_landed_cost"] else 0
    order["amount_total"] = order["amount"] + collected
    if order["amount_total"] > AMOUNT_MAX:  # or it could not be captured by its own amount
        message = f"amount and landed cost together must be at most {AMOUNT_MAX}."
        raise invalid("amount_too_large", "amount", message)
    tx.add(quote)  # last: what is refused before it writes costs its neighbours nothing


_UNEXPECTED: Final = "order_unexpected_state"
_OF: Final = operation.NounOperations("/v1/orders", "orders", KIND, "Order")
OPERATIONS: Final = (
    _OF.create(
        "createOrder",
        "Create an order",
        create,
        CREATE,
        answer="NewOrder",
        example=EXAMPLE,
        view=created_view,
        refuses=("amount_too_large",),
    ),
    _OF.retrieve("retrieveOrder", "Retrieve an order"),
    _OF.act(
        "updateOrder",
        "Update an unpaid order",
        update,
        CREATE,
        partial=True,
        refuses=(_UNEXPECTED, "amount_too_large"),
    ),
    _OF.act(
        "cancelOrder", "Cancel an order", cancel, CANCEL, step="/cancel", refuses=(_UNEXPECTED,)
    ),
    _OF.listing("listOrders", "List orders", FILTERS),
)
