"""Refunds (spec: Refunds)."""

from svc.client.call import Body, Call, Encoding, Params, query_of, segment
from svc.client.operations import post


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Refunds a payment, all of it or `amount` in minor units."""
    return post("refunds.create", body, encoding)


def retrieve(refund: str) -> Call:
    """Retrieves a refund."""
    return Call(
        "GET", f"/v1/refunds/{segment(refund)}", expects=("refund",), checks=(("id", refund),)
    )


def list(params: Params = ()) -> Call:  # noqa: A001  the service's word
    """Lists refunds; the specification names this list in a sentence only (assumptions: Refund)."""
    return Call("GET", "/v1/refunds", query=query_of(params), expects=("list",), assumed=True)
