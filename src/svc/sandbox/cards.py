"""Test cards: what each number does at the checkout (assumptions: Card behaviour)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

DeclineType = Literal["soft", "hard"]
RefundScenario = Literal["normal", "slow", "fails"]
Problem = Literal["incorrect_number", "expired_card", "incorrect_cvc"]

SOFT_DECLINES: Final = frozenset(
    {
        "do_not_honor",
        "generic_decline",
        "insufficient_funds",
        "processing_error",
        "try_again_later",
        "issuer_not_available",
        "card_velocity_exceeded",
    }
)
HARD_DECLINES: Final = frozenset(
    {
        "stolen_card",
        "lost_card",
        "pickup_card",
        "account_closed",
        "expired_card",
        "incorrect_cvc",
        "incorrect_number",
        "fraudulent",
        "revocation_of_authorization",
        # Our own two. Hard means never retried, and another acquirer changes nothing about
        # a shopper who failed the challenge or a test card in live mode.
        "authentication_failed",
        "live_mode_test_card",
    }
)

_NUMBER_LENGTHS: Final = range(13, 20)
_FOUR_DIGIT_YEAR: Final = 1000
_LAST_MONTH: Final = 12


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a test number does once its expiry and CVC are in order."""

    decline_code: str | None = None
    rescued: bool = False
    challenge: bool = False
    dispute_reason: str | None = None
    refund_scenario: RefundScenario = "normal"
    suspended: bool = False


_APPROVED: Final = Behaviour()
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
    prefixes: tuple[range, ...]
    cvc_digits: int = 3
    tokens: bool = False


BRANDS: Final = (
    Brand("visa", (range(4, 5),), tokens=True),
    Brand("mastercard", (range(51, 56), range(2221, 2721)), tokens=True),
    Brand("amex", (range(34, 35), range(37, 38)), cvc_digits=4, tokens=True),
    Brand("jcb", (range(3528, 3590),)),
    Brand("unionpay", (range(62, 63), range(81, 82))),
    Brand("discover", (range(6011, 6012), range(644, 650), range(65, 66))),
    Brand("diners", (range(300, 306), range(36, 37), range(38, 40))),
)


_CVC_LENGTHS: Final = frozenset(brand.cvc_digits for brand in BRANDS)


@dataclass(frozen=True, slots=True)
class CardProfile:
    """How a card will behave.

    `problem` is set when the card's data cannot be used at all: then no payment is made and every
    other field says nothing. `decline_code` is what the first acquirer answers; `rescued` says
    that a smart retry is approved nevertheless. With `challenge` the shopper is asked first.
    """

    brand: str
    last4: str
    network_token: str
    problem: Problem | None
    decline_code: str | None
    decline_type: DeclineType | None
    rescued: bool
    challenge: bool
    dispute_reason: str | None
    refund_scenario: RefundScenario


def assess(number: str, exp_month: int, exp_year: int, cvc: str, today: date) -> CardProfile:
    """Says what happens when a card is used today (assumptions: Card behaviour).

    `number` may hold spaces or hyphens. A year below 100 is of this century. Checks go in the
    order number, expiry, CVC; a card is good to the end of its month.
    """
    digits = _digits(number)
    brand = _brand_of(digits)
    if brand is None:
        return _profile("unknown", digits, "unavailable", "incorrect_number", _APPROVED)
    behaviour = BEHAVIOURS.get(digits, _APPROVED)
    token = "suspended" if behaviour.suspended else "active" if brand.tokens else "unavailable"
    problem = next(_problems(brand, exp_month, exp_year, cvc, today), None)
    return _profile(brand.name, digits, token, problem, behaviour)


def problems(number: str, exp_month: int, exp_year: int, cvc: str, today: date) -> list[Problem]:
    """All that makes a card's data unusable, where `assess` tells the first."""
    return list(_problems(_brand_of(_digits(number)), exp_month, exp_year, cvc, today))


def decline_type(code: str) -> DeclineType | None:
    """Says whether a decline is soft (may be retried once) or hard; None for other codes."""
    if code in SOFT_DECLINES:
        return "soft"
    return "hard" if code in HARD_DECLINES else None


def _profile(
    brand: str, digits: str, token: str, problem: Problem | None, behaviour: Behaviour
) -> CardProfile:
    code = behaviour.decline_code
    return CardProfile(
        brand=brand,
        last4=digits[-4:],
        network_token=token,
        problem=problem,
        decline_code=code,
        decline_type=decline_type(code) if code else None,
        rescued=behaviour.rescued,
        challenge=behaviour.challenge,
        dispute_reason=behaviour.dispute_reason,
        refund_scenario=behaviour.refund_scenario,
    )


def _problems(
    brand: Brand | None, month: int, year: int, cvc: str, today: date
) -> Iterator[Problem]:
    if brand is None:
        yield "incorrect_number"
    full_year = year if year >= _FOUR_DIGIT_YEAR else year + 2000
    if not 1 <= month <= _LAST_MONTH or (full_year, month) < (today.year, today.month):
        yield "expired_card"
    lengths = _CVC_LENGTHS if brand is None else {brand.cvc_digits}
    if not _all_digits(cvc) or len(cvc) not in lengths:
        yield "incorrect_cvc"


def _digits(number: str) -> str:
    return number.replace(" ", "").replace("-", "")


def _plausible(digits: str) -> bool:
    return _all_digits(digits) and len(digits) in _NUMBER_LENGTHS and _luhn(digits)


def _all_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(d), 10)) for d in digits[-2::-2])
    return (sum(int(d) for d in digits[-1::-2]) + sum(doubled)) % 10 == 0


def _brand_of(digits: str) -> Brand | None:
    if not _plausible(digits):
        return None
    for brand in BRANDS:
        if any(int(digits[: len(str(p.start))]) in p for p in brand.prefixes):
            return brand
    return None
