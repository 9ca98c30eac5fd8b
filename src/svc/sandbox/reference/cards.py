"""The test cards: what each number does at the checkout, and the codes and texts of declines.

`resources.shopper` assesses each card by `assess`: number, expiry, CVC and day in, a `CardProfile`
out. The checkout page, `svc sandbox pay` and `svc help sandbox` list the cards. A smart retry goes
through the second acquirer of the shopper's region. There are four regions, and their countries are
our choice: Europe with its microstates and islands, the Americas and Asia-Pacific as the UN's
geographical regions, and the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

DeclineType = Literal["soft", "hard"]
RefundScenario = Literal["normal", "slow", "fails"]
CardProblem = Literal["incorrect_number", "expired_card", "incorrect_cvc"]

SOFT_DECLINES: Final = frozenset(
    "do_not_honor generic_decline insufficient_funds processing_error try_again_later "
    "issuer_not_available card_velocity_exceeded".split()
)
# The last three are our own. Hard means never retried, and another acquirer changes nothing about a
# shopper who failed the challenge, a test card in live mode or a card that is none in test mode.
HARD_DECLINES: Final = frozenset(
    "stolen_card lost_card pickup_card account_closed expired_card incorrect_cvc incorrect_number "
    "fraudulent revocation_of_authorization authentication_failed live_mode_test_card "
    "test_card_required".split()
)

_NUMBER_LENGTHS: Final = range(13, 20)
_CENTURY: Final = 100
_LAST_MONTH: Final = 12


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a test number does once its expiry and CVC are in order.

    `decline_code` is what the first acquirer answers; `rescued` says that a smart retry is approved
    nevertheless. With `challenge` the shopper is asked first.
    """

    decline_code: str | None = None
    rescued: bool = False
    challenge: bool = False
    dispute_reason: str | None = None
    refund_scenario: RefundScenario = "normal"
    suspended: bool = False


# A number of each brand that is approved; a saved card of the brand is charged by it.
APPROVED: Final = {
    "visa": "4242424242424242",
    "mastercard": "5555555555554444",
    "amex": "378282246310005",
    "jcb": "3566002020360505",
    "unionpay": "6200000000000005",
    "discover": "6011111111111117",
    "diners": "3056930009020004",
}
YEARS_GOOD: Final = 3  # until one expires for which no date is given
NOT_A_TEST_CARD: Final = "test_card_required"
_PLAIN: Final = Behaviour()
_UNKNOWN: Final = Behaviour(NOT_A_TEST_CARD)
BEHAVIOURS: Final[dict[str, Behaviour]] = {
    "4000000000008013": Behaviour("do_not_honor", rescued=True),
    "4000000000009995": Behaviour("insufficient_funds"),
    "4000000000000002": Behaviour("generic_decline"),
    "4000000000000119": Behaviour("processing_error"),
    "4000000000009979": Behaviour("stolen_card"),
    "4000000000009987": Behaviour("lost_card"),
    "4000000000008021": Behaviour("account_closed"),
    "4000000000000069": Behaviour("expired_card"),
    "4000000000000127": Behaviour("incorrect_cvc"),
    "4100000000000019": Behaviour("fraudulent"),
    "4000000000003220": Behaviour(challenge=True),
    "4000008400001629": Behaviour("generic_decline", challenge=True),
    "4000000000000259": Behaviour(dispute_reason="fraudulent"),
    "4000000000002685": Behaviour(dispute_reason="product_not_received"),
    "4000000000007726": Behaviour(refund_scenario="slow"),
    "4000000000005126": Behaviour(refund_scenario="fails"),
    "4000000000008039": Behaviour(suspended=True),
}


@dataclass(frozen=True, slots=True)
class Brand:
    """A card network: its number prefixes, its CVC's length, whether it has network tokens."""

    name: str
    label: str
    prefixes: tuple[range, ...]
    cvc_digits: int = 3
    tokens: bool = False


BRANDS: Final = (
    Brand("visa", "Visa", (range(4, 5),), tokens=True),
    Brand("mastercard", "Mastercard", (range(51, 56), range(2221, 2721)), tokens=True),
    Brand("amex", "American Express", (range(34, 35), range(37, 38)), cvc_digits=4, tokens=True),
    Brand("jcb", "JCB", (range(3528, 3590),)),
    Brand("unionpay", "UnionPay", (range(62, 63), range(81, 82))),
    Brand("discover", "Discover", (range(6011, 6012), range(644, 660))),
    Brand("diners", "Diners Club", (range(300, 306), range(36, 37), range(38, 40))),
)


LABELS: Final = {brand.name: brand.label for brand in BRANDS}
_CVC_LENGTHS: Final = frozenset(brand.cvc_digits for brand in BRANDS)


@dataclass(frozen=True, slots=True)
class CardProfile:
    """A card in use: `problem` is set where its data is invalid, and then no payment is made."""

    brand: str
    last4: str
    network_token: str
    problem: CardProblem | None
    behaviour: Behaviour


