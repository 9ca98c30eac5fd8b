"""The noun `dispute`: a merchant answers with evidence, the bank decides (spec: Dispute, Disputes).

As data: its fields, statuses and verbs. `svc disputes`, its options, columns and checks, and the
sandbox's disputes are built from it.
"""

from typing import Final

from svc.service.model import (
    BOOLEAN,
    CREATED,
    CURRENCY,
    LIVEMODE,
    TIMESTAMP,
    Action,
    Field,
    Implied,
    Resource,
    amount,
    build_id_field,
    choice,
    collection,
    group,
    identifier,
    status,
    text,
)

REASONS: Final = tuple(
    (
        "fraudulent product_not_received product_unacceptable duplicate credit_not_processed "
        "subscription_canceled unrecognized general"
    ).split()
)
_KEY: Final = text(20_000)
EVIDENCE: Final = group(
    Field(
        "tracking_number",
        _KEY,
        "The number by which the parcel is followed.",
        "--tracking-number TEXT",
        answered="given",
    ),
    Field("shipping_carrier", _KEY, "Who carried it.", "--shipping-carrier TEXT", answered="given"),
    # Beyond the two that the specification shows.
    *(
        Field(name, _KEY, answered="given")
        for name in (
            "shipping_date shipping_address shipping_documentation customer_name customer_email "
            "customer_purchase_ip customer_communication billing_address product_description "
            "receipt refund_policy refund_refusal_explanation cancellation_policy "
            "cancellation_rebuttal service_date access_activity_log duplicate_payment_id "
            "duplicate_explanation uncategorized_text"
        ).split()
    ),
    merged=True,
)

RESOURCE: Final = Resource(
    "dispute",
    "Dispute",
    "Disputes",
    path=collection("disputes"),
    final=("won", "lost"),
    fields=(
        build_id_field("dispute"),
        Field(
            "payment",
            identifier("payment"),
            given="list",
            label="Payment",
            column=(60, 4),
            card=30,
            csv="reason",
        ),
        Field("order", identifier("order"), label="Order", card=40, csv="payment"),
        Field("amount", amount(), label="Amount", column=(20, 0), card=10),
        Field("currency", CURRENCY),
        Field("reason", choice(*REASONS), label="Reason", column=(40, 2), card=20),
        status("needs_response", "under_review", "won", "lost"),
        Field(
            "evidence",
            EVIDENCE,
            "Other evidence, repeatable. KEY is the name of an entry, such as receipt; KEY=@FILE "
            "takes the text of a file.",
            "--evidence KEY=TEXT",
            "update",
            label="Evidence",
        ),
        Field(
            "evidence_status",
            choice("none", "draft", "submitted"),
            label="Evidence",
            column=(50, 3),
            card=50,
            shown="status",
        ),
        Field(
            "evidence_due_by",
            TIMESTAMP,
            label="Due by",
            column=(30, 1),
            card=60,
            shown="deadline",
            due_while="needs_response",
        ),
        Field("evidence_submitted_at", TIMESTAMP, nullable=True, label="Submitted", card=70),
        Field("closed_at", TIMESTAMP, nullable=True, label="Closed", card=80),
        CREATED._replace(column=None),
        LIVEMODE,
        Field(
            "submit",
            BOOLEAN,
            "Submit it; without this it stays a draft.",
            "--submit",
            "update",
            answered="never",
        ),
    ),
    implies=(
        Implied("dispute.opened", at="created"),
        Implied("dispute.evidence_submitted", at="evidence_submitted_at"),
        Implied("dispute.won", at="closed_at", status="won"),
        Implied("dispute.lost", at="closed_at", status="lost"),
    ),
    actions=(
        Action(
            "update",
            "Attach evidence as a draft, or submit it, which is final.",
            "dp_Zh2iWj3kPq0aVb7cXd9eYf1g --tracking-number 1Z999 --shipping-carrier UPS --submit",
            encoding="form",
            money="submit the evidence of dispute {dispute}",
            money_of="dispute",
            fails=(("status", ("needs_response",)), ("evidence_status", ("none", "draft"))),
            only_with="submit",
            many=True,
            rows="answer {} disputes",
            refuses=("dispute_unexpected_state", "evidence_missing"),
        ),
        Action("retrieve", "Retrieve a dispute.", "dp_Zh2iWj3kPq0aVb7cXd9eYf1g", assumed=True),
        Action("list", "List disputes, newest first.", "--status needs_response", assumed=True),
        Action(
            "accept",
            "Accept a dispute as lost. This cannot be undone.",
            "dp_Zh2iWj3kPq0aVb7cXd9eYf1g",
            step="/accept",
            encoding="form",
            money="accept dispute {dispute} as lost",
            money_of="dispute",
            limit="disputes",
            refuses=("dispute_unexpected_state",),
            assumed=True,
        ),
    ),
)
