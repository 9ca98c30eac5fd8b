"""Calls by path or by id, for `svc get` and `svc post`, and calls recovered from their path.

A path that is one of the documented ones gets that call's checks, so that a payment sent by
`svc post /v1/refunds` or resumed from the journal is judged like one sent by `svc refunds create`.
"""

from collections.abc import Callable

from svc.client.call import Body, Call, Encoding, Params, Query, query_of, segment
from svc.client.operations import OPERATIONS
from svc.client.request import checked_path
from svc.client.resources import (
    disputes,
    events,
    orders,
    payments,
    payouts,
    quotes,
    refunds,
    webhook_endpoints,
)
from svc.errors import UsageError
from svc.spec import ID_PREFIXES

_RETRIEVALS: dict[str, Callable[[str], Call]] = {
    "order": orders.retrieve,
    "payment": payments.retrieve,
    "refund": refunds.retrieve,
    "payout": payouts.retrieve,
    "landed_cost_quote": quotes.retrieve,
    "event": events.retrieve,
    "dispute": disputes.retrieve,
}


def get(path: str, query: Params = ()) -> Call:
    """Retrieves any path of the API; a query that is part of `path` comes first.

    Raises:
        UsageError: on a path that would leave the API (promise R25).
    """
    plain, mark, text = path.partition("?")
    pairs = (*(_parsed(text) if mark else ()), *query_of(query))
    return _known_get(checked_path(plain), pairs) or Call("GET", plain, query=pairs)


def post(path: str, body: Body | None = None, *, encoding: Encoding = "json") -> Call:
    """Posts to any path of the API.

    Raises:
        UsageError: on a path that would leave the API (promise R25).
    """
    known = _known_post(checked_path(path), body or {}, encoding)
    return known or Call("POST", path, body=body, encoding=encoding)


def retrieve(identifier: str) -> Call:
    """Retrieves the object that an id's prefix points to.

    Raises:
        UsageError: on a prefix that has no GET, naming those that have one.
    """
    for name, call in _RETRIEVALS.items():
        if identifier.startswith(ID_PREFIXES[name]):
            return call(identifier)
    known = " ".join(ID_PREFIXES[name] for name in _RETRIEVALS)
    raise UsageError(
        f"{segment(identifier)!r} begins with no prefix that can be retrieved.",
        code="id_invalid",
        param="id",
        hint=f"Ids that can be retrieved begin with: {known}. Or give a path such as /v1/orders.",
    )


def money_of(call: Call) -> Call | None:
    """The call that reads the object whose money a POST moves; None where it names none."""
    known = OPERATIONS.get(call.operation)
    identifier = dict(call.names).get(known.money_of) if known is not None else None
    return _RETRIEVALS[known.money_of](str(identifier)) if known and identifier else None


def path_of_id(identifier: str) -> str:
    """The path of the object that an id's prefix points to, such as `/v1/orders/ord_...`.

    Raises:
        UsageError: on a prefix that has no GET, naming those that have one.
    """
    return retrieve(identifier).path


def _parsed(text: str) -> Query:
    from urllib.parse import parse_qsl

    try:
        return tuple(parse_qsl(text, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        raise UsageError(f"The query {text!r} is malformed.", code="path_invalid") from None


def _known_get(path: str, query: Query) -> Call | None:
    match path.split("/")[2:]:
        case ["orders"]:
            return orders.list(query)
        case ["payments"]:
            return payments.list(query)
        case ["refunds"]:
            return refunds.list(query)
        case ["payouts"]:
            return payouts.list(query)
        case ["disputes"]:
            return disputes.list(query)
    return None


def _known_post(path: str, body: Body, encoding: Encoding) -> Call | None:
    match path.split("/")[2:]:
        case ["orders", *rest]:
            return _known_order_post(rest, body, encoding)
        case ["refunds"]:
            return refunds.create(body, encoding=encoding)
        case ["payouts"]:
            return payouts.create(body, encoding=encoding)
        case ["landed-cost", "quotes"]:
            return quotes.create(body, encoding=encoding)
        case ["webhook_endpoints"]:
            return webhook_endpoints.create(body, encoding=encoding)
        case ["disputes", dispute]:
            return disputes.update(dispute, body, encoding=encoding)
        case ["disputes", dispute, "accept"]:
            return disputes.accept(dispute, body, encoding=encoding)
    return None


def _known_order_post(rest: list[str], body: Body, encoding: Encoding) -> Call | None:
    match rest:
        case []:
            return orders.create(body, encoding=encoding)
        case [order]:
            return orders.update(order, body, encoding=encoding)
        case [order, "cancel"]:
            return orders.cancel(order, body, encoding=encoding)
        case [order, "capture"]:
            return orders.capture(order, body, encoding=encoding)
    return None