def assess(number: str, exp_month: int, exp_year: int, cvc: str, today: date) -> CardProfile:
    """Returns what happens when a card is used today (assumptions: Card behaviour).

    `number` may hold spaces or hyphens. Checks go in the order number, expiry, CVC; a card is good
    to the end of its month.
    """
    digits = _digits(number)
    brand = _brand_of(digits)
    problem = next(_problems(brand, exp_month, exp_year, cvc, today), None)
    if brand is None:
        return CardProfile("", "", "", problem, _PLAIN)
    behaviour = BEHAVIOURS.get(digits, _PLAIN if digits in APPROVED.values() else _UNKNOWN)
    token = "suspended" if behaviour.suspended else "active" if brand.tokens else "unavailable"
    return CardProfile(brand.name, digits[-4:], token, problem, behaviour)


def problems(
    number: str, exp_month: int, exp_year: int, cvc: str, today: date
) -> list[CardProblem]:
    """All problems that make a card's data unusable, where `assess` returns the first."""
    return list(_problems(_brand_of(_digits(number)), exp_month, exp_year, cvc, today))


def read_year(year: int) -> int:
    """The year that is meant: one of two digits is of this century."""
    return year + 2000 if year < _CENTURY else year


def decline_type(code: str) -> DeclineType | None:
    """Returns whether a decline is soft (may be retried once) or hard; None for other codes."""
    if code in SOFT_DECLINES:
        return "soft"
    return "hard" if code in HARD_DECLINES else None


def _problems(
    brand: Brand | None, month: int, year: int, cvc: str, today: date
) -> Iterator[CardProblem]:
    if brand is None:
        yield "incorrect_number"
    is_month = 1 <= month <= _LAST_MONTH
    if not is_month or (read_year(year), month) < (today.year, today.month):
        yield "expired_card"
    lengths = _CVC_LENGTHS if brand is None else {brand.cvc_digits}
    if not _all_digits(cvc) or len(cvc) not in lengths:
        yield "incorrect_cvc"


def _digits(number: str) -> str:
    return number.replace(" ", "").replace("-", "")


def _all_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(d), 10)) for d in digits[-2::-2])
    return (sum(int(d) for d in digits[-1::-2]) + sum(doubled)) % 10 == 0


def _brand_of(digits: str) -> Brand | None:
    if not (_all_digits(digits) and len(digits) in _NUMBER_LENGTHS and _luhn(digits)):
        return None
    for brand in BRANDS:
        if any(int(digits[: len(str(p.start))]) in p for p in brand.prefixes):
            return brand
    return None


_MESSAGES: Final = {
    "account_closed": "The account behind the card is closed.",
    "authentication_failed": "The shopper did not authenticate the payment.",
    "do_not_honor": "The bank declined the payment without a reason.",
    "expired_card": "The card has expired.",
    "fraudulent": "The payment was declined as suspected fraud.",
    "generic_decline": "The bank declined the payment.",
    "incorrect_cvc": "The card's security code is wrong.",
    "incorrect_number": "The card number is wrong.",
    "insufficient_funds": "The account has insufficient funds.",
    "live_mode_test_card": "The sandbox takes no payments in live mode.",
    "lost_card": "The card was reported lost.",
    "processing_error": "An error occurred while the payment was processed; try again.",
    "stolen_card": "The card was reported stolen.",
    NOT_A_TEST_CARD: "This is not a test card, and no money moves here: see svc help sandbox.",
    "voucher_expired": "The shopper did not pay the voucher in time.",
}
_OWN_CODES: Final = frozenset(
    "authentication_failed expired_card incorrect_cvc incorrect_number processing_error".split()
)


def message_for(code: str) -> str:
    """The text for people that goes with a failure code."""
    return _MESSAGES.get(code, f"The payment was declined: {code}.")


def error_code(failure_code: str) -> str:
    """The `code` of the 402 answer: its own where the catalogue has one, else `card_declined`."""
    return failure_code if failure_code in _OWN_CODES else "card_declined"


EUROPE: Final = frozenset(
    (
        "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI "
        "LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA"
    ).split()
)
AMERICAS: Final = frozenset(
    (
        "AG AI AR AW BB BL BM BO BQ BR BS BZ CA CL CO CR CU CW DM DO EC FK GD GF GL GP GT GY HN HT "
        "JM KN KY LC MF MQ MS MX NI PA PE PM PR PY SR SV SX TC TT US UY VC VE VG VI"
    ).split()
)
ASIA_PACIFIC: Final = frozenset(
    (
        "AF AS AU BD BN BT CC CK CN CX FJ FM GU HK ID IN JP KH KI KP KR LA LK MH MM MN MO MP MV MY "
        "NC NF NP NR NU NZ PF PG PH PK PN PW SB SG TH TK TL TO TV TW UM VN VU WF WS"
    ).split()
)


def acquirer(country: str) -> str:
    """Names the acquirer that retries a payment shipped to `country`."""
    if country in EUROPE:
        return "sandbox_eu_2"
    if country in AMERICAS:
        return "sandbox_am_2"
    if country in ASIA_PACIFIC:
        return "sandbox_ap_2"
    return "sandbox_row_2"
