"""Payouts (spec: Payouts)."""

from svc.client.call import Body, Call, Encoding, Params, query_of, segment
from svc.client.operations import post


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Sends a payout; `amount` is what the bank receives, in minor units of `currency`."""
    return post("payouts.create", body, encoding)


def retrieve(payout: str) -> Call:
    """Retrieves a payout."""
    return Call(
        "GET", f"/v1/payouts/{segment(payout)}", expects=("payout",), checks=(("id", payout),)
    )


def list(params: Params = ()) -> Call:  # noqa: A001  the service's word
    """Lists payouts, newest first: paging and its filters (assumptions: Lists)."""
    return Call("GET", "/v1/payouts", query=query_of(params), expects=("list",))
