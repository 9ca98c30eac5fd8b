"""Answers about goods: orders and landed-cost quotes (assumptions: Order, Landed-cost quote)."""

from collections.abc import Mapping
from typing import Final

from svc.sandbox.parameters.schema import (
    AMOUNT,
    BOOLEAN,
    COUNTRY,
    CURRENCY,
    METADATA,
    TEXT,
    TIMESTAMP,
    Schema,
    either,
    identifier,
    integer,
    nullable,
    resource,
    strict,
    words,
)
from svc.spec import (
    CANCELLATION_REASONS,
    CAPTURE_METHODS,
    ID_PREFIXES,
    ORDER_STATUSES,
)

_ADDRESS: Final = ("name", "line1", "line2", "city", "state", "phone")
_WARNINGS: Final = (
    "hs_code_incomplete",
    "origin_country_unknown",
    "destination_not_supported",
)
_SHIPPING: Final = strict(
    {
        "country": COUNTRY,
        "postal_code": nullable(TEXT),
        **dict.fromkeys(_ADDRESS, TEXT),
    },
    optional=_ADDRESS,
)
_ITEM: Final[Mapping[str, Schema]] = {
    "name": TEXT,
    "hs_code": nullable(TEXT),
    "origin_country": nullable(either(COUNTRY, words(("XX", "ZZ")))),
    "quantity": integer(1, 100_000),
    "unit_amount": AMOUNT,
}
_LANDED_COST: Final = strict(
    {
        "duty": AMOUNT,
        "vat": AMOUNT,
        "fees": AMOUNT,
        "total": AMOUNT,
        "currency": CURRENCY,
        "guaranteed": BOOLEAN,
        "quote": identifier(ID_PREFIXES["landed_cost_quote"]),
    }
)
ORDER: Final = resource(
    "order",
    {
        "status": words(ORDER_STATUSES),
        "amount": integer(1),
        "currency": CURRENCY,
        "settlement_currency": CURRENCY,
        "shipping": _SHIPPING,
        "items": {"type": "array", "items": strict(_ITEM), "minItems": 1, "maxItems": 100},
        "capture_method": words(CAPTURE_METHODS),
        "methods": {"type": "array", "items": TEXT, "minItems": 1, "uniqueItems": True},
        "landed_cost": _LANDED_COST,
        "amount_total": integer(1, 10**14),
        "amount_captured": AMOUNT,
        "amount_refunded": AMOUNT,
        "latest_payment": nullable(identifier(ID_PREFIXES["payment"])),
        "cancellation_reason": nullable(words((*CANCELLATION_REASONS, "authorization_expired"))),
        "cancelled_at": nullable(TIMESTAMP),
        "paid_at": nullable(TIMESTAMP),
        "metadata": METADATA,
    },
)
QUOTE: Final = resource(
    "landed_cost_quote",
    {
        "currency": CURRENCY,
        "shipping": _SHIPPING,
        "items": {
            "type": "array",
            "items": strict(
                {**_ITEM, "duty": AMOUNT, "vat": AMOUNT, "duty_rate_bps": integer(0, 10_000)}
            ),
            "minItems": 1,
            "maxItems": 100,
        },
        "ship_from_country": COUNTRY,
        "shipping_amount": AMOUNT,
        "duty": AMOUNT,
        "vat": AMOUNT,
        "fees": AMOUNT,
        "total": AMOUNT,
        "guaranteed": BOOLEAN,
        "warnings": {
            "type": "array",
            "items": strict({"code": words(_WARNINGS), "item": TEXT, "message": TEXT}),
        },
        "expires_at": TIMESTAMP,
    },
)
