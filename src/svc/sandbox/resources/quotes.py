"""Landed-cost quotes: duties, taxes and fees, computed once and never changed."""

from typing import Final

from svc.sandbox import clock
from svc.sandbox.parameters import schema
from svc.sandbox.parameters.kinds import Amount, Country, Currency
from svc.sandbox.parameters.tables import Parameter, Params
from svc.sandbox.reference import customs
from svc.sandbox.resources import goods, operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction

KIND: Final = "landed_cost_quote"
VALIDITY: Final = 24 * 3600 * clock.SECOND  # informative; a quote is retrievable afterwards

CREATE: Final = (
    Parameter("currency", Currency(), required=True),
    Parameter("shipping", goods.SHIPPING, required=True),
    Parameter("items", goods.ITEMS, required=True),
    Parameter("ship_from_country", Country()),
    Parameter("shipping_amount", Amount(0)),
)
ANSWER: Final = schema.resource(
    KIND,
    {
        "currency": schema.CURRENCY,
        "shipping": goods.SHOWN_SHIPPING,
        "items": goods.shown_list(
            {
                "duty": schema.AMOUNT,
                "vat": schema.AMOUNT,
                "duty_rate_bps": schema.integer(0, 10_000),
            }
        ),
        "ship_from_country": schema.COUNTRY,
        "shipping_amount": schema.AMOUNT,
        "duty": schema.AMOUNT,
        "vat": schema.AMOUNT,
        "fees": schema.AMOUNT,
        "total": schema.AMOUNT,
        "guaranteed": schema.BOOLEAN,
        "warnings": {
            "type": "array",
            "items": schema.strict(
                {
                    "code": schema.words(customs.WARNINGS),
                    "item": schema.TEXT,
                    "message": schema.TEXT,
                }
            ),
        },
        "expires_at": schema.TIMESTAMP,
    },
)


def create(tx: Transaction, params: Params) -> Doc:
    """Quotes what the caller described."""
    quote = make(
        tx,
        currency=params["currency"],
        shipping=goods.shown_shipping(params["shipping"]),
        items=goods.shown_items(params["items"]),
        ship_from=params.get("ship_from_country") or tx.settings["country"],
        freight=params.get("shipping_amount", 0),
    )
    tx.add(quote)
    return quote


def make(
    tx: Transaction,
    *,
    currency: str,
    shipping: Doc,
    items: list[Doc],
    ship_from: str,
    freight: int,
) -> Doc:
    """Computes a quote, which is not stored yet; `freight` is in minor units."""
    goods.value(items)
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


_OF: Final = operation.NounOperations(
    "/v1/landed-cost/quotes", "landed_cost", KIND, "LandedCostQuote"
)
OPERATIONS: Final = (
    _OF.create(
        "createQuote",
        "Quote duties, taxes and fees",
        create,
        CREATE,
        example=goods.EXAMPLE,
        refuses=("amount_too_large",),
    ),
    _OF.retrieve("retrieveQuote", "Retrieve a quote"),
)
