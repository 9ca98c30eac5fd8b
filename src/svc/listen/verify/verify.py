"""Verifies a received request and reads its payload: a `Delivery` out, or a `Rejected` (R46).

`ingest` has one `Intake` with the secrets of its endpoint. `log.messages`, the inspector and `svc
events verify` read payloads by `read_facts`.
"""

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, Final

from svc import signature
from svc.errors import SignatureError
from svc.json_text import parse_any
from svc.listen.http.requests import HttpRequest
from svc.listen.http.wire import Header
from svc.listen.output_records import Rejected
from svc.listen.values import value_class
from svc.listen.verify.diagnosis import Diagnosis, KnownSecret, diagnose
from svc.money import format_amount
from svc.service.facts import ATTEMPT_HEADER, DELIVERY_ID_HEADER, EVENT_ID_HEADER, SIGNATURE_HEADER

_EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")  # promise R25's shape of an id
_TYPE: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_AMOUNTS: Final = {
    "order": ("amount_total", "amount"),  # what the shopper pays
    "payment": ("amount_captured", "amount"),
}
# The sender's own headers; what a tunnel adds stays behind (promise R52), and so does what looks
# like one of the sender's and is none: only the body is signed (promise R108).
_EVENT_ID_HEADER: Final = EVENT_ID_HEADER.lower().encode()
_PASSED_ON: Final = frozenset(
    (
        *(b"content-type", b"content-encoding", b"user-agent", _EVENT_ID_HEADER),
        *(name.lower().encode() for name in (SIGNATURE_HEADER, DELIVERY_ID_HEADER, ATTEMPT_HEADER)),
    )
)


@value_class
class Facts:
    """Facts of an event's payload; `livemode` and `amount` (minor units) are None if it has none.

    `id` is the event's, or, where the payload names none, a digest of the body.
    """

    id: str
    type: str
    created: str
    livemode: bool | None
    object_id: str
    amount: int | None
    currency: str | None

    @property
    def price(self) -> str | None:
        """The amount with its currency, as people read it."""
        if self.amount is None or self.currency is None:
            return None
        return format_amount(self.amount, self.currency)


@value_class
class Delivery:
    """One verified delivery: the raw body, the headers to pass on as sent, and its facts.

    `came_at` is when a receiver elsewhere took it (unix seconds), None where it came here first. If
    it came elsewhere, `end_to_end` says that its signature was checked here as well.
    """

    body: bytes
    headers: bytes
    received_at: float
    facts: Facts
    came_at: float | None = None
    end_to_end: bool = False


def join_forwarded_headers(headers: Iterable[Header], event: str) -> bytes:
    """Picks the header lines that a target gets, none that names another event (R52, R108)."""
    return b"".join(
        [
            b"%s: %s\r\n" % (name, value)
            for name, value in headers
            if (kind := _kind(name)) and (kind != _EVENT_ID_HEADER or value == event.encode())
        ]
    )


@lru_cache
def _kind(name: bytes) -> bytes:
    """The name of a header that a target gets, in lower case; else nothing."""
    lower = name.lower()
    return lower if lower in _PASSED_ON else b""


def read_facts(body: bytes) -> Facts:
    """Reads the payload after it was verified; never fails, whatever was signed (promise R46)."""
    event = _json_object(body)
    data = event.get("data")
    changed = data.get("object") if isinstance(data, dict) else None
    changed = changed if isinstance(changed, dict) else {}
    livemode = event.get("livemode")
    return Facts(
        id=_find_matching(_EVENT_ID, event.get("id"))
        or f"body_{hashlib.sha256(body).hexdigest()[:32]}",
        type=_find_matching(_TYPE, event.get("type")),
        created=_find_matching(_TYPE_OF_TIME, event.get("created")),
        livemode=livemode if isinstance(livemode, bool) else None,
        object_id=_find_matching(_EVENT_ID, changed.get("id")),
        amount=_amount(changed),
        currency=_find_matching(_EVENT_ID, changed.get("currency")) or None,
    )


