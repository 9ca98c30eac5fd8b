"""Orders in the sandbox: creates, prices, updates and cancels (assumptions: Order, Order states).

`api` runs its steps for `/v1/orders`, and `payments.capture`; `payments` moves an order on as it is
paid. An order's landed cost is a quote of `landed_cost_quotes`, its payment methods are those of
`reference.methods` for its currency and country.
"""

from typing import Final

from svc.sandbox.parameters.described import build_stored, changes
from svc.sandbox.parameters.kinds import merge_metadata
from svc.sandbox.parameters.problems import build_invalid, build_unexpected_state
from svc.sandbox.parameters.tables import Params
from svc.sandbox.reference import methods
from svc.sandbox.resources import landed_cost_quotes, operation, payments
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import AMOUNT_MAX, ID_PREFIXES
from svc.service.orders import RESOURCE

KIND: Final = RESOURCE.name
_SECRET_LENGTH: Final = 24

_WHY_NOT_CANCELLED: Final = {
    "paid": "The order is paid and cannot be cancelled; refund its payment instead.",
    "processing": "The order's payment is being processed; wait for its result.",
    "cancelled": "The order is cancelled already.",
}


def create(tx: Transaction, params: Params) -> Doc:
    """Stores a new order with its methods and its landed cost."""
    identity = tx.new_id(ID_PREFIXES[KIND])
    fields = build_stored(
        RESOURCE,
        params,
        status="requires_payment",
        settlement_currency=_settlement_currency(tx, params),
        _key=tx.key,
        _client_secret=tx.ids.new(f"{identity}_secret_", _SECRET_LENGTH),
    )
    order = tx.new(KIND, fields, identity)
    _price(tx, order)
    tx.add(order)
    return order


def update(tx: Transaction, order: Doc, params: Params) -> Doc:
    """Changes an unpaid order and computes its methods and landed cost again."""
    if order["status"] != "requires_payment":
        message = f"The order is {order['status']}; only an unpaid order can be updated."
        raise build_unexpected_state(KIND, order["status"], message)
    order.update(changes(RESOURCE, params))
    if "settlement_currency" in params:
        order["settlement_currency"] = _settlement_currency(tx, params)
    if "metadata" in params:
        order["metadata"] = merge_metadata(order["metadata"], params["metadata"])
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
        raise build_unexpected_state(KIND, order["status"], message)
    return order


def _settlement_currency(tx: Transaction, params: Params) -> str:
    return params.get("settlement_currency") or str(tx.settings["settlement_currency"])


def _price(tx: Transaction, order: Doc) -> None:
    """Sets what follows from amount, items and destination; makes a quote for it."""
    shipping, items = order["shipping"], order["items"]
    order["methods"] = methods.list_methods(
        order["currency"], shipping["country"], order["capture_method"]
    )
    quote = landed_cost_quotes.make(
        tx,
        currency=order["currency"],
        shipping=shipping,
        items=items,
        ship_from=str(tx.settings["country"]),
        freight=max(0, order["amount"] - landed_cost_quotes.value_of(items)),
    )
    order["landed_cost"] = {
        **{name: quote[name] for name in ("duty", "vat", "fees", "total")},
        "currency": order["currency"],
        "guaranteed": quote["guaranteed"],
        "quote": quote["id"],
    }
    order["_collects"] = tx.settings["collect_landed_cost"]
    collected = quote["total"] if order["_collects"] else 0
    order["amount_total"] = order["amount"] + collected
    if order["amount_total"] > AMOUNT_MAX:  # or it could not be captured by its own amount
        message = f"amount and landed cost together must be at most {AMOUNT_MAX}."
        raise build_invalid("amount_too_large", "amount", message)
    tx.add(quote)  # last: what is refused before it writes costs its neighbours nothing


OPERATIONS: Final = operation.operations(
    RESOURCE, create=create, update=update, cancel=cancel, capture=payments.capture
)
