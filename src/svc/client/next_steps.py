"""What a person can do about a refusal, worked out from the call and the refusal alone."""

import re
from typing import Final

from svc.client.call import Call
from svc.spec import ID_PREFIXES

_OTHER_MODE: Final = (
    "Objects of the other mode are invisible to this key; --live or --test chooses it."
)
_NO_PATH: Final = "The API has no such path."
_COLLECTIONS: Final = {
    "order": "/v1/orders/",
    "payment": "/v1/payments/",
    "refund": "/v1/refunds/",
    "payout": "/v1/payouts/",
    "landed_cost_quote": "/v1/landed-cost/quotes/",
    "event": "/v1/events/",
    "dispute": "/v1/disputes/",
}
_OPTIONS: Final = {
    "payment": "--payment ID",
    "amount": "--amount N (minor units)",
    "currency": "--currency CODE",
    "settlement_currency": "--settlement-currency CODE",
    "source_currency": "--source-currency CODE",
    "capture_method": "--capture-method METHOD",
    "cancellation_reason": "--reason REASON",
    "reason": "--reason REASON",
    "reference": "--reference TEXT",
    "shipping": "--country CODE",
    "shipping[country]": "--country CODE",
    "shipping[postal_code]": "--postal-code TEXT",
    "shipping_amount": "--shipping-amount N (minor units)",
    "ship_from_country": "--ship-from-country CODE",
    "items": "--item 'name=...,quantity=1,unit_amount=12900'",
    "destination": "--country CODE --account-holder-name TEXT --iban IBAN",
    "destination[country]": "--country CODE",
    "destination[account_holder_name]": "--account-holder-name TEXT",
    "destination[iban]": "--iban IBAN",
    "destination[account_number]": "--account-number DIGITS",
    "destination[bank_code]": "--bank-code CODE",
    "destination[bic]": "--bic BIC",
    "destination[bank_name]": "--bank-name TEXT",
    "evidence": "--evidence KEY=TEXT",
    "evidence[tracking_number]": "--tracking-number TEXT",
    "evidence[shipping_carrier]": "--shipping-carrier TEXT",
    "submit": "--submit",
    "metadata": "--metadata KEY=TEXT",
    "url": "--url URL",
    "events": "--events TYPE",
    "description": "--description TEXT",
}
_REPEATED: Final = ("items", "events", "evidence", "metadata")  # one option for what is inside
_ABSENT: Final = ("parameter_missing", "parameter_invalid_empty")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_]+(?:\[[A-Za-z0-9_]+\])*")


def parameter(call: Call, code: str | None, param: str | None) -> str | None:
    """Names the option that gives a parameter; `param` is in bracket form."""
    if not call.changes or not (code or "").startswith("parameter_"):
        return None
    if code == "parameter_unknown":
        return "Leave it out: this service does not know it."
    return f"{'Add' if code in _ABSENT else 'Change'} {option(param or '')}"


def option(param: str) -> str:
    """The option of the command line for a parameter, else the one that takes any: `-d`."""
    root = param.partition("[")[0]
    known = _OPTIONS.get(param) or (_OPTIONS[root] if root in _REPEATED else None)
    if known:
        return known
    if not _PLAIN.fullmatch(param):
        return "-d PARAM=VALUE"
    return f"-d '{param}=VALUE'" if "[" in param else f"-d {param}=VALUE"


def not_found(call: Call, code: str | None, param: str | None) -> str | None:
    """Says why nothing was found: no such call, another kind of id, or the other mode."""
    if call.assumed and code != "resource_missing":
        return "The documentation does not show this call; this service may not have it."
    if code == "endpoint_unknown":
        return _NO_PATH
    if code != "resource_missing":
        return None
    in_path = param in (None, "id")
    return (in_path and _other_kind(call.path)) or (
        _OTHER_MODE if in_path or param in ID_PREFIXES else None
    )


def _other_kind(path: str) -> str | None:
    """Points to the right command when the id in a path is of another kind than the path."""
    for kind, collection in _COLLECTIONS.items():
        if path.startswith(collection):
            identifier = path.removeprefix(collection).partition("/")[0]
            return _kind_hint(identifier, but_not=kind)
    return None


def _kind_hint(identifier: str, *, but_not: str) -> str | None:
    for kind, prefix in ID_PREFIXES.items():
        if kind != but_not and identifier.startswith(prefix):
            words = kind.replace("_", " ").replace("landed cost", "landed-cost")
            said = f"{identifier} is {'an' if words[0] in 'aeiou' else 'a'} {words}"
            return f"{said}: svc get {identifier}" if kind in _COLLECTIONS else f"{said}."
    return None
