"""The page on which an order is paid, and what it says when that did not work out."""

from typing import Final

from svc.sandbox import methods
from svc.sandbox.checkout import attempt
from svc.sandbox.checkout.developer import trial_panel
from svc.sandbox.checkout.entries import Entries, payment_fields
from svc.sandbox.checkout.html import Html, el
from svc.sandbox.checkout.page import page
from svc.sandbox.checkout.payment_forms import Draft, payment_forms
from svc.sandbox.checkout.summary import summary
from svc.sandbox.checkout.visit import Visit
from svc.sandbox.documents import Doc
from svc.sandbox.problems import Problem

# What `?result=` says after a redirect; what really happened is read from the order.
FAILED: Final = "failed"
ABANDONED: Final = "abandoned"
CHANGED: Final = attempt.TOTAL_CHANGED


def pay_page(visit: Visit, draft: Draft) -> Html:
    """Total and breakdown, the ways to pay, and the test cards."""
    heading = visit.say("heading", amount=visit.total)
    main = el(
        "main",
        el("div", el("h1", heading), summary(visit), class_="order"),
        payment_forms(visit, draft),
        trial_panel(visit, _failed(visit)),
        class_="wide columns",
    )
    return page(visit, f"{heading} · {visit.say('checkout')}", main)


def fresh(visit: Visit, result: str | None, method: str | None) -> Draft:
    """Empty forms, with a word on the attempt that the shopper comes back from."""
    entries, failed = Entries(method or methods.CARD), _failed(visit)
    if result == ABANDONED:
        return Draft(entries, (visit.say("abandoned"), visit.say("not_charged")))
    if result == CHANGED:
        return Draft(entries, (visit.say(result, amount=visit.total), visit.say("not_charged")))
    if result == FAILED and failed:
        text = visit.say(attempt.told(failed["failure_code"]))
        return Draft(Entries(failed["method"]), (text, visit.say("not_charged")))
    return Draft(entries)


def incomplete(visit: Visit, entries: Entries, absent: dict[str, str]) -> Draft:
    """The forms as they were sent, with what is missing in them, and what is wrong beside that."""
    faults = {**_unusable(visit, entries), **absent}
    return Draft(entries, (visit.say("check_fields"),), faults)


def declined(visit: Visit, entries: Entries, problem: Problem) -> Draft:
    """The forms as they were sent, with what the shopper is told of a refusal."""
    code = attempt.code_of(problem)
    text = visit.say(attempt.told(code), amount=visit.total)
    field = attempt.field_of(code)
    faults: dict[str, str | None] = {**_unusable(visit, entries)}
    if field:  # said by the message
        faults[field] = None
    return Draft(entries, (text, visit.say("not_charged")), faults)


def _unusable(visit: Visit, entries: Entries) -> dict[str, str]:
    return attempt.unusable(payment_fields(entries), visit.today)


def _failed(visit: Visit) -> Doc | None:
    """The latest attempt to pay, if it failed."""
    payment = visit.payment
    return payment if payment and payment["status"] == "failed" else None
