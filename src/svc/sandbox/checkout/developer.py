"""The notes for developers on the checkout page: test cards, and what a state means.

`pages` puts them beside the shop's page, in English, and marked as no part of it; `app` adds
`why_note` to an error page.
"""

from typing import Final

from svc.html import Markup, MarkupPart
from svc.sandbox.checkout import catalogue
from svc.sandbox.checkout.forms import form_id
from svc.sandbox.checkout.html import el
from svc.sandbox.checkout.visit import Visit
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store.documents import Doc

_WHAT_FOLLOWS: Final = {
    "paid": (
        "The event order.paid was sent when the payment was captured. Watch it arrive:",
        "svc events listen",
    ),
    "authorized": (
        "Nothing is captured yet, and order.paid not sent. It follows the capture:",
        "svc orders capture {order}",
    ),
    "processing": (
        "order.paid is not sent yet. It follows when the bank confirms; do not wait for it here:",
        "svc sandbox settle {payment}",
    ),
    "cancelled": ("order.cancelled was sent. Nothing is to be fulfilled.", "svc orders list"),
}
_KEY: Final = ("Open the page with a working publishable key:", "?key=pk_test_…")
_MENDED: Final = {  # by the code of a refusal
    "api_key_expired": _KEY,
    "api_key_invalid": _KEY,
    "api_key_missing": _KEY,
    "publishable_key_required": _KEY,
    "return_url_invalid": ("As in:", "?return_url=https://shop.example/thanks"),
    "parent_invalid": ("As in:", "?parent=http://localhost:3000"),
}
_REDIRECT: Final = (
    "This page is only the browser's redirect. Do not fulfil an order because a shopper arrived "
    "here: many close the browser before, and anyone may open the address again. Fulfilment "
    "follows the webhook event order.paid."
)


def note(title: str, *content: MarkupPart) -> Markup:
    """A note for developers, which the checkout of the real service would not have."""
    return el(
        "aside",
        el("p", "For developers", class_="mark"),
        el("h2", title, id="developer"),
        *content,
        lang="en",
        aria_labelledby="developer",
        class_="developer",
    )


def trial_panel(visit: Visit, last: Doc | None) -> Markup:
    """Test cards and accounts, one click each; `last` is a failed attempt to tell about."""
    debit = form_id("sepa_debit")
    accounts = [
        _button(debit, "test_iban", each.tag, each.label, each.iban[-4:])
        for each in catalogue.ACCOUNTS
        if "sepa_debit" in visit.order["methods"]
    ]
    return note(
        "Test cards",
        _attempt(last),
        el("p", "One click fills the form and pays."),
        [_group(name, _cards(group)) for name, group in catalogue.CARDS.items()],
        _group("SEPA accounts", accounts) if accounts else None,
        _facts(visit),
    )


def end_note(visit: Visit) -> Markup:
    """Returns what an order's state means for fulfilment."""
    order, payment = visit.order, visit.payment or {}
    words, command = _WHAT_FOLLOWS.get(order["status"], ("", "svc orders retrieve {order}"))
    shown = command.format(order=order["id"], payment=payment.get("id", ""))
    return note(
        "Fulfil on order.paid, not on this page",
        el("p", _REDIRECT),
        el("p", words, " ", el("code", shown)),
        _facts(visit),
    )


def why_note(problem: Problem) -> MarkupPart:
    """What was wrong with the page's address and how to correct it; None for other problems."""
    if problem.code not in _MENDED:
        return None
    text, example = _MENDED[problem.code]
    return note("The address", el("p", problem.message), el("p", text, " ", el("code", example)))


def _attempt(payment: Doc | None) -> MarkupPart:
    if payment is None:
        return None
    kind = f" ({payment['decline_type']})" if payment["decline_type"] else ""
    return el(
        "p",
        "Last attempt: ",
        el("code", f"{payment['failure_code']}{kind}"),
        " in ",
        el("code", payment["id"]),
        "; payment.failed was sent.",
    )


def _group(name: str, buttons: MarkupPart) -> Markup:
    return el("div", el("h3", name), el("div", buttons, class_="trials"), class_="group")


def _cards(group: tuple[catalogue.TrialCard, ...]) -> list[Markup]:
    form = form_id("card")
    return [_button(form, "test_card", each.tag, each.label, each.last4) for each in group]


def _button(form: str, name: str, tag: str, label: str, ending: str) -> Markup:
    words = (label, " ", el("small", f"··{ending}"))
    return el("button", words, type="submit", form=form, name=name, value=tag)


def _facts(visit: Visit) -> Markup:
    rows = {"Order": visit.order["id"], "Status": visit.order["status"], "Key": visit.address.key}
    if visit.payment:
        rows["Payment"] = visit.payment["id"]
    return el("dl", [el("div", el("dt", name), el("dd", text)) for name, text in rows.items()])
