"""Money as text and back."""

from decimal import Decimal

import pytest

from svc.money import (
    decimal_text,
    exponent,
    format_amount,
    from_decimal_text,
    parse_minor_units,
    round_half_up,
)


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (15708, "EUR", "157.08 EUR"),
        (5, "EUR", "0.05 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (-123456, "EUR", "-1,234.56 EUR"),
        (15000, "JPY", "15,000 JPY"),
        (12345, "KWD", "12.345 KWD"),
        (12345, "CLF", "1.2345 CLF"),
        (999_999_999_999, "USD", "9,999,999,999.99 USD"),
        (15708, "XXQ", "15708 XXQ (minor units, unknown currency)"),
        (15708, "eur", "15708 eur (minor units, unknown currency)"),
    ],
)
def test_format_amount_places_the_decimals_of_the_currency(
    amount: int, currency: str, text: str
) -> None:
    """ISO 4217 says how many decimals; an unknown currency gets none and is marked."""
    assert format_amount(amount, currency) == text


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("129.00", "EUR", 12900),
        ("129.5", "EUR", 12950),
        ("1.234", "KWD", 1234),
        ("15000.0", "JPY", None),
        ("1.000", "EUR", None),
        ("1.5", "JPY", None),
        ("1.234", "EUR", None),
        ("129", "EUR", None),
        ("1.2.3", "EUR", None),
        ("1.00", "XXQ", None),
        ("12.5", None, 1250),
        (" 12.5 ", "EUR", 1250),
        ("150.00", "JPY", 150),
        ("150.", "JPY", 150),
        ("150.00", "KWD", 150000),
        ("999999999999999.99", "EUR", 99999999999999999),
        ("1000000000000000.00", "EUR", None),
    ],
)
def test_minor_units_reads_only_what_is_exact(
    text: str, currency: str | None, minor: int | None
) -> None:
    """A hint names a number only where there is exactly one right number."""
    assert parse_minor_units(text, currency) == minor


def test_exponent_of_an_unknown_currency_is_none() -> None:
    """Decimals are never guessed."""
    assert exponent("XXQ") is None
    assert exponent("MGA") == 2


@pytest.mark.parametrize("text", ["1x.00", "x.00", "1.0x", ".50", "1,0.00", "\u0661.00", "-1.00"])
def test_hint_reads_nothing_but_digits(text: str) -> None:
    """A hint that guesses an amount would be worse than none."""
    assert parse_minor_units(text, "EUR") is None


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("0.5", 1), ("1.5", 2), ("2.5", 3), ("2.49", 2), ("-0.5", -1), ("-2.5", -3), ("7", 7)],
)
def test_halves_go_away_from_zero(value: str, rounded: int) -> None:
    """As a till rounds, and not as banks do: 2.5 is 3."""
    assert round_half_up(Decimal(value)) == rounded


@pytest.mark.parametrize(
    ("currency", "digits"), [("VND", 0), ("XAF", 0), ("TND", 3), ("BHD", 3), ("UYW", 4), ("CLF", 4)]
)
def test_currencies_without_two_decimals(currency: str, digits: int) -> None:
    """ISO 4217, at the ends of each list."""
    assert exponent(currency) == digits


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (12900, "EUR", "129.00"),
        (5, "EUR", "0.05"),
        (12900, "JPY", "12900"),
        (12345, "KWD", "12.345"),
        (123456789, "USD", "1234567.89"),
    ],
)
def test_decimals_are_read_as_they_are_written(amount: int, currency: str, text: str) -> None:
    """With the currency's own number of places, and no separators."""
    assert decimal_text(amount, currency) == text
    assert from_decimal_text(text, currency) == amount


@pytest.mark.parametrize(
    "text",
    ["12900", "129.0", "129.000", "129,00", "1,129.00", "-1.00", "01.00", ".50", "1.", "1e2"],
)
def test_what_may_be_minor_units_is_no_decimal(text: str) -> None:
    """Neither is ever taken for the other: a factor of a hundred would be paid."""
    assert from_decimal_text(text, "EUR") is None


def test_an_unknown_currency_has_no_decimals() -> None:
    """Nobody knows how many."""
    assert decimal_text(12900, "XXQ") is None
    assert from_decimal_text("129.00", "XXQ") is None
    assert from_decimal_text("129.00", "JPY") is None
