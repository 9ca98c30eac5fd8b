"""The noun `refund`: all or part of a payment, given back (spec: Refund, Refunds).

As data: its fields, statuses and verbs. `svc refunds`, its options, columns and checks, and the
sandbox's refunds are built from it.
"""

from typing import Final

from svc.service.model import (
    AMOUNT,
    CREATED,
    CURRENCY,
    LIVEMODE,
    METADATA,
    Action,
    Field,
    Implied,
    Resource,
    build_id_field,
    choice,
    collection,
    identifier,
    status,
)

FAILURE_REASONS: Final = tuple(
    "lost_or_stolen_card expired_or_canceled_card insufficient_funds declined unknown".split()
)

RESOURCE: Final = Resource(
    "refund",
    "Refund",
    "Refunds",
    path=collection("refunds"),
    final=("succeeded", "failed"),
    failures=("failed",),
    fields=(
        build_id_field("refund"),
        Field(
            "payment",
            identifier("payment"),
            "The payment, pay_...",
            "--payment ID",
            "create list",
            required=True,
            example="pay_7cXd9eYf1gZh2iWj3kPq0aVb",
            proof="same",
            label="Payment",
            column=(40, 2),
            card=20,
        ),
        Field("order", identifier("order"), label="Order", column=(60, 4), card=30),
        AMOUNT._replace(given="create", column=(20, 0)),
        Field("currency", CURRENCY, proof="equal"),
        Field(
            "reason",
            choice("duplicate", "fraudulent", "requested_by_customer"),
            "One of {words}.",
            "--reason REASON",
            "create",
            nullable=True,
            label="Reason",
            column=(50, 3),
            card=40,
        ),
        status("pending", "succeeded", "failed"),
        Field("failure_reason", choice(*FAILURE_REASONS), nullable=True, label="Failure", card=50),
        METADATA._replace(given="create"),
        CREATED,
        LIVEMODE,
    ),
    implies=(
        Implied("refund.created", at="created"),
        Implied("refund.succeeded", status="succeeded"),
        Implied("refund.failed", status="failed"),
    ),
    actions=(
        Action(
            "create",
            "Refund a payment; without --amount all that is left.",
            "--payment pay_7cXd9eYf1gZh2iWj3kPq0aVb --amount 4999",
            money="refund payment {payment}",
            money_of="payment",
            limit="refunds",
            whole=True,
            fails=(("status", ("failed",)),),
            settles=True,
            many=True,
            rows="make {} refunds",
            total="amount",
            twice=True,
            refuses=(
                "payment_not_refundable",
                "payment_already_refunded",
                "payment_disputed",
                "balance_insufficient",
                "amount_too_large",
            ),
        ),
        Action("retrieve", "Retrieve a refund.", "rf_9eYf1gZh2iWj3kPq0aVb7cXd"),
        # A sentence of the specification names this list, no table does.
        Action("list", "List refunds, newest first.", "--status pending", assumed=True),
    ),
)
