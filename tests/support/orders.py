"""The order of a linen jacket that most tests have paid, refunded or disputed."""

from typing import Any, Final

JACKET: Final = {
    "name": "Linen jacket",
    "hs_code": "6203.39",
    "quantity": 1,
    "unit_amount": 12900,
}
ORDER: Final[dict[str, Any]] = {
    "amount": 12900,
    "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [JACKET],
}
CREATE_ORDER: Final = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR", "--country", "DE"),
    *("--item", "name=Jacket,hs_code=6203.39,quantity=1,unit_amount=12900"),
)
# What the service answers to its creation.
NEW_ORDER: Final[dict[str, Any]] = {
    "id": "ord_3kPq0aVb7cXd9eYf1gZh2iWj",
    "object": "order",
    "status": "requires_payment",
    "amount": 12900,
    "currency": "EUR",
    "settlement_currency": "USD",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [
        {
            "name": "Linen jacket",
            "hs_code": "6203.39",
            "origin_country": None,
            "quantity": 1,
            "unit_amount": 12900,
        }
    ],
    "capture_method": "automatic",
    "methods": ["card", "sepa_debit", "klarna", "paypal"],
    "landed_cost": {
        "duty": 300,
        "vat": 2508,
        "fees": 0,
        "total": 2808,
        "currency": "EUR",
        "guaranteed": False,
        "quote": "lcq_1aBc2dEf3gHi4jKl5mNo6pQr",
    },
    "customs": None,
    "amount_total": 15708,
    "amount_captured": 0,
    "amount_refunded": 0,
    "latest_payment": None,
    "cancellation_reason": None,
    "cancelled_at": None,
    "paid_at": None,
    "metadata": {},
    "created": "2026-10-01T09:00:00Z",
    "livemode": False,
    "client_secret": "ord_3kPq0aVb7cXd9eYf1gZh2iWj_secret_8Lm2",
}
