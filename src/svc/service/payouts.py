"""The noun `payout`: money sent to a receiving bank (spec: Payout, Payouts).

As data: its fields, statuses and verbs. `svc payouts`, its options, columns and checks, and the
sandbox's payouts are built from it.
"""

from typing import Final

from svc.service.model import (
    AMOUNT,
    COUNTRY,
    CREATED,
    CURRENCY,
    GIVEN_CURRENCY,
    LAST4,
    LIVEMODE,
    METADATA,
    RATE,
    TEXT,
    TIMESTAMP,
    Action,
    Field,
    Implied,
    Resource,
    amount,
    build_id_field,
    build_shape,
    choice,
    collection,
    group,
    status,
    text,
)

FAILURE_REASONS: Final = tuple(
    (
        "no_account account_closed account_frozen could_not_process invalid_currency "
        "incorrect_account_holder_name"
    ).split()
)

DESTINATION: Final = group(
    Field(
        "country",
        COUNTRY,
        "The country of the receiving bank, such as DE.",
        "--country CODE",
        required=True,
        example="DE",
        label="Country",
    ),
    Field(
        "account_holder_name",
        text(140),
        "The name of the person or company that is paid.",
        "--account-holder-name TEXT",
        required=True,
        example="Muster GmbH",
        label="Holder",
        lifted="To",
        column=(50, 3),
    ),
    Field(
        "iban",
        text(64),
        "The account's IBAN; where there is none, --account-number.",
        "--iban IBAN",
        example="DE89370400440532013000",
        answered="never",
    ),
    Field(
        "account_number",
        build_shape("[0-9]{4,17}", "4 to 17 digits"),
        "The account's number; --bank-code goes with it.",
        "--account-number DIGITS",
        example="12345678",
        answered="never",
    ),
    Field(
        "bank_code",
        build_shape("[0-9A-Za-z]{3,12}", "3 to 12 letters or digits"),
        "The bank's routing or sort code.",
        "--bank-code CODE",
        example="110000",
        answered="never",
    ),
    Field("bic", text(40), "The bank's BIC.", "--bic BIC", answered="never"),
    Field(
        "bank_name", text(140), "The bank's name.", "--bank-name TEXT", nullable=True, label="Bank"
    ),
    Field("last4", LAST4, made=True, label="Account ends"),
    one_of=(("iban",), ("account_number", "bank_code")),
)

RESOURCE: Final = Resource(
    "payout",
    "Payout",
    "Payouts",
    path=collection("payouts"),
    final=("paid", "failed"),
    failures=("failed",),
    fields=(
        build_id_field("payout"),
        status("created", "sent", "paid", "failed"),
        AMOUNT._replace(given="create", required=True, example=10000, column=(20, 0)),
        GIVEN_CURRENCY,
        Field(
            "source_currency",
            CURRENCY,
            "The balance to debit, by its currency.",
            "--source-currency CODE",
            "create",
            clearable=False,
            example="USD",
            proof="equal",
            csv="source_amount",
        ),
        Field(
            "source_amount", amount(1, "source_currency"), label="Debited", column=(40, 2), card=20
        ),
        Field("fx_rate", RATE, label="FX rate", card=40),
        Field("network_fees", amount(1, "source_currency"), label="Network fees", card=30),
        Field(
            "destination",
            DESTINATION,
            given="create",
            required=True,
            proof="same",
            label="Destination",
        ),
        Field(
            "reference",
            text(35),
            "A text that the receiver is shown.",
            "--reference TEXT",
            "create",
            example="INV-7",
            nullable=True,
            label="Reference",
            column=(60, 4),
            card=50,
        ),
        Field("failure_reason", choice(*FAILURE_REASONS), nullable=True, label="Failure", card=60),
        Field("failure_message", TEXT, nullable=True, label="Message", card=70, csv="-"),
        Field("estimated_arrival", TIMESTAMP, label="Arrives", column=(70, 5), card=120),
        Field("sent_at", TIMESTAMP, nullable=True, label="Sent", card=110),
        Field("paid_at", TIMESTAMP, nullable=True, label="Paid", card=130),
        Field("failed_at", TIMESTAMP, nullable=True, label="Failed", card=140),
        METADATA._replace(given="create"),
        CREATED,
        LIVEMODE,
    ),
    implies=(
        Implied("payout.created", at="created"),
        Implied("payout.sent", at="sent_at"),
        Implied("payout.paid", at="paid_at"),
        Implied("payout.failed", at="failed_at"),
    ),
    actions=(
        Action(
            "create",
            "Send a payout.",
            "--amount 10000 --currency EUR --source-currency USD --country DE "
            "--account-holder-name 'Muster GmbH' --iban DE89370400440532013000 --reference INV-7",
            money="send a payout",
            limit="payouts",
            fails=(("status", ("failed",)),),
            settles=True,
            many=True,
            rows="send {} payouts",
            total="amount",
            twice=True,
            refuses=(
                "parameters_exclusive",
                "parameter_missing",
                "iban_invalid",
                "balance_insufficient",
            ),
        ),
        Action("retrieve", "Retrieve a payout.", "po_1gZh2iWj3kPq0aVb7cXd9eYf"),
        Action("list", "List payouts, newest first.", "--status failed"),
    ),
)
