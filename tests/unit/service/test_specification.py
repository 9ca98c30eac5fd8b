"""The specification's own tables, retyped from it, against what the program believes.

Client and sandbox read the same description, so a wrong fact would be wrong on both sides and no
story would notice. Each literal of this file was typed from the specification, not from the code.
"""

import pytest

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
    assert facts.ID_PREFIXES_STATED[kind] == prefix
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
