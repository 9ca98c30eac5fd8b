"""The browser's side of an order, as a control: what the shopper sees and does."""

from typing import Any, Final

from svc.sandbox import banks, cards, methods, orders, payments, regions, wallet
from svc.sandbox.checks import Boolean, Choice, Integer, Text
from svc.sandbox.declines import error_code, message_for
from svc.sandbox.documents import Doc, public
from svc.sandbox.params import Field, Object, Params
from svc.sandbox.problems import Problem, invalid, missing, resource_missing, unexpected_state
from svc.sandbox.wallet import UsedCard
from svc.sandbox.world import World

_NO_LIVE_PAYMENTS: Final = "live_mode_test_card"
_NOT_AUTHENTICATED: Final = "authentication_failed"

# Either of the two; the id is our own addition, for who holds a secret key.
VIEW: Final = (Field("client_secret", Text()), Field("order", Text()))
PAY: Final = (
    *VIEW,
    Field("method", Text()),
    Field(
        "card",
        Object(
            (
                Field("number", Text(), required=True),
                Field("exp_month", Integer(1, 12), required=True),
                Field("exp_year", Integer(0, 9999), required=True),
                Field("cvc", Text(), required=True),
            )
        ),
    ),
    Field("payment_method", Text()),
    Field("save_card", Boolean()),
    Field("three_ds", Choice(("succeed", "fail", "abandon"))),
    Field("iban", Text()),
    Field("outcome", Choice(("success", "failure", "abandon"))),
)


def view(world: World, params: Params) -> Doc:
    """What the shopper sees of an order."""
    order = _order_of(world, params)
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


def pay(world: World, params: Params) -> Doc | Problem:
    """Plays one attempt to pay.

    A declined attempt is returned as its 402, not raised: the failed payment and its event stay.
    """
    order = _order_of(world, params)
    if order["status"] != "requires_payment":
        message = f"The order is {order['status']}; only an unpaid order can be paid."
        raise unexpected_state(orders.KIND, order["status"], message)
    method = params.get("method", methods.CARD)
    if method not in order["methods"]:
        message = f"The order offers: {', '.join(order['methods'])}."
        raise invalid("method_not_offered", "method", message)
    kind = methods.kind(method)
    if kind == "card":
        return _pay_by_card(world, order, params)
    if kind == "delayed":
        return _pay_by_debit(world, order, method, params.get("iban"))
    return _pay_by_redirect(world, order, method, params.get("outcome", "success"))


def _order_of(world: World, params: Params) -> Doc:
    if "order" in params:
        return _order_by_id(world, params)
    if "client_secret" not in params:
        raise missing("client_secret")
    secret = params["client_secret"]
    order = world.get(orders.KIND, secret.partition("_secret_")[0])
    if order is None or order["_client_secret"] != secret:
        message = "No order of this mode has this client secret."
        raise Problem(404, "resource_missing", message, param="client_secret")
    return order


def _order_by_id(world: World, params: Params) -> Doc:
    if "client_secret" in params:
        message = "Give either client_secret or order, not both."
        raise invalid("parameters_exclusive", "client_secret", message)
    order = world.get(orders.KIND, params["order"])
    if order is None:
        raise resource_missing(orders.KIND, params["order"], "order")
    return order


def _pay_by_card(world: World, order: Doc, params: Params) -> Doc | Problem:
    card = wallet.card_of(world, params)
    if card.profile.problem:
        return _declined(card.profile.problem, None)
    three_ds = params.get("three_ds", "succeed")
    if card.profile.challenge and three_ds == "abandon":
        return _answer(order, None)
    payment = payments.begin(world, order, methods.CARD)
    payment["card"] = card.shown
    code = _decline(world, order, payment, card, three_ds)
    if code:
        payments.fail(world, order, payment, code, cards.decline_type(code))
        return _declined(code, payment)
    if card.saved or params.get("save_card"):
        payment["payment_method"] = card.saved or wallet.save(world, card)
    payment["_dispute_reason"] = card.profile.dispute_reason
    payment["_refund_scenario"] = card.profile.refund_scenario
    payments.approve(world, order, payment)
    return _answer(order, payment)


def _decline(world: World, order: Doc, payment: Doc, card: UsedCard, three_ds: str) -> str | None:
    """Why the card is declined in the end; a soft decline may be retried once (spec: 10)."""
    if world.livemode:
        return _NO_LIVE_PAYMENTS
    if card.profile.challenge and three_ds == "fail":
        return _NOT_AUTHENTICATED
    soft = card.profile.decline_type == "soft"
    if soft and world.settings["smart_retries"]:
        payment["retried"] = True
        payment["acquirer"] = regions.acquirer(order["shipping"]["country"])
        return None if card.profile.rescued else card.profile.decline_code
    return card.profile.decline_code


def _pay_by_debit(world: World, order: Doc, method: str, iban: str | None) -> Doc | Problem:
    if iban is not None and banks.iban_problem(iban, None):
        raise invalid(banks.IBAN_INVALID, "iban", "iban is no valid IBAN.")
    payment = payments.begin(world, order, method)
    if world.livemode:
        return _failed(world, order, payment, _NO_LIVE_PAYMENTS)
    scenario = banks.debit_scenario(method, iban)
    payment["_dispute_reason"] = scenario.dispute_reason
    payments.process(world, order, payment)
    world.schedule(
        scenario.delay_seconds, payments.SETTLE, payment["id"], failure_code=scenario.failure_code
    )
    return _answer(order, payment)


def _pay_by_redirect(world: World, order: Doc, method: str, outcome: str) -> Doc | Problem:
    if outcome == "abandon":
        return _answer(order, None)
    payment = payments.begin(world, order, method)
    if world.livemode:
        return _failed(world, order, payment, _NO_LIVE_PAYMENTS)
    if outcome == "failure":
        return _failed(world, order, payment, _NOT_AUTHENTICATED)
    payments.approve(world, order, payment)
    return _answer(order, payment)


def _failed(world: World, order: Doc, payment: Doc, code: str) -> Problem:
    payments.fail(world, order, payment, code)
    return _declined(code, payment)


def _declined(code: str, payment: Doc | None) -> Problem:
    """The 402; without a payment the card's data could not be used at all."""
    extra: dict[str, Any] = {
        "decline_code": payment and payment["failure_code"],
        "decline_type": payment and payment["decline_type"],
        "payment": payment and public(payment),
    }
    return Problem(402, error_code(code), message_for(code), extra=extra)


def _answer(order: Doc, payment: Doc | None) -> Doc:
    return {"order": public(order), "payment": payment and public(payment)}
