"""What the test cards do (assumptions: Card behaviour, Saved payment method)."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sandbox.reference import cards
from svc.service.facts import COUNTRIES, EU_COUNTRIES

TODAY = date(2026, 10, 15)


def assess(
    number: str, month: int = 12, year: int = 2030, cvc: str | None = None
) -> cards.CardProfile:
    """A card used today, in order but for what the test says."""
    usual = "1234" if number.startswith(("34", "37")) else "123"
    return cards.assess(number, month, year, usual if cvc is None else cvc, TODAY)


@pytest.mark.parametrize(
    "number",
    [
        "4242424242424241",
        "not a number",
        "9999999999999995",
        "4242",
        "",
        "4242x24242424242",
        "0000000000000000",
        "\uff14\uff12" * 8,
        "424242424242",  # 12 digits and 20, which pass Luhn
        "42424242424242424242",
    ],
)
def test_wrong_number_is_incorrect(number: str) -> None:
    """A number that fails Luhn, is no number, or belongs to no network makes no payment."""
    assert assess(number).problem == "incorrect_number"


@pytest.mark.parametrize(
    ("month", "year", "problem"),
    [
        (9, 2026, "expired_card"),
        (12, 2025, "expired_card"),
        (10, 2026, None),
        (1, 2027, None),
        (9, 26, "expired_card"),
        (10, 26, None),
        (12, 99, None),
        (12, 100, "expired_card"),
        (0, 2030, "expired_card"),
        (13, 2030, "expired_card"),
    ],
)
def test_card_is_good_to_the_end_of_its_month(month: int, year: int, problem: str | None) -> None:
    """The month of expiry still counts; a year may have two digits."""
    assert assess("4242424242424242", month, year).problem == problem


@pytest.mark.parametrize(
    ("number", "cvc", "problem"),
    [
        ("4242424242424242", "12", "incorrect_cvc"),
        ("4242424242424242", "1234", "incorrect_cvc"),
        ("4242424242424242", "12a", "incorrect_cvc"),
        ("4242424242424242", "", "incorrect_cvc"),
        ("378282246310005", "123", "incorrect_cvc"),
        ("378282246310005", "1234", None),
    ],
)
def test_cvc_has_three_digits_or_four_for_amex(number: str, cvc: str, problem: str | None) -> None:
    assert assess(number, cvc=cvc).problem == problem


def test_number_is_checked_before_expiry_and_cvc() -> None:
    assert assess("4242424242424241", 1, 2020, "1").problem == "incorrect_number"
    assert assess("4242424242424242", 1, 2020, "1").problem == "expired_card"


def test_spaces_and_hyphens_in_a_number_are_ignored() -> None:
    assert assess("4000 0000-0000 8013") == assess("4000000000008013")


@pytest.mark.parametrize("number", sorted(cards.BEHAVIOURS))
def test_listed_number_is_a_valid_visa(number: str) -> None:
    """Every test number passes Luhn."""
    assert assess(number).problem is None
    assert assess(number).brand == "visa"


SOFT = (
    "do_not_honor generic_decline insufficient_funds processing_error try_again_later "
    "issuer_not_available card_velocity_exceeded"
)
HARD = (
    "stolen_card lost_card pickup_card account_closed expired_card incorrect_cvc incorrect_number "
    "fraudulent revocation_of_authorization"
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((code, "soft") for code in SOFT.split()),
        *((code, "hard") for code in HARD.split()),
        ("authentication_failed", "hard"),
        ("live_mode_test_card", "hard"),
        ("test_card_required", "hard"),
        ("voucher_expired", None),
    ],
)
def test_decline_code_is_soft_or_hard(code: str, kind: str | None) -> None:
    """Soft codes may be retried, hard codes never; what happens here has a sentence of its own."""
    assert cards.decline_type(code) == kind
    has_none = code in {*SOFT.split()[4:], "pickup_card", "revocation_of_authorization"}
    assert (code in cards.message_for(code)) is has_none


def luhn(body: str) -> str:
    """The body with its check digit, computed the schoolbook way."""
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return body + str(-total % 10)


# The first and the last number range of each network, and what lies beside it; what is no
# network's, or another's, is not meant.
RANGES = {
    "visa": ("4", "3 5"),
    "mastercard": ("51 55 2221 2720", "50 56 2220 2721"),
    "amex": ("34 37", "33 35"),
    "jcb": ("3528 3589", "3527 3590"),
    "unionpay": ("62 81", "61 63 80 82"),
    "discover": ("6011 644 649 650 659", "6010 6012 643 66"),
    "diners": ("300 305 36 38 39", "306 33 35 40"),
}


@pytest.mark.parametrize("brand", RANGES)
def test_card_is_of_the_network_that_has_its_number_range(brand: str) -> None:
    """A person sees the network on the page; numbers have 13 to 19 digits."""
    of_it, beside = (text.split() for text in RANGES[brand])
    numbers = [luhn(start.ljust(15, "0")) for start in of_it]
    assert {
        assess(number, cvc="1234" if brand == "amex" else "123").brand for number in numbers
    } == {brand}
    assert brand not in {assess(luhn(start.ljust(15, "0"))).brand for start in beside}
    short, long = (luhn(of_it[0].ljust(length, "0")) for length in (12, 18))
    assert assess(short).brand == assess(long).brand == brand


@given(st.from_regex(r"\A42[0-9]{13}\Z").filter(str.isascii))
def test_any_other_number_is_declined_as_no_test_card(body: str) -> None:
    """Luhn-valid ones are declined with the reason, one digit off is not a number."""
    number = luhn(body)
    wrong = body + str((int(number[-1]) + 1) % 10)
    assert assess(number).problem is None
    known = number in cards.BEHAVIOURS or number in cards.APPROVED.values()
    assert known or assess(number).behaviour.decline_code == "test_card_required"
    assert assess(wrong).problem == "incorrect_number"


@pytest.mark.parametrize(
    ("countries", "acquirer"),
    [
        ("DE GB CH NO UA IS", "sandbox_eu_2"),
        ("US CA BR MX AR PR", "sandbox_am_2"),
        ("JP AU SG IN KR NZ TH", "sandbox_ap_2"),
        ("ZA NG AE IL TR SA KZ AQ", "sandbox_row_2"),
    ],
)
def test_acquirer_is_that_of_the_region(countries: str, acquirer: str) -> None:
    assert {cards.acquirer(country) for country in countries.split()} == {acquirer}


def test_every_member_of_the_eu_is_in_europe() -> None:
    assert {cards.acquirer(country) for country in EU_COUNTRIES} == {"sandbox_eu_2"}


def test_regions_hold_assigned_countries_once() -> None:
    """No country is in two regions, and every code in a region is assigned."""
    everywhere = [*cards.EUROPE, *cards.AMERICAS, *cards.ASIA_PACIFIC]
    assert len(everywhere) == len(set(everywhere))
    assert set(everywhere) <= COUNTRIES
