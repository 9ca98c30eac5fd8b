"""The sandbox's duty and VAT tables: a fixture, plausible and fixed, not tariff data.

Rates are basis points. Thresholds, low-value duties and fees are minor units of the currency that
stands beside them. "EU" is one destination here; its VAT differs by country.
"""

from dataclasses import dataclass
from typing import Final

from svc.spec import EU_COUNTRIES

DESTINATIONS: Final = ("EU", "GB", "US", "CA", "AU", "JP", "CH", "NO", "KR", "NZ", "SG", "other")

# One row a chapter of the tariff, one figure a destination, in the order of DESTINATIONS.
_CLOTHING: Final = (1200, 1200, 1600, 1800, 500, 900, 0, 1070, 1300, 1000, 0, 1500)
_MACHINES: Final = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 500)
_WATCHES: Final = (300, 300, 400, 500, 500, 0, 0, 0, 800, 0, 0, 800)
OTHER_CHAPTER: Final = "other"
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
class Destination:
    """How a destination treats imports; every amount is minor units of `currency`."""

    currency: str
    threshold: int
    low_value_duty: int
    low_value_vat_free: bool
    vat_bps: int
    fees: int


RULES: Final[dict[str, Destination]] = {
    # The EU's VAT is looked up by country; its 3.00 EUR is the flat duty in force since July 2026.
    "EU": Destination("EUR", 150_00, 3_00, low_value_vat_free=False, vat_bps=0, fees=0),
    "GB": Destination("GBP", 135_00, 0, low_value_vat_free=False, vat_bps=2000, fees=0),
    "US": Destination("USD", 0, 0, low_value_vat_free=False, vat_bps=0, fees=0),
    "CA": Destination("CAD", 20_00, 0, low_value_vat_free=True, vat_bps=500, fees=9_95),
    "AU": Destination("AUD", 1000_00, 0, low_value_vat_free=False, vat_bps=1000, fees=0),
    "JP": Destination("JPY", 10_000, 0, low_value_vat_free=True, vat_bps=1000, fees=0),
    "CH": Destination("CHF", 0, 0, low_value_vat_free=False, vat_bps=810, fees=0),
    "NO": Destination("NOK", 0, 0, low_value_vat_free=False, vat_bps=2500, fees=0),
    "KR": Destination("USD", 150_00, 0, low_value_vat_free=True, vat_bps=1000, fees=0),
    "NZ": Destination("NZD", 1000_00, 0, low_value_vat_free=False, vat_bps=1500, fees=0),
    "SG": Destination("SGD", 400_00, 0, low_value_vat_free=False, vat_bps=900, fees=0),
    "other": Destination("USD", 0, 0, low_value_vat_free=False, vat_bps=0, fees=0),
}

EU_VAT_BPS: Final = {
    "AT": 2000,
    "BE": 2100,
    "BG": 2000,
    "CY": 1900,
    "CZ": 2100,
    "DE": 1900,
    "DK": 2500,
    "EE": 2400,
    "ES": 2100,
    "FI": 2550,
    "FR": 2000,
    "GR": 2400,
    "HR": 2500,
    "HU": 2700,
    "IE": 2300,
    "IT": 2200,
    "LT": 2100,
    "LU": 1700,
    "LV": 2100,
    "MT": 1800,
    "NL": 2100,
    "PL": 2300,
    "PT": 2300,
    "RO": 2100,
    "SE": 2500,
    "SI": 2200,
    "SK": 2300,
}


def destination(country: str) -> str:
    """Names the column of a country: `EU` for its members, the country's own, or `other`."""
    if country in EU_COUNTRIES:
        return "EU"
    return country if country in RULES else "other"


def duty_bps(chapter: str, country: str) -> int:
    """Gives the duty rate of a chapter (two digits or `other`) at a country, in basis points."""
    row = DUTY_BPS.get(chapter, DUTY_BPS[OTHER_CHAPTER])
    return row[DESTINATIONS.index(destination(country))]


def vat_bps(country: str) -> int:
    """Gives the VAT rate of a country in basis points."""
    return EU_VAT_BPS.get(country, RULES[destination(country)].vat_bps)
