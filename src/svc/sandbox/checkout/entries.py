"""What a shopper typed, read kindly, and what is shown of it again."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from svc.sandbox import methods
from svc.sandbox.checkout import trials

_GAPS: Final = re.compile(r"[\s\-\u2010-\u2015\u2212]+")
_EXPIRY: Final = re.compile(
    r"(0?[1-9]|1[0-2])\s*[/.\- ]\s*((?:20)?[0-9]{2})|(0[1-9]|1[0-2])([0-9]{2})"
)
_SEPA: Final = "sepa_debit"


@dataclass(frozen=True, slots=True)
class Entries:
    """The fields of the payment forms, as typed; the security code is never shown again."""

    method: str
    number: str = ""
    expiry: str = ""
    cvc: str = field(default="", repr=False)
    save_card: bool = False
    iban: str = ""

    @property
    def plain_number(self) -> str:
        return _GAPS.sub("", _folded(self.number))

    @property
    def month_and_year(self) -> tuple[int, int] | None:
        """The expiry date as two numbers, the year of two digits or four; None if it is none."""
        match = _EXPIRY.fullmatch(_folded(self.expiry))
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
    )
    card, account = (
        trials.card(form.get("test_card", "")),
        trials.account(form.get("test_iban", "")),
    )
    if card is not None:
        return filled(typed, card, trials.expiry(today))
    return typed if account is None else replace(typed, method=_SEPA, iban=account.iban)


def filled(entries: Entries, card: trials.TrialCard, expiry: str) -> Entries:
    """The entries with a test card instead of what was typed."""
    return replace(entries, method=methods.CARD, number=card.spaced, expiry=expiry, cvc=card.cvc)


def absent(entries: Entries) -> dict[str, str]:
    """The fields that are needed and are not there: name to key of the text that says so."""
    if entries.method == methods.CARD:
        needed = {
            "number": bool(entries.plain_number),
            "expiry": entries.month_and_year is not None,
            "cvc": bool(entries.cvc.strip()),
        }
    else:
        needed = {"iban": bool(entries.iban.strip())} if entries.method == _SEPA else {}
    return {name: f"missing_{name}" for name, there in needed.items() if not there}


def payment_fields(entries: Entries) -> dict[str, Any]:
    """What `checkout_pay.PAY` takes for a card or a debit; nothing must be absent."""
    fields: dict[str, Any] = {"method": entries.method}
    if entries.method == methods.CARD:
        month, year = entries.month_and_year or (0, 0)
        code = _GAPS.sub("", _folded(entries.cvc))
        number = entries.plain_number
        fields["card"] = {"number": number, "exp_month": month, "exp_year": year, "cvc": code}
        fields["save_card"] = entries.save_card
    elif entries.method == _SEPA:
        fields["iban"] = _GAPS.sub("", _folded(entries.iban))
    return fields


def _folded(text: str) -> str:
    """Full-width digits, as Japanese keyboards type them, become plain ones."""
    return unicodedata.normalize("NFKC", text).strip()
