"""The sandbox's fixed exchange rates, and the arithmetic with them (assumptions: Payout).

A fixture without authority: plausible rates that never move. Everything is decimal arithmetic;
amounts are minor units and round half up. Payouts, payments, refunds, disputes and customs convert
by it, and its currencies are those that a request may name.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Final

from svc.money import exponent, round_half_up

# US dollars for one whole unit; the keys are the currencies that the sandbox supports.
USD_PER_UNIT: Final[dict[str, Decimal]] = {
    "USD": Decimal(1),
    "EUR": Decimal("1.10"),
    "GBP": Decimal("1.28"),
    "JPY": Decimal("0.0068"),
    "AUD": Decimal("0.66"),
    "CAD": Decimal("0.73"),
    "CHF": Decimal("1.14"),
    "CNY": Decimal("0.14"),
    "HKD": Decimal("0.128"),
    "SGD": Decimal("0.75"),
    "KRW": Decimal("0.00073"),
    "NZD": Decimal("0.60"),
    "SEK": Decimal("0.095"),
    "NOK": Decimal("0.093"),
    "DKK": Decimal("0.147"),
    "PLN": Decimal("0.26"),
    "CZK": Decimal("0.044"),
    "HUF": Decimal("0.0028"),
    "MXN": Decimal("0.055"),
    "BRL": Decimal("0.18"),
    "INR": Decimal("0.012"),
    "THB": Decimal("0.028"),
    "MYR": Decimal("0.22"),
    "TWD": Decimal("0.031"),
    "AED": Decimal("0.2723"),
    "KWD": Decimal("3.25"),
    "BHD": Decimal("2.65"),
    "ISK": Decimal("0.0072"),
    "VND": Decimal("0.00004"),
    "IDR": Decimal("0.000063"),
    "TRY": Decimal("0.03"),
    "ZAR": Decimal("0.055"),
    "ILS": Decimal("0.27"),
    "SAR": Decimal("0.2666"),
    "QAR": Decimal("0.2747"),
    "OMR": Decimal("2.60"),
    "JOD": Decimal("1.41"),
    "EGP": Decimal("0.02"),
    "MAD": Decimal("0.10"),
    "TND": Decimal("0.32"),
    "NGN": Decimal("0.00065"),
    "KES": Decimal("0.0077"),
    "GHS": Decimal("0.065"),
    "CLP": Decimal("0.00105"),
    "COP": Decimal("0.00025"),
    "PEN": Decimal("0.27"),
    "ARS": Decimal("0.001"),
    "UYU": Decimal("0.025"),
    "PHP": Decimal("0.0175"),
    "PKR": Decimal("0.0036"),
    "BDT": Decimal("0.0083"),
    "LKR": Decimal("0.0033"),
    "MOP": Decimal("0.124"),
    "RON": Decimal("0.22"),
    "BGN": Decimal("0.5624"),
    "RSD": Decimal("0.0094"),
    "UAH": Decimal("0.024"),
    "GEL": Decimal("0.36"),
    "KZT": Decimal("0.0020"),
    "XOF": Decimal("0.0017"),
    "XAF": Decimal("0.0017"),
    "CRC": Decimal("0.0019"),
    "DOP": Decimal("0.0165"),
    "GTQ": Decimal("0.13"),
}

FEE_SAME_CURRENCY: Final = 50  # US cents
FEE_OTHER_CURRENCY: Final = 200  # US cents

_RATE: Final = Context(prec=8, rounding=ROUND_HALF_UP)
_WIDE: Final = Context(prec=60, rounding=ROUND_HALF_UP)  # wide enough to round only once


@dataclass(frozen=True, slots=True)
class PayoutCost:
    """What a payout takes from the balance, in minor units of the source currency.

    `fx_rate` is payout units for one source unit (major units); `source_amount` contains
    `network_fees`.
    """

    fx_rate: Decimal
    source_amount: int
    network_fees: int


def is_supported(currency: str) -> bool:
    """Returns whether the sandbox has a rate for a currency."""
    return currency in USD_PER_UNIT


def rate(source: str, target: str) -> Decimal:
    """Returns target units for one source unit, in major units, with 8 significant digits.

    Raises KeyError for a currency without a rate; callers check `is_supported` first.
    """
    return _RATE.divide(USD_PER_UNIT[source], USD_PER_UNIT[target])


@lru_cache
def convert(amount: int, source: str, target: str) -> int:
    """Turns minor units of one currency into minor units of another, half up.

    Raises KeyError for a currency without a rate.
    """
    major = _WIDE.multiply(Decimal(amount), rate(source, target))
    return round_half_up(_shift(major, _digits(target) - _digits(source)))


def number(rate: Decimal) -> int | float:
    """A rate as a JSON number: `1`, `0.90909091`."""
    return int(rate) if rate == rate.to_integral_value() else float(rate)


def share(amount: int, basis_points: int) -> int:
    """A share of an amount in its minor units, half up."""
    return round_half_up(_WIDE.multiply(Decimal(amount), Decimal(basis_points).scaleb(-4)))


def payout_cost(amount: int, currency: str, source_currency: str) -> PayoutCost:
    """The cost of a payout, minor units (assumptions: Payout); raises KeyError without a rate."""
    fx_rate = rate(source_currency, currency)
    shift = _digits(source_currency) - _digits(currency)
    converted = round_half_up(_shift(_WIDE.divide(Decimal(amount), fx_rate), shift))
    cents = FEE_SAME_CURRENCY if currency == source_currency else FEE_OTHER_CURRENCY
    fees = convert(cents, "USD", source_currency)
    return PayoutCost(fx_rate, converted + fees, fees)


def _shift(value: Decimal, places: int) -> Decimal:
    return _WIDE.scaleb(value, places)


def _digits(currency: str) -> int:
    digits = exponent(currency)
    if digits is None:
        raise KeyError(currency)
    return digits
