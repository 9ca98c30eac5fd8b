"""Computes duty, VAT and fees of an import, and whether the quote is guaranteed.

The tables are a fixture, plausible and fixed, not tariff data. Rates are basis points. Thresholds,
low-value duties and fees are minor units of the currency that stands beside them. "EU" is one
destination here; its VAT differs by country.

`resources.landed_cost_quotes` calls `quote`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from svc.sandbox.reference import fx
from svc.service.facts import EU_COUNTRIES

DESTINATIONS: Final = ("EU", "GB", "US", "CA", "AU", "JP", "CH", "NO", "KR", "NZ", "SG", "other")

# One row a chapter of the tariff, one figure a destination, in the order of DESTINATIONS.
_CLOTHING: Final = (1200, 1200, 1600, 1800, 500, 900, 0, 1070, 1300, 1000, 0, 1500)
_MACHINES: Final = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 500)
_WATCHES: Final = (300, 300, 400, 500, 500, 0, 0, 0, 800, 0, 0, 800)
OTHER_CHAPTER: Final = "other"
_WHOLE: Final = 10_000  # basis points
DUTY_BPS: Final[dict[str, tuple[int, ...]]] = {
    "09": (750, 800, 0, 0, 0, 1200, 0, 0, 800, 0, 0, 500),
    "22": (320, 300, 200, 300, 500, 1500, 0, 0, 1500, 500, 0, 1500),
    "33": (0, 0, 0, 650, 500, 0, 0, 0, 650, 500, 0, 1000),
    "42": (400, 400, 900, 700, 500, 1000, 0, 0, 800, 500, 0, 1000),
    "49": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "61": _CLOTHING,
    "62": _CLOTHING,
    "63": _CLOTHING,
    "64": (800, 800, 1000, 1700, 500, 1500, 0, 0, 1300, 1000, 0, 1500),
    "71": (250, 250, 550, 600, 500, 500, 0, 0, 800, 500, 0, 1000),
    "84": _MACHINES,
    "85": _MACHINES,
    "90": _WATCHES,
    "91": _WATCHES,
    "95": (0, 0, 0, 0, 500, 0, 0, 0, 0, 0, 0, 800),
    OTHER_CHAPTER: (500, 500, 500, 500, 500, 500, 0, 0, 800, 500, 0, 1000),
}


@dataclass(frozen=True, slots=True)
class ImportRules:
    """How a destination treats imports; every amount is minor units of `currency`."""

    currency: str
    threshold: int = 0
    low_value_duty: int = 0
    low_value_vat_free: bool = False
    vat_bps: int = 0
    fees: int = 0


RULES: Final[dict[str, ImportRules]] = {
    # The EU's VAT is looked up by country; its 3.00 EUR is the flat duty in force since July 2026.
    "EU": ImportRules("EUR", threshold=150_00, low_value_duty=3_00),
    "GB": ImportRules("GBP", threshold=135_00, vat_bps=2000),
    "US": ImportRules("USD"),
    "CA": ImportRules("CAD", threshold=20_00, low_value_vat_free=True, vat_bps=500, fees=9_95),
    "AU": ImportRules("AUD", threshold=1000_00, vat_bps=1000),
    "JP": ImportRules("JPY", threshold=10_000, low_value_vat_free=True, vat_bps=1000),
    "CH": ImportRules("CHF", vat_bps=810),
    "NO": ImportRules("NOK", vat_bps=2500),
    "KR": ImportRules("USD", threshold=150_00, low_value_vat_free=True, vat_bps=1000),
    "NZ": ImportRules("NZD", threshold=1000_00, vat_bps=1500),
    "SG": ImportRules("SGD", threshold=400_00, vat_bps=900),
    "other": ImportRules("USD"),
}

EU_VAT_BPS: Final = {
    "LU": 1700,
    "MT": 1800,
    **dict.fromkeys("CY DE".split(), 1900),
    **dict.fromkeys("AT BG FR".split(), 2000),
    **dict.fromkeys("BE CZ ES LT LV NL RO".split(), 2100),
    **dict.fromkeys("IT SI".split(), 2200),
    **dict.fromkeys("IE PL PT SK".split(), 2300),
    **dict.fromkeys("EE GR".split(), 2400),
    **dict.fromkeys("DK HR SE".split(), 2500),
    "FI": 2550,
    "HU": 2700,
}


def destination(country: str) -> str:
    """Names the column of a country: `EU` for its members, the country's own, or `other`."""
    if country in EU_COUNTRIES:
        return "EU"
    return country if country in RULES else "other"


def duty_bps(chapter: str, country: str) -> int:
    """Returns the duty rate of a chapter (two digits or `other`) at a country, in basis points."""
    row = DUTY_BPS.get(chapter, DUTY_BPS[OTHER_CHAPTER])
    return row[DESTINATIONS.index(destination(country))]


