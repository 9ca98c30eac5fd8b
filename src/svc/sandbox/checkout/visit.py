"""Finds the order that a shopper comes to pay, by its client secret, and builds page addresses.

`app` makes a `Visit` for each request and passes it to `pages` and `attempt`; `control` builds the
address that `svc sandbox checkout` opens.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from svc.sandbox.checkout.languages import Language, choose
from svc.sandbox.engine import Engine
from svc.sandbox.http import auth
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.reference import cards
from svc.sandbox.resources import orders, payments, shopper
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction

ROOT: Final = "/checkout"
CHALLENGE: Final = "/challenge"
BANK: Final = "/bank"
COMPLETE: Final = "/complete"
# What is no host of this machine frames nothing, nor is it returned to without TLS.
_NEAR: Final = r"http://(?:localhost|[a-z0-9.-]+\.localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?"
_PARENT: Final = re.compile(_NEAR.replace("http", "https?").replace(r"|\[::1\]", ""))
_RETURN: Final = re.compile(rf"(?:{_NEAR}|https://[A-Za-z0-9.-]+(?::\d{{1,5}})?)(?:[/?#][!-~]*)?")


@dataclass(frozen=True, slots=True)
class Address:
    """One order's checkout, and what stays with the shopper from page to page.

    `key` is the publishable key that the page is mounted with, `lang` what was asked for, None
    for the usual one. `return_url` is where the shopper goes in the end. `parent` is the origin of
    the page that shows the checkout in a frame: it is told the outcome and returns by itself.
    """

    secret: str
    key: str | None = None
    lang: str | None = None
    return_url: str | None = None
    parent: str | None = None

    @classmethod
    def of(cls, secret: str, query: Mapping[str, str]) -> "Address":
        """The address of a request: its client secret and the parameters of its query.

        Raises:
            Problem: 400 if `return_url` or `parent` is no address that a shopper may be sent to.
        """
        return_url, parent = query.get("return_url"), query.get("parent")
        if return_url is not None and not _RETURN.fullmatch(return_url):
            message = "return_url is an https address, or an http address of this machine."
            raise Problem(400, "return_url_invalid", message)
        if parent is not None and not _PARENT.fullmatch(parent):
            message = "The sandbox's checkout is shown in pages of this machine alone."
            raise Problem(400, "parent_invalid", message)
        return cls(secret, query.get("key"), query.get("lang"), return_url, parent)

    def url(self, step: str = "", **query: str | None) -> str:
        """The path and query of a page; parameters that are None are left out."""
        kept = {
            "key": self.key,
            "lang": self.lang,
            "return_url": self.return_url,
            "parent": self.parent,
            **query,
        }
        pairs = urlencode({name: value for name, value in kept.items() if value is not None})
        path = f"{ROOT}/{quote(self.secret, safe='')}{step}"
        return f"{path}?{pairs}" if pairs else path

    def build_return_url(self, order: Doc) -> str | None:
        """Where the shopper goes in the end, with the order and its status; None to stay."""
        if self.return_url is None or self.parent is not None:
            return None
        parts = urlsplit(self.return_url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        query += [("order", order["id"]), ("outcome", order["status"])]
        return parts._replace(query=urlencode(query)).geturl()


@dataclass(frozen=True, slots=True)
class Visit:
    """An order as one request of its shopper finds it; `payment` is the latest attempt to pay.

    `saved` are the cards that its shopper has saved, by id, `today` is a day of the sandbox's
    clock.
    """

    order: Doc
    payment: Doc | None
    saved: Mapping[str, Doc]
    mode: str
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
        """The total and its currency, which forms carry: what the shopper agreed to pay."""
        return token_of(self.order)

    def offers(self, method: str, saved: str = "") -> bool:
        """Whether the order can be paid so: by a method, with a saved card where one is named."""
        return method in self.order["methods"] and (not saved or saved in self.saved)

    def money(self, amount: int) -> str:
        return self.language.money(amount, self.order["currency"])

    def say(self, key: str, **values: str) -> str:
        return self.language.say(key, **values)

    def card(self, card: Doc) -> str:
        """A card as the shopper knows it."""
        brand = cards.LABELS.get(card["brand"]) or str(card["brand"])
        return self.say("card_ending", brand=brand, last4=card["last4"])


def token_of(order: Doc) -> str:
    return f"{order['amount_total']}-{order['currency']}"


def visit(engine: Engine, address: Address) -> Visit:
    """Finds the order of a client secret; the key decides the mode.

    Raises:
        Problem: 404 if no order has the secret; 401 or 403 if the key is not a working
            publishable one.
    """
    key = address.key
    if not key:
        message = "The checkout is mounted with the publishable key, which this address has not."
        raise Problem(401, "api_key_missing", message)
    return engine.read(auth.mode_of(key), partial(_look, address=address, key=key))


def _look(tx: Transaction, address: Address, key: str) -> Visit:
    shown = shopper.view(tx, {"client_secret": address.secret})
    auth.permit_checkout(auth.authenticate(tx, key)["type"])
    order = tx.stored(orders.KIND, shown["order"])
    latest = order["latest_payment"]
    return Visit(
        order=order,
        payment=tx.get(payments.KIND, latest) if latest else None,
        saved={card["id"]: card for card in shopper.list_saved_cards(tx, order)},
        mode=tx.mode,
        today=tx.now.date(),
        language=choose(address.lang, shown["locale"]),
        address=address,
    )
