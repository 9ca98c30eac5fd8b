"""Duty, VAT, fees and guarantees (assumptions: Landed-cost quote)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sandbox.reference import customs, fx
from svc.service.facts import COUNTRIES

JACKET = "6203.39"
SHOES = "6403.99"
BOOK = "4901.99"


def item(
    unit_amount: int,
    hs_code: str | None = JACKET,
    *,
    quantity: int = 1,
    origin: str | None = "PT",
    name: str = "Jacket",
) -> dict[str, Any]:
    """One line as an order holds it."""
    return {
        "name": name,
        "quantity": quantity,
        "unit_amount": unit_amount,
        "hs_code": hs_code,
        "origin_country": origin,
    }


def quote(
    currency: str,
    country: str,
    items: list[dict[str, Any]],
    freight: int = 0,
    ship_from: str = "US",
) -> customs.Duties:
    """A quote shipped from the US unless told otherwise."""
    return customs.quote(
        currency=currency, country=country, ship_from=ship_from, items=items, freight=freight
    )


TWO = [item(8000, SHOES, quantity=2), item(2000, BOOK, name="Book")]
CHECKS: list[tuple[str, str, list[Any], int, int, list[tuple[int, int, int]]]] = [
    # Below the threshold: a flat 3.00 EUR and 19 % of 132.00; two are above it.
    ("EUR", "DE", [item(12900)], 300, 2508, [(300, 2508, 0)]),
    ("EUR", "DE", [item(12900, quantity=2)], 3096, 5490, [(3096, 5490, 1200)]),
    # 180.00 USD are above 135.00 GBP = 172.80 USD; each line has its own rate.
    ("USD", "GB", TWO, 1280, 3856, [(1280, 3456, 800), (0, 400, 0)]),
    ("JPY", "JP", [item(24000)], 2160, 2616, [(2160, 2616, 900)]),
    ("JPY", "JP", [item(9000)], 0, 0, [(0, 0, 0)]),
]


@pytest.mark.parametrize(("currency", "country", "items", "duty", "vat", "lines"), CHECKS)
def test_worked_check(
    currency: str, country: str, items: list[Any], duty: int, vat: int, lines: list[Any]
) -> None:
    """(a) to (d) of the assumptions, line by line."""
    result = quote(currency, country, items)
    assert result[:4] == (duty, vat, 0, duty + vat)
    assert result.lines == [customs.ItemCharges(*line) for line in lines]


def test_check_e_short_code_and_no_origin() -> None:
    """(e) A 4-digit code and no origin give two warnings and the same amounts."""
    short = {"name": "Jacket", "quantity": 1, "unit_amount": 12900, "hs_code": "6203"}
    result = quote("EUR", "DE", [short])
    assert not result.guaranteed
    assert [(w["code"], w["item"]) for w in result.warnings] == [
        ("hs_code_incomplete", "Jacket"),
        ("origin_country_unknown", "Jacket"),
    ]
    assert all(w["message"] for w in result.warnings)
    assert (result.duty, result.vat) == (300, 2508)


@pytest.mark.parametrize("origin", [None, "", "XX", "ZZ"])
def test_unknown_origin_is_a_warning(origin: str | None) -> None:
    """No origin, XX and ZZ are all unknown."""
    result = quote("EUR", "DE", [item(100, origin=origin)])
    assert [w["code"] for w in result.warnings] == ["origin_country_unknown"]


@pytest.mark.parametrize("code", ["620339", "6203.39", "62 03-39", "6203.39.11.00"])
def test_separators_in_a_code_do_not_count(code: str) -> None:
    """Dots, spaces and hyphens are taken out before digits are counted."""
    result = quote("EUR", "DE", [item(25800, code)])
    assert result.guaranteed
    assert result.duty == 3096


def test_warnings_follow_the_lines_and_then_the_causes() -> None:
    """Line order first; within a line the code, then the origin, then the destination."""
    items = [item(100, "62", origin=None, name="A"), item(100, None, name="B")]
    codes = [(w["item"], w["code"]) for w in quote("USD", "BR", items).warnings]
    assert codes == [
        ("A", "hs_code_incomplete"),
        ("A", "origin_country_unknown"),
        ("A", "destination_not_supported"),
        ("B", "hs_code_incomplete"),
        ("B", "destination_not_supported"),
    ]


def test_equal_names_are_told_apart_by_their_index() -> None:
    """A warning names its item by name, or by index when the name occurs twice."""
    items = [item(100, "62", name="A"), item(100, "62", name="A"), item(100, "62", name="B")]
    labels = [w["item"] for w in quote("EUR", "DE", items).warnings]
    assert labels == ["items[0]", "items[1]", "B"]


@pytest.mark.parametrize(
    ("ship_from", "country"), [("US", "US"), ("DE", "DE"), ("FR", "DE"), ("BR", "BR")]
)
def test_domestic_goods_pay_nothing(ship_from: str, country: str) -> None:
    """Inside one country, or inside the EU, there is no import."""
    result = quote("EUR", country, [item(100_000)], freight=900, ship_from=ship_from)
    assert (result.duty, result.vat, result.fees, result.total) == (0, 0, 0, 0)
    assert result.lines == [customs.ItemCharges(0, 0, 0)]
    assert result.guaranteed == (country != "BR")


@pytest.mark.parametrize(
    ("country", "currency", "at_threshold", "duty_at", "vat_at"),
    [
        ("DE", "EUR", 15000, 300, 2907),
        ("GB", "GBP", 13500, 0, 2700),
        ("CA", "CAD", 2000, 0, 0),
        ("AU", "AUD", 100_000, 0, 10_000),
        ("JP", "JPY", 10_000, 0, 0),
        ("KR", "USD", 15000, 0, 0),
        ("NZ", "NZD", 100_000, 0, 15_000),
        ("SG", "SGD", 40_000, 0, 3_600),
    ],
)
def test_threshold_itself_is_still_low_value(
    country: str, currency: str, at_threshold: int, duty_at: int, vat_at: int
) -> None:
    """Goods at the threshold are low value; one minor unit more is not."""
    at = quote(currency, country, [item(at_threshold)])
    above = quote(currency, country, [item(at_threshold + 1)])
    assert (at.duty, at.vat) == (duty_at, vat_at)
    bps = customs.duty_bps("62", country)
    assert above.lines[0].duty_rate_bps == bps
    assert above.duty == (2 * (at_threshold + 1) * bps + 10000) // 20000
    assert above.vat > 0


def test_freight_pays_vat_and_does_not_count_for_the_threshold() -> None:
    """VAT on freight comes on top; 149.00 of goods with 20.00 of freight is low value."""
    result = quote("EUR", "DE", [item(14900)], freight=2000)
    assert result.duty == 300
    assert result.vat == 2888 + 380
    assert result.lines[0].vat == 2888


def test_low_value_relief_covers_the_vat_on_freight() -> None:
    assert quote("JPY", "JP", [item(9000)], freight=5000).total == 0


def test_canada_charges_a_fee_for_an_import_that_pays() -> None:
    """9.95 CAD in the currency of the request, and nothing when duty and VAT are nil."""
    paying = quote("USD", "CA", [item(10000)])
    assert paying.fees == 726  # 9.95 x 0.73 = 7.2635
    assert paying.total == paying.duty + paying.vat + 726
    assert quote("CAD", "CA", [item(2000)]).fees == 0


def test_flat_duty_is_charged_a_line_whatever_the_quantity() -> None:
    """Two lines pay 3.00 EUR each, in the currency of the request."""
    result = quote("USD", "DE", [item(100, quantity=9), item(100, BOOK, name="Book")])
    assert [line.duty for line in result.lines] == [330, 330]


@pytest.mark.parametrize(
    ("code", "chapter"),
    [("0901.21", "09"), ("6", "other"), (None, "other"), ("", "other"), ("99", "other")],
)
def test_chapter_is_the_first_two_digits(code: str | None, chapter: str) -> None:
    """Fewer than two digits, or a chapter without a row, is `other`."""
    result = quote("USD", "BR", [item(10000, code)])
    assert result.lines[0].duty_rate_bps == customs.duty_bps(chapter, "BR")


CHAPTERS = """
09 750 800 0 0 0 1200 0 0 800 0 0 500
22 320 300 200 300 500 1500 0 0 1500 500 0 1500
33 0 0 0 650 500 0 0 0 650 500 0 1000
42 400 400 900 700 500 1000 0 0 800 500 0 1000
49 0 0 0 0 0 0 0 0 0 0 0 0
61 1200 1200 1600 1800 500 900 0 1070 1300 1000 0 1500
62 1200 1200 1600 1800 500 900 0 1070 1300 1000 0 1500
63 1200 1200 1600 1800 500 900 0 1070 1300 1000 0 1500
64 800 800 1000 1700 500 1500 0 0 1300 1000 0 1500
71 250 250 550 600 500 500 0 0 800 500 0 1000
84 0 0 0 0 0 0 0 0 0 0 0 500
85 0 0 0 0 0 0 0 0 0 0 0 500
90 300 300 400 500 500 0 0 0 800 0 0 800
91 300 300 400 500 500 0 0 0 800 0 0 800
95 0 0 0 0 500 0 0 0 0 0 0 800
99 500 500 500 500 500 500 0 0 800 500 0 1000
"""
COLUMNS = ("FR", "GB", "US", "CA", "AU", "JP", "CH", "NO", "KR", "NZ", "SG", "BR")


@pytest.mark.parametrize("row", CHAPTERS.strip().splitlines())
def test_duty_rate_of_a_chapter(row: str) -> None:
    """Every chapter at every destination has the rate written down here (99 stands for the rest)."""
    chapter, *rates = row.split()
    shipped = [
        quote("USD", country, [item(1_000_000, chapter + "0000")], ship_from="IN")
        for country in COLUMNS
    ]
    assert [result.lines[0].duty_rate_bps for result in shipped] == [int(rate) for rate in rates]
    assert [result.duty for result in shipped] == [int(rate) * 100 for rate in rates]


VAT = (
    "AT 2000, BE 2100, BG 2000, CY 1900, CZ 2100, DE 1900, DK 2500, EE 2400, ES 2100, FI 2550, "
    "FR 2000, GR 2400, HR 2500, HU 2700, IE 2300, IT 2200, LT 2100, LU 1700, LV 2100, MT 1800, "
    "NL 2100, PL 2300, PT 2300, RO 2100, SE 2500, SI 2200, SK 2300, GB 2000, US 0, CA 500, "
    "AU 1000, JP 1000, CH 810, NO 2500, KR 1000, NZ 1500, SG 900, BR 0"
)


@pytest.mark.parametrize("row", VAT.split(", "))
def test_vat_of_a_country(row: str) -> None:
    """Every member of the EU and every other destination has its VAT; books pay no duty."""
    country, bps = row.split()
    result = quote("USD", country, [item(1_000_000, BOOK)], ship_from="IN")
    assert (result.duty, result.vat) == (0, int(bps) * 100)
    assert result.fees == (fx.convert(995, "CAD", "USD") if country == "CA" else 0)


@pytest.mark.parametrize("country", ["US", "CH", "NO", "BR"])
def test_destination_without_a_threshold_takes_nothing_for_low_value(country: str) -> None:
    """A cent of clothing has the rate of clothing; what costs nothing pays nothing."""
    cent, nothing = (quote("USD", country, [item(each)], ship_from="IN") for each in (1, 0))
    assert cent.lines[0].duty_rate_bps == customs.duty_bps("62", country)
    assert nothing.total == 0


ITEMS = st.builds(
    item,
    st.integers(0, 10_000_000),
    st.sampled_from([None, "6", "62", JACKET, SHOES, BOOK, "0901.21.00", "999999"]),
    quantity=st.integers(1, 1000),
    origin=st.sampled_from([None, "US", "XX", "IN"]),
    name=st.sampled_from(["A", "B", "C"]),
)


@given(
    currency=st.sampled_from(sorted(fx.USD_PER_UNIT)),
    country=st.sampled_from(sorted(COUNTRIES)),
    ship_from=st.sampled_from(["US", "DE", "CN"]),
    items=st.lists(ITEMS, min_size=1, max_size=6),
    freight=st.integers(0, 1_000_000),
)
def test_charges_add_up(
    currency: str, country: str, ship_from: str, items: list[dict[str, Any]], freight: int
) -> None:
    """Nothing is negative, the total is the sum, lines cover the duty, no guarantee has warnings."""
    result = quote(currency, country, items, freight, ship_from)
    assert min(result.duty, result.vat, result.fees) >= 0
    assert result.total == result.duty + result.vat + result.fees
    assert sum(line.duty for line in result.lines) == result.duty
    assert 0 <= result.vat - sum(line.vat for line in result.lines) <= freight
    assert len(result.lines) == len(items)
    assert result.guaranteed == (not result.warnings)
