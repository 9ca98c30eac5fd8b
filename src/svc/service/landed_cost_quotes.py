"""The noun `landed_cost_quote`: duties, taxes and fees (spec: Landed-cost quote, Landed cost).

As data: its fields and its verbs, create and retrieve. `svc landed-cost-quotes`, its options,
columns and checks, and the sandbox's quotes are built from it.
"""

from typing import Final

from svc.service.goods import ITEM, ITEMS, SHIPPING
from svc.service.model import (
    BOOLEAN,
    COUNTRY,
    CREATED,
    GIVEN_CURRENCY,
    LIVEMODE,
    TEXT,
    TIMESTAMP,
    Action,
    Field,
    Resource,
    amount,
    build_id_field,
    choice,
    collection,
    group,
    integer,
    list_of,
)

WARNINGS: Final = ("hs_code_incomplete", "origin_country_unknown", "destination_not_supported")

RESOURCE: Final = Resource(
    "landed_cost_quote",
    "Landed-cost quote",
    "Landed cost",
    path=collection("landed-cost/quotes"),
    short="Quote",
    headline="guaranteed",
    fields=(
        build_id_field("landed_cost_quote"),
        GIVEN_CURRENCY._replace(csv="total"),
        SHIPPING._replace(given="create", card=70, csv="currency"),
        ITEMS._replace(
            kind=list_of(
                group(
                    *ITEM,
                    Field("duty", amount(0), made=True, label="Duty", column=(60, 3)),
                    Field("vat", amount(0), made=True, label="VAT", column=(70, 3)),
                    Field(
                        "duty_rate_bps",
                        integer(0, 10_000),
                        made=True,
                        label="Rate",
                        column=(80, 4),
                        shown="duty_rate",
                    ),
                ),
                100,
            ),
            given="create",
            card=20,
            csv="-",
        ),
        Field(
            "ship_from_country",
            COUNTRY,
            "The country that it is sent from.",
            "--ship-from-country CODE",
            "create",
            label="Ship from",
            card=60,
            csv="shipping",
        ),
        Field(
            "shipping_amount",
            amount(0),
            "The freight in minor units.",
            "--shipping-amount N",
            "create",
            clearable=False,
            default=0,
            label="Freight",
            card=50,
            csv="ship_from_country",
        ),
        Field("duty", amount(0), label="Duty", column=(40, 3), card=10),
        Field("vat", amount(0), label="VAT", column=(50, 3), card=20),
        Field("fees", amount(0), label="Fees", card=30),
        Field("total", amount(0), label="Total", column=(20, 0), card=40),
        Field(
            "guaranteed", BOOLEAN, label="Guaranteed", column=(10, 0), shown="guarantee", csv="id"
        ),
        Field(
            "warnings",
            list_of(
                group(
                    Field("code", choice(*WARNINGS), label="Code", column=(10, 0), shown="status"),
                    Field("item", TEXT, label="Item", column=(20, 0)),
                    Field("message", TEXT, label="Message", column=(30, 1)),
                ),
                0,
            ),
            answered="given",
            label="Warnings",
            card=10,
            csv="-",
        ),
        Field("expires_at", TIMESTAMP, label="Expires", column=(30, 1), card=110, shown="deadline"),
        CREATED._replace(column=None),
        LIVEMODE,
    ),
    actions=(
        Action(
            "create",
            "Request a landed-cost quote.",
            "--currency EUR --country DE --item "
            "'name=Linen jacket,hs_code=620339,origin_country=IT,quantity=1,unit_amount=12900'",
            "Missing tariff codes come back as warnings.",
            many=True,
            refuses=("amount_too_large",),
        ),
        Action("retrieve", "Retrieve a landed-cost quote.", "lcq_2iWj3kPq0aVb7cXd9eYf1gZh"),
    ),
)
