"""Who comes to the checkout and what for: the order behind a client secret, and its language."""

from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from svc.sandbox import auth, checkout_pay, orders, payments
from svc.sandbox.checkout.address import Address
from svc.sandbox.checkout.languages import Language, choose
from svc.sandbox.documents import Doc
from svc.sandbox.engine import Engine
from svc.sandbox.problems import Problem
from svc.sandbox.world import World
from svc.spec import SANDBOX_KEYS

_MODES = ("test", "live")


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at an order; `payment` is the latest attempt to pay it.

    `key` is the publishable key that the page is mounted with, `today` a day of the sandbox's
    clock.
    """

    order: Doc
    payment: Doc | None
    mode: str
    key: str
    today: date
    language: Language
    address: Address

    @property
    def payable(self) -> bool:
        return bool(self.order["status"] == "requires_payment")

    @property
    def total(self) -> str:
        """The total as the shopper reads it."""
        return self.money(self.order["amount_total"])

    @property
    def token(self) -> str:
        """What the shopper agreed to pay, as forms carry it."""
        return token_of(self.order)

    def money(self, amount: int) -> str:
        return self.language.money(amount, self.order["currency"])

    def say(self, key: str, **values: str) -> str:
        return self.language.say(key, **values)


def token_of(order: Doc) -> str:
    return f"{order['amount_total']}-{order['currency']}"


async def visit(engine: Engine, address: Address, key: str | None = None) -> Visit:
    """Finds the order of a client secret; a key that was given decides the mode.

    Raises:
        Problem: 404 if no order has the secret; 401 or 403 if the key is not a working
            publishable one.
    """
    key = key or address.key
    modes = _MODES if key is None else (auth.mode_of(key),)
    for mode in modes:
        found = await engine.read(mode, partial(_look, address=address, key=key))
        if found is not None:
            return found
    raise Problem(404, "resource_missing", "No order has this client secret.")


def _look(world: World, address: Address, key: str | None) -> Visit | None:
    shown = _view(world, address.secret)
    if shown is None:
        return None
    key = key or SANDBOX_KEYS[f"publishable_{world.mode}"]
    _check_key(world, key)
    order = _found(world.get(orders.KIND, shown["order"]))
    latest = order["latest_payment"]
    return Visit(
        order=order,
        payment=world.get(payments.KIND, latest) if latest else None,
        mode=world.mode,
        key=key,
        today=world.now.date(),
        language=choose(address.language, shown["locale"]),
        address=address,
    )


def _view(world: World, secret: str) -> Doc | None:
    try:
        return checkout_pay.view(world, {"client_secret": secret})
    except Problem:  # no such order in this mode
        return None


def _check_key(world: World, key: str) -> None:
    if auth.authenticate(world, key)["type"] != "publishable":
        message = "The checkout takes a publishable key; secret keys stay on the server."
        raise Problem(403, "publishable_key_required", message)


def _found(doc: Any) -> Doc:
    assert doc is not None
    return dict(doc)
