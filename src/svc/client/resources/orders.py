"""Orders (spec: Orders), and the capture of an order's payment (spec: Payments)."""

from svc.client.call import Body, Call, Encoding, QueryParams
from svc.client.operations import listing, post, retrieval


def create(body: Body, *, encoding: Encoding = "json") -> Call:
    """Creates an order; `amount` in minor units."""
    return post("orders.create", body, encoding)


def retrieve(order: str) -> Call:
    """Retrieves an order."""
    return retrieval("order", order)


def update(order: str, body: Body, *, encoding: Encoding = "json") -> Call:
    """Changes an unpaid order."""
    return post("orders.update", body, encoding, order)


def cancel(order: str, body: Body | None = None, *, encoding: Encoding = "json") -> Call:
    """Cancels an order that is not paid."""
    return post("orders.cancel", body, encoding, order)


def list(params: QueryParams = ()) -> Call:  # noqa: A001  the service's word
    """Lists orders, newest first: paging and its filters (assumptions: Lists)."""
    return listing("order", params)


def capture(order: str, body: Body | None = None, *, encoding: Encoding = "form") -> Call:
    """Captures an authorised payment, all of it or `amount` in minor units.

    The answer may be the payment or the order: the specification does not show which.
    """
    return post("orders.capture", body, encoding, order)
