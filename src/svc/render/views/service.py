"""What people see of each kind of object, as data: a title, columns of lists, fields of a block.

The fields are those of `svc help assumptions`. A field that is not here is still shown: after the
others, under the service's own name for it, for what the specification does not show is normal.
"""

from typing import Final

from svc.render.views.model import Field, Part, View

_ID: Final = Field("id", "ID", "id")
_STATUS: Final = Field("status", "Status", "status")
_AMOUNT: Final = Field("amount", "Amount", "money")
_CREATED: Final = Field("created", "Created", "time", rank=1)
_DUTY: Final = Field("duty", "Duty", "money", rank=3)
_VAT: Final = Field("vat", "VAT", "money", rank=3)
_METADATA: Final = Part("metadata", "Metadata")
_ITEM: Final = (
    Field("name", "Name"),
    Field("quantity", "Qty", "number"),
    Field("unit_amount", "Unit", "money"),
    Field("hs_code", "HS code", rank=1),
    Field("origin_country", "From", rank=2),
)
_WARNING: Final = (
    Field("code", "Code", "status"),
    Field("item", "Item"),
    Field("message", "Message", rank=1),
)

ORDER: Final = View(
    title="Order",
    columns=(
        _ID,
        _STATUS,
        Field("amount_total", "Total", "money", instead="amount"),
        Field("shipping.country", "To", rank=2),
        _CREATED,
        Field("latest_payment", "Latest payment", "id", rank=4),
        Field("amount_captured", "Captured", "money", rank=3),
        Field("amount_refunded", "Refunded", "money", rank=3),
        Field("settlement_currency", "Settles in", rank=6),
        Field("capture_method", "Capture", rank=5),
    ),
    fields=(
        _AMOUNT,
        Field("landed_cost.total", "Landed cost", "money", currency="landed_cost.currency"),
        Field("amount_total", "Total", "money"),
        Field("amount_captured", "Captured", "money"),
        Field("amount_refunded", "Refunded", "money"),
        Field("settlement_currency", "Settles in"),
        Field("capture_method", "Capture"),
        Field("methods", "Methods", "list"),
        Field("shipping", "Ship to", "address"),
        Field("latest_payment", "Latest payment", "id"),
        _CREATED,
        Field("paid_at", "Paid", "time"),
        Field("cancelled_at", "Cancelled", "time"),
        Field("cancellation_reason", "Reason"),
        Field("client_secret", "Client secret", "id"),
    ),
    parts=(
        Part("items", "Items", columns=_ITEM),
        Part(
            "landed_cost",
            "Landed cost",
            fields=(
                _DUTY,
                _VAT,
                Field("fees", "Fees", "money"),
                Field("guaranteed", "Guaranteed", "flag"),
                Field("quote", "Quote", "id"),
            ),
        ),
        _METADATA,
    ),
)

PAYMENT: Final = View(
    title="Payment",
    columns=(
        _ID,
        _STATUS,
        _AMOUNT,
        Field("method", "Method", rank=2),
        _CREATED,
        Field("order", "Order", "id", rank=3),
        Field("amount_captured", "Captured", "money", rank=3),
        Field("amount_refunded", "Refunded", "money", rank=3),
        Field("failure_code", "Failure", rank=4),
    ),
    fields=(
        _AMOUNT,
        Field("amount_captured", "Captured", "money"),
        Field("amount_released", "Released", "money"),
        Field("amount_refunded", "Refunded", "money"),
        Field("settlement_amount", "Settlement", "money", currency="settlement_currency"),
        Field("fx_rate", "FX rate"),
        Field("order", "Order", "id"),
        Field("method", "Method"),
        Field("card", "Card", "card"),
        Field("failure_code", "Failure"),
        Field("failure_message", "Message"),
        Field("decline_type", "Decline"),
        Field("retried", "Smart retry", "flag"),
        Field("acquirer", "Acquirer"),
        Field("disputed", "Disputed", "flag"),
        _CREATED,
        Field("captured_at", "Captured at", "time"),
        Field("authorization_expires_at", "Hold ends", "deadline", during="authorized"),
    ),
    parts=(Part("payment_method", "Saved payment method", nested=True), _METADATA),
)

REFUND: Final = View(
    title="Refund",
    columns=(
        _ID,
        _STATUS,
        _AMOUNT,
        _CREATED,
        Field("payment", "Payment", "id", rank=2),
        Field("reason", "Reason", rank=3),
        Field("order", "Order", "id", rank=4),
    ),
    fields=(
        _AMOUNT,
        Field("payment", "Payment", "id"),
        Field("order", "Order", "id"),
        Field("reason", "Reason"),
        Field("failure_reason", "Failure"),
        _CREATED,
    ),
    parts=(_METADATA,),
)

