"""What people see of each kind of object, as data: a title, columns of lists, fields of a block.

The fields are those of `svc help assumptions`. A field that is not here is still shown: after the
others, under the service's own name for it, for what the specification does not show is normal.
"""

from typing import Final

from svc.render.views.model import Field, Part, view

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

ORDER: Final = view(
    "Order",
    "id status amount_total shipping.country:2 created:1 latest_payment:4 amount_captured:3 "
    "amount_refunded:3 settlement_currency:6 capture_method:5",
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
    also=(
        Field("amount_total", "Total", "money", instead="amount"),
        Field("shipping.country", "To"),
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

PAYMENT: Final = view(
    "Payment",
    "id status amount method:2 created:1 order:3 amount_captured:3 amount_refunded:3 "
    "failure_code:4",
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
    parts=(Part("payment_method", "Saved payment method", nested=True), _METADATA),
)

REFUND: Final = view(
    "Refund",
    "id status amount created:1 payment:2 reason:3 order:4",
    _AMOUNT,
    Field("payment", "Payment", "id"),
    Field("order", "Order", "id"),
    Field("reason", "Reason"),
    Field("failure_reason", "Failure"),
    _CREATED,
    parts=(_METADATA,),
)

PAYOUT: Final = view(
    "Payout",
    "id status amount created:1 source_amount:2 destination.account_holder_name:3 reference:4 "
    "estimated_arrival:5",
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
    also=(Field("destination.account_holder_name", "To"),),
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

QUOTE: Final = view(
    "Landed-cost quote",
    "id guaranteed total shipping.country:2 expires_at:1 duty:3 vat:3",
    _DUTY,
    _VAT,
    Field("fees", "Fees", "money"),
    Field("total", "Total", "money"),
    Field("shipping_amount", "Freight", "money"),
    Field("ship_from_country", "Ship from"),
    Field("shipping", "Ship to", "address"),
    _CREATED,
    Field("expires_at", "Expires", "deadline"),
    also=(
        Field("guaranteed", "Guaranteed", "guarantee"),
        Field("shipping.country", "To"),
    ),
    status=Field("guaranteed", "Guaranteed", "guarantee"),
    parts=(
        Part("warnings", "Warnings", columns=_WARNING),
        Part(
            "items",
            "Items",
            columns=(*_ITEM, _DUTY, _VAT, Field("duty_rate_bps", "Rate", "duty_rate", rank=4)),
        ),
    ),
)

DISPUTE: Final = view(
    "Dispute",
    "id status amount evidence_due_by:1 reason:2 evidence_status:3 payment:4",
    _AMOUNT,
    Field("reason", "Reason"),
    Field("payment", "Payment", "id"),
    Field("order", "Order", "id"),
    Field("evidence_status", "Evidence", "status"),
    Field("evidence_due_by", "Due by", "deadline"),
    Field("evidence_submitted_at", "Submitted", "time"),
    Field("closed_at", "Closed", "time"),
    _CREATED,
    parts=(Part("evidence", "Evidence"),),
)

EVENT: Final = view(
    "Event",
    "id type created:1 data.object.id:2 data.object.amount:3",
    _CREATED,
    Field("api_version", "API version"),
    also=(
        Field("type", "Type", "status"),
        Field("data.object.id", "Object", "id"),
        Field("data.object.amount", "Amount", "money", currency="data.object.currency"),
    ),
    status=Field("type", "Type", "status"),
    parts=(Part("data.object", "Object", nested=True),),
)

WEBHOOK_ENDPOINT: Final = view(
    "Webhook endpoint",
    "id status url events:2 created:1",
    Field("url", "URL", "id"),
    Field("description", "Description"),
    Field("events", "Events", "list"),
    Field("api_version", "API version"),
    _CREATED,
    Field("secret", "Signing secret", "id"),
)

PAYMENT_METHOD: Final = view(
    "Saved payment method",
    "id card.brand card.last4 card.network_token:1",
    Field("type", "Type"),
    Field("card.brand", "Brand"),
    Field("card.last4", "Card ends"),
    Field("card.exp_month", "Expiry month"),
    Field("card.exp_year", "Expiry year"),
    Field("card.network_token", "Network token", "status"),
    _CREATED,
    also=(
        Field("card.last4", "Ends"),
        Field("card.network_token", "Token", "status"),
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
