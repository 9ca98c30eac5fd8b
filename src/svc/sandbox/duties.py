"""Duty, VAT and fees on an import, and whether the quote is guaranteed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from svc.money import round_half_up
from svc.sandbox import fx, tariff
from svc.spec import EU_COUNTRIES

HS_DIGITS_FOR_GUARANTEE: Final = 6
_CHAPTER_DIGITS: Final = 2
_UNKNOWN_ORIGINS: Final = (None, "", "XX", "ZZ")
_WARNINGS: Final = {
    "hs_code_incomplete": "The tariff code of {item} has fewer than 6 digits.",
    "origin_country_unknown": "The country of origin of {item} is unknown.",
    "destination_not_supported": "No guarantee is given for imports of {item} into {country}.",
}


@dataclass(frozen=True, slots=True)
class Line:
    """The charges on one item, in minor units of the quote's currency.

    `duty_rate_bps` is the rate that was applied: 0 for domestic goods, below a threshold and where
    a flat amount is charged instead.
    """

    duty: int
    vat: int
    duty_rate_bps: int


@dataclass(frozen=True, slots=True)
class Duties:
    """The charges on an import in minor units; `total` is the sum of duty, vat and fees.

    `vat` holds the VAT on freight besides that of the lines. `warnings` are objects with `code`,
    `item` and `message`, in the order of the items.
    """

    duty: int
    vat: int
    fees: int
    total: int
    guaranteed: bool
    warnings: list[dict[str, str]]
    lines: list[Line]


def quote(
    *, currency: str, country: str, ship_from: str, items: Sequence[Mapping[str, Any]], freight: int
) -> Duties:
    """Computes the import charges of `items` sent from one country to another.

    Amounts, `freight` and each item's `unit_amount` are minor units of `currency`, which must have
    a rate (KeyError otherwise). Items have `name`, `quantity`, `unit_amount` and optionally
    `hs_code` and `origin_country`.
    """
    warnings = _warnings(items, country)
    if _domestic(ship_from, country):
        return Duties(0, 0, 0, 0, not warnings, warnings, [Line(0, 0, 0) for _ in items])
    rule = tariff.RULES[tariff.destination(country)]
    goods = sum(_value(item) for item in items)
    low_value = goods <= fx.convert(rule.threshold, rule.currency, currency)
    vat_rate = 0 if low_value and rule.low_value_vat_free else tariff.vat_bps(country)
    flat = fx.convert(rule.low_value_duty, rule.currency, currency) if low_value else None
    lines = [_line(item, country, flat, vat_rate) for item in items]
    duty = sum(line.duty for line in lines)
    vat = sum(line.vat for line in lines) + _share(freight, vat_rate)
    fees = fx.convert(rule.fees, rule.currency, currency) if duty or vat else 0
    return Duties(duty, vat, fees, duty + vat + fees, not warnings, warnings, lines)


def _domestic(ship_from: str, country: str) -> bool:
    return ship_from == country or {ship_from, country} <= EU_COUNTRIES


def _line(item: Mapping[str, Any], country: str, flat: int | None, vat_rate: int) -> Line:
    value = _value(item)
    bps = 0 if flat is not None else tariff.duty_bps(_chapter(item), country)
    duty = _share(value, bps) if flat is None else flat
    return Line(duty, _share(value + duty, vat_rate), bps)


def _value(item: Mapping[str, Any]) -> int:
    return int(item["quantity"]) * int(item["unit_amount"])


def _share(amount: int, bps: int) -> int:
    return round_half_up(Decimal(amount * bps).scaleb(-4))


def _hs_digits(item: Mapping[str, Any]) -> str:
    return "".join(c for c in item.get("hs_code") or "" if c not in ". -")


def _chapter(item: Mapping[str, Any]) -> str:
    digits = _hs_digits(item)
    return digits[:_CHAPTER_DIGITS] if len(digits) >= _CHAPTER_DIGITS else tariff.OTHER_CHAPTER


def _warnings(items: Sequence[Mapping[str, Any]], country: str) -> list[dict[str, str]]:
    names = Counter(item["name"] for item in items)
    found = []
    for index, item in enumerate(items):
        label = item["name"] if names[item["name"]] == 1 else f"items[{index}]"
        found += [_warning(code, label, country) for code in _causes(item, country)]
    return found


def _causes(item: Mapping[str, Any], country: str) -> list[str]:
    causes = {
        "hs_code_incomplete": len(_hs_digits(item)) < HS_DIGITS_FOR_GUARANTEE,
        "origin_country_unknown": item.get("origin_country") in _UNKNOWN_ORIGINS,
        "destination_not_supported": tariff.destination(country) == "other",
    }
    return [code for code, applies in causes.items() if applies]


def _warning(code: str, item: str, country: str) -> dict[str, str]:
    return {
        "code": code,
        "item": item,
        "message": _WARNINGS[code].format(item=item, country=country),
    }