PAYOUT: Final = View(
    title="Payout",
    columns=(
        _ID,
        _STATUS,
        _AMOUNT,
        _CREATED,
        Field("source_amount", "Debited", "money", rank=2, currency="source_currency"),
        Field("destination.account_holder_name", "To", rank=3),
        Field("reference", "Reference", rank=4),
        Field("estimated_arrival", "Arrives", "time", rank=5),
    ),
    fields=(
        _AMOUNT,
        Field("source_amount", "Debited", "money", currency="source_currency"),
        Field("network_fees", "Network fees", "money", currency="source_currency"),
        Field("fx_rate", "FX rate"),
        Field("reference", "Reference"),
        Field("failure_reason", "Failure"),
        Field("failure_message", "Message"),
        _CREATED,
        Field("sent_at", "Sent", "time"),
        Field("estimated_arrival", "Arrives", "time"),
        Field("paid_at", "Paid", "time"),
        Field("failed_at", "Failed", "time"),
    ),
    parts=(
        Part(
            "destination",
            "Destination",
            fields=(
                Field("account_holder_name", "Holder"),
                Field("bank_name", "Bank"),
                Field("last4", "Account ends"),
                Field("country", "Country"),
            ),
        ),
        _METADATA,
    ),
)

QUOTE: Final = View(
    title="Landed-cost quote",
    status=Field("guaranteed", "Guaranteed", "guarantee"),
    columns=(
        _ID,
        Field("guaranteed", "Guaranteed", "guarantee"),
        Field("total", "Total", "money"),
        Field("shipping.country", "To", rank=2),
        Field("expires_at", "Expires", "deadline", rank=1),
        _DUTY,
        _VAT,
    ),
    fields=(
        _DUTY,
        _VAT,
        Field("fees", "Fees", "money"),
        Field("total", "Total", "money"),
        Field("shipping_amount", "Freight", "money"),
        Field("ship_from_country", "Ship from"),
        Field("shipping", "Ship to", "address"),
        _CREATED,
        Field("expires_at", "Expires", "deadline"),
    ),
    parts=(
        Part("warnings", "Warnings", columns=_WARNING),
        Part(
            "items",
            "Items",
            columns=(*_ITEM, _DUTY, _VAT, Field("duty_rate_bps", "Rate", "duty_rate", rank=4)),
        ),
    ),
)

DISPUTE: Final = View(
    title="Dispute",
    columns=(
        _ID,
        _STATUS,
        _AMOUNT,
        Field("evidence_due_by", "Due by", "deadline", rank=1),
        Field("reason", "Reason", rank=2),
        Field("evidence_status", "Evidence", "status", rank=3),
        Field("payment", "Payment", "id", rank=4),
    ),
    fields=(
        _AMOUNT,
        Field("reason", "Reason"),
        Field("payment", "Payment", "id"),
        Field("order", "Order", "id"),
        Field("evidence_status", "Evidence", "status"),
        Field("evidence_due_by", "Due by", "deadline"),
        Field("evidence_submitted_at", "Submitted", "time"),
        Field("closed_at", "Closed", "time"),
        _CREATED,
    ),
    parts=(Part("evidence", "Evidence"),),
)

EVENT: Final = View(
    title="Event",
    status=Field("type", "Type", "status"),
    columns=(
        _ID,
        Field("type", "Type", "status"),
        _CREATED,
        Field("data.object.id", "Object", "id", rank=2),
        Field("data.object.amount", "Amount", "money", rank=3, currency="data.object.currency"),
    ),
    fields=(_CREATED, Field("api_version", "API version")),
    parts=(Part("data.object", "Object", nested=True),),
)

WEBHOOK_ENDPOINT: Final = View(
    title="Webhook endpoint",
    columns=(
        _ID,
        _STATUS,
        Field("url", "URL", "id"),
        Field("events", "Events", "list", rank=2),
        _CREATED,
    ),
    fields=(
        Field("url", "URL", "id"),
        Field("description", "Description"),
        Field("events", "Events", "list"),
        Field("api_version", "API version"),
        _CREATED,
        Field("secret", "Signing secret", "id"),
    ),
)

PAYMENT_METHOD: Final = View(
    title="Saved payment method",
    columns=(
        _ID,
        Field("card.brand", "Brand"),
        Field("card.last4", "Ends"),
        Field("card.network_token", "Token", "status", rank=1),
    ),
    fields=(
        Field("type", "Type"),
        Field("card.brand", "Brand"),
        Field("card.last4", "Card ends"),
        Field("card.exp_month", "Expiry month"),
        Field("card.exp_year", "Expiry year"),
        Field("card.network_token", "Network token", "status"),
        _CREATED,
    ),
)

VIEWS: Final = {
    "order": ORDER,
    "payment": PAYMENT,
    "refund": REFUND,
    "payout": PAYOUT,
    "landed_cost_quote": QUOTE,
    "dispute": DISPUTE,
    "event": EVENT,
    "webhook_endpoint": WEBHOOK_ENDPOINT,
    "payment_method": PAYMENT_METHOD,
}
