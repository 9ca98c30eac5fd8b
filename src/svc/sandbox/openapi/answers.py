"""What answers look like, one strict schema an object: a field more or less is a mistake."""

from collections.abc import Mapping
from typing import Final

from svc.sandbox.parameters.schema import BOOLEAN, TEXT, Schema, ref, strict
from svc.sandbox.resources import (
    disputes,
    events,
    orders,
    payments,
    payouts,
    quotes,
    refunds,
    shopper,
    webhook_endpoints,
)
from svc.spec import LIMIT_MAX


def _list(name: str) -> Schema:
    return strict(
        {
            "object": {"const": "list"},
            "data": {"type": "array", "items": ref(name), "maxItems": LIMIT_MAX},
            "has_more": BOOLEAN,
        }
    )


_LISTED: Final = ("Order", "Payment", "Refund", "Payout", "Dispute")

OBJECTS: Final[Mapping[str, Schema]] = {
    "Order": strict(orders.ANSWER),
    "NewOrder": strict({**orders.ANSWER, "client_secret": TEXT}),
    "Payment": strict(payments.ANSWER),
    "PaymentMethod": strict(shopper.ANSWER),
    "Refund": strict(refunds.ANSWER),
    "Payout": strict(payouts.ANSWER),
    "LandedCostQuote": strict(quotes.ANSWER),
    "Dispute": strict(disputes.ANSWER),
    "NewWebhookEndpoint": strict(webhook_endpoints.ANSWER),
    "Event": events.ANSWER,
    **{f"{name}List": _list(name) for name in _LISTED},
}
