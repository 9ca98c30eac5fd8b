"""Makes example events for an examination: described objects, unusual JSON, bad signatures.

`examiner` asks it for the body, headers and signature of each delivery.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from svc import service
from svc.clock import utc
from svc.service.facts import (
    ATTEMPT_HEADER,
    DELIVERY_ID_HEADER,
    EVENT_ID_HEADER,
    NOUNS,
    SIGNATURE_HEADER,
    SIGNATURE_TOLERANCE_SECONDS,
    VERSIONS,
)
from svc.service.model import Field
from svc.signature import header_value

UNKNOWN_TYPE: Final = "order.examined"
RULE_HEADER: Final = "Svc-Examination"
OLD_SECONDS: Final = 2 * SIGNATURE_TOLERANCE_SECONDS
_MARK: Final = "Examine"  # how each id of a made-up object begins behind its prefix
_DRAWN: Final = 17  # letters behind that: 24 in all, as the service has them
MADE_UP_ID: Final = re.compile(rf"\b([a-z]{{2,3}})_{_MARK}[0-9A-Za-z]{{{_DRAWN}}}\b")
_AMOUNT: Final = 12900
_VALUES: Final = {
    "text": "Example",
    "integer": 1,
    "boolean": False,
    "rate": 1.1,
    "currency": "EUR",
    "country": "DE",
    "list": [],
    "free": {},
}
_ODD: Final = {
    "text": "Größe 38/40, €, 麻, \N{T-SHIRT}",
    "numbers": [1.0, 100.0, 1e-07, -0.0],
}


def _write_compact(event: Mapping[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


# Forms in which the same JSON may be written, by what a person calls them.
FORMS: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "escapes (\\u00e9, \\/)": lambda event: json.dumps(event).replace("/", "\\/"),
    "letters that are not ASCII": _write_compact,
    "members in another order": lambda event: _write_compact(dict([*event.items()][::-1])),
    "numbers such as 1.0 and 1E2": lambda event: _write_compact(event).replace(
        "[1.0,100.0,1e-07", "[1.0,1E2,1.00e-7"
    ),
    "blanks and line ends": lambda event: json.dumps(event, indent=2, ensure_ascii=False) + "\n",
}


class ExampleObjects:
    """Objects that belong together, under ids of their own, and the events about them.

    The same type in the same form is the same event: one id and one body. `new_letters` returns
    as many random letters as it is asked for; `now` is in Unix seconds.
    """

    def __init__(self, new_letters: Callable[[int], str], now: float) -> None:
        self._new_letters = new_letters
        self._now = now
        self._ids = {name: self._new_id(name) for name in NOUNS}
        self._events: dict[tuple[str, str], tuple[str, bytes]] = {}

    def _new_id(self, noun: str) -> str:
        return f"{NOUNS[noun].prefix}{_MARK}{self._new_letters(_DRAWN)}"

    def event(self, kind: str, form: str = "", minutes_ago: int = 0) -> tuple[str, bytes]:
        """Returns the id and the body of the event of a type, in one of `FORMS`."""
        if (kind, form) not in self._events:
            at = utc(self._now - 60 * minutes_ago)
            event: dict[str, Any] = {
                "id": self._new_id("event"),
                "object": "event",
                "type": kind,
                "created": at,
                "livemode": False,
                "api_version": VERSIONS[-1],
                "data": {"object": self._make_object(kind, at)},
            }
            if form:
                event["data"]["object"]["examination"] = _ODD
            body = FORMS.get(form, _write_compact)(event).encode()
            self._events[kind, form] = str(event["id"]), body
        return self._events[kind, form]

    def _make_object(self, kind: str, at: str) -> dict[str, Any]:
        """Returns an object in the state that its event tells of, with the fields of its noun."""
        name, _, word = kind.partition(".")
        noun = service.noun(name)
        assert noun is not None
        made = {"object": name, **self._make_fields(noun.fields, at)}
        made["status"] = word if word in noun.statuses else noun.statuses[0]
        implied = next((each for each in noun.implies if each.event == kind), None)
        if implied is not None:
            made |= {field: at for field in (implied.at, implied.given) if field}
            made["status"] = implied.status or made["status"]
        if made["status"] in ("paid", "captured") and "amount_captured" in made:
            made["amount_captured"] = made["amount"]
        return made

    def _make_fields(self, fields: Sequence[Field], at: str) -> dict[str, Any]:
        return {
            field.name: self._make_value(field, at)
            for field in fields
            if field.answered == "always"
        }

    def _make_value(self, field: Field, at: str) -> Any:
        kind = field.kind
        if field.example is not None or field.default is not None:
            return field.default if field.example is None else field.example
        match kind.type:
            case "identifier":
                return self._ids[kind.of]
            case _ if field.nullable:
                return None
            case "object":
                return self._make_fields(kind.fields, at)
            case "timestamp":
                return at
            case "choice":
                return kind.words[0]
            case "amount":
                return _AMOUNT if kind.minimum else 0
        return _VALUES[kind.type]


class Signer(NamedTuple):
    """Signs bodies by the handler's `secrets`; has a `foreign` one and the time (Unix seconds)."""

    secrets: Sequence[str]
    foreign: str
    now: int

    def sign(self, body: bytes, *, age: int = 0) -> str:
        """Returns the value of `Svc-Signature` as the service makes it, `age` seconds ago."""
        return header_value(body, self.secrets, self.now - age)

    def sign_wrongly(self, body: bytes) -> str:
        """Returns a value of which the last digit is another one."""
        value = header_value(body, self.secrets[:1], self.now)
        return value[:-1] + ("1" if value.endswith("0") else "0")


# How a delivery may be signed, by what a person calls it; None stands for no header at all.
SIGNATURES: Final[dict[str, Callable[[bytes, Signer], str | None]]] = {
    "signed": lambda body, signer: signer.sign(body),
    "without a signature": lambda _body, _signer: None,
    "with a malformed signature": lambda _body, signer: f"t={signer.now},v1=",
    "with a wrong signature": lambda body, signer: signer.sign_wrongly(body),
    "signed 10 minutes ago": lambda body, signer: signer.sign(body, age=OLD_SECONDS),
    "with another amount than was signed": lambda body, signer: signer.sign(
        re.sub(rb'("amount":\s*)[0-9]+', rb"\g<1>1", body)
    ),
    "signed with another secret": lambda body, signer: header_value(
        body, [signer.foreign], signer.now
    ),
    "signed with a new secret and the old one": lambda body, signer: header_value(
        body, [signer.foreign, signer.secrets[0]], signer.now
    ),
}


def write_headers(
    event_id: str, delivery_id: str, attempt: int, rule: str, signature: str | None
) -> bytes:
    """Returns the header lines that the service would send, and the one that names the rule."""
    lines = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Svc-Webhooks/1.0",
        EVENT_ID_HEADER: event_id,
        DELIVERY_ID_HEADER: delivery_id,
        ATTEMPT_HEADER: str(attempt),
        RULE_HEADER: rule,
        **({} if signature is None else {SIGNATURE_HEADER: signature}),
    }
    return "".join(f"{name}: {value}\r\n" for name, value in lines.items()).encode()
