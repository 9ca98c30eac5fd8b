"""Answers about money: payments, refunds, payouts and disputes (assumptions: Payment, Dispute)."""

from typing import Final

from svc.sandbox.parameters.schema import (
    AMOUNT,
    BOOLEAN,
    COUNTRY,
    CURRENCY,
    LAST4,
    METADATA,
    RATE,
    TEXT,
    TIMESTAMP,
    identifier,
    integer,
    nullable,
    ref,
    resource,
    strict,
    words,
)
from svc.sandbox.resources import payouts, refunds
from svc.spec import (
    DISPUTE_REASONS,
    DISPUTE_STATUSES,
    EVIDENCE_KEYS,
    ID_PREFIXES,
    PAYMENT_STATUSES,
    PAYOUT_STATUSES,
    REFUND_REASONS,
    REFUND_STATUSES,
)

_NETWORK_TOKENS: Final = ("active", "suspended", "unavailable")
_BRANDS: Final = ("visa", "mastercard", "amex", "jcb", "unionpay", "discover", "diners")

PAYMENT_METHOD: Final = resource(
    "payment_method",
    {
        "type": {"const": "card"},
        "card": strict(
            {
                "brand": words(_BRANDS),
                "last4": LAST4,
                "network_token": words(_NETWORK_TOKENS),
                "exp_month": integer(1, 12),
                "exp_year": integer(2000, 9999),
            }
        ),
    },
)
PAYMENT: Final = resource(
    "payment",
    {
        "order": identifier(ID_PREFIXES["order"]),
        "status": words(PAYMENT_STATUSES),
        "amount": integer(1, 10**14),
        "amount_captured": AMOUNT,
        "amount_released": AMOUNT,
        "amount_refunded": AMOUNT,
        "currency": CURRENCY,
        "method": TEXT,
        "card": nullable(strict({"brand": words(_BRANDS), "last4": LAST4})),
        "payment_method": nullable(ref("PaymentMethod")),
        "retried": BOOLEAN,
        "acquirer": nullable(TEXT),
        "failure_code": nullable(TEXT),
        "failure_message": nullable(TEXT),
        "decline_type": nullable(words(("soft", "hard"))),
        "disputed": BOOLEAN,
        "settlement_currency": nullable(CURRENCY),
        "settlement_amount": nullable(AMOUNT),
        "fx_rate": nullable(RATE),
        "authorization_expires_at": nullable(TIMESTAMP),
        "captured_at": nullable(TIMESTAMP),
    },
)
REFUND: Final = resource(
    "refund",
    {
        "payment": identifier(ID_PREFIXES["payment"]),
        "order": identifier(ID_PREFIXES["order"]),
        "amount": integer(1, 10**14),
        "currency": CURRENCY,
        "reason": nullable(words(REFUND_REASONS)),
        "status": words(REFUND_STATUSES),
        "failure_reason": nullable(words(refunds.FAILURE_REASONS)),
        "metadata": METADATA,
    },
)
PAYOUT: Final = resource(
    "payout",
    {
        "status": words(PAYOUT_STATUSES),
        "amount": integer(1),
        "currency": CURRENCY,
        "source_currency": CURRENCY,
        "source_amount": integer(1, 10**18),
        "fx_rate": RATE,
        "network_fees": integer(1, 10**18),
        "destination": strict(
            {
                "country": COUNTRY,
                "account_holder_name": TEXT,
                "bank_name": nullable(TEXT),
                "last4": LAST4,
            }
        ),
        "reference": nullable(TEXT),
        "failure_reason": nullable(words(payouts.FAILURE_MESSAGES)),
        "failure_message": nullable(TEXT),
        "estimated_arrival": TIMESTAMP,
        "sent_at": nullable(TIMESTAMP),
        "paid_at": nullable(TIMESTAMP),
        "failed_at": nullable(TIMESTAMP),
        "metadata": METADATA,
    },
)
DISPUTE: Final = resource(
    "dispute",
    {
        "payment": identifier(ID_PREFIXES["payment"]),
        "order": identifier(ID_PREFIXES["order"]),
        "amount": integer(1, 10**14),
        "currency": CURRENCY,
        "reason": words(DISPUTE_REASONS),
        "status": words(DISPUTE_STATUSES),
        "evidence": strict(dict.fromkeys(EVIDENCE_KEYS, TEXT), optional=EVIDENCE_KEYS),
        "evidence_status": words(("none", "draft", "submitted")),
        "evidence_due_by": TIMESTAMP,
        "evidence_submitted_at": nullable(TIMESTAMP),
        "closed_at": nullable(TIMESTAMP),
    },
)
