"""The payment forms of the checkout page: draws them, and parses what a shopper typed.

`pages` draws a `Draft`. `app` reads a submitted form to `Entries` and passes the `payment_fields`
of them to `attempt`.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any, Final

from svc.html import Markup, MarkupPart
from svc.sandbox.checkout import catalogue
from svc.sandbox.checkout.html import el
from svc.sandbox.checkout.visit import Visit
from svc.sandbox.reference import methods

_GAPS: Final = re.compile(r"[\s\-\u2010-\u2015\u2212]+")
_EXPIRY: Final = re.compile(
    r"(0?[1-9]|1[0-2])\s*[/.\- ]\s*((?:20)?[0-9]{2})|(0[1-9]|1[0-2])([0-9]{2})"
)
_SEPA_DEBIT: Final = "sepa_debit"


@dataclass(frozen=True, slots=True)
class Entries:
    """The fields of the payment forms, as typed; the security code is never shown again."""

    method: str
    number: str = ""
    expiry: str = ""
    cvc: str = field(default="", repr=False)
    save_card: bool = False
    iban: str = ""
    saved: str = ""  # the id of a card that was saved before

    @property
    def plain_number(self) -> str:
        return _GAPS.sub("", _fold_width(self.number))

    @property
    def shown_number(self) -> str:
        """The number in groups, where it can be one."""
        number = self.plain_number
        return (
            catalogue.space_number(number) if number.isascii() and number.isdigit() else self.number
        )

    @property
    def shown_expiry(self) -> str:
        """The date with its slash, where it is one."""
        date = self.month_and_year
        return self.expiry if date is None else f"{date[0]:02d} / {date[1]:02d}"

    @property
    def month_and_year(self) -> tuple[int, int] | None:
        """The expiry date as two numbers, the year of two digits or four; None if it is none."""
        match = _EXPIRY.fullmatch(_fold_width(self.expiry))
        return (int(match[1] or match[3]), int(match[2] or match[4])) if match else None


def read(form: Mapping[str, str], today: date) -> Entries:
    """Reads a submitted form; a test card or account that was clicked fills it in."""
    typed = Entries(
        method=form.get("method", methods.CARD),
        number=form.get("number", ""),
        expiry=form.get("expiry", ""),
        cvc=form.get("cvc", ""),
        save_card="save_card" in form,
        iban=form.get("iban", ""),
        saved=form.get("saved", ""),
    )
    card = catalogue.CARDS_BY_TAG.get(form.get("test_card", ""))
    account = catalogue.ACCOUNTS_BY_TAG.get(form.get("test_iban", ""))
    if card is not None:
        return fill_card(replace(typed, saved=""), card, catalogue.expiry(today))
    return typed if account is None else replace(typed, method=_SEPA_DEBIT, iban=account.iban)


def fill_card(entries: Entries, card: catalogue.TrialCard, expiry: str) -> Entries:
    """The entries with the data of a test card."""
    return replace(entries, method=methods.CARD, number=card.spaced, expiry=expiry, cvc=card.cvc)


def find_absent(entries: Entries) -> dict[str, str]:
    """The fields that are needed and are not there: name to key of the text that says so."""
    if entries.saved:
        needed = {}
    elif entries.method == methods.CARD:
        needed = {
            "number": bool(entries.plain_number),
            "expiry": entries.month_and_year is not None,
            "cvc": bool(entries.cvc.strip()),
        }
    else:
        needed = {"iban": bool(entries.iban.strip())} if entries.method == _SEPA_DEBIT else {}
    return {name: f"missing_{name}" for name, there in needed.items() if not there}


def payment_fields(entries: Entries) -> dict[str, Any]:
    """What `shopper.PAY` takes for a card or a debit; nothing must be absent."""
    fields: dict[str, Any] = {"method": entries.method}
    if entries.saved:
        fields["payment_method"] = entries.saved
    elif entries.method == methods.CARD:
        month, year = entries.month_and_year or (0, 0)
        code = _GAPS.sub("", _fold_width(entries.cvc))
        number = entries.plain_number
        fields["card"] = {"number": number, "exp_month": month, "exp_year": year, "cvc": code}
        fields["save_card"] = entries.save_card
    elif entries.method == _SEPA_DEBIT:
        fields["iban"] = _GAPS.sub("", _fold_width(entries.iban))
    return fields


def number_of(visit: Visit, entries: Entries) -> str:
    """The number of the card that pays: that of the saved card, or the typed one."""
    saved = visit.saved.get(entries.saved)
    return saved["_test_number"] if saved else entries.plain_number


def _fold_width(text: str) -> str:
    """Full-width digits, as Japanese keyboards type them, become plain ones."""
    return unicodedata.normalize("NFKC", text).strip()


_MESSAGE: Final = "message"  # ids


@dataclass(frozen=True, slots=True)
class Draft:
    """The state of the forms: the entries, and what is wrong with them.

    `messages` are sentences for the shopper; `faults` are fields with the keys of their texts, or
    with None where the message says it all.
    """

    entries: Entries
    messages: tuple[str, ...] = ()
    faults: Mapping[str, str | None] = field(default_factory=dict)


def form_id(method: str) -> str:
    """The id of a method's form, for buttons outside of it."""
    return f"pay-{method}"


