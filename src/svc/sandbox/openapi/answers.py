"""What answers look like, one strict schema an object: a field more or less is a mistake."""

from collections.abc import Mapping
from typing import Final

from svc.sandbox.openapi.goods_answers import ORDER, QUOTE
from svc.sandbox.openapi.money_answers import DISPUTE, PAYMENT, PAYMENT_METHOD, PAYOUT, REFUND
from svc.sandbox.parameters.schema import (
    BOOLEAN,
    TEXT,
    Schema,
    nullable,
    ref,
    resource,
    strict,
    words,
)
from svc.spec import (
    EVENT_TYPES,
    LIMIT_MAX,
    SECRET_PREFIX,
    VERSIONS,
)

_ENDPOINT: Final = resource(
    "webhook_endpoint",
    {
        "url": TEXT,
        "events": {
            "type": "array",
            "items": words(EVENT_TYPES),
            "minItems": 1,
            "uniqueItems": True,
        },
        "secret": {"type": "string", "pattern": f"^{SECRET_PREFIX}[0-9A-Za-z]{{32}}$"},
        "status": words(("enabled", "disabled")),
        "description": nullable(TEXT),
        "api_version": words(VERSIONS),
    },
)


def _event(noun: str) -> Schema:
    """The events of one resource, each with that resource as it was."""
    types = [name for name in EVENT_TYPES if name.startswith(noun + ".")]
    fields = {
        "type": words(types),
        "api_version": words(VERSIONS),
        "data": strict({"object": ref(noun.capitalize())}),
    }
    return strict(resource("event", fields))


def _list(name: str) -> Schema:
    return strict(
        {
            "object": {"const": "list"},
            "data": {"type": "array", "items": ref(name), "maxItems": LIMIT_MAX},
            "has_more": BOOLEAN,
        }
    )


_EVENT_NOUNS: Final = tuple(dict.fromkeys(name.partition(".")[0] for name in EVENT_TYPES))
_LISTED: Final = ("Order", "Payment", "Refund", "Payout", "Dispute")

OBJECTS: Final[Mapping[str, Schema]] = {
    "Order": strict(ORDER),
    "NewOrder": strict({**ORDER, "client_secret": TEXT}),
    "Payment": strict(PAYMENT),
    "PaymentMethod": strict(PAYMENT_METHOD),
    "Refund": strict(REFUND),
    "Payout": strict(PAYOUT),
    "LandedCostQuote": strict(QUOTE),
    "Dispute": strict(DISPUTE),
    "NewWebhookEndpoint": strict(_ENDPOINT),
    "Event": {"oneOf": [_event(noun) for noun in _EVENT_NOUNS]},
    **{f"{name}List": _list(name) for name in _LISTED},
}
