"""Who comes to the checkout and what for: the order behind a client secret, and its addresses."""

from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

from svc.sandbox.checkout.languages import Language, choose
from svc.sandbox.engine import Engine
from svc.sandbox.http import auth
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources import orders, payments, shopper
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import MODES, SANDBOX_KEYS

ROOT: Final = "/checkout"
CHALLENGE: Final = "/challenge"
BANK: Final = "/bank"
COMPLETE: Final = "/complete"


@dataclass(frozen=True, slots=True)
class Address:
    """One order's checkout, and what stays with the shopper from page to page.

    `language` and `key` are what was asked for in the address; None means the usual one.
    """

    secret: str
    language: str | None = None
    key: str | None = None

    def url(self, step: str = "", **query: str | None) -> str:
        """The path and query of a page; parameters that are None are left out."""
        kept = {"lang": self.language, "key": self.key, **query}
        pairs = urlencode({name: value for name, value in kept.items() if value is not None})
        path = f"{ROOT}/{quote(self.secret, safe='')}{step}"
        return f"{path}?{pairs}" if pairs else path


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
    modes = MODES if key is None else (auth.mode_of(key),)
    for mode in modes:
        found = await engine.read(mode, partial(_look, address=address, key=key))
        if found is not None:
            return found
    raise Problem(404, "resource_missing", "No order has this client secret.")


def _look(tx: Transaction, address: Address, key: str | None) -> Visit | None:
    shown = _view(tx, address.secret)
    if shown is None:
        return None
    key = key or SANDBOX_KEYS[f"publishable_{tx.mode}"]
    _check_key(tx, key)
    order = tx.stored(orders.KIND, shown["order"])
    latest = order["latest_payment"]
    return Visit(
        order=order,
        payment=tx.get(payments.KIND, latest) if latest else None,
        mode=tx.mode,
        key=key,
        today=tx.now.date(),
        language=choose(address.language, shown["locale"]),
        address=address,
    )


def _view(tx: Transaction, secret: str) -> Doc | None:
    try:
        return shopper.view(tx, {"client_secret": secret})
    except Problem:  # no such order in this mode
        return None


def _check_key(tx: Transaction, key: str) -> None:
    if auth.authenticate(tx, key)["type"] != "publishable":
        message = "The checkout takes a publishable key; secret keys stay on the server."
        raise Problem(403, "publishable_key_required", message)
