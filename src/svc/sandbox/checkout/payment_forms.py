"""The ways to pay: a choice, and under each the form that pays with it.

Every method has a form of its own, so that nothing but HTML is needed: the style sheet shows the
form of the chosen one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc.sandbox import methods
from svc.sandbox.checkout.entries import Entries
from svc.sandbox.checkout.html import Child, Html, el
from svc.sandbox.checkout.visit import Visit

_MESSAGE: Final = "message"  # ids
_SEPA: Final = "sepa_debit"


@dataclass(frozen=True, slots=True)
class Draft:
    """What the forms show: what was typed, and what was wrong with it.

    `messages` are sentences for the shopper; `faults` are fields with the keys of their texts, or
    with None where the message says it all.
    """

    entries: Entries
    messages: tuple[str, ...] = ()
    faults: Mapping[str, str | None] = field(default_factory=dict)


def form_id(method: str) -> str:
    """The id of a method's form, for buttons outside of it."""
    return f"pay-{method}"


def payment_forms(visit: Visit, draft: Draft) -> Html:
    """The section in which a shopper pays."""
    offered = visit.order["methods"]
    chosen = draft.entries.method if draft.entries.method in offered else offered[0]
    options = [_option(visit, draft, name, chosen=name == chosen) for name in offered]
    legend = el("legend", el("h2", visit.say("payment_method")))
    return el("section", _message(draft), el("fieldset", legend, options), class_="card pay")


def hidden(visit: Visit, **values: str) -> list[Html]:
    """Fields that every form carries: what the shopper agreed to pay, and the publishable key."""
    carried = {"key": visit.key, "total": visit.token, **values}
    return [el("input", type="hidden", name=name, value=text) for name, text in carried.items()]


def _message(draft: Draft) -> Child:
    """What went wrong; it has the focus, so that it is read out and seen first."""
    if not draft.messages:
        return None
    lines = [el("p", text) for text in draft.messages]
    return el(
        "div", lines, role="alert", id=_MESSAGE, tabindex="-1", autofocus=True, class_="message"
    )


def _option(visit: Visit, draft: Draft, method: str, *, chosen: bool) -> Html:
    identity = f"choose-{method}"
    radio = el("input", type="radio", name="choice", id=identity, value=method, checked=chosen)
    name = el("bdi", visit.language.method(method))
    return el(
        "div", radio, el("label", name, for_=identity), _form(visit, draft, method), class_="option"
    )


def _form(visit: Visit, draft: Draft, method: str) -> Html:
    redirects = methods.kind(method) == "redirect"
    words = visit.say("go_to", method=visit.language.method(method))
    button = words if redirects else visit.say("pay", amount=visit.total)
    return el(
        "form",
        hidden(visit, method=method),
        _fields(visit, draft, method),
        _reserve_note(visit),
        el("button", button, type="submit", class_="main"),
        method="post",
        action=visit.address.url(),
        id=form_id(method),
        novalidate=True,  # complaints come in the shopper's language, not in the browser's
    )


def _fields(visit: Visit, draft: Draft, method: str) -> Child:
    kind = methods.kind(method)
    if kind == "card":
        return _card_fields(visit, draft)
    if kind == "redirect":
        name = visit.language.method(method)
        return el("p", visit.say("redirect_note", method=name), class_="hint")
    note = "mandate" if method == _SEPA else "debit_note"
    hint = el("p", visit.say(note, amount=visit.total), class_="hint")
    return (_iban_field(visit, draft) if method == _SEPA else None, hint)


def _card_fields(visit: Visit, draft: Draft) -> Child:
    entries = draft.entries
    number = _field(
        visit, draft, "number", value=entries.number, autocomplete="cc-number", inputmode="numeric"
    )
    expiry = _field(
        visit,
        draft,
        "expiry",
        value=entries.expiry,
        autocomplete="cc-exp",
        inputmode="numeric",
        placeholder=visit.say("expiry_hint"),
    )
    cvc = _field(visit, draft, "cvc", autocomplete="cc-csc", inputmode="numeric")
    box = el("input", type="checkbox", name="save_card", id="save_card", checked=entries.save_card)
    save = el("p", box, el("label", visit.say("save_card"), for_="save_card"), class_="check")
    return number, el("div", expiry, cvc, class_="pair"), save


def _iban_field(visit: Visit, draft: Draft) -> Html:
    return _field(
        visit,
        draft,
        "iban",
        value=draft.entries.iban,
        autocomplete="off",
        autocapitalize="characters",
    )


def _field(visit: Visit, draft: Draft, name: str, **attributes: str) -> Html:
    """A labelled input, and below it what is wrong with it."""
    wrong, fault = name in draft.faults, draft.faults.get(name)
    complaint = f"{name}-fault" if fault else _MESSAGE
    entry = el(
        "input",
        type="text",
        id=name,
        name=name,
        spellcheck="false",
        aria_invalid="true" if wrong else None,
        aria_describedby=complaint if wrong else None,
        **attributes,
    )
    below = el("p", visit.say(fault), id=complaint, class_="fault") if fault else None
    return el("div", el("label", visit.say(name), for_=name), entry, below, class_="field")


def _reserve_note(visit: Visit) -> Child:
    if visit.order["capture_method"] != "manual":
        return None
    return el("p", visit.say("reserve_note"), class_="hint")
