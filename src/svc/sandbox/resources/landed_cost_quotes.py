"""Landed-cost quotes in the sandbox: computed once from `reference.customs`, never changed.

`api` creates and retrieves them for `/v1/landed_cost_quotes`; `orders` makes one for each order,
and another one when the order is changed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from svc.sandbox import clock
from svc.sandbox.parameters.described import read_kept
from svc.sandbox.parameters.kinds import amount_too_large
from svc.sandbox.parameters.tables import Params
from svc.sandbox.reference import customs
from svc.sandbox.resources import operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import AMOUNT_MAX
from svc.service.landed_cost_quotes import RESOURCE

KIND: Final = RESOURCE.name
VALIDITY: Final = 24 * 3600 * clock.SECOND  # informative; a quote is retrievable afterwards


def create(tx: Transaction, params: Params) -> Doc:
    """Quotes what the caller described."""
    items = read_kept(RESOURCE, "items", params)
    value_of(items)  # nothing can be computed from more than an amount can hold
    quote = make(
        tx,
        currency=params["currency"],
        shipping=read_kept(RESOURCE, "shipping", params),
        items=items,
        ship_from=params.get("ship_from_country") or tx.settings["country"],
        freight=params.get("shipping_amount", 0),
    )
    tx.add(quote)
    return quote


def value_of(items: Iterable[Mapping[str, Any]]) -> int:
    """What the goods of an order or a quote cost together, in minor units.

    Raises:
        Problem: more than an amount can hold; nothing could be computed from it.
    """
    total: int = sum(item["quantity"] * item["unit_amount"] for item in items)
    if total > AMOUNT_MAX:
        raise amount_too_large("items", AMOUNT_MAX)
    return total


def make(
    tx: Transaction,
    *,
    currency: str,
    shipping: Doc,
    items: list[Doc],
    ship_from: str,
    freight: int,
) -> Doc:
    """Computes a quote, not stored yet, of goods that `value_of` has taken; minor units."""
    result = customs.quote(
        currency=currency,
        country=shipping["country"],
        ship_from=ship_from,
        items=items,
        freight=freight,
    )
    fields = {
        "currency": currency,
        "shipping": shipping,
        "items": [_with_charges(*pair) for pair in zip(items, result.lines, strict=True)],
        "ship_from_country": ship_from,
        "shipping_amount": freight,
        "duty": result.duty,
        "vat": result.vat,
        "fees": result.fees,
        "total": result.total,
        "guaranteed": result.guaranteed,
        **({} if result.guaranteed else {"warnings": result.warnings}),
        "expires_at": clock.text_of(tx.now_micros + VALIDITY),
    }
    return tx.new(KIND, fields)


def _with_charges(item: Doc, line: customs.ItemCharges) -> Doc:
    return {**item, "duty": line.duty, "vat": line.vat, "duty_rate_bps": line.duty_rate_bps}


OPERATIONS: Final = operation.operations(RESOURCE, create=create)