def payment_forms(visit: Visit, draft: Draft) -> Markup:
    """The section in which a shopper pays."""
    names = [*visit.saved, *visit.order["methods"]]
    wanted = draft.entries.saved or draft.entries.method
    chosen = wanted if wanted in names else names[0]
    options = [_option(visit, draft, name, chosen=name == chosen) for name in names]
    legend = el("legend", el("h2", visit.say("payment_method")))
    return el("section", _message(draft), el("fieldset", legend, options), class_="card pay")


def build_hidden_fields(visit: Visit, **values: str) -> list[Markup]:
    """Fields that every form carries: what the shopper agreed to pay, and more."""
    carried = {"total": visit.token, **values}
    return [el("input", type="hidden", name=name, value=text) for name, text in carried.items()]


def _message(draft: Draft) -> MarkupPart:
    """What went wrong; it has the focus, so that it is read out and seen first."""
    if not draft.messages:
        return None
    lines = [el("p", text) for text in draft.messages]
    return el(
        "div", lines, role="alert", id=_MESSAGE, tabindex="-1", autofocus=True, class_="message"
    )


def _option(visit: Visit, draft: Draft, name: str, *, chosen: bool) -> Markup:
    """A way to pay: a card that was saved, by its id, or a method."""
    identity = f"choose-{name}"
    saved = visit.saved.get(name)
    radio = el("input", type="radio", name="choice", id=identity, value=name, checked=chosen)
    label = visit.card(saved["card"]) if saved else visit.language.method(name)
    form = _form(visit, draft, name)
    return el("div", radio, el("label", el("bdi", label), for_=identity), form, class_="option")


def _form(visit: Visit, draft: Draft, name: str) -> Markup:
    saved = name in visit.saved
    method = methods.CARD if saved else name
    redirects = methods.kind(method) == "redirect"
    words = visit.say("go_to", method=visit.language.method(method))
    button = words if redirects else visit.say("pay", amount=visit.total)
    reserves = visit.order["capture_method"] == "manual"
    return el(
        "form",
        build_hidden_fields(visit, method=method, **({"saved": name} if saved else {})),
        None if saved else _fields(visit, draft, method),
        el("p", visit.say("reserve_note"), class_="hint") if reserves else None,
        el("button", button, type="submit", class_="main"),
        method="post",
        action=visit.address.url(),
        id=form_id(name),
        novalidate=True,  # complaints come in the shopper's language, not in the browser's
    )


def _fields(visit: Visit, draft: Draft, method: str) -> MarkupPart:
    kind = methods.kind(method)
    if kind == "card":
        return _card_fields(visit, draft)
    if kind == "redirect":
        name = visit.language.method(method)
        return el("p", visit.say("redirect_note", method=name), class_="hint")
    note = "mandate" if method == _SEPA_DEBIT else "debit_note"
    hint = el("p", visit.say(note, amount=visit.total), class_="hint")
    if method != _SEPA_DEBIT:
        return hint
    attributes = {"autocomplete": "off", "autocapitalize": "characters"}
    return _field(visit, draft, "iban", value=draft.entries.iban, **attributes), hint


def _card_fields(visit: Visit, draft: Draft) -> MarkupPart:
    entries, numeric = draft.entries, partial(_field, visit, draft, inputmode="numeric")
    number = numeric("number", value=entries.shown_number, autocomplete="cc-number")
    hint = visit.say("expiry_hint")
    expiry = numeric("expiry", value=entries.shown_expiry, autocomplete="cc-exp", placeholder=hint)
    cvc = numeric("cvc", autocomplete="cc-csc")
    box = el("input", type="checkbox", name="save_card", id="save_card", checked=entries.save_card)
    save = el("p", box, el("label", visit.say("save_card"), for_="save_card"), class_="check")
    return number, el("div", expiry, cvc, class_="pair"), save


def _field(visit: Visit, draft: Draft, name: str, **attributes: str) -> Markup:
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
