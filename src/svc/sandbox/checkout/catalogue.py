"""The test cards and test accounts that the page offers (assumptions: Card behaviour).

`developer` draws a button for each, `forms` fills the form in when one is clicked, `home` lists the
cards, and `app` finds the card of a 3-D Secure page by its `tag`.
"""

from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Final

from svc.sandbox.reference import cards

_AMEX: Final = ("34", "37")


def space_number(number: str) -> str:
    """A card's number in the groups that are printed on it; what is longer ends the last one."""
    widths = (4, 6, 5) if number.startswith(_AMEX) else (4, 4, 4, 4)
    ends = list(accumulate(widths))
    parts = [number[end - width : end] for end, width in zip(ends, widths, strict=True)]
    return " ".join(filter(None, parts)) + number[ends[-1] :]


@dataclass(frozen=True, slots=True)
class TrialCard:
    """A test card with a name for people; `tag` is its name in forms and addresses."""

    tag: str
    label: str
    number: str

    @property
    def cvc(self) -> str:
        return "1234" if self.number.startswith(_AMEX) else "123"

    @property
    def spaced(self) -> str:
        return space_number(self.number)

    @property
    def last4(self) -> str:
        return self.number[-4:]


@dataclass(frozen=True, slots=True)
class TrialAccount:
    """A test IBAN of a SEPA debit."""

    tag: str
    label: str
    iban: str


# Groups in the order in which they are shown.
CARDS: Final = {
    "Approved": (
        TrialCard("visa", "Visa", cards.APPROVED["visa"]),
        TrialCard("mastercard", "Mastercard", cards.APPROVED["mastercard"]),
        TrialCard("amex", "Amex", cards.APPROVED["amex"]),
        TrialCard("jcb", "JCB", cards.APPROVED["jcb"]),
        TrialCard("unionpay", "UnionPay", cards.APPROVED["unionpay"]),
        TrialCard("discover", "Discover", cards.APPROVED["discover"]),
        TrialCard("diners", "Diners", cards.APPROVED["diners"]),
    ),
    "3-D Secure": (
        TrialCard("challenge", "3-D Secure", "4000000000003220"),
        TrialCard("challenge_declined", "3-D Secure, declined", "4000008400001629"),
    ),
    "Declined": (
        TrialCard("insufficient_funds", "Insufficient funds", "4000000000009995"),
        TrialCard("generic_decline", "Generic decline", "4000000000000002"),
        TrialCard("processing_error", "Processing error", "4000000000000119"),
        TrialCard("do_not_honor", "Saved by smart retry", "4000000000008013"),
        TrialCard("expired_card", "Expired card", "4000000000000069"),
        TrialCard("incorrect_cvc", "Wrong code", "4000000000000127"),
        TrialCard("stolen_card", "Stolen card", "4000000000009979"),
        TrialCard("lost_card", "Lost card", "4000000000009987"),
        TrialCard("account_closed", "Account closed", "4000000000008021"),
        TrialCard("fraudulent", "Suspected fraud", "4100000000000019"),
        TrialCard("incorrect_number", "Wrong number", "4242424242424241"),
    ),
    "Approved, and then": (
        TrialCard("dispute_fraudulent", "Disputed as fraud", "4000000000000259"),
        TrialCard("dispute_not_received", "Disputed, not received", "4000000000002685"),
        TrialCard("refund_slow", "Refunds take a day", "4000000000007726"),
        TrialCard("refund_fails", "Refunds fail", "4000000000005126"),
        TrialCard("token_suspended", "Saved as suspended", "4000000000008039"),
    ),
}
ACCOUNTS: Final = (
    TrialAccount("confirmed", "Confirmed after 5 s", "DE89370400440532013000"),
    TrialAccount("confirmed_late", "Confirmed after 3 min", "DE08370400440532013003"),
    TrialAccount("rejected", "Rejected after 5 s", "DE62370400440532013001"),
    TrialAccount("rejected_late", "Rejected after 3 min", "DE78370400440532013004"),
    TrialAccount("disputed", "Confirmed, disputed", "DE35370400440532013002"),
)

_PLAIN: Final = cards.Behaviour()
CARDS_BY_TAG: Final = {card.tag: card for group in CARDS.values() for card in group}
CARDS_BY_NUMBER: Final = {card.number: card for card in CARDS_BY_TAG.values()}
ACCOUNTS_BY_TAG: Final = {account.tag: account for account in ACCOUNTS}


def find_challenged(tag: str) -> TrialCard | None:
    """The test card of this name, if its bank asks the shopper first."""
    found = CARDS_BY_TAG.get(tag)
    return found if found and cards.BEHAVIOURS.get(found.number, _PLAIN).challenge else None


def expiry(today: date) -> str:
    """An expiry date that every test card may have, as MM / YY."""
    return f"12 / {(today.year + cards.YEARS_GOOD) % 100:02d}"
