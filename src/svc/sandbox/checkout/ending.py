"""The page at the end: how an order stands once there is nothing left to do for the shopper."""

from typing import Final

from svc.sandbox.checkout.address import COMPLETE
from svc.sandbox.checkout.developer import end_note
from svc.sandbox.checkout.html import Child, Html, el
from svc.sandbox.checkout.page import page
from svc.sandbox.checkout.visit import Visit

_BRANDS: Final = {
    "visa": "Visa",
    "mastercard": "Mastercard",
    "amex": "American Express",
    "jcb": "JCB",
    "unionpay": "UnionPay",
    "discover": "Discover",
    "diners": "Diners Club",
}


def end_page(visit: Visit) -> Html:
    """The page of an order that is not to be paid any more."""
    status = visit.order["status"]
    heading = visit.say(status)
    content = el(
        "section",
        el("p", class_=f"sign {status}", aria_hidden="true"),
        el("h1", heading),
        el("p", visit.say(f"{status}_lead", amount=_amount(visit)), class_="lead"),
        el("dl", _facts(visit), class_="totals"),
        _more(visit),
        class_="card narrow",
    )
    return page(visit, heading, el("main", content, end_note(visit)), step=COMPLETE)


def _amount(visit: Visit) -> str:
    """What was taken; before the capture, what was agreed."""
    return visit.money(visit.order["amount_captured"] or visit.order["amount_total"])


def _facts(visit: Visit) -> list[Html]:
    order = visit.order
    rows: dict[str, Child] = {visit.say("order"): el("code", order["id"])}
    if visit.payment and order["status"] != "cancelled":
        rows[visit.say("paid_with")] = el("bdi", _means(visit))
    if order["amount_refunded"]:
        rows[visit.say("refunded")] = visit.money(order["amount_refunded"])
    return [el("div", el("dt", name), el("dd", text)) for name, text in rows.items()]


def _means(visit: Visit) -> str:
    payment = visit.payment or {}
    card = payment.get("card")
    if not card:
        return visit.language.method(payment["method"])
    brand = _BRANDS.get(card["brand"], card["brand"])
    return visit.say("card_ending", brand=brand, last4=card["last4"])


def _more(visit: Visit) -> Html:
    close = el("p", visit.say("close"), class_="hint")
    if visit.order["status"] != "processing":
        return close
    again = el("a", visit.say("check_again"), href=visit.address.url(COMPLETE), class_="second")
    return el("p", again, class_="choices")
