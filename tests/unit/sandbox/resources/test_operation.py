"""What the sandbox says it has: names that generated clients are made of, and permissions."""

import pytest

from svc.sandbox.openapi.document import OPERATIONS
from svc.sandbox.resources.operation import ApiOperation

# Method, path, the permission that a restricted key needs, its name, the schema of its answer.
TABLE = """
POST /v1/orders               orders:write            createOrder           NewOrder
GET  /v1/orders/:id           orders:read             retrieveOrder         Order
POST /v1/orders/:id           orders:write            updateOrder           Order
POST /v1/orders/:id/cancel    orders:write            cancelOrder           Order
GET  /v1/orders               orders:read             listOrders            OrderList
POST /v1/orders/:id/capture   payments:write          captureOrder          Payment
GET  /v1/payments/:id         payments:read           retrievePayment       Payment
GET  /v1/payments             payments:read           listPayments          PaymentList
POST /v1/refunds              refunds:write           createRefund          Refund
GET  /v1/refunds/:id          refunds:read            retrieveRefund        Refund
GET  /v1/refunds              refunds:read            listRefunds           RefundList
POST /v1/payouts              payouts:write           createPayout          Payout
GET  /v1/payouts/:id          payouts:read            retrievePayout        Payout
GET  /v1/payouts              payouts:read            listPayouts           PayoutList
POST /v1/landed-cost/quotes   landed_cost:write       createQuote           LandedCostQuote
GET  /v1/landed-cost/quotes/:id  landed_cost:read     retrieveQuote         LandedCostQuote
POST /v1/webhook_endpoints    webhook_endpoints:write createWebhookEndpoint NewWebhookEndpoint
GET  /v1/events/:id           events:read             retrieveEvent         Event
POST /v1/disputes/:id         disputes:write          updateDispute         Dispute
GET  /v1/disputes/:id         disputes:read           retrieveDispute       Dispute
GET  /v1/disputes             disputes:read           listDisputes          DisputeList
POST /v1/disputes/:id/accept  disputes:write          acceptDispute         Dispute
"""
ROWS = {(row[0], row[1]): row[2:] for row in map(str.split, TABLE.strip().splitlines())}


def test_every_operation_of_the_service_is_there() -> None:
    """None more, none less: what the table below does not have, nobody would miss."""
    assert {(one.method, one.path) for one in OPERATIONS} == ROWS.keys()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_operation_is_named_and_guarded_as_it_was(operation: ApiOperation) -> None:
    """R30: whoever makes a client from the document, or a restricted key, goes by these words."""
    needed = f"{operation.permission}:{operation.level}"
    assert [needed, operation.id, operation.answer] == ROWS[operation.method, operation.path]
    assert operation.summary
