"""The card that a shopper pays with, new or saved, and saving it.

Of a saved card only a public test number is kept, the one that behaves like it: a real number that
somebody typed by mistake is never stored.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from svc.sandbox import cards
from svc.sandbox.cards import CardProfile
from svc.sandbox.documents import Doc, public
from svc.sandbox.params import Params
from svc.sandbox.problems import invalid, missing, resource_missing
from svc.sandbox.world import World
from svc.spec import ID_PREFIXES

KIND: Final = "payment_method"
_STAND_INS: Final = {
    "visa": "4242424242424242",
    "mastercard": "5555555555554444",
    "amex": "378282246310005",
    "jcb": "3566002020360505",
    "unionpay": "6200000000000005",
    "discover": "6011111111111117",
    "diners": "3056930009020004",
}


@dataclass(frozen=True, slots=True)
class UsedCard:
    """A card in the shopper's hand; `saved` is its `pm_` object if it was saved before."""

    profile: CardProfile
    exp_month: int
    exp_year: int
    test_number: str
    saved: Doc | None = None

    @property
    def shown(self) -> Doc:
        return {"brand": self.profile.brand, "last4": self.profile.last4}


def card_of(world: World, params: Params) -> UsedCard:
    """The card that `card` or `payment_method` names; raises Problem unless it is one of them."""
    if "card" in params and "payment_method" in params:
        message = "Give either card or payment_method, not both."
        raise invalid("parameters_exclusive", "card", message)
    if "payment_method" in params:
        return _saved_card(world, params["payment_method"])
    if "card" not in params:
        raise missing("card")
    return _new_card(world, params["card"])


def save(world: World, card: UsedCard) -> Doc:
    """Stores a card as a network token where its brand has tokens; returns what is shown of it."""
    profile = card.profile
    method: dict[str, Any] = {
        "id": world.new_id(ID_PREFIXES[KIND]),
        "object": KIND,
        "type": "card",
        "card": {
            **card.shown,
            "network_token": profile.network_token,
            "exp_month": card.exp_month,
            "exp_year": card.exp_year,
        },
        "created": world.now_text,
        "livemode": world.livemode,
        "_test_number": card.test_number,
    }
    world.add(method)
    return public(method)


def _new_card(world: World, given: Params) -> UsedCard:
    number, month, year = given["number"], given["exp_month"], given["exp_year"]
    profile = cards.assess(number, month, year, given["cvc"], world.now.date())
    plain = number.replace(" ", "").replace("-", "")
    stand_in = plain if plain in cards.BEHAVIOURS else _STAND_INS.get(profile.brand, "")
    full_year = year if year > 99 else year + 2000  # noqa: PLR2004  as on the card
    return UsedCard(profile, month, full_year, stand_in)


def _saved_card(world: World, identity: str) -> UsedCard:
    method = world.get(KIND, identity)
    if method is None:
        raise resource_missing(KIND, identity, "payment_method")
    card, number = method["card"], method["_test_number"]
    month, year = card["exp_month"], card["exp_year"]
    cvc = "0000" if card["brand"] == "amex" else "000"  # a saved card is charged without one
    profile = cards.assess(number, month, year, cvc, world.now.date())
    return UsedCard(
        replace(profile, last4=card["last4"]), month, year, number, saved=public(method)
    )
