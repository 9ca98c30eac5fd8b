"""Draws the pages of a checkout: paying, the stand-ins for bank pages, and the end.

`app` calls one function for each page, with the `Visit`; HTML out.
"""

from typing import Final

from svc.html import Markup, MarkupPart
from svc.sandbox.checkout import attempt, catalogue
from svc.sandbox.checkout.developer import end_note, note, trial_panel
from svc.sandbox.checkout.forms import (
    Draft,
    Entries,
    build_hidden_fields,
    payment_fields,
    payment_forms,
)
from svc.sandbox.checkout.html import el
from svc.sandbox.checkout.layout import OUTCOME, SCRIPT, card, hint, page, summary
from svc.sandbox.checkout.visit import BANK, CHALLENGE, COMPLETE, Visit
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.reference import methods
from svc.sandbox.store.documents import Doc

# What `?result=` says after a redirect; what really happened is read from the order.
FAILED: Final = "failed"
ABANDONED: Final = "abandoned"
CHANGED: Final = attempt.TOTAL_CHANGED
_RANKS: Final = ("main", "second", "quiet")  # of buttons


def pay_page(visit: Visit, draft: Draft) -> Markup:
    """Total and breakdown, the ways to pay, and the test cards."""
    heading = visit.say("heading", amount=visit.total)
    main = el(
        "main",
        el("div", el("h1", heading), summary(visit), class_="order"),
        payment_forms(visit, draft),
        trial_panel(visit, _find_failed(visit)),
        el("script", src=SCRIPT, defer=True),
        class_="wide columns",
    )
    return page(visit, f"{heading} · {visit.say('checkout')}", main)


def start_draft(visit: Visit, result: str | None, method: str | None) -> Draft:
    """Empty forms, with a word on the attempt that the shopper comes back from."""
    failed = _find_failed(visit)
    entries = Entries(method or methods.CARD, saved="" if method else next(iter(visit.saved), ""))
    if result == ABANDONED:
        return Draft(entries, (visit.say("abandoned"), visit.say("not_charged")))
    if result == CHANGED:
        return Draft(entries, (visit.say(result, amount=visit.total), visit.say("not_charged")))
    if result == FAILED and failed:
        text = visit.say(attempt.choose_text(failed["failure_code"]))
        return Draft(Entries(failed["method"]), (text, visit.say("not_charged")))
    return Draft(entries)


def draft_incomplete(visit: Visit, entries: Entries, absent: dict[str, str]) -> Draft:
    """The submitted forms, with their missing and their invalid fields."""
    faults = {**_find_unusable(visit, entries), **absent}
    return Draft(entries, (visit.say("check_fields"),), faults)


def draft_declined(visit: Visit, entries: Entries, problem: Problem) -> Draft:
    """The submitted forms, with the message of a decline."""
    code = attempt.code_of(problem)
    text = visit.say(attempt.choose_text(code), amount=visit.total)
    field = attempt.FIELD_OF_CODE.get(code)
    faults: dict[str, str | None] = {**_find_unusable(visit, entries)}
    if field:  # said by the message
        faults[field] = None
    return Draft(entries, (text, visit.say("not_charged")), faults)


def _find_unusable(visit: Visit, entries: Entries) -> dict[str, str]:
    return attempt.find_unusable(payment_fields(entries), visit.today)


def _find_failed(visit: Visit) -> Doc | None:
    """The latest attempt to pay, if it failed."""
    payment = visit.payment
    return payment if payment and payment["status"] == "failed" else None


def challenge_page(visit: Visit, card: catalogue.TrialCard, carried: dict[str, str]) -> Markup:
    """The card's bank asks whether it is really the shopper (`three_ds`)."""
    return _page(
        visit,
        CHALLENGE,
        {"card": card.tag, **carried},
        heading=visit.say("challenge_heading"),
        lead=visit.say("challenge_lead", amount=visit.total, last4=card.last4),
        buttons={
            "succeed": visit.say("challenge_yes"),
            "fail": visit.say("challenge_no"),
            "abandon": visit.say("back"),
        },
    )


def bank_page(visit: Visit, method: str) -> Markup:
    """Where a redirect method leads (`outcome`; assumptions: Card behaviour)."""
    return _page(
        visit,
        BANK,
        {"method": method},
        heading=visit.say("bank_heading", method=visit.language.method(method)),
        lead=visit.say("bank_lead", amount=visit.total),
        buttons={
            "success": visit.say("bank_yes"),
            "failure": visit.say("bank_no"),
            "abandon": visit.say("back"),
        },
    )


def _page(
    visit: Visit,
    step: str,
    carried: dict[str, str],
    *,
    heading: str,
    lead: str,
    buttons: dict[str, str],
) -> Markup:
    choices = [
        el("button", text, type="submit", name="answer", value=word, class_=_RANKS[place])
        for place, (word, text) in enumerate(buttons.items())
    ]
    form = el(
        "form",
        build_hidden_fields(visit, **carried),
        choices,
        method="post",
        action=visit.address.url(step),
        class_="choices",
    )
    content = card(heading, lead, form, hint(visit.say("stand_in")))
    words = f"The buttons answer: {', '.join(buttons)}."
    main = el("main", content, note("A stand-in page", el("p", words)))
    return page(visit, heading, main, step=step, **carried)


def end_page(visit: Visit) -> Markup:
    """The page of an order that is not to be paid any more."""
    status = visit.order["status"]
    heading = visit.say(status)
    content = card(
        heading,
        visit.say(
            f"{status}_lead",
            amount=visit.money(visit.order["amount_captured"] or visit.order["amount_total"]),
        ),
        el("dl", _facts(visit), class_="totals"),
        _more(visit),
        sign=el("p", class_=f"sign {status}", aria_hidden="true"),
    )
    parent = visit.address.parent
    told = {"data_outcome": status, "data_page": parent}
    script = el("script", src=OUTCOME, defer=True, **told) if parent else None
    return page(visit, heading, el("main", content, end_note(visit), script), step=COMPLETE)


def _facts(visit: Visit) -> list[Markup]:
    order = visit.order
    rows: dict[str, MarkupPart] = {visit.say("order"): el("code", order["id"])}
    if visit.payment and order["status"] != "cancelled":
        rows[visit.say("paid_with")] = el("bdi", _means(visit))
    if order["amount_refunded"]:
        rows[visit.say("refunded")] = visit.money(order["amount_refunded"])
    return [el("div", el("dt", name), el("dd", text)) for name, text in rows.items()]


def _means(visit: Visit) -> str:
    payment = visit.payment or {}
    card = payment.get("card")
    return visit.card(card) if card else visit.language.method(payment["method"])


def _more(visit: Visit) -> Markup:
    if visit.order["status"] != "processing":
        return hint(visit.say("close"))
    again = el("a", visit.say("check_again"), href=visit.address.url(COMPLETE), class_="second")
    return el("p", again, class_="choices")
