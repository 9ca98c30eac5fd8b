"""The shopper's side of an order: what is shown, saved cards, and an attempt to pay.

Only test cards are approved, and only what is approved is saved: a real number that a person typed
by mistake is never stored. `svc sandbox pay` and the pytest plugin call `pay` by a control; the
checkout page calls it, too, and shows the order by `view` and `list_saved_cards`.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from svc.sandbox.parameters.kinds import Boolean, Choice, Integer, Text
from svc.sandbox.parameters.problems import (
    Problem,
    build_invalid,
    build_missing,
    build_unexpected_state,
)
from svc.sandbox.parameters.tables import Object, Parameter, Params
from svc.sandbox.reference import banks, cards, methods
from svc.sandbox.reference.cards import CardProfile, error_code, message_for
from svc.sandbox.resources import orders, payments
from svc.sandbox.resources.operation import find_named
from svc.sandbox.store.documents import Doc, public
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import LIMIT_MAX
from svc.service.payment_methods import RESOURCE

KIND: Final = RESOURCE.name
CUSTOMER: Final = "customer"  # a key of metadata
_OFFERED_MAX: Final = 3
_DAY: Final = 24 * 3600  # seconds


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


def card_of(tx: Transaction, params: Params) -> UsedCard:
    """The card that `card` or `payment_method` names; raises Problem unless it is one of them."""
    if "card" in params and "payment_method" in params:
        message = "Give either card or payment_method, not both."
        raise build_invalid("parameters_exclusive", "card", message)
    if "payment_method" in params:
        return _use_saved_card(tx, params["payment_method"])
    if "card" not in params:
        raise build_missing("card")
    return _use_new_card(tx, params["card"])


def list_saved_cards(tx: Transaction, order: Doc) -> list[Doc]:
    """The latest cards that the shopper of an order has saved, each once and none expired.

    Orders with the same `metadata[customer]` are one shopper's; so are all that have none.
    """
    if methods.CARD not in order["methods"]:
        return []
    month, shopper = (tx.now.year, tx.now.month), order["metadata"].get(CUSTOMER)
    found: dict[str, Doc] = {}
    for saved in tx.page(KIND, limit=LIMIT_MAX)[0]:
        until = (saved["card"]["exp_year"], saved["card"]["exp_month"])
        if saved.get("_customer") == shopper and until >= month:
            found.setdefault(saved["_test_number"], saved)
    return list(found.values())[:_OFFERED_MAX]


def save(tx: Transaction, order: Doc, card: UsedCard) -> Doc:
    """Stores a card as a network token where its brand has tokens; returns what is shown of it."""
    profile = card.profile
    fields = {
        "type": "card",
        "card": {
            **card.shown,
            "network_token": profile.network_token,
            "exp_month": card.exp_month,
            "exp_year": card.exp_year,
        },
        "_test_number": card.test_number,
        "_customer": order["metadata"].get(CUSTOMER),
    }
    method = tx.new(KIND, fields)
    tx.add(method)
    return public(method)


def _use_new_card(tx: Transaction, given: Params) -> UsedCard:
    number, month, year = given["number"], given["exp_month"], given["exp_year"]
    profile = cards.assess(number, month, year, given["cvc"], tx.now.date())
    plain = number.replace(" ", "").replace("-", "")
    return UsedCard(profile, month, cards.read_year(year), plain)


def _use_saved_card(tx: Transaction, identity: str) -> UsedCard:
    method = find_named(tx, KIND, identity, "payment_method")
    card, number = method["card"], method["_test_number"]
    month, year = card["exp_month"], card["exp_year"]
    cvc = "0000" if card["brand"] == "amex" else "000"  # a saved card is charged without one
    profile = cards.assess(number, month, year, cvc, tx.now.date())
    return UsedCard(
        replace(profile, last4=card["last4"]), month, year, number, saved=public(method)
    )


_NO_LIVE_PAYMENTS: Final = "live_mode_test_card"
_NOT_AUTHENTICATED: Final = "authentication_failed"

# Either of the two; the id is our own addition, for who holds a secret key.
VIEW: Final = (Parameter("client_secret", Text()), Parameter("order", Text()))
PAY: Final = (
    *VIEW,
    Parameter("method", Text()),
    Parameter(
        "card",
        Object(
            (
                Parameter("number", Text(), required=True),
                Parameter("exp_month", Integer(1, 12), required=True),
                Parameter("exp_year", Integer(0, 9999), required=True),
                Parameter("cvc", Text(), required=True),
            )
        ),
    ),
    Parameter("payment_method", Text()),
    Parameter("save_card", Boolean()),
    Parameter("three_ds", Choice(("succeed", "fail", "abandon"))),
    Parameter("iban", Text()),
    Parameter("outcome", Choice(("success", "failure", "abandon"))),
)


def view(tx: Transaction, params: Params) -> Doc:
    """What the shopper sees of an order."""
    order = _order_of(tx, params)
    return {
        "object": "checkout",
        "order": order["id"],
        "status": order["status"],
        "methods": order["methods"],
        "locale": methods.locale(order["shipping"]["country"]),
        "currency": order["currency"],
        "amount": order["amount"],
        "landed_cost": order["landed_cost"],
        "amount_total": order["amount_total"],
    }


def pay(tx: Transaction, params: Params) -> Doc | Problem:
    """One attempt to pay: `PAY` in, order and payment out; a decline is returned, as a 402."""
    order = _order_of(tx, params)
    tx.act_for(order.get("_key"), order["id"])
    if order["status"] != "requires_payment":
        message = f"The order is {order['status']}; only an unpaid order can be paid."
        raise build_unexpected_state(orders.KIND, order["status"], message)
    method = params.get("method", methods.CARD)
    if method not in order["methods"]:
        message = f"The order can be paid by: {', '.join(order['methods'])}."
        raise build_invalid("method_not_offered", "method", message)
    kind = methods.kind(method)
    if kind == "card":
        return _pay_by_card(tx, order, params)
    if kind == "delayed":
        return _pay_by_debit(tx, order, method, params.get("iban"))
    return _pay_by_redirect(tx, order, method, params.get("outcome", "success"))


def _order_of(tx: Transaction, params: Params) -> Doc:
    if "order" in params and "client_secret" in params:
        message = "Give either client_secret or order, not both."
        raise build_invalid("parameters_exclusive", "client_secret", message)
    if "order" in params:
        return find_named(tx, orders.KIND, params["order"], "order")
    if "client_secret" not in params:
        raise build_missing("client_secret")
    secret = params["client_secret"]
    order = tx.get(orders.KIND, secret.partition("_secret_")[0])
    if order is None or order["_client_secret"] != secret:
        message = "No order of this mode has this client secret."
        raise Problem(404, "resource_missing", message, param="client_secret")
    return order


def _pay_by_card(tx: Transaction, order: Doc, params: Params) -> Doc | Problem:
    card = card_of(tx, params)
    if card.profile.problem:
        return _build_declined(card.profile.problem, None)
    three_ds = params.get("three_ds", "succeed")
    behaviour = card.profile.behaviour
    if behaviour.challenge and three_ds == "abandon":
        return _answer(order, None)
    payment = payments.begin(tx, order, methods.CARD)
    payment["card"] = card.shown
    code = _decline(tx, order, payment, behaviour, three_ds)
    if code:
        payments.fail(tx, order, payment, code, cards.decline_type(code))
        return _build_declined(code, payment)
    if card.saved or params.get("save_card"):
        payment["payment_method"] = card.saved or save(tx, order, card)
    payment["_dispute_reason"] = behaviour.dispute_reason
    payment["_refund_scenario"] = behaviour.refund_scenario
    payments.approve(tx, order, payment)
    return _answer(order, payment)


def _decline(
    tx: Transaction, order: Doc, payment: Doc, behaviour: cards.Behaviour, three_ds: str
) -> str | None:
    """Why the card is declined in the end; a soft decline may be retried once (spec: 10)."""
    if tx.livemode:
        return _NO_LIVE_PAYMENTS
    if behaviour.challenge and three_ds == "fail":
        return _NOT_AUTHENTICATED
    code = behaviour.decline_code
    if code and cards.decline_type(code) == "soft" and tx.settings["smart_retries"]:
        payment["retried"] = True
        payment["acquirer"] = cards.acquirer(order["shipping"]["country"])
        return None if behaviour.rescued else code
    return code


def _pay_by_debit(tx: Transaction, order: Doc, method: str, iban: str | None) -> Doc | Problem:
    if iban is not None and not banks.is_iban(iban, None):
        raise build_invalid(banks.IBAN_INVALID, "iban", "iban is not a valid IBAN.")
    payment = payments.begin(tx, order, method)
    if tx.livemode:
        return _build_failed(tx, order, payment, _NO_LIVE_PAYMENTS)
    scenario = banks.debit_scenario(method, iban)
    payment["_dispute_reason"] = scenario.dispute_reason
    payments.process(tx, order, payment)
    tx.schedule(
        scenario.delay_seconds, payments.SETTLE, payment["id"], failure_code=scenario.failure_code
    )
    return _answer(order, payment)


def _pay_by_redirect(tx: Transaction, order: Doc, method: str, outcome: str) -> Doc | Problem:
    if outcome == "abandon":
        return _answer(order, None)
    payment = payments.begin(tx, order, method)
    if tx.livemode:
        return _build_failed(tx, order, payment, _NO_LIVE_PAYMENTS)
    days = tx.settings["voucher_days"] if method in methods.VOUCHERS else 0
    if outcome == "failure" and not days:
        return _build_failed(tx, order, payment, _NOT_AUTHENTICATED)
    if not days:
        payments.approve(tx, order, payment)
        return _answer(order, payment)
    code = "voucher_expired" if outcome == "failure" else None
    payments.process(tx, order, payment)
    tx.schedule(days * _DAY, payments.SETTLE, payment["id"], failure_code=code)
    return _answer(order, payment)


def _build_failed(tx: Transaction, order: Doc, payment: Doc, code: str) -> Problem:
    payments.fail(tx, order, payment, code)
    return _build_declined(code, payment)


def _build_declined(code: str, payment: Doc | None) -> Problem:
    """The 402; without a payment the card's data could not be used at all."""
    extra: dict[str, Any] = {
        "decline_code": payment and payment["failure_code"],
        "decline_type": payment and payment["decline_type"],
        "payment": payment and public(payment),
    }
    return Problem(402, error_code(code), message_for(code), extra=extra)


def _answer(order: Doc, payment: Doc | None) -> Doc:
    return {"order": public(order), "payment": payment and public(payment)}
