"""The noun `payment_method`: a card that a shopper chose to save (spec: Saved payment method).

As data: its fields. The noun has no command and no call: no endpoint answers a saved payment method
by itself, it stands inside a payment. The sandbox's saved cards, the views of payments and the
schema of the OpenAPI document are built from it.
"""

from typing import Final

from svc.service.model import (
    CREATED,
    LAST4,
    LIVEMODE,
    Field,
    Resource,
    build_id_field,
    choice,
    group,
    integer,
)
from svc.service.payments import BRANDS

NETWORK_TOKENS: Final = ("active", "suspended", "unavailable")

RESOURCE: Final = Resource(
    "payment_method",
    "Saved payment method",
    "Payments",
    headline="",
    fields=(
        build_id_field("payment_method"),
        Field("type", choice("card"), label="Type", card=10),
        Field(
            "card",
            group(
                Field("brand", choice(*BRANDS), lifted="Brand", column=(20, 0), card=20),
                Field("last4", LAST4, lifted="Ends", column=(30, 0), card=30),
                Field(
                    "network_token",
                    choice(*NETWORK_TOKENS),
                    lifted="Token",
                    column=(40, 1),
                    card=60,
                    shown="status",
                ),
                Field("exp_month", integer(1, 12), lifted="Expiry month", card=40, csv="-"),
                Field("exp_year", integer(2000, 9999), lifted="Expiry year", card=50, csv="-"),
            ),
        ),
        CREATED._replace(column=None, csv="-"),
        LIVEMODE._replace(csv="-"),
    ),
)
