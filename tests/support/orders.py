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
