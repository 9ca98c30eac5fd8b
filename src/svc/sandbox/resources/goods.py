"""Sums what the goods of an order or a quote cost, and formats rates.

Orders, quotes, payments, payouts and the checkout's summary use it.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from svc.sandbox.parameters.kinds import amount_too_large
from svc.service.facts import AMOUNT_MAX


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
