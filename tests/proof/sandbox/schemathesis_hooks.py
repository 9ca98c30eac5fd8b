"""What schemathesis needs to know of this service: ids that exist, and what no schema can say.

Loaded by the schemathesis process that `test_schemathesis.py` starts; `PROOF_SANDBOX` is the
sandbox's address and `PROOF_COUNTS` the file that the counts go to.
"""

import atexit
import json
import os
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jsonschema_rs
import schemathesis

from support.running import api
from svc.sandbox.openapi.document import OPERATIONS, document
from svc.service.facts import VERSIONS

DOCUMENT = document(OPERATIONS)
ORDER = next(dict(each.example or {}) for each in OPERATIONS if each.path == "/v1/orders")
SANDBOX = urlsplit(os.environ["PROOF_SANDBOX"])
FRESH_EVERY = 40  # requests between two helpings of new objects
KEPT = 30  # ids of a kind
EMPTY = {"null": "", "[]": "", "{}": ""}  # what a form cannot say otherwise
# What the shopper and the bank do makes the states that the API alone cannot reach.
HAPPENINGS = ("order.paid", "payment.authorized", "dispute.opened", "payout.sent")
PREFIXES = {
    "/v1/orders": "ord_",
    "/v1/payments": "pay_",
    "/v1/refunds": "rf_",
    "/v1/payouts": "po_",
    "/v1/landed-cost": "lcq_",
    "/v1/events": "evt_",
    "/v1/disputes": "dp_",
}
# The state in which a call on one object is carried out.
WANTED = {
    "/v1/orders/{id}": "requires_payment",
    "/v1/orders/{id}/cancel": "requires_payment",
    "/v1/orders/{id}/capture": "authorized",
    "/v1/disputes/{id}": "needs_response",
    "/v1/disputes/{id}/accept": "needs_response",
}
DESTINATION = {
    "country": "DE",
    "account_holder_name": "Muster GmbH",
    "iban": "DE89370400440532013000",
}
BEYOND = {
    (operation.method, operation.path.replace(":id", "{id}")): operation.refuses
    | {"resource_missing", "url_invalid", "idempotency_key_reused"}
    for operation in OPERATIONS
}

chance = random.Random(0)
known: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=KEPT))
statuses: dict[str, str] = {}
counts: Counter[str] = Counter()


def call(path: str, body: Any) -> Any:
    """A POST of our own, apart from the requests under test."""
    return api(SANDBOX.port or 0, "POST", path, body, **{"Svc-Sandbox": "1"})


def learn(value: Any) -> None:
    """Remembers every id in an answer by its prefix, and the states of objects."""
    if isinstance(value, dict):
        if "id" in value and "status" in value:
            statuses[value["id"]] = value["status"]
            if value["object"] == "payment" and value["status"] == "authorized":
                statuses[value["order"]] = "authorized"
        for entry in value.values():
            learn(entry)
    elif isinstance(value, list):
        for entry in value:
            learn(entry)
    elif isinstance(value, str) and "_" in value and value[-24:].isalnum():
        known[value[:-24]].append(value)


def something_new() -> None:
    learn(call("/v1/orders", ORDER))
    for kind in HAPPENINGS:
        learn(call("/_sandbox/events/trigger", {"type": kind}))


@schemathesis.hook
def map_case(context: Any, case: Any) -> Any:
    """Lets most requests name objects that exist; negative ones keep what is wrong with them."""
    if "{id}" in case.path and chance.random() < 0.8:
        case.path_parameters["id"] = existing(case.path, case.method)
    if case.headers and "Idempotency-Key" in case.headers and chance.random() < 0.7:
        del case.headers["Idempotency-Key"]  # short keys would make nearly all requests replays
    if isinstance(case.body, dict) and case.meta.generation.mode.is_positive:
        case.body = whole(case.body)
        if "payment" in case.body and known["pay_"] and chance.random() < 0.8:
            case.body["payment"] = chance.choice(list(known["pay_"]))
        if "destination" in case.body and chance.random() < 0.7:
            case.body["destination"] = DESTINATION
    return case


