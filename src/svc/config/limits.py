"""Parses money limits such as `500 EUR/day`: at most an amount of a currency within a period.

`model` parses the limits of the configuration file with it; `delivery.journal.limits` compares them
with what was sent, before each POST that moves money.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from svc.money import exponent, format_amount, from_decimal_text

# Any stretch of so many seconds, wherever it begins: no midnight opens a limit.
WINDOWS: Final[Mapping[str, int]] = {
    "hour": 3600,
    "day": 24 * 3600,
    "week": 7 * 24 * 3600,
    "month": 31 * 24 * 3600,
}


class MoneyLimit(NamedTuple):
    """At most `amount` minor units of a currency within any period of the length `window`."""

    amount: int
    currency: str
    window: str

    @property
    def seconds(self) -> int:
        """The length of the period, in seconds."""
        return WINDOWS[self.window]

    def __str__(self) -> str:
        return f"{format_amount(self.amount, self.currency)}/{self.window}"


def parse_limits(text: str) -> tuple[MoneyLimit, ...] | None:
    """Parses text such as `500 EUR/day, 90.50 USD/hour`; None if it is invalid."""
    found: list[MoneyLimit] = []
    for part in text.split(","):
        limit = _limit_of(part.strip())
        if limit is None:
            return None
        found.append(limit)
    return tuple(found)


def _limit_of(text: str) -> MoneyLimit | None:
    money, _, window = text.partition("/")
    amount, _, currency = money.partition(" ")
    digits = exponent(currency)
    if window not in WINDOWS or digits is None:
        return None
    if digits and "." not in amount:
        amount = f"{amount}.{'0' * digits}"
    number = from_decimal_text(amount, currency)
    return None if number is None else MoneyLimit(number, currency, window)
