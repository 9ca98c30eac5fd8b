"""The parts of help pages that svc's own tables make; the text of a page names one as `@ cards`.

`help.page` puts the text of a part, in the form of a page, in place of such a line.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from svc.cli.framework.help_page import write_rows
from svc.money import EXPONENTS, format_amount
from svc.service import facts

if TYPE_CHECKING:
    from svc.sandbox.reference.cards import Behaviour

_AMOUNT: Final = 12900
_DECIMALS: Final = {0: "none", 3: "three", 4: "four"}
_KEYS: Final = {
    "secret_test": "Secret test key: use this one.",
    "publishable_test": "Publishable test key, for the checkout.",
    "restricted_test": "Restricted test key that reads everything.",
    "secret_live": "Secret live key. Live mode has no money and takes no payments.",
    "publishable_live": "Publishable live key.",
}
_REFUNDS: Final = {"slow": "its refunds take 24 hours", "fails": "its refunds fail"}


def text_of(name: str) -> str:
    """Returns the text of a part; raises KeyError if there is none of that name."""
    return _PARTS[name]()


def _amounts() -> str:
    codes = ("EUR", "JPY", "KWD")
    return write_rows((f"{_AMOUNT} {code}", format_amount(_AMOUNT, code)) for code in codes)


def _decimals() -> str:
    codes = {count: [code for code in EXPONENTS if EXPONENTS[code] == count] for count in _DECIMALS}
    return write_rows((word, " ".join(sorted(codes[count]))) for count, word in _DECIMALS.items())


def _retries() -> str:
    delays = ", ".join(f"{delay // 60} min" for delay in facts.WEBHOOK_RETRY_DELAYS)
    every, whole = facts.WEBHOOK_RETRY_INTERVAL // 3600, facts.WEBHOOK_RETRY_WINDOW_SECONDS // 3600
    then = f"then every {every} hours, for {whole} hours"
    return f"A failed delivery is repeated after {delays}, {then}."


def _cards() -> str:
    from svc.sandbox.reference.cards import BEHAVIOURS

    said = {number: ", ".join(_describe_card(card)) for number, card in BEHAVIOURS.items()}
    return write_rows((number, f"{words[0].upper()}{words[1:]}.") for number, words in said.items())


def _describe_card(card: "Behaviour") -> Iterator[str]:
    from svc.sandbox.reference.cards import decline_type

    if card.challenge:
        yield "3-D Secure challenge first"
    if card.decline_code:
        yield f"{decline_type(card.decline_code)} decline {card.decline_code}"
    elif not card.challenge:
        yield "approved"
    if card.rescued:
        yield "rescued where smart retries are on"
    if card.dispute_reason:
        yield f"disputed 5 s after the capture as {card.dispute_reason}"
    if card.refund_scenario != "normal":
        yield _REFUNDS[card.refund_scenario]
    if card.suspended:
        yield "saved with a suspended network token"


_PARTS: Final[dict[str, Callable[[], str]]] = {
    "amounts": _amounts,
    "cards": _cards,
    "decimals": _decimals,
    "event_types": lambda: f"* {' '.join(facts.EVENT_TYPES)}",
    "keys": lambda: write_rows((facts.SANDBOX_KEYS[name], _KEYS[name]) for name in _KEYS),
    "retries": _retries,
    "unknown_currency": lambda: (
        "An amount in a currency that svc does not know is shown as it was sent, and says so: "
        f"{format_amount(_AMOUNT, 'XXQ')}."
    ),
}