def existing(path: str, method: str) -> str:
    """The id of an object for a path, as often as not in the state that the call needs."""
    ids = list(next(known[prefix] for start, prefix in PREFIXES.items() if path.startswith(start)))
    wanted = WANTED.get(path) if method == "POST" else None
    ready = [identity for identity in ids if statuses.get(identity) == wanted]
    return chance.choice(ready if ready and chance.random() < 0.6 else ids)


def whole(value: Any) -> Any:
    """Writes 5.0 as 5: JSON Schema calls both an integer, the service only the latter."""
    if isinstance(value, dict):
        return {key: whole(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [whole(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Counts the answers and remembers what can be asked for."""
    counts[f"{case.method} {case.path} {response.status_code}"] += 1
    if response.status_code == 200:
        learn(response.json())
    if sum(counts.values()) % FRESH_EVERY == 0:
        something_new()


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Keeps every failure but those in which neither side is wrong.

    A valid request may meet a state, a relation or a used key that forbids it. What was meant to
    break a rule may not be on the wire any more: in a form all scalars are text, a `null` or `7`
    too; in a query an empty list is nothing at all.
    """
    kind = type(failure).__name__
    if kind == "RejectedPositiveData":
        codes = BEYOND.get((case.method, case.path), frozenset())
        return response.json().get("code") not in codes
    if kind != "AcceptedNegativeData":
        return True
    if case.method == "GET":
        return not is_allowed(case.path, response.request)
    in_form = case.media_type == "application/x-www-form-urlencoded"
    return not (in_form and has_more_than_text(case.body))


def is_allowed(path: str, sent: Any) -> bool:
    """Says whether a GET as it was sent is one that the document allows."""
    declared = DOCUMENT["paths"][path]["get"]["parameters"]
    schemas = {each["name"]: each["schema"] for each in declared if each["in"] == "query"}
    version = sent.headers.get("Svc-Version")
    query = urlsplit(sent.url).query
    values = unflattened(parse_qsl(query, keep_blank_values=True))
    return version in (None, *VERSIONS) and all(
        name in schemas
        and jsonschema_rs.is_valid({**schemas[name], "components": DOCUMENT["components"]}, value)
        for name, value in values.items()
    )


def unflattened(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Query parameters as values: `a[b]` goes into an object, digits are a number."""
    values: dict[str, Any] = {}
    for name, text in pairs:
        head, _, inner = name.partition("[")
        value = int(text) if text.isdecimal() and head == "limit" else text
        if inner:
            values.setdefault(head, {})[inner.removesuffix("]")] = value
        else:
            values[head] = value
    return values


def has_more_than_text(value: Any) -> bool:
    if isinstance(value, dict | list) and value:
        entries = value.values() if isinstance(value, dict) else value
        return any(has_more_than_text(entry) for entry in entries)
    return not isinstance(value, str)


@schemathesis.serializer("application/x-www-form-urlencoded")
def form(context: Any, value: Any) -> bytes:
    """Forms in bracket syntax; what is no object is sent as one nameless value."""
    pairs = list(flattened(value, "")) if value != {} else []
    return urlencode(pairs, errors="surrogatepass").encode()


def flattened(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The pairs of a form; lists are indexed, as their entries may be objects."""
    if isinstance(value, dict | list) and value:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in entries:
            yield from flattened(entry, f"{name}[{key}]" if name else str(key))
    elif isinstance(value, str):
        yield name, value
    else:
        yield name, EMPTY.get(json.dumps(value), json.dumps(value))


def write_counts() -> None:
    Path(os.environ["PROOF_COUNTS"]).write_text(json.dumps(counts), encoding="utf-8")


atexit.register(write_counts)
something_new()
