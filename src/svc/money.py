"""Converts amounts between minor units and the text that people read (spec: Conventions).

`1215708` in EUR is `12,157.08 EUR`. Used wherever an amount is shown (`cli`, `render`, the
inspector, the checkout page), for the columns of amounts in a CSV (`batch`, `render`), for limits
of the configuration, and for the hint after an amount that was typed with decimals.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # half of the commands calculate nothing
    from decimal import Decimal

# ISO 4217, active codes without funds of precious metals and testing (XAU, XTS and their kin).
CURRENCIES: Final = frozenset(
    (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN "
        "BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP "
        "ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR "
        "ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA "
        "MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK "
        "PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC "
        "SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND "
        "VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG"
    ).split()
)

_DIGITS_MAX: Final = 15  # more than any amount has, and few enough to be read at once

EXPONENTS: Final = {
    **dict.fromkeys(
        "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0
    ),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


def exponent(currency: str) -> int | None:
    """The number of decimals of a currency; None if the code is not in ISO 4217."""
    if currency not in CURRENCIES:
        return None
    return EXPONENTS.get(currency, 2)


def round_half_up(value: "Decimal") -> int:
    """Rounds to a whole number, halves away from zero; for the sandbox's duties and FX."""
    from decimal import ROUND_HALF_UP

    return int(value.to_integral_value(rounding=ROUND_HALF_UP))


def format_amount(amount: int, currency: str) -> str:
    """Writes minor units as people read them: `1215708, "EUR"` becomes `12,157.08 EUR`.

    An unknown currency is never given decimals: the minor units are shown and marked as such.
    """
    digits = exponent(currency)
    if digits is None:
        return f"{amount} {currency} (minor units, unknown currency)"
    sign = "-" if amount < 0 else ""
    whole, fraction = divmod(abs(amount), 10**digits)
    decimals = f".{fraction:0{digits}d}" if digits else ""
    return f"{sign}{whole:,}{decimals} {currency}"


def decimal_text(amount: int, currency: str) -> str | None:
    """Writes minor units as a plain number with the currency's own number of places.

    `1215708, "EUR"` becomes `12157.08`; None for an unknown currency, which has no known number.
    """
    digits = exponent(currency)
    if digits is None:
        return None
    whole, fraction = divmod(abs(amount), 10**digits)
    places = f".{fraction:0{digits}d}" if digits else ""
    return f"{'-' if amount < 0 else ''}{whole}{places}"


def from_decimal_text(text: str, currency: str) -> int | None:
    """Reads what `decimal_text` writes; None for anything else, such as another number of places.

    A text without the currency's decimals is therefore never read as an amount with decimals: it
    may be in minor units. Without decimals in the currency both are the same number.
    """
    digits = exponent(currency)
    whole, _, fraction = text.partition(".")
    if digits is None or len(text) > _DIGITS_MAX or not (whole.isascii() and whole.isdigit()):
        return None
    amount = int(whole + fraction) if (fraction or "0").isascii() and fraction.isdigit() else None
    amount = int(whole) if not digits else amount
    return amount if amount is not None and decimal_text(amount, currency) == text else None


def parse_minor_units(text: str, currency: str | None) -> int | None:
    """Reads `129.00` as minor units, for a hint; None when it could mean something else.

    `1.000` is a thousand to half of the world: with more decimals than the currency has, nothing
    is guessed.
    """
    digits = exponent(currency) if currency else 2
    whole, point, fraction = text.strip().partition(".")
    if digits == 0 and fraction == "00":  # too few to part thousands
        fraction = ""
    plain = (whole + fraction).isascii() and (whole + fraction).isdigit() and whole
    if digits is None or not point or not plain or len(fraction) > digits:
        return None
    if len(whole) > _DIGITS_MAX:
        return None
    return int(whole + fraction.ljust(digits, "0"))
