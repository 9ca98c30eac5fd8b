"""The specification's own tables, retyped from it, against what the program believes (R134).

Client and sandbox read the same description, so a wrong fact would be wrong on both sides and no
story would notice. Each literal of this file was typed from the specification, not from the code.
"""

from svc import service
from svc.service import facts


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


def test_prefixes_of_ids() -> None:
    """Spec: Conventions, ID prefixes."""
    typed = "order ord_ payment pay_ refund rf_ payout po_ landed_cost_quote lcq_ event evt_"
    words = iter(f"{typed} payment_method pm_ dispute dp_".split())
    assert dict(zip(words, words, strict=True)).items() <= facts.ID_PREFIXES.items()


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


def test_the_secret_of_an_order_is_shown_once() -> None:
    """Spec: client_secret, returned on creation; so is an endpoint's signing secret."""
    once = {
        f"{noun.name}.{field.name}"
        for noun in service.nouns()
        for field in noun.fields
        if field.answered == "create"
    }
    assert once == {"order.client_secret", "webhook_endpoint.secret"}
