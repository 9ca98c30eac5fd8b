"""What the test cards do (assumptions: Card behaviour, Saved payment method)."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sandbox.reference import cards

TODAY = date(2026, 10, 15)


def assess(
    number: str, month: int = 12, year: int = 2030, cvc: str | None = None
) -> cards.CardProfile:
    """A card used today, in order but for what the test says."""
    usual = "1234" if number.startswith(("34", "37")) else "123"
    return cards.assess(number, month, year, usual if cvc is None else cvc, TODAY)


@pytest.mark.parametrize(
    ("number", "code", "kind"),
    [
        ("4000000000008013", "do_not_honor", "soft"),
        ("4000000000009995", "insufficient_funds", "soft"),
        ("4000000000000002", "generic_decline", "soft"),
        ("4000000000000119", "processing_error", "soft"),
        ("4000000000009979", "stolen_card", "hard"),
        ("4000000000009987", "lost_card", "hard"),
        ("4000000000008021", "account_closed", "hard"),
        ("4000000000000069", "expired_card", "hard"),
        ("4000000000000127", "incorrect_cvc", "hard"),
        ("4100000000000019", "fraudulent", "hard"),
        ("4000008400001629", "generic_decline", "soft"),
    ],
)
def test_card_is_declined_with_its_code(number: str, code: str, kind: str) -> None:
    """Each declining number has its code and kind; only 8013 is rescued by a smart retry."""
    card = assess(number)
    behaviour = card.behaviour
    assert (card.problem, behaviour.decline_code) == (None, code)
    assert cards.decline_type(code) == kind
    assert code not in cards.message_for(code)  # a sentence of its own
    assert behaviour.rescued == (number == "4000000000008013")
    assert behaviour.challenge == (number == "4000008400001629")


@pytest.mark.parametrize(
    "number",
    [
        "4242424242424241",
        "4242",
        "",
        "4242x24242424242",
        "0000000000000000",
        "\uff14\uff12" * 8,
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
        (12, 1000, "expired_card"),
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
    """The length of the CVC depends on the brand."""
    assert assess(number, cvc=cvc).problem == problem


def test_number_is_checked_before_expiry_and_cvc() -> None:
    """The first problem wins: number, expiry, CVC."""
    assert assess("4242424242424241", 1, 2020, "1").problem == "incorrect_number"
    assert assess("4242424242424242", 1, 2020, "1").problem == "expired_card"


def test_spaces_and_hyphens_in_a_number_are_ignored() -> None:
    """A number may be typed in groups."""
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
        ("no_account", None),
    ],
)
def test_decline_code_is_soft_or_hard(code: str, kind: str | None) -> None:
    """Soft codes may be retried, hard codes never; other codes are neither."""
    assert cards.decline_type(code) == kind


def luhn(body: str) -> str:
    """The body with its check digit, computed the schoolbook way."""
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return body + str(-total % 10)


@given(st.from_regex(r"\A42[0-9]{13}\Z").filter(str.isascii))
def test_any_other_number_is_declined_as_no_test_card(body: str) -> None:
    """Luhn-valid ones are declined with the reason, one digit off is not a number."""
    number = luhn(body)
    wrong = body + str((int(number[-1]) + 1) % 10)
    assert assess(number).problem is None
    known = number in cards.BEHAVIOURS or number in cards.APPROVED.values()
    assert known or assess(number).behaviour.decline_code == "test_card_required"
    assert assess(wrong).problem == "incorrect_number"
