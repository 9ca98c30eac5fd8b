"""IBAN checks and what test accounts do (assumptions: Payout, Card behaviour)."""

import pytest

from svc.sandbox.reference import banks

SHOPPERS = [
    ("DE89370400440532013000", banks.DebitScenario(5)),
    ("DE08370400440532013003", banks.DebitScenario(180)),
    (
        "DE62370400440532013001",
        banks.DebitScenario(5, failure_code="insufficient_funds"),
    ),
    (
        "DE78370400440532013004",
        banks.DebitScenario(180, failure_code="insufficient_funds"),
    ),
    (
        "DE35370400440532013002",
        banks.DebitScenario(5, dispute_reason="unrecognized"),
    ),
]
PAYOUTS = [
    ("DE89370400440532013000", "000123456789", True, None),
    ("DE62370400440532013001", "000111111116", True, "no_account"),
    ("DE35370400440532013002", "000111111113", True, "account_closed"),
    ("DE08370400440532013003", "000222222227", True, "account_frozen"),
    ("DE51370400440532013005", "000444444440", True, "invalid_currency"),
    ("DE78370400440532013004", "000333333335", False, "could_not_process"),
]


@pytest.mark.parametrize(
    ("method", "iban"),
    [
        ("bacs_debit", "DE62370400440532013001"),
        ("us_bank_account", None),
        ("becs_debit", None),
        ("sepa_debit", None),
        ("sepa_debit", "FR1420041010050500013M02606"),
    ],
)
def test_other_debit_is_confirmed_after_five_seconds(method: str, iban: str | None) -> None:
    """Only `sepa_debit` with a listed IBAN does anything else."""
    assert banks.debit_scenario(method, iban) == banks.DebitScenario(5)


@pytest.mark.parametrize(("iban", "account", "sent", "reason"), PAYOUTS)
def test_payout_ends_as_its_destination_says(
    iban: str, account: str, sent: bool, reason: str | None
) -> None:
    """Each test destination, by IBAN and by account number, has its end."""
    expected = banks.PayoutScenario(sent, reason)
    assert banks.payout_scenario({"country": "DE", "iban": iban}) == expected
    by_number = {"country": "US", "account_number": account, "bank_code": "110000"}
    assert banks.payout_scenario(by_number) == expected


@pytest.mark.parametrize("iban", [iban for iban, _, _, _ in PAYOUTS])
def test_listed_iban_is_valid(iban: str) -> None:
    """The test IBANs pass the check on check digits."""
    assert banks.is_iban(iban, "DE")


@pytest.mark.parametrize(
    ("iban", "country"),
    [
        ("GB82WEST12345698765432", "GB"),
        ("GB82 WEST 1234 5698 7654 32", "GB"),
        ("gb82west12345698765432", "GB"),
        ("FR1420041010050500013M02606", "FR"),
        ("NO9386011117947", "NO"),
        ("MT84MALT011000012345MTLCAST001S", "MT"),
        ("DE89370400440532013000", None),
    ],
)
def test_valid_iban_has_no_problem(iban: str, country: str | None) -> None:
    """Length, check digits and country agree; spaces and case do not matter."""
    assert banks.is_iban(iban, country)


@pytest.mark.parametrize(
    ("iban", "country"),
    [
        ("DE89370400440532013001", "DE"),
        ("DE8937040044053201300", "DE"),
        ("DE893704004405320130000", "DE"),
        ("DE89370400440532013000", "FR"),
        ("US89370400440532013000", "US"),
        ("DEA9370400440532013000", "DE"),
        ("DE8937040044053201300é", "DE"),
        ("DE89-3704-0044-0532-0130-00", "DE"),
        ("", "DE"),
        ("", None),
    ],
)
def test_wrong_iban_is_invalid(iban: str, country: str | None) -> None:
    """One wrong digit, a wrong length, another country, or a country without IBANs."""
    assert not banks.is_iban(iban, country)


def test_single_wrong_digit_is_always_found() -> None:
    """Mod 97 finds every change of one digit."""
    good = "DE89370400440532013000"
    for place in range(2, len(good)):
        for digit in "0123456789":
            changed = good[:place] + digit + good[place + 1 :]
            assert banks.is_iban(changed, "DE") == (changed == good)


def test_plain_iban_has_no_spaces_and_capital_letters() -> None:
    """The form in which IBANs are compared and their last four digits shown."""
    assert banks.normalize_iban("de89 3704 0044 0532 0130 00") == "DE89370400440532013000"
