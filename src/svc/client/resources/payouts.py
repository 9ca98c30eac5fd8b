"""Payouts (spec: Payouts)."""

from svc.client.call import Body, Call, Encoding, QueryParams
from svc.client.operations import listing, post, retrieval


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Sends a payout; `amount` is what the bank receives, in minor units of `currency`."""
    return post("payouts.create", body, encoding)


def retrieve(payout: str) -> Call:
    """Retrieves a payout."""
    return retrieval("payout", payout)


def list(params: QueryParams = ()) -> Call:  # noqa: A001  the service's word
    """Lists payouts, newest first: paging and its filters (assumptions: Lists)."""
    return listing("payout", params)
