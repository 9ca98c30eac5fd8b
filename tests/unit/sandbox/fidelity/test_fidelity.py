"""The fidelity table: it is whole, and each row names a test that is there (promise R80)."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc import service
from svc.sandbox.fidelity import MADE_MAX, ROWS, FidelityRow, parse, read_requests
from svc.sandbox.openapi.document import BY_STATUS, KEY_REUSED, OPERATIONS, document, refusals_of
from svc.sandbox.reference import fx
from svc.sandbox.store import settings
from svc.service import facts
from svc.service.disputes import EVIDENCE
from svc.service.errors import CODES, codes_of

ROOT = Path(__file__).parents[4]
DOCUMENT = document(OPERATIONS)
# The endpoints tables of the specification.
STATED = """
POST /v1/orders, GET /v1/orders/:id, POST /v1/orders/:id, POST /v1/orders/:id/cancel,
GET /v1/orders, POST /v1/orders/:id/capture, GET /v1/payments/:id, GET /v1/payments,
POST /v1/refunds, GET /v1/refunds/:id, POST /v1/payouts, GET /v1/payouts/:id, GET /v1/payouts,
POST /v1/landed-cost/quotes, GET /v1/landed-cost/quotes/:id, POST /v1/webhook_endpoints,
GET /v1/events/:id, POST /v1/disputes/:id
"""
# The events that the specification names; seven more are ours.
STATED_EVENTS = """
order.paid order.cancelled payment.authorized payment.captured payment.failed refund.succeeded
dispute.opened dispute.won dispute.lost payout.paid payout.failed
"""
EVENTS = {("Events", name) for name in facts.EVENT_TYPES}  # payout.created is a field as well
# The figures of the specification's table of limits, and the row that has each.
LIMITS = {
    "default page": facts.LIMIT_DEFAULT,
    "limit": facts.LIMIT_MAX,
    "retention": facts.IDEMPOTENCY_RETENTION_SECONDS // 3600,
    "10 seconds": facts.WEBHOOK_DEADLINE_SECONDS,
    "1 min, 10 min, 1 h, every 6 h": facts.WEBHOOK_RETRY_WINDOW_SECONDS // 86400,
    "rolling a key": "seven days",
    "five minutes": "",
}


def rows_of(subject: str) -> list[FidelityRow]:
    return [row for row in ROWS if row.subject == subject]


def names_of(subject: str, mark: str | None = None) -> set[str]:
    return {row.name for row in rows_of(subject) if mark in (None, row.mark)}


def find(name: str) -> FidelityRow:
    (row,) = (row for row in ROWS if row.name == name)
    return row


@cache
def functions_of(path: str) -> set[str]:
    """What pytest collects of a file; none of ours has tests in classes."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_row_names_a_test_that_is_there() -> None:
    """The file exists, and has that test once and at its top level."""
    named = {row.test for row in ROWS}
    parts = [(test, *test.split("::")) for test in named]
    assert [test for test, path, name in parts if name not in functions_of(path)] == []


def test_every_row_is_for_reading() -> None:
    """Each row says something in one short sentence, and where it is written."""
    for row in ROWS:
        assert 0 < len(row.what.strip()) <= 90, row
        assert row.section, row


def test_no_row_comes_twice() -> None:
    """A subject and a name stand for one fact."""
    keys = [(row.subject, row.name) for row in ROWS]
    assert sorted(keys) == sorted(set(keys))


def test_every_probe_has_its_request_and_its_setting() -> None:
    """Each request is of a probe or of another request; repeated, they make at most 40 objects."""
    requests = read_requests()
    probes = [row.probe for row in ROWS if row.probe is not None]
    named = {each.key or each.needs for each in requests.values()}
    assert {probe.request for probe in probes} <= requests.keys()
    assert requests.keys() - {probe.request for probe in probes} <= named
    assert {probe.setting.partition("=")[0] for probe in probes} - {""} <= settings.DEFAULTS.keys()
    assert 2 * sum(each.creates for each in requests.values()) <= MADE_MAX == 40


def test_every_operation_has_a_row() -> None:
    """The 18 documented operations are marked as said, the four others as chosen."""
    stated = {each.strip() for each in STATED.replace("\n", " ").split(",")}
    assert len(stated) == 18
    assert names_of("Operations", "says") == stated
    ours = {f"{each.method} {each.path}" for each in OPERATIONS} - stated
    assert names_of("Operations", "chose") == ours | {"other paths"}


def test_every_event_type_has_a_row() -> None:
    """Eleven are stated, seven chosen."""
    typed = {row.name: row.mark for row in rows_of("Events") if row.name in facts.EVENT_TYPES}
    assert set(typed) == set(facts.EVENT_TYPES)
    says = {name for name, mark in typed.items() if mark == "says"}
    assert says == set(STATED_EVENTS.split())


def statuses(kind: str) -> tuple[str, ...]:
    noun = service.noun(kind)
    assert noun is not None
    return noun.statuses


def words(kind: str, name: str) -> tuple[str, ...]:
    noun = service.noun(kind)
    assert noun is not None
    return next(field.kind.words for field in noun.fields if field.name == name)


