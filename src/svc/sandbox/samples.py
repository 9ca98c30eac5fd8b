"""Ready-made objects for the demo fixture and for triggered events, made by the API's own steps."""

from collections.abc import Mapping
from typing import Any, Final

from svc.sandbox import checkout_pay, disputes, orders, payments, payouts, refunds
from svc.sandbox.bodies import Given
from svc.sandbox.documents import Doc
from svc.sandbox.params import Fields, check, coerce, refuse_unknown
from svc.sandbox.world import World

APPROVED: Final = "4242424242424242"
DECLINED: Final = "4000000000000002"
IBAN: Final = "DE89370400440532013000"
_YEARS: Final = 3  # until a sample card expires

ORDER: Final[Mapping[str, Any]] = {
    "amount": 12900,
    "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [
        {"name": "Linen jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900},
    ],
}
PAYOUT: Final[Mapping[str, Any]] = {
    "amount": 10000,
    "currency": "EUR",
    "source_currency": "USD",
    "destination": {"country": "DE", "account_holder_name": "Muster GmbH", "iban": IBAN},
    "reference": "INV-7",
}


def order(world: World, changes: Mapping[str, Any]) -> Doc:
    """An unpaid order, with parameters changed; raises Problem if they are not in order."""
    return orders.create(world, _params(world, orders.CREATE, {**ORDER, **changes}))


def payout(world: World, changes: Mapping[str, Any]) -> Doc:
    """A created payout, with parameters changed; raises Problem if they are not in order."""
    return payouts.create(world, _params(world, payouts.CREATE, {**PAYOUT, **changes}))


def attempt(world: World, unpaid: Doc, number: str = APPROVED) -> Doc:
    """Pays an order by card and returns the payment, whatever became of it."""
    card = {"number": number, "exp_month": 12, "exp_year": world.now.year + _YEARS, "cvc": "123"}
    checkout_pay.pay(world, {"client_secret": unpaid["_client_secret"], "card": card})
    return latest_payment(world, unpaid)


def latest_payment(world: World, order: Doc) -> Doc:
    """The last attempt to pay an order."""
    return payments.latest(world, again(world, order))


def debit(world: World, unpaid: Doc) -> None:
    """Pays an order by the delayed method that it offers; raises Problem if it offers none."""
    checkout_pay.pay(world, {"client_secret": unpaid["_client_secret"], "method": "sepa_debit"})


def refund(world: World, payment: Doc, amount: int | None = None) -> Doc:
    """A pending refund."""
    wanted = {} if amount is None else {"amount": amount}
    return refunds.create(world, {"payment": payment["id"], **wanted})


def dispute(world: World, payment: Doc) -> Doc:
    """A dispute that waits for an answer."""
    return disputes.open_dispute(world, again(world, payment), "product_not_received")


def again(world: World, doc: Doc) -> Doc:
    """The document as it is stored now."""
    found = world.get(doc["object"], doc["id"])
    assert found is not None
    return found


def _params(world: World, fields: Fields, tree: dict[str, Any]) -> dict[str, Any]:
    # Changes that were typed on a command line are text, as in a form.
    coerced = coerce(fields, Given(tree, textual=True))
    refuse_unknown(fields, coerced)
    return check(fields, coerced, world.settings)
