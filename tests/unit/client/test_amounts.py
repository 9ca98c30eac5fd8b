"""Amounts as people and programs write them: which are taken, and what is said of the others."""

from typing import Any

import pytest

from svc.client.amounts import (
    amount_option,
    is_in_decimals,
    parse_whole_number,
    read_answered_amount,
    without_zeros,
)
from svc.errors import UsageError
from svc.service.facts import AMOUNT_MAX

SUCH = "Amounts are whole numbers in the currency's minor unit, such as 12900 for "
RANGE = f"is not from 1 to {AMOUNT_MAX}."
NO_NUMBER, NOT_WHOLE = "is not a number.", "is not a whole number."


@pytest.mark.parametrize(
    ("text", "currency", "hint"),
    [
        # Either may be meant, and a guess could cost money.
        ("10.00", "EUR", "10, or 1000 if 10.00 EUR is meant"),
        ("10.0", "KWD", "10, or 10000 if 10.000 KWD is meant"),
        ("1,00", None, "1, or 100 if 1.00 EUR is meant"),
        ("10.00", "JPY", "10.00 JPY is 10 in minor units"),
        ("12.50", "EUR", "12.50 EUR is 1250 in minor units"),
        ("12,5", "KWD", "12,5 KWD is 12500 in minor units"),
        ("12.50", None, "12.50 with two decimals is 1250 in minor units"),
        ("12.50", "JPY", f"{SUCH}12,900 JPY, which has no decimals"),
        ("1,000", "KWD", f"{SUCH}12.900 KWD"),
        ("1,000", "XXX", f"{SUCH}129.00 EUR"),
        ("-0", None, f"{SUCH}129.00 EUR"),
        ("07", None, f"{SUCH}129.00 EUR"),
        ("+5", None, f"{SUCH}129.00 EUR"),
        ("\u0663", None, f"{SUCH}129.00 EUR"),
        ("", None, f"{SUCH}129.00 EUR"),
    ],
)
def test_a_decimal_is_answered_with_what_may_be_meant(
    text: str, currency: str | None, hint: str
) -> None:
    """R98: nothing is rounded or guessed."""
    with pytest.raises(UsageError) as refused:
        parse_whole_number(text, "amount", currency=currency, is_text=True)
    assert (refused.value.message, refused.value.hint) == (f"amount {text!r} {NOT_WHOLE}", hint)
    assert (refused.value.code, refused.value.param) == ("amount_invalid", "amount")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("10.00", "--amount 10, or --amount 1000 if 10.00 EUR is meant"),
        ("12.50", "12.50 EUR is --amount 1250 in minor units"),
    ],
)
def test_what_may_be_meant_can_be_copied_with_its_option(text: str, hint: str) -> None:
    """As it is to be typed."""
    with pytest.raises(UsageError) as refused:
        amount_option(text, "--amount", "EUR")
    assert (refused.value.param, refused.value.hint) == ("--amount", hint)


@pytest.mark.parametrize(
    ("value", "options", "said", "hint"),
    [
        (True, {}, f"true {NO_NUMBER}", None),
        (None, {}, f"null {NO_NUMBER}", None),
        ({"a": [1]}, {}, f'{{"a": [1]}} {NO_NUMBER}', None),
        ("abc", {}, f"'abc' {NO_NUMBER}", None),
        ("500", {}, f"'500' {NO_NUMBER}", "Write it without quotes; with -d: PATH:=500"),
        (1.5, {}, f"1.5 {NOT_WHOLE}", "1.5 with two decimals is 150 in minor units"),
        ("12.50", {}, f"'12.50' {NOT_WHOLE}", "12.50 with two decimals is 1250 in minor units"),
        ("10.0", {"is_text": True, "is_money": False}, f"'10.0' {NOT_WHOLE}", "Write 10"),
        ("10.5", {"is_text": True, "is_money": False}, f"'10.5' {NOT_WHOLE}", None),
        (0, {}, f"0 {RANGE}", None),
        ("0", {"is_text": True}, f"0 {RANGE}", None),
        (AMOUNT_MAX + 1, {}, f"{AMOUNT_MAX + 1} {RANGE}", None),
        (-1, {"minimum": 0}, f"-1 is not from 0 to {AMOUNT_MAX}.", None),
        ("1" * 40, {"is_text": True}, f"{'1' * 40} {RANGE}", None),
        ("1" * 5000, {"is_text": True}, f"{'1' * 40}... {RANGE}", None),
        ("x" * 39, {}, f"'{'x' * 39}... {NO_NUMBER}", None),
    ],
)
def test_what_is_no_whole_number_in_range_is_refused(
    value: object, options: dict[str, Any], said: str, hint: str | None
) -> None:
    """R98: as it was written, up to 40 characters of it."""
    with pytest.raises(UsageError) as refused:
        parse_whole_number(value, "amount", **{"is_text": False, **options})
    assert (refused.value.message, refused.value.hint) == (f"amount {said}", hint)


@pytest.mark.parametrize("number", [1, 500, AMOUNT_MAX, 0, -AMOUNT_MAX])
def test_what_is_in_range_is_taken_as_number_and_as_text(number: int) -> None:
    """A sandbox's balance may be owed as much as it may hold."""
    least = min(number, 1)
    assert parse_whole_number(number, "amount", minimum=least, is_text=False) == number
    assert amount_option(str(number), "--amount", None, minimum=least) == number
    assert amount_option(None, "--amount", None) is None


@pytest.mark.parametrize(
    ("value", "read"),
    [
        *((1, 1), (-5, -5), ("1", 1), (1.0, 1), ("100.00", 100), ("-5", -5), ("0", 0)),
        *((str(AMOUNT_MAX), AMOUNT_MAX), (str(-AMOUNT_MAX), -AMOUNT_MAX), (f"{AMOUNT_MAX}0", None)),
        *(("100.000", None), ("1e2", None), (True, None), (None, None), ([1], None), ("00", None)),
    ],
)
def test_an_answered_amount_is_read_however_it_is_spelled(value: object, read: int | None) -> None:
    """What was moved counts, also where a service writes it as text or with a point."""
    assert read_answered_amount(value) == read


@pytest.mark.parametrize(
    ("text", "whole", "has_decimals"),
    [
        *(("4999.0", "4999", False), ("4,00", "4", False), (" 4.0", "4", False)),
        *(("99.5", None, True), ("99,50", None, True), ("4999", None, False), ("a", None, False)),
        *(("-4.0", None, False), ("4999.000", None, False), (".0", None, False)),
    ],
)
def test_decimals_are_told_from_whole_numbers(
    text: str, whole: str | None, has_decimals: bool
) -> None:
    """`4999.0` is how a spreadsheet writes 4999; `99.5` is a price, but not in yen."""
    assert without_zeros(text) == whole
    if whole is None:
        assert is_in_decimals(text, "EUR") is has_decimals
        assert not is_in_decimals(text, "JPY")
