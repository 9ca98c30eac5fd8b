"""One object of each kind, and a printer whose output can be read."""

import io
import json
from collections.abc import Iterable
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

from support.on_terminal import TtyStream
from support.orders import NEW_ORDER
from svc.inputs import Format
from svc.render.output import Output

ZONE = timezone(timedelta(hours=2))
NOW = 1790852400.0  # 2026-10-01T11:00:00Z
ORDER: dict[str, Any] = {**NEW_ORDER, "metadata": {"ref": "A-1001"}}
METHOD: dict[str, Any] = {
    "id": "pm_7sTu8vWx9yZa0bCd1eFg2hIj",
    "object": "payment_method",
    "type": "card",
    "card": {
        "brand": "visa",
        "last4": "4242",
        "network_token": "active",
        "exp_month": 4,
        "exp_year": 2030,
    },
}
PAYMENT: dict[str, Any] = {
    "id": "pay_9zYx8wVu7tSr6qPo5nMl4kJi",
    "object": "payment",
    "order": "ord_3kPq0aVb7cXd9eYf1gZh2iWj",
    "status": "captured",
    "amount": 15708,
    "amount_captured": 15708,
    "amount_released": 0,
    "amount_refunded": 2500,
    "currency": "EUR",
    "method": "card",
    "card": {"brand": "visa", "last4": "4242"},
    "payment_method": METHOD,
    "retried": True,
    "acquirer": "sandbox_eu_2",
    "failure_code": None,
    "failure_message": None,
    "decline_type": None,
    "disputed": False,
    "settlement_currency": "USD",
    "settlement_amount": 17279,
    "fx_rate": 1.1,
    "fee": None,
    "authorization_expires_at": None,
    "captured_at": "2026-10-01T09:01:10Z",
    "created": "2026-10-01T09:01:08Z",
    "livemode": True,
}
REFUND: dict[str, Any] = {
    "id": "rf_1qWe2rTy3uIo4pAs5dFg6hJk",
    "object": "refund",
    "payment": "pay_9zYx8wVu7tSr6qPo5nMl4kJi",
    "order": "ord_3kPq0aVb7cXd9eYf1gZh2iWj",
    "amount": 2500,
    "currency": "EUR",
    "reason": "requested_by_customer",
    "status": "pending",
    "failure_reason": None,
    "metadata": {},
    "created": "2026-10-01T10:59:40Z",
    "livemode": False,
}
PAYOUT: dict[str, Any] = {
    "id": "po_5gHj6kLz7xCv8bNm9qWe0rTy",
    "object": "payout",
    "status": "failed",
    "amount": 15000,
    "currency": "JPY",
    "source_currency": "USD",
    "source_amount": 10400,
    "fx_rate": 147.05882,
    "network_fees": 200,
    "destination": {
        "country": "JP",
        "account_holder_name": "株式会社サンプル",
        "bank_name": None,
        "last4": "3000",
    },
    "reference": "INV-7",
    "failure_reason": "account_closed",
    "failure_message": "The bank account has been closed.",
    "estimated_arrival": "2026-10-02T09:00:00Z",
    "sent_at": "2026-10-01T10:00:00Z",
    "paid_at": None,
    "failed_at": "2026-10-01T10:30:00Z",
    "metadata": {},
    "created": "2026-10-01T09:00:00Z",
    "livemode": False,
}
QUOTE: dict[str, Any] = {
    "id": "lcq_1aBc2dEf3gHi4jKl5mNo6pQr",
    "object": "landed_cost_quote",
    "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "ship_from_country": "US",
    "shipping_amount": 900,
    "items": [
        {
            "name": "Linen jacket",
            "hs_code": "6203",
            "origin_country": "CN",
            "quantity": 2,
            "unit_amount": 12900,
            "duty": 3096,
            "vat": 5662,
            "duty_rate_bps": 1200,
        },
        {
            "name": "Belt",
            "hs_code": None,
            "origin_country": None,
            "quantity": 1,
            "unit_amount": 4500,
            "duty": 0,
            "vat": 855,
            "duty_rate_bps": 0,
        },
    ],
    "duty": 3096,
    "vat": 6517,
    "fees": 0,
    "total": 9613,
    "guaranteed": False,
    "warnings": [
        {
            "code": "hs_code_incomplete",
            "item": "Linen jacket",
            "message": "The tariff code has fewer than six digits.",
        },
        {
            "code": "origin_country_unknown",
            "item": "Belt",
            "message": "The country of origin is not known.",
        },
    ],
    "expires_at": "2026-10-02T09:00:00Z",
    "created": "2026-10-01T09:00:00Z",
    "livemode": False,
}
DISPUTE: dict[str, Any] = {
    "id": "dp_4rEw3qAs2dFg1hJk0lZx9cVb",
    "object": "dispute",
    "payment": "pay_9zYx8wVu7tSr6qPo5nMl4kJi",
    "order": "ord_3kPq0aVb7cXd9eYf1gZh2iWj",
    "amount": 13208,
    "currency": "EUR",
    "reason": "product_not_received",
    "status": "needs_response",
    "evidence": {
        "tracking_number": "1Z999AA10123456784",
        "uncategorized_text": "The parcel was handed to a neighbour on 2 October. "
        "We have asked the carrier for the signed proof of delivery.",
    },
    "evidence_status": "draft",
    "evidence_due_by": "2026-10-04T23:59:59Z",
    "evidence_submitted_at": None,
    "closed_at": None,
    "created": "2026-09-20T12:00:00Z",
    "livemode": False,
}
EVENT: dict[str, Any] = {
    "id": "evt_8uYt7rEw6qLk5jHg4fDs3aPo",
    "object": "event",
    "type": "refund.created",
    "created": "2026-10-01T10:59:40Z",
    "livemode": False,
    "api_version": "2026-09-01",
    "data": {"object": REFUND},
}
ENDPOINT: dict[str, Any] = {
    "id": "we_2wSx3eDc4rFv5tGb6yHn7uJm",
    "object": "webhook_endpoint",
    "url": "https://shop.example.com/webhooks/orders",
    "events": ["order.paid", "order.cancelled", "refund.succeeded"],
    "secret": "whsec_0123456789abcdef0123456789abcdef",
    "status": "enabled",
    "description": None,
    "api_version": "2026-09-01",
    "created": "2026-10-01T09:00:00Z",
    "livemode": False,
}
DELIVERY: dict[str, Any] = {
    "object": "kept_delivery",
    "id": "evt_8uYt7rEw6qLk5jHg4fDs3aPo",
    "type": "refund.created",
    "received_at": "2026-10-01T10:59:41.210Z",
    "state": "failed",
    "status": 500,
    "error": None,
    "attempts": 1,
    "copies": 0,
    "object_id": "rf_1qWe2rTy3uIo4pAs5dFg6hJk",
    "target": "http://localhost:3000/webhooks",
    "verified": True,
    "headers": {"Svc-Delivery-Id": "dlv_5tGb6yHn7uJm2wSx3eDc4rFv", "Svc-Delivery-Attempt": "1"},
    "payload": EVENT,
    "forwards": [
        {
            "url": "http://localhost:3000/webhooks",
            "status": 500,
            "milliseconds": 24.5,
            "attempt": 1,
            "replay": False,
            "started_at": "2026-10-01T10:59:41.214Z",
            "error": None,
            "reply": "oops",
        }
    ],
}
SENT: dict[str, Any] = {
    "id": "rq_2bd8s2v13dn22axa4x7p",
    "object": "request",
    "status": "unknown",
    "operation": "refunds.create",
    "created": "2026-10-01T10:58:00Z",
    "path": "/v1/refunds",
    "object_id": None,
    "error_code": None,
    "mode": "test",
    "profile": "default",
    "idempotency_key": "325ba563-52d1-4873-9257-d803baaa45c2",
    "method": "POST",
    "base_url": "https://api.example.com",
    "key_fingerprint": "sk_test_…WXYZ",
    "api_version": None,
    "body": {"payment": "pay_9zYx8wVu7tSr6qPo5nMl4kJi", "amount": 2500},
    "body_sha256": "a56e7667fbe3ff4550b6788bf192aa0a670460df489995d1c32460e716c36ee6",
    "sendings": 2,
    "last_sent": "2026-10-01T10:58:30Z",
    "resumable_until": "2026-10-02T09:58:00Z",
    "settled": None,
    "http_status": None,
    "request_id": None,
    "error_message": None,
    "batch": None,
    "row": None,
}
KINDS: dict[str, dict[str, Any]] = {
    "order": ORDER,
    "payment": PAYMENT,
    "refund": REFUND,
    "payout": PAYOUT,
    "quote": QUOTE,
    "dispute": DISPUTE,
    "event": EVENT,
    "endpoint": ENDPOINT,
    "method": METHOD,
    "delivery": DELIVERY,
    "sent": SENT,
}
# One of each kind that svc and the sandbox's controls make beside those, with every name filled.
OWN: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("own_objects.json").read_text(encoding="utf-8")
)


