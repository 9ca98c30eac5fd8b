"""Payments (spec: Payments); capturing one is a call on its order, see `orders.capture`."""

from svc.client.call import Call, QueryParams
from svc.client.operations import listing, retrieval


def retrieve(payment: str) -> Call:
    """Retrieves a payment."""
    return retrieval("payment", payment)


def list(params: QueryParams = ()) -> Call:  # noqa: A001  the service's word
    """Lists payments, newest first: paging and its filters (assumptions: Lists)."""
    return listing("payment", params)
