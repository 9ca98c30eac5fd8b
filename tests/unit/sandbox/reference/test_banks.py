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

# The example of each country in the registry of ISO 13616.
EXAMPLES = """
AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201
AZ21NABZ00000000137010001944 BA391290079401028494 BE68539007547034 BG80BNBG96611020345678
BH67BMAG00001299123456 BI4210000100010000332045181 BR1800360305000010009795493C1
BY13NBRB3600900000002Z00AB00 CH9300762011623852957 CR05015202001026284066
CY17002001280000001200527600 CZ6508000000192000145399 DE89370400440532013000
DJ2100010000000154000100186 DK5000400440116243 DO28BAGR00000001212453611324 EE382200221020145685
EG380019000500000000263180002 ES9121000418450200051332 FI2112345600000785 FK88SC123456789012
FO6264600001631634 FR1420041010050500013M02606 GB29NWBK60161331926819 GE29NB0000000101904917
GI75NWBK000000007099453 GL8964710001000206 GR1601101250000000012300695
GT82TRAJ01020000001210029690 HN88CABF00000000000250005469 HR1210010051863000160
HU42117730161111101800000000 IE29AIBK93115212345678 IL620108000000099999999
IQ98NBIQ850123456789012 IS140159260076545510730339 IT60X0542811101000000123456
JO94CBJO0010000000000131000302 KW81CBKU0000000000001234560101 KZ86125KZT5004100100
LB62099900000001001901229114 LC55HEMM000100010012001200023015 LI21088100002324013AA
LT121000011101001000 LU280019400644750000 LV80BANK0000435195001 LY83002048000020100120361
MC5811222000010123456789030 MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984
MN121234123456789123 MR1300020001010000123456753 MT84MALT011000012345MTLCAST001S
MU17BOMM0101101030300200000MUR NI45BAPR00000013000003558124 NL91ABNA0417164300 NO9386011117947
OM810180000001299123456 PK36SCBL0000001123456702 PL61109010140000071219812874
PS92PALS000000000400123456702 PT50000201231234567890154 QA58DOHB00001234567890ABCDEFG
RO49AAAA1B31007593840000 RS35260005601001611379 RU0304452522540817810538091310419
SA0380000000608010167519 SC18SSCB11010000000000001497USD SD2129010501234001
SE4550000000058398257466 SI56263300012039086 SK3112000000198742637541 SM86U0322509800000000270100
SO211000001001000100141 ST23000100010051845310146 SV62CENR00000000000000700025
TL380080012345678910157 TN5910006035183598478831 TR330006100519786457841326
UA213223130000026007233566001 VA59001123000012345678 VG96VPVG0000012345678901 XK051212012345678906
YE15CBYE0001018861234567891234
"""


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
        ("DE89370400440532013000", None),
    ],
)
def test_valid_iban_has_no_problem(iban: str, country: str | None) -> None:
    """Length, check digits and country agree; spaces and case do not matter."""
    assert banks.is_iban(iban, country)


def test_every_country_has_the_length_of_its_example() -> None:
    examples = EXAMPLES.split()
    assert {one[:2] for one in examples} == banks.IBAN_LENGTHS.keys()
    assert [one for one in examples if not banks.is_iban(one, one[:2])] == []


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