_decode: Final = json.JSONDecoder().raw_decode  # json.loads looks for the encoding first
_TYPE_OF_TIME: Final = re.compile(r"[0-9TZ:.+-]{1,40}")


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        text = body.decode()
        value, end = _decode(text)
        in_doubt = end != len(text)
    except (ValueError, RecursionError):
        in_doubt = True
    if in_doubt:  # white space around it, another encoding, or no JSON
        value = parse_any(body)
    return value if isinstance(value, dict) else {}


def _find_matching(shape: re.Pattern[str], value: object) -> str:
    return value if isinstance(value, str) and shape.fullmatch(value) else ""


def _amount(changed: dict[str, Any]) -> int | None:
    for name in _AMOUNTS.get(str(changed.get("object")), ("amount",)):
        value = changed.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value:
            return value
    return None


_SECRETS_MAX: Final = 2  # during rotation (promise R48)
_REMEMBERED: Final = 10_000
# Looking for a cause takes 5 ms a KiB: a flood of forgeries must not hold up good deliveries.
_MOST_KIB: Final = 64.0
_KIB_A_SECOND: Final = 8.0


class Intake:
    """Verifies requests with the secrets of one endpoint.

    `diagnosis` looks for the cause of a failed verification, in at most 64 KiB at once and 8 KiB a
    second.
    """

    def __init__(self, secrets: Sequence[str], known: Sequence[KnownSecret] = ()) -> None:
        """Takes one secret, or two while one is being replaced; `known` ones only explain.

        Raises:
            SignatureError: none, too many, or one that cannot be a signing secret (R48).
        """
        if not 1 <= len(secrets) <= _SECRETS_MAX:
            raise SignatureError("secret_invalid", "One or two signing secrets are needed.")
        self._verifier = signature.Verifier(secrets)
        self._secrets = tuple(secrets)
        self._known = tuple(known)
        self._allowed = _MOST_KIB
        self._looked_at = 0.0

    def verify(self, request: HttpRequest, now: float) -> Delivery | Rejected:
        """Verifies the raw bytes, then reads what they say; `now` is in unix seconds."""
        values = request.head.values(_HEADER)
        try:
            self._verifier.verify(request.body, values, int(now))
        except SignatureError as error:
            found = self._explain(error, request.body, values, now)
            headers, size = request.head.headers, len(request.body)
            return Rejected(now, error.reason, found.message, size, headers, found.cause)
        facts = read_facts(request.body)
        return Delivery(
            request.body, join_forwarded_headers(request.head.headers, facts.id), now, facts
        )

    def _explain(
        self, error: SignatureError, body: bytes, values: Sequence[bytes], now: float
    ) -> Diagnosis:
        gained = max(now - self._looked_at, 0.0) * _KIB_A_SECOND
        self._allowed, self._looked_at = min(self._allowed + gained, _MOST_KIB), now
        cost = 1 + len(body) / 1024
        if self._allowed < cost:
            return Diagnosis(error.reason, error.message)
        self._allowed -= cost
        return diagnose(error, body, values, self._secrets, self._known)


class Sequencer:
    """Notices an event that is older than one seen before of the same object (promise R60)."""

    def __init__(self) -> None:
        # A plain dict looks for its first key from where the first one of all once stood.
        self._newest: OrderedDict[str, str] = OrderedDict()

    def is_late(self, facts: Facts) -> bool:
        """Returns whether a newer change of the object came before this one."""
        if not facts.object_id or not facts.created:
            return False
        newest = self._newest.pop(facts.object_id, "")
        self._newest[facts.object_id] = intern(max(newest, facts.created))  # many are of one second
        if len(self._newest) > _REMEMBERED:
            self._newest.popitem(last=False)
        return facts.created < newest


_HEADER: Final = SIGNATURE_HEADER.lower().encode()
