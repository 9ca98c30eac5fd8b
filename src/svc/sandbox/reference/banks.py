"""Checks IBANs, and says how a debit or a payout ends for each test account (assumptions: Payout).

`resources.payouts` and `resources.shopper` ask it. An account that is no test account succeeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

IBAN_INVALID: Final = "iban_invalid"

# The length of an IBAN by country, from the public IBAN registry.
IBAN_LENGTHS: Final = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys("DK FI FK FO GL NL SD".split(), 18),
    **dict.fromkeys("MK SI".split(), 19),
    **dict.fromkeys("AT BA EE KZ LT LU MN XK".split(), 20),
    **dict.fromkeys("CH HR LI LV".split(), 21),
    **dict.fromkeys("BG BH CR DE GB GE IE ME RS VA".split(), 22),
    **dict.fromkeys("AE GI IL IQ OM SO TL".split(), 23),
    **dict.fromkeys("AD CZ ES MD PK RO SA SE SK TN VG".split(), 24),
    **dict.fromkeys("LY PT ST".split(), 25),
    **dict.fromkeys("IS TR".split(), 26),
    **dict.fromkeys("BI DJ FR GR IT MC MR SM".split(), 27),
    **dict.fromkeys("AL AZ BY CY DO GT HN HU LB NI PL SV".split(), 28),
    **dict.fromkeys("BR EG PS QA UA".split(), 29),
    **dict.fromkeys("JO KW MU YE".split(), 30),
    **dict.fromkeys("MT SC".split(), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}

_QUICK: Final = 5  # seconds
_SLOW: Final = 180  # seconds


@dataclass(frozen=True, slots=True)
class DebitScenario:
    """What the shopper's bank answers, and after how many seconds.

    `failure_code` is set when the debit is rejected; `dispute_reason` when a confirmed debit is
    disputed afterwards.
    """

    delay_seconds: int
    failure_code: str | None = None
    dispute_reason: str | None = None


@dataclass(frozen=True, slots=True)
class PayoutScenario:
    """Whether a payout is handed to the local network, and why it fails in the end, if it does."""

    sent: bool
    failure_reason: str | None = None


_REJECTED: Final = "insufficient_funds"  # a bank's usual reason
_CONFIRMED: Final = DebitScenario(_QUICK)
DEBITS: Final[dict[str, DebitScenario]] = {
    "DE08370400440532013003": DebitScenario(_SLOW),
    "DE62370400440532013001": DebitScenario(_QUICK, failure_code=_REJECTED),
    "DE78370400440532013004": DebitScenario(_SLOW, failure_code=_REJECTED),
    "DE35370400440532013002": DebitScenario(_QUICK, dispute_reason="unrecognized"),
}

_PAID: Final = PayoutScenario(sent=True)
PAYOUTS: Final[dict[str, PayoutScenario]] = {
    "DE89370400440532013000": _PAID,
    "000123456789": _PAID,
    "DE62370400440532013001": PayoutScenario(sent=True, failure_reason="no_account"),
    "000111111116": PayoutScenario(sent=True, failure_reason="no_account"),
    "DE35370400440532013002": PayoutScenario(sent=True, failure_reason="account_closed"),
    "000111111113": PayoutScenario(sent=True, failure_reason="account_closed"),
    "DE08370400440532013003": PayoutScenario(sent=True, failure_reason="account_frozen"),
    "000222222227": PayoutScenario(sent=True, failure_reason="account_frozen"),
    "DE51370400440532013005": PayoutScenario(sent=True, failure_reason="invalid_currency"),
    "000444444440": PayoutScenario(sent=True, failure_reason="invalid_currency"),
    "DE78370400440532013004": PayoutScenario(sent=False, failure_reason="could_not_process"),
    "000333333335": PayoutScenario(sent=False, failure_reason="could_not_process"),
}


def normalize_iban(text: str) -> str:
    """Removes the spaces of an IBAN and converts it to upper case, as banks compare it."""
    return text.replace(" ", "").upper()


def is_iban(iban: str, country: str | None) -> bool:
    """Whether an IBAN has its length and check digits, and is of `country` where one is given."""
    plain = normalize_iban(iban)
    well_formed = plain.isascii() and plain.isalnum() and plain[2:4].isdigit()
    if country not in (None, plain[:2]) or len(plain) != IBAN_LENGTHS.get(plain[:2]):
        return False
    # Letters count as two digits, A = 10; the first four characters go to the end (ISO 13616).
    return well_formed and int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def debit_scenario(method: str, iban: str | None) -> DebitScenario:
    """Returns how a delayed debit ends; every debit but the test IBANs is confirmed after 5 s."""
    if method != "sepa_debit" or iban is None:
        return _CONFIRMED
    return DEBITS.get(normalize_iban(iban), _CONFIRMED)


def payout_scenario(destination: Mapping[str, Any]) -> PayoutScenario:
    """Returns how a payout to `destination` (with `iban` or `account_number`) ends."""
    account = normalize_iban(destination.get("iban") or destination.get("account_number") or "")
    return PAYOUTS.get(account, _PAID)
