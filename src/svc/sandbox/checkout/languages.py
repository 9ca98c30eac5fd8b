"""The languages of the checkout, which one a shopper gets, and how each writes amounts (CLDR).

`visit` chooses the language of a shopper; all pages take their texts and amounts from it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from svc.money import exponent, format_amount
from svc.sandbox.reference.methods import BRANDS

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


def write_amount(amount: int, currency: str, style: NumberStyle) -> str:
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


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its tag, its name in itself, its texts and its way with numbers."""

    tag: str
    name: str
    texts: Mapping[str, str]
    numbers: NumberStyle

    def say(self, key: str, **values: str) -> str:
        """A text with its values put in; plain text, not yet escaped."""
        return self.texts[key].format_map(values)

    def money(self, amount: int, currency: str) -> str:
        """Minor units as this language writes them."""
        return write_amount(amount, currency, self.numbers)

    def method(self, name: str) -> str:
        """What people call a payment method; an unknown one keeps its name."""
        return BRANDS.get(name) or self.texts.get(name, name)


def _language(tag: str, name: str, numbers: NumberStyle) -> Language:
    """A language whose texts stand in `texts/TAG.json`; every file has every key."""
    found = files(__package__).joinpath("texts", f"{tag}.json").read_text(encoding="utf-8")
    return Language(tag, name, json.loads(found), numbers)


ENGLISH: Final = _language("en", "English", NumberStyle(".", ",", symbol_first=True))
LANGUAGES: Final = (
    ENGLISH,
    _language("de", "Deutsch", NumberStyle(",", ".", symbol_first=False)),
    _language("fr", "Français", NumberStyle(",", "\N{NARROW NO-BREAK SPACE}", symbol_first=False)),
    _language("es", "Español", NumberStyle(",", ".", symbol_first=False, group_from=5)),
    _language("ja", "日本語", NumberStyle(".", ",", symbol_first=True)),
)
_BY_TAG: Final = {language.tag: language for language in LANGUAGES}


def find_language(tag: str | None) -> Language | None:
    """The language of a tag such as `de`, if the checkout speaks it."""
    return _BY_TAG.get(tag or "")


def choose(asked: str | None, locale: str) -> Language:
    """The language that was asked for, else that of the locale (`de-AT`), else English."""
    return find_language(asked) or find_language(locale.partition("-")[0]) or ENGLISH