def sent(data: object) -> str:
    """Writes an object as the service sends it."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=float)


class StringOutput:
    """An Output on two strings, at a fixed time in a fixed zone."""

    def __init__(
        self, form: Format, width: int = 80, *, terminal: bool = False, **options: Any
    ) -> None:
        self.stdout = io.StringIO()
        self.stderr = TtyStream() if terminal else io.StringIO()
        options = {"color": False, "now": lambda: NOW, "tz": ZONE, **options}
        self.output = Output(
            format=form, stdout=self.stdout, stderr=self.stderr, width=width, **options
        )

    def one(self, data: object) -> str:
        """Prints one object and gives what is on stdout."""
        self.output.answer(sent(data), data)
        return self.out

    def page(self, *objects: object, next_command: str | None = None) -> str:
        """Prints a list object and gives what is on stdout."""
        page = {"object": "list", "data": list(objects), "has_more": next_command is not None}
        self.output.answer(sent(page), page, next_command=next_command)
        return self.out

    def stream(self, objects: Iterable[object]) -> str:
        """Prints every object of all pages and gives what is on stdout."""
        self.output.stream((sent(data), data) for data in objects)
        return self.out

    def value(self, data: object) -> str:
        """Prints a result of our own and gives what is on stdout."""
        self.output.value(data)
        return self.out

    @property
    def out(self) -> str:
        return self.stdout.getvalue()

    @property
    def err(self) -> str:
        return self.stderr.getvalue()
