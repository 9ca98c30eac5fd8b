"""What orders and quotes have in common: where goods go, what they are, what they are worth."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from svc.sandbox.parameters import schema
from svc.sandbox.parameters.kinds import (
    Amount,
    Country,
    HsCode,
    Integer,
    Text,
    amount_too_large,
)
from svc.sandbox.parameters.tables import ListOf, Object, Parameter, Params
from svc.sandbox.store.documents import Doc
from svc.service.facts import AMOUNT_MAX

ITEMS_MAX: Final = 100
_QUANTITY_MAX: Final = 100_000
UNKNOWN_ORIGINS: Final = ("XX", "ZZ")
_ADDRESS: Final = ("name", "line1", "line2", "city", "state", "phone")

SHIPPING: Final = Object(
    (
        Parameter("country", Country(), required=True),
        Parameter("postal_code", Text()),
        *(Parameter(name, Text()) for name in _ADDRESS),
    )
)
_ITEM: Final = Object(
    (
        Parameter("name", Text(255), required=True),
        Parameter("quantity", Integer(1, _QUANTITY_MAX), required=True),
        Parameter("unit_amount", Amount(0), required=True),
        Parameter("hs_code", HsCode()),
        Parameter("origin_country", Country(UNKNOWN_ORIGINS)),
    )
)
ITEMS: Final = ListOf(_ITEM, ITEMS_MAX)

EXAMPLE: Final[Mapping[str, Any]] = {
    "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [
        {"name": "Linen jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900},
    ],
}

# What answers show of them.
SHOWN_SHIPPING: Final = schema.strict(
    {
        "country": schema.COUNTRY,
        "postal_code": schema.nullable(schema.TEXT),
        **dict.fromkeys(_ADDRESS, schema.TEXT),
    },
    optional=_ADDRESS,
)
_SHOWN_ITEM: Final = {
    "name": schema.TEXT,
    "hs_code": schema.nullable(schema.TEXT),
    "origin_country": schema.nullable(schema.either(schema.COUNTRY, schema.words(UNKNOWN_ORIGINS))),
    "quantity": schema.integer(1, _QUANTITY_MAX),
    "unit_amount": schema.AMOUNT,
}


def shown_list(more: Mapping[str, schema.Schema] = MappingProxyType({})) -> schema.Schema:
    """The list of items in an answer; `more` are fields that each has besides."""
    item = schema.strict({**_SHOWN_ITEM, **more})
    return {"type": "array", "items": item, "minItems": 1, "maxItems": ITEMS_MAX}


def shown_shipping(given: Params) -> Doc:
    """The destination as responses show it; parts of the address only if they were given."""
    extras: Doc = {name: given[name] for name in _ADDRESS if name in given}
    return {"country": given["country"], "postal_code": given.get("postal_code"), **extras}


def shown_items(given: Iterable[Params]) -> list[Doc]:
    """The items as responses show them."""
    return [{name: item.get(name) for name in _SHOWN_ITEM} for item in given]


def value(items: Iterable[Mapping[str, Any]]) -> int:
    """What the goods cost together, in minor units.

    Raises:
        Problem: more than an amount can hold; nothing could be computed from it.
    """
    total: int = sum(item["quantity"] * item["unit_amount"] for item in items)
    if total > AMOUNT_MAX:
        raise amount_too_large("items", AMOUNT_MAX)
    return total


def number(rate: Decimal) -> int | float:
    """An exchange rate of 8 significant digits as a JSON number: `1`, `0.90909091`."""
    return int(rate) if rate == rate.to_integral_value() else float(rate)
