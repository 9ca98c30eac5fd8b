"""Payments (spec: Payments); capturing one is a call on its order, see `orders.capture`."""

from svc.client.call import Call, Params, query_of, segment


def retrieve(payment: str) -> Call:
    """Retrieves a payment."""
    return Call(
        "GET", f"/v1/payments/{segment(payment)}", expects=("payment",), checks=(("id", payment),)
    )


def list(params: Params = ()) -> Call:  # noqa: A001  the service's word
    """Lists payments, newest first: paging and its filters (assumptions: Lists)."""
    return Call("GET", "/v1/payments", query=query_of(params), expects=("list",))
