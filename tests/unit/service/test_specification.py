"""The specification's own tables, retyped from it, against what the program believes (R134).

Client and sandbox read the same description, so a wrong fact would be wrong on both sides and no
story would notice. Each literal of this file was typed from the specification, not from the code.
"""

from collections.abc import Iterator

import pytest

from svc import service
from svc.service import facts
from svc.service.model import Field


def test_limits() -> None:
    """Spec: Limits."""
    assert facts.LIMIT_DEFAULT == 25
    assert facts.LIMIT_MAX == 100
    assert facts.IDEMPOTENCY_RETENTION_SECONDS == 24 * 60 * 60
    assert facts.WEBHOOK_DEADLINE_SECONDS == 10
    assert facts.WEBHOOK_RETRY_WINDOW_SECONDS == 3 * 24 * 60 * 60
    assert facts.SIGNATURE_TOLERANCE_SECONDS == 5 * 60
    assert facts.KEY_GRACE_MAX_SECONDS == 7 * 24 * 60 * 60


def test_schedule_of_deliveries() -> None:
    """Spec: Events, delivery and retries: attempt 2 after a minute, 3 after 10, 4 after an hour."""
    assert facts.WEBHOOK_RETRY_DELAYS == (60, 10 * 60, 60 * 60)
    assert facts.WEBHOOK_RETRY_INTERVAL == 6 * 60 * 60


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [
        ("order", "ord_"),
        ("payment", "pay_"),
        ("refund", "rf_"),
        ("payout", "po_"),
        ("landed_cost_quote", "lcq_"),
        ("event", "evt_"),
        ("payment_method", "pm_"),
        ("dispute", "dp_"),
    ],
)
def test_prefixes_of_ids(kind: str, prefix: str) -> None:
    """Spec: Conventions, ID prefixes."""
    assert facts.ID_PREFIXES[kind] == prefix


def test_prefixes_of_keys() -> None:
    """Spec: Authentication, keys; signing secrets begin with `whsec_`."""
    assert facts.KEY_PREFIXES == {
        "sk_test_": ("secret", "test"),
        "sk_live_": ("secret", "live"),
        "pk_test_": ("publishable", "test"),
        "pk_live_": ("publishable", "live"),
        "rk_test_": ("restricted", "test"),
        "rk_live_": ("restricted", "live"),
    }
    assert facts.SECRET_PREFIX == "whsec_"


def test_headers_and_root() -> None:
    """Spec: the head of it, Events, Limits and Versioning."""
    assert facts.API_ROOT == "/v1"
    assert facts.SIGNATURE_HEADER == "Svc-Signature"
    assert facts.VERSION_HEADER == "Svc-Version"
    assert facts.IDEMPOTENCY_HEADER == "Idempotency-Key"


EVENTS_SENT = """
order.paid order.cancelled payment.authorized payment.captured payment.failed refund.succeeded
dispute.opened dispute.won dispute.lost payout.paid payout.failed
"""


def test_events() -> None:
    """Spec: Events: eleven types are shown, and there are 18."""
    assert set(EVENTS_SENT.split()) <= set(facts.EVENT_TYPES)
    assert len(facts.EVENT_TYPES) == len(set(facts.EVENT_TYPES)) == 18


# Method, path with `*` for the id, encoding of the body, and the section; each line of the
# specification's tables of endpoints, and no other.
ENDPOINTS = """
POST /v1/orders json
GET  /v1/orders/* -
POST /v1/orders/* json
POST /v1/orders/*/cancel json
GET  /v1/orders -
POST /v1/orders/*/capture form
GET  /v1/payments/* -
GET  /v1/payments -
POST /v1/refunds json
GET  /v1/refunds/* -
POST /v1/payouts json
GET  /v1/payouts/* -
GET  /v1/payouts -
POST /v1/landed-cost/quotes json
GET  /v1/landed-cost/quotes/* -
POST /v1/webhook_endpoints form
GET  /v1/events/* -
POST /v1/disputes/* form
"""


