"""Amounts as shoppers of each language read them (Unicode CLDR's forms)."""

from dataclasses import dataclass
from typing import Final

from svc.money import exponent, format_amount

# A plain "$" says nothing to a shopper abroad; other currencies keep their code.
_SYMBOLS: Final = {
    "AUD": "A$",
    "BRL": "R$",
    "CAD": "CA$",
    "CNY": "CN¥",
    "EUR": "€",
    "GBP": "£",
    "HKD": "HK$",
    "ILS": "₪",
    "INR": "₹",
    "JPY": "¥",
    "KRW": "₩",
    "MXN": "MX$",
    "NZD": "NZ$",
    "TWD": "NT$",
    "USD": "US$",
    "VND": "₫",
}
_NO_BREAK: Final = "\N{NO-BREAK SPACE}"
_MINUS: Final = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a language writes numbers; whole parts of fewer than `group_from` digits stay whole."""

    decimal: str
    group: str
    symbol_first: bool
    group_from: int = 4


def written(amount: int, currency: str, style: NumberStyle) -> str:
    """Writes minor units: 15708 EUR is `€157.08` in English and `157,08 €` in German."""
    digits = exponent(currency)
    if digits is None:
        return format_amount(amount, currency)
    whole, fraction = divmod(abs(amount), 10**digits)
    number = f"{whole:,}".replace(",", style.group if len(str(whole)) >= style.group_from else "")
    if digits:
        number += f"{style.decimal}{fraction:0{digits}d}"
    return (_MINUS if amount < 0 else "") + _with_symbol(number, currency, style)


def _with_symbol(number: str, currency: str, style: NumberStyle) -> str:
    symbol = _SYMBOLS.get(currency, currency)
    if not style.symbol_first:
        return f"{number}{_NO_BREAK}{symbol}"
    return f"{symbol}{_NO_BREAK if symbol == currency else ''}{number}"
