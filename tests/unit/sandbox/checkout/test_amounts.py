"""Amounts as shoppers read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.money import CURRENCIES, exponent
from svc.sandbox.checkout.languages import LANGUAGES, Language, find_language

NBSP, NARROW, MINUS = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{MINUS SIGN}"


def language(tag: str) -> Language:
    found = find_language(tag)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tag", "amount", "currency", "text"),
    [
        ("en", 123456789, "EUR", "€1,234,567.89"),
        ("de", 123456789, "EUR", f"1.234.567,89{NBSP}€"),
        ("fr", 123456789, "EUR", f"1{NARROW}234{NARROW}567,89{NBSP}€"),
        ("es", 123456789, "EUR", f"1.234.567,89{NBSP}€"),
        ("ja", 123456789, "EUR", "€1,234,567.89"),
        ("en", 123456, "EUR", "€1,234.56"),
        ("es", 123456, "EUR", f"1234,56{NBSP}€"),
        ("es", 1234567, "EUR", f"12.345,67{NBSP}€"),
        ("ja", 15708, "JPY", "¥15,708"),
        ("de", 15708, "JPY", f"15.708{NBSP}¥"),
        ("en", 5, "USD", "US$0.05"),
        ("en", 1500, "KWD", f"KWD{NBSP}1.500"),
        ("de", 1500, "BHD", f"1,500{NBSP}BHD"),
        ("en", 12345, "CLF", f"CLF{NBSP}1.2345"),
        ("en", -900, "EUR", f"{MINUS}€9.00"),
        ("fr", -900, "PLN", f"{MINUS}9,00{NBSP}PLN"),
        ("de", 900, "XXQ", "900 XXQ (minor units, unknown currency)"),
    ],
)
def test_amount_is_written_as_the_language_writes_it(
    tag: str, amount: int, currency: str, text: str
) -> None:
    """Decimals by currency, separators and place of the symbol by language."""
    assert language(tag).money(amount, currency) == text


def test_a_shopper_abroad_reads_whose_money_it_is() -> None:
    """A plain "$" would be everybody's."""
    codes = "AUD BRL CAD CNY EUR GBP HKD ILS INR JPY KRW MXN NZD TWD USD VND".split()
    signs = [language("en").money(0, code).rstrip("0.") for code in codes]
    assert signs == "A$ R$ CA$ CN¥ € £ HK$ ₪ ₹ ¥ ₩ MX$ NZ$ NT$ US$ ₫".split()


@given(
    amount=st.integers(-999_999_999_999, 999_999_999_999),
    currency=st.sampled_from(sorted(CURRENCIES)),
    language=st.sampled_from(LANGUAGES),
)
def test_no_digit_is_lost_or_added(amount: int, currency: str, language: Language) -> None:
    """The digits on the page are those of the amount, and as many decimals as the currency has."""
    text = language.money(amount, currency)
    digits = "".join(mark for mark in text if mark.isdigit())
    decimals = exponent(currency)
    assert decimals is not None
    assert int(digits) == abs(amount)
    assert text.startswith(MINUS) == (amount < 0)
    if decimals:
        number = "".join(
            mark for mark in text if mark.isdigit() or mark == language.numbers.decimal
        )
        assert len(number.rpartition(language.numbers.decimal)[2]) == decimals
