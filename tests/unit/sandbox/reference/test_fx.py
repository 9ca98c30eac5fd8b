"""Exchange rates and what a payout costs (assumptions: Payout)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.money import exponent
from svc.sandbox.reference import fx

SUPPORTED = sorted(fx.USD_PER_UNIT)


def test_table_holds_the_chosen_rates() -> None:
    text = (
        "USD 1, EUR 1.10, GBP 1.28, JPY 0.0068, AUD 0.66, CAD 0.73, CHF 1.14, CNY 0.14, "
        "HKD 0.128, SGD 0.75, KRW 0.00073, NZD 0.60, SEK 0.095, NOK 0.093, DKK 0.147, PLN 0.26, "
        "CZK 0.044, HUF 0.0028, MXN 0.055, BRL 0.18, INR 0.012, THB 0.028, MYR 0.22, TWD 0.031, "
        "AED 0.2723, KWD 3.25, BHD 2.65, ISK 0.0072, VND 0.00004, IDR 0.000063, TRY 0.03, "
        "ZAR 0.055, ILS 0.27, "
        "SAR 0.2666, QAR 0.2747, OMR 2.60, JOD 1.41, EGP 0.02, MAD 0.10, TND 0.32, NGN "
        "0.00065, KES 0.0077, GHS 0.065, CLP 0.00105, COP 0.00025, PEN 0.27, ARS 0.001, "
        "UYU 0.025, PHP 0.0175, PKR 0.0036, BDT 0.0083, LKR 0.0033, MOP 0.124, RON 0.22, "
        "BGN 0.5624, RSD 0.0094, UAH 0.024, GEL 0.36, KZT 0.0020, XOF 0.0017, XAF 0.0017, "
        "CRC 0.0019, DOP 0.0165, GTQ 0.13"
    )
    stated = {code: Decimal(value) for code, value in (row.split() for row in text.split(", "))}
    assert stated == fx.USD_PER_UNIT


@pytest.mark.parametrize("code", SUPPORTED)
def test_supported_currency_has_a_known_exponent(code: str) -> None:
    """Every currency with a rate is an ISO currency whose decimals are known."""
    assert fx.is_supported(code)
    assert exponent(code) is not None


@pytest.mark.parametrize("code", ["AFN", "eur", "ZZZ", ""])
def test_other_currency_is_not_supported(code: str) -> None:
    assert not fx.is_supported(code)
    with pytest.raises(KeyError):
        fx.rate("USD", code)


@pytest.mark.parametrize(
    ("source", "target", "rate"),
    [
        ("EUR", "USD", "1.1"),
        ("USD", "EUR", "0.90909091"),
        ("USD", "JPY", "147.05882"),
        ("EUR", "KWD", "0.33846154"),
        ("USD", "VND", "25000"),
        ("JPY", "JPY", "1"),
    ],
)
def test_rate_has_eight_significant_digits(source: str, target: str, rate: str) -> None:
    """A rate is target units for one source unit, rounded to 8 significant digits."""
    assert fx.rate(source, target) == Decimal(rate)


@pytest.mark.parametrize(
    ("amount", "source", "target", "converted"),
    [
        (15708, "EUR", "USD", 17279),
        (13500, "GBP", "USD", 17280),
        (1, "USD", "VND", 250),
        (100, "VND", "USD", 0),
        (125, "VND", "USD", 1),
        (1000, "KWD", "USD", 325),
        (999_999_999_999, "EUR", "EUR", 999_999_999_999),
        (0, "EUR", "USD", 0),
        (5, "EUR", "USD", 6),
    ],
)
def test_convert_rounds_half_up(amount: int, source: str, target: str, converted: int) -> None:
    """Minor units become minor units of the other currency, whatever its decimals; 5.5 is 6."""
    assert fx.convert(amount, source, target) == converted


@pytest.mark.parametrize(
    ("amount", "currency", "source", "rate", "source_amount", "fees"),
    [
        (10000, "EUR", "USD", "0.90909091", 11200, 200),
        (15000, "JPY", "USD", "147.05882", 10400, 200),
        (12345, "KWD", "EUR", "0.33846154", 3829, 182),
        (10000, "USD", "USD", "1", 10050, 50),
        (10000, "EUR", "EUR", "1", 10045, 45),
        (1, "KWD", "KWD", "1", 155, 154),
        (1, "VND", "USD", "25000", 200, 200),
    ],
)
def test_payout_cost_is_the_converted_amount_and_the_fee(
    amount: int, currency: str, source: str, rate: str, source_amount: int, fees: int
) -> None:
    """The worked checks, the cheaper fee of one currency, and tiny amounts."""
    expected = fx.PayoutCost(Decimal(rate), source_amount, fees)
    assert fx.payout_cost(amount, currency, source) == expected


@given(st.integers(1, 999_999_999_999), st.sampled_from(SUPPORTED), st.sampled_from(SUPPORTED))
def test_payout_cost_holds_a_fee_of_at_least_one(amount: int, currency: str, source: str) -> None:
    """No payout is free, and the balance pays the fee on top of the converted amount."""
    cost = fx.payout_cost(amount, currency, source)
    assert cost.network_fees >= 1
    assert cost.source_amount >= cost.network_fees
    if currency == source:
        assert cost.source_amount == amount + cost.network_fees


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.sampled_from(SUPPORTED),
    st.sampled_from(SUPPORTED),
)
def test_convert_never_turns_more_into_less(a: int, b: int, source: str, target: str) -> None:
    low, high = sorted((a, b))
    assert 0 <= fx.convert(low, source, target) <= fx.convert(high, source, target)