STATUSES = [
    *statuses("order"),
    *(f"payment {status}" for status in statuses("payment")),
    *(f"refund {status}" for status in statuses("refund")),
    *(f"payout {status}" for status in statuses("payout")),
    *(f"dispute {status}" for status in statuses("dispute")),
    *words("order", "capture_method"),
]


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_a_row(status: str) -> None:
    assert find(status)


def test_every_error_code_has_a_row() -> None:
    """The catalogue of the OpenAPI document and the table name the same codes."""
    codes = {KEY_REUSED} | {code for status in BY_STATUS for code in codes_of(status)}
    codes = codes.union(*map(refusals_of, OPERATIONS))
    assert names_of("Error codes") == codes == set(CODES)
    assert names_of("Error codes", "says") == {"permission_denied"}


def test_every_setting_has_a_row() -> None:
    """The settings of the sandbox and the table name the same ones."""
    assert names_of("Settings") == set(settings.DEFAULTS)


def test_every_field_of_every_object_has_a_row() -> None:
    """The table and the strict schemas of the OpenAPI document know the same fields."""
    shown: set[str] = set()
    schemas = DOCUMENT["components"]["schemas"]
    for name in ("NewOrder", "Payment", "PaymentMethod", "Refund", "Payout", "LandedCostQuote",
                 "Dispute", "NewWebhookEndpoint"):  # fmt: skip
        fields = schemas[name]["properties"]
        shown |= {f"{fields['object']['const']}.{field}" for field in fields}
    shown |= {f"event.{field}" for field in schemas["OrderPaidEvent"]["properties"]}
    objects = {name.partition(".")[0] for name in shown}
    named = {row.name for row in ROWS if (row.subject, row.name) not in EVENTS}
    assert {name for name in named if name.partition(".")[0] in objects and "." in name} == shown


@pytest.mark.parametrize("prefix", facts.ID_PREFIXES.values())
def test_every_id_prefix_has_a_row(prefix: str) -> None:
    """Those that are stated are marked so."""
    assert find(prefix).mark == ("chose" if prefix in ("we_", "req_") else "says")


@pytest.mark.parametrize("prefix", facts.KEY_PREFIXES)
def test_every_key_prefix_has_a_row(prefix: str) -> None:
    """All six are stated."""
    assert find(prefix).mark == "says"


@pytest.mark.parametrize(("name", "figure"), LIMITS.items())
def test_every_limit_has_a_row_with_its_figure(name: str, figure: Any) -> None:
    """The seven limits of the specification are there, with the figures of `service/facts.py`."""
    row = find(name)
    assert row.mark == "says"
    assert str(figure) in f"{row.name} {row.what}"


def words_in(rows: Iterable[FidelityRow]) -> set[str]:
    return set(re.findall(r"[A-Za-z_*-]+", " ".join(f"{row.name} {row.what}" for row in rows)))


def test_words_of_closed_sets_are_named() -> None:
    """Evidence keys, reasons, resources, headers and versions appear with the right mark."""
    says = words_in(row for row in ROWS if row.mark == "says")
    chose = words_in(row for row in ROWS if row.mark == "chose")
    stated = {"tracking_number", "shipping_carrier"}
    assert stated <= says
    further = len(EVIDENCE.fields) - len(stated)
    assert find(f"{further} further evidence keys").mark == "chose"
    assert {*words("order", "cancellation_reason"), *words("refund", "reason")} <= chose
    assert set(facts.RESTRICTED_RESOURCES) <= chose
    assert {facts.SIGNATURE_HEADER, facts.VERSION_HEADER, facts.IDEMPOTENCY_HEADER} <= says
    assert {facts.REPLAYED_HEADER, facts.REQUEST_ID_HEADER, facts.EVENT_ID_HEADER} <= chose
    assert {facts.DELIVERY_ID_HEADER, facts.ATTEMPT_HEADER, facts.SANDBOX_HEADER} <= chose
    assert all(version in find("known versions").what for version in facts.VERSIONS)
    assert str(len(fx.USD_PER_UNIT)) in find("supported currencies").what
    assert str(len(facts.EVENT_TYPES)) in find("18 types").what


@pytest.mark.parametrize("text", ["a | says", "== a | b", "name | wrong | what", "what"])
def test_a_line_that_is_no_row_is_refused(text: str) -> None:
    """A slip in the data is an error, never a row that is quietly left out."""
    with pytest.raises((KeyError, ValueError)):
        list(parse(f"== a | b | c\n@ t\n{text}"))


@pytest.mark.parametrize("mode", ["test", "live"])
@pytest.mark.parametrize("kind", ["secret", "publishable", "restricted"])
def test_prefix_of_a_key_tells_its_kind_and_mode(shared: AsgiSandbox, kind: str, mode: str) -> None:
    """The six prefixes of the specification's table of keys."""
    body = {"type": kind, **({"permissions": {}} if kind == "restricted" else {})}
    answer = shared.control("/keys", {**body, "mode": mode})
    key = answer.json
    assert answer.status == 200
    assert key["secret"].startswith(f"{kind[0]}k_{mode}_")
    assert key["livemode"] == (mode == "live")