def vat_bps(country: str) -> int:
    """Returns the VAT rate of a country in basis points."""
    return EU_VAT_BPS.get(country, RULES[destination(country)].vat_bps)


HS_DIGITS_FOR_GUARANTEE: Final = 6
_CHAPTER_DIGITS: Final = 2
_NO_SEPARATORS: Final = str.maketrans("", "", ". -")
_UNKNOWN_ORIGINS: Final = (None, "", "XX", "ZZ")
WARNINGS: Final = {
    "hs_code_incomplete": "The tariff code of {item} has fewer than 6 digits.",
    "origin_country_unknown": "The country of origin of {item} is unknown.",
    "destination_not_supported": "No guarantee is given for imports of {item} into {country}.",
}


class ItemCharges(NamedTuple):
    """The charges on one item, in minor units of the quote's currency.

    `duty_rate_bps` is the rate that was applied: 0 for domestic goods, below a threshold and where
    a flat amount is charged instead.
    """

    duty: int
    vat: int
    duty_rate_bps: int


class Duties(NamedTuple):
    """The charges on an import in minor units; `total` is the sum of duty, vat and fees.

    `vat` holds the VAT on freight besides that of the lines. `warnings` are objects with `code`,
    `item` and `message`, in the order of the items; `guaranteed` means that there are none.
    """

    duty: int
    vat: int
    fees: int
    total: int
    guaranteed: bool
    warnings: list[dict[str, str]]
    lines: list[ItemCharges]


def quote(
    *, currency: str, country: str, ship_from: str, items: Sequence[Mapping[str, Any]], freight: int
) -> Duties:
    """Computes the import charges of `items` sent from one country to another.

    Amounts, `freight` and each item's `unit_amount` are minor units of `currency`, which must have
    a rate (KeyError otherwise). Items have `name`, `quantity`, `unit_amount` and optionally
    `hs_code` and `origin_country`.
    """
    warnings = _warnings(items, country)
    if ship_from == country or {ship_from, country} <= EU_COUNTRIES:
        return Duties(0, 0, 0, 0, not warnings, warnings, [ItemCharges(0, 0, 0) for _ in items])
    rule = RULES[destination(country)]
    goods = sum(_value(item) for item in items)
    low_value = goods <= fx.convert(rule.threshold, rule.currency, currency)
    vat_rate = 0 if low_value and rule.low_value_vat_free else vat_bps(country)
    flat = fx.convert(rule.low_value_duty, rule.currency, currency) if low_value else None
    lines = [_line(item, country, flat, vat_rate) for item in items]
    duty = sum(line.duty for line in lines)
    vat = sum(line.vat for line in lines) + _share(freight, vat_rate)
    fees = fx.convert(rule.fees, rule.currency, currency) if duty or vat else 0
    return Duties(duty, vat, fees, duty + vat + fees, not warnings, warnings, lines)


def _line(item: Mapping[str, Any], country: str, flat: int | None, vat_rate: int) -> ItemCharges:
    value = _value(item)
    bps = 0 if flat is not None else duty_bps(_chapter(item), country)
    duty = _share(value, bps) if flat is None else flat
    return ItemCharges(duty, _share(value + duty, vat_rate), bps)


def _value(item: Mapping[str, Any]) -> int:
    return int(item["quantity"]) * int(item["unit_amount"])


def _share(amount: int, bps: int) -> int:
    return (amount * bps + _WHOLE // 2) // _WHOLE  # half up: neither is below zero


def _hs_digits(item: Mapping[str, Any]) -> str:
    return str(item.get("hs_code") or "").translate(_NO_SEPARATORS)


def _chapter(item: Mapping[str, Any]) -> str:
    digits = _hs_digits(item)
    return digits[:_CHAPTER_DIGITS] if len(digits) >= _CHAPTER_DIGITS else OTHER_CHAPTER


def _warnings(items: Sequence[Mapping[str, Any]], country: str) -> list[dict[str, str]]:
    names = [item["name"] for item in items]
    found = []
    for index, (name, item) in enumerate(zip(names, items, strict=True)):
        causes = {
            "hs_code_incomplete": len(_hs_digits(item)) < HS_DIGITS_FOR_GUARANTEE,
            "origin_country_unknown": item.get("origin_country") in _UNKNOWN_ORIGINS,
            "destination_not_supported": destination(country) == "other",
        }
        for code in [code for code, applies in causes.items() if applies]:
            label = name if names.count(name) == 1 else f"items[{index}]"
            message = WARNINGS[code].format(item=label, country=country)
            found.append({"code": code, "item": label, "message": message})
    return found
