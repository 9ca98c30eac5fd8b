"""The noun `payment`: one object for each attempt to pay an order (spec: Payment, Payments).

As data: its fields, statuses and verbs, which only read. `svc payments`, its columns and checks,
and the sandbox's payments are built from it.
"""

from typing import Final

from svc.service.model import (
    BOOLEAN,
    CREATED,
    CURRENCY,
    LAST4,
    LIVEMODE,
    RATE,
    TEXT,
    TIMESTAMP,
    Action,
    Field,
    Implied,
    Resource,
    amount,
    build_id_field,
    choice,
    collection,
    embed,
    group,
    identifier,
    status,
)

BRANDS: Final = ("visa", "mastercard", "amex", "jcb", "unionpay", "discover", "diners")

RESOURCE: Final = Resource(
    "payment",
    "Payment",
    "Payments",
    path=collection("payments"),
    final=("captured", "failed", "cancelled"),
    failures=("failed",),
    money=("amount_captured", "amount_refunded"),
    fields=(
        build_id_field("payment"),
        Field("order", identifier("order"), given="list", label="Order", column=(40, 3), card=60),
        status("processing", "authorized", "captured", "failed", "cancelled"),
        Field("amount", amount(), label="Amount", column=(20, 0), card=10),
        Field("amount_captured", amount(0), label="Captured", column=(50, 3), card=20),
        Field("amount_released", amount(0), label="Released", card=30),
        Field(
            "amount_refunded",
            amount(0),
            label="Refunded",
            column=(60, 3),
            card=40,
            part_of="amount_captured",
        ),
        Field("currency", CURRENCY),
        Field("method", TEXT, label="Method", column=(25, 2), card=70),
        Field(
            "card",
            group(Field("brand", choice(*BRANDS)), Field("last4", LAST4)),
            nullable=True,
            label="Card",
            card=75,
            shown="card",
        ),
        Field(
            "payment_method",
            embed("payment_method"),
            nullable=True,
            label="Saved payment method",
            shown="object",
            csv="-",
        ),
        Field("retried", BOOLEAN, default=False, label="Smart retry", card=90),
        Field("acquirer", TEXT, nullable=True, label="Acquirer", card=93),
        Field("failure_code", TEXT, nullable=True, label="Failure", column=(70, 4), card=80),
        Field("failure_message", TEXT, nullable=True, label="Message", card=83, csv="-"),
        Field("decline_type", choice("soft", "hard"), nullable=True, label="Decline", card=86),
        Field("disputed", BOOLEAN, default=False, label="Disputed", card=96),
        Field("settlement_currency", CURRENCY, nullable=True, csv="settlement_amount"),
        Field(
            "settlement_amount",
            amount(0, "settlement_currency"),
            nullable=True,
            label="Settlement",
            card=50,
        ),
        Field("fx_rate", RATE, nullable=True, label="FX rate", card=55),
        Field(
            "fee", amount(0, "settlement_currency"), nullable=True, label="Fee", card=57, csv="-"
        ),
        Field(
            "authorization_expires_at",
            TIMESTAMP,
            nullable=True,
            label="Hold ends",
            card=120,
            shown="deadline",
            during="authorized",
            csv="-",
        ),
        Field("captured_at", TIMESTAMP, nullable=True, label="Captured at", card=110),
        CREATED,
        LIVEMODE,
    ),
    implies=(
        # A payment that was processing and is settled shows no trace of it.
        Implied("payment.processing", at="created", status="processing"),
        Implied("payment.authorized", at="created", given="authorization_expires_at"),
        Implied("payment.captured", at="captured_at"),
        Implied("payment.failed", status="failed"),
        Implied("payment.cancelled", status="cancelled"),
    ),
    actions=(
        Action("retrieve", "Retrieve a payment.", "pay_7cXd9eYf1gZh2iWj3kPq0aVb"),
        Action("list", "List payments, newest first.", "--status failed --limit 10"),
    ),
)