def test_endpoints() -> None:
    """Spec: Endpoints; what is assumed beyond them says so."""
    described = {
        (action.method, noun.path_of(action), action.encoding if action.method == "POST" else "-")
        for noun in service.nouns()
        for action in noun.actions
        if not action.assumed
    }
    assert described == {tuple(line.split()) for line in ENDPOINTS.strip().splitlines()}


# What the specification shows of each object: the field, and what kind of value it is.
FIELDS = {
    "order": """
        id identifier | status choice | amount amount | currency currency
        settlement_currency currency | shipping object | shipping.country country
        shipping.postal_code text | items list | items.name text | items.hs_code tariff_code
        items.quantity integer | items.unit_amount amount | capture_method choice
        client_secret text | methods list | landed_cost object | landed_cost.duty amount
        landed_cost.vat amount | landed_cost.currency currency""",
    "payment": "id identifier | amount_captured amount | retried boolean | acquirer text",
    "payment_method": """
        id identifier | type choice | card object | card.brand choice | card.last4 text
        card.network_token choice""",
    "landed_cost_quote": """
        id identifier | guaranteed boolean | warnings list | warnings.code choice
        warnings.item text""",
    "dispute": """
        id identifier | evidence_due_by timestamp | evidence object
        evidence.tracking_number text | evidence.shipping_carrier text | submit boolean""",
    "event": "id identifier | type event_type | created timestamp | livemode boolean | data object",
    "webhook_endpoint": "url url | events list",
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields_of_answers_and_requests(name: str) -> None:
    """Spec: Resources and their fields."""
    noun = service.noun(name)
    assert noun is not None
    described = {path: field.kind.type for path, field in every(noun.fields)}
    shown = [
        tuple(one.split())
        for line in FIELDS[name].strip().splitlines()
        for one in line.split(" | ")
    ]
    assert len(shown) >= 2
    for path, kind in shown:
        assert described[path] == kind, path


def every(fields: tuple[Field, ...], within: str = "") -> Iterator[tuple[str, Field]]:
    """Each field with its path, those inside others too."""
    for field in fields:
        yield f"{within}{field.name}", field
        yield from every(field.kind.inner, f"{within}{field.name}.")


def given(operation: str) -> dict[str, Field]:
    """What a request may have."""
    found = service.operation(operation)
    assert found is not None
    noun, action = found
    return {field.name: field for field in noun.list_given(action.verb)}


def test_body_of_a_new_order() -> None:
    """Spec: Create order request body; an order holds amount, currency, items and destination."""
    body = given("orders.create")
    assert {"currency", "amount", "settlement_currency", "shipping", "items"} <= set(body)
    assert {"amount", "currency", "items", "shipping"} == {
        name for name, field in body.items() if field.required
    }
    shipping = {field.name for field in body["shipping"].kind.inner}
    assert {"country", "postal_code"} <= shipping
    items = {field.name for field in body["items"].kind.inner}
    assert {"name", "hs_code", "quantity", "unit_amount"} <= items


def test_bodies_of_forms() -> None:
    """Spec: Payments, Webhook endpoints and events, Disputes."""
    assert set(given("orders.capture")) == {"amount"}
    assert {"url", "events"} <= set(given("webhook-endpoints.create"))
    assert set(given("disputes.update")) == {"evidence", "submit"}


def test_words_that_are_seen() -> None:
    """Spec: values seen of status, capture method, network token and warnings."""
    found = {
        f"{noun.name}.{path}": field.kind.words
        for noun in service.nouns()
        for path, field in every(noun.fields)
    }
    assert {"requires_payment", "paid"} <= set(found["order.status"])
    assert "manual" in found["order.capture_method"]
    assert "active" in found["payment_method.card.network_token"]
    assert "card" in found["payment_method.type"]
    assert "hs_code_incomplete" in found["landed_cost_quote.warnings.code"]
    assert {"won", "lost"} <= set(found["dispute.status"])


def test_the_secret_of_an_order_is_shown_once() -> None:
    """Spec: client_secret, returned on creation; so is an endpoint's signing secret."""
    once = {
        f"{noun.name}.{field.name}"
        for noun in service.nouns()
        for field in noun.fields
        if field.answered == "create"
    }
    assert once == {"order.client_secret", "webhook_endpoint.secret"}
