"""The fields that orders and landed-cost quotes share: shipping address and line items.

`service.orders` and `service.landed_cost_quotes` put `SHIPPING` and `ITEMS` into their nouns;
`cli.framework.inputs` parses `--item NAME=VALUE,...` of a command line by the fields of `ITEM`.
"""

from typing import Final

from svc.service.model import COUNTRY, TEXT, Field, Kind, amount, group, integer, list_of, text

UNKNOWN_ORIGINS: Final = ("XX", "ZZ")

ADDRESS: Final = group(
    Field(
        "country",
        COUNTRY,
        "The destination, a country code such as DE.",
        "--country CODE",
        required=True,
        example="DE",
        lifted="To",
        column=(25, 2),
    ),
    Field(
        "postal_code",
        TEXT,
        "The destination's postal code.",
        "--postal-code TEXT",
        nullable=True,
        example="10115",
    ),
    *(
        Field(name, TEXT, answered="given")
        for name in ("name", "line1", "line2", "city", "state", "phone")
    ),
)
SHIPPING: Final = Field("shipping", ADDRESS, required=True, label="Ship to", shown="address")

ITEM: Final = (
    Field("name", text(255), required=True, assumed=True, label="Name", column=(10, 0)),
    Field("hs_code", Kind("tariff_code"), nullable=True, label="HS code", column=(40, 1)),
    Field(
        "origin_country",
        Kind("country", words=UNKNOWN_ORIGINS),
        nullable=True,
        label="From",
        column=(50, 2),
    ),
    Field(
        "quantity", integer(1, 100_000), required=True, assumed=True, label="Qty", column=(20, 0)
    ),
    Field("unit_amount", amount(0), required=True, assumed=True, label="Unit", column=(30, 0)),
)
ITEMS: Final = Field(
    "items",
    list_of(group(*ITEM), 100),
    "An item, repeatable: its name, quantity, unit_amount, hs_code, origin_country.",
    "--item NAME=VALUE,...",
    required=True,
    example=[{"name": "Linen jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900}],
    label="Items",
)
