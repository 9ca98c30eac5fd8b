"""What the document calls each operation, what it answers, and where one can go from there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svc.sandbox.control.scenarios import ORDER, PAYOUT
from svc.sandbox.resources.operation import ApiOperation

_FIRST: Final = "$response.body#/data/0/id"
_OWN: Final = "$response.body#/id"


@dataclass(frozen=True, slots=True)
class Name:
    """An operation in the document: its id, its purpose, the schema of its answer, its tag.

    `example` is a body that is carried out as it stands.
    """

    id: str
    summary: str
    answer: str
    tag: str
    example: Mapping[str, Any] | None = None


NAMES: Final[Mapping[str, Name]] = {
    "POST /v1/orders": Name("createOrder", "Create an order", "NewOrder", "Orders", ORDER),
    "GET /v1/orders/:id": Name("retrieveOrder", "Retrieve an order", "Order", "Orders"),
    "POST /v1/orders/:id": Name("updateOrder", "Update an unpaid order", "Order", "Orders"),
    "POST /v1/orders/:id/cancel": Name("cancelOrder", "Cancel an order", "Order", "Orders"),
    "GET /v1/orders": Name("listOrders", "List orders", "OrderList", "Orders"),
    "POST /v1/orders/:id/capture": Name(
        "captureOrder", "Capture an authorised payment", "Payment", "Payments"
    ),
    "GET /v1/payments/:id": Name("retrievePayment", "Retrieve a payment", "Payment", "Payments"),
    "GET /v1/payments": Name("listPayments", "List payments", "PaymentList", "Payments"),
    "POST /v1/refunds": Name(
        "createRefund", "Refund all or part of a payment", "Refund", "Refunds"
    ),
    "GET /v1/refunds/:id": Name("retrieveRefund", "Retrieve a refund", "Refund", "Refunds"),
    "GET /v1/refunds": Name("listRefunds", "List refunds", "RefundList", "Refunds"),
    "POST /v1/payouts": Name("createPayout", "Send a payout", "Payout", "Payouts", PAYOUT),
    "GET /v1/payouts/:id": Name("retrievePayout", "Retrieve a payout", "Payout", "Payouts"),
    "GET /v1/payouts": Name("listPayouts", "List payouts", "PayoutList", "Payouts"),
    "POST /v1/landed-cost/quotes": Name(
        "createQuote",
        "Quote duties, taxes and fees",
        "LandedCostQuote",
        "Landed cost",
        {name: ORDER[name] for name in ("currency", "shipping", "items")},
    ),
    "GET /v1/landed-cost/quotes/:id": Name(
        "retrieveQuote", "Retrieve a quote", "LandedCostQuote", "Landed cost"
    ),
    "POST /v1/webhook_endpoints": Name(
        "createWebhookEndpoint",
        "Register an endpoint",
        "NewWebhookEndpoint",
        "Webhook endpoints and events",
        {"url": "https://shop.example/webhooks", "events": ["order.paid"]},
    ),
    "GET /v1/events/:id": Name(
        "retrieveEvent", "Retrieve an event", "Event", "Webhook endpoints and events"
    ),
    "POST /v1/disputes/:id": Name(
        "updateDispute", "Attach evidence; submit it", "Dispute", "Disputes"
    ),
    "GET /v1/disputes/:id": Name("retrieveDispute", "Retrieve a dispute", "Dispute", "Disputes"),
    "GET /v1/disputes": Name("listDisputes", "List disputes", "DisputeList", "Disputes"),
    "POST /v1/disputes/:id/accept": Name(
        "acceptDispute", "Give a dispute up", "Dispute", "Disputes"
    ),
}

# Which operations take the id of what another one answers.
_FOLLOWING: Final[Mapping[str, tuple[str, ...]]] = {
    "Order": ("retrieveOrder", "updateOrder", "cancelOrder", "captureOrder"),
    "NewOrder": ("retrieveOrder", "updateOrder", "cancelOrder", "captureOrder"),
    "Payment": ("retrievePayment",),
    "Refund": ("retrieveRefund",),
    "Payout": ("retrievePayout",),
    "LandedCostQuote": ("retrieveQuote",),
    "Dispute": ("retrieveDispute", "updateDispute", "acceptDispute"),
}


def name_of(operation: ApiOperation) -> Name:
    """How the document calls an operation.

    Raises:
        KeyError: it has no name yet.
    """
    return NAMES[f"{operation.method} {operation.path}"]


def links_from(answer: str) -> dict[str, Any]:
    """The operations that take an id of this answer, as OpenAPI links."""
    single = answer.removesuffix("List")
    place = _FIRST if single != answer else _OWN
    links = {
        target: {"operationId": target, "parameters": {"id": place}}
        for target in _FOLLOWING.get(single, ())
    }
    if single == "Payment":
        links["createRefund"] = {"operationId": "createRefund", "requestBody": {"payment": place}}
    return links
