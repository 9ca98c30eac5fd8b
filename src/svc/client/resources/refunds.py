"""Refunds (spec: Refunds)."""

from svc.client.call import Body, Call, Encoding, QueryParams
from svc.client.operations import listing, post, retrieval


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Refunds a payment, all of it or `amount` in minor units."""
    return post("refunds.create", body, encoding)


def retrieve(refund: str) -> Call:
    """Retrieves a refund."""
    return retrieval("refund", refund)


def list(params: QueryParams = ()) -> Call:  # noqa: A001  the service's word
    """Lists refunds; the specification names this list in a sentence only (assumptions: Refund)."""
    return listing("refund", params)
