"""What each POST does, and where each object is read: two tables, and the calls made of them.

Of a POST that is its answer, what proves it, and whether it moves money. The tables serve the
sender and everything that names an operation. A path that is in neither is sent as it is, and any
JSON is an answer to it.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from svc.client.call import (
    Body,
    Call,
    Encoding,
    QueryParams,
    checked_id,
    pattern_of,
    query_of,
    same,
    segment,
)
from svc.client.text import one_line
from svc.service.facts import (
    DISPUTE_STATUSES,
    ID_PREFIXES,
    ORDER_STATUSES,
    PAYMENT_STATUSES,
    PAYOUT_STATUSES,
    REFUND_STATUSES,
)


class PostOperation(NamedTuple):
    """One POST of the documentation.

    Attributes:
        path: with `*` for the id of what it changes.
        answers: names that the answer's `object` may have.
        about: what the id in the path is of; the answer is that object, or names it in a field.
        makes: whether the answer is a new object, with an id that no other request has brought.
        named: fields of the request that name an object; the answer must name the same one, else
            it is the answer to another request (promise R93).
        compared: fields whose difference, on our own object, is a contradiction; as the request
            and as the answer call them (promise R15).
        fails: fields of the answer, each with the values that mean that what was asked for has
            failed (promise R117).
        only_with: the field of the request that must be true for `action` and `fails` to count;
            empty where they always do.
        action: what a person confirms in live mode, with the objects that it names in braces;
            empty where nothing is confirmed.
        whole: whether it moves all that there is where the request has no amount.
        money_of: the object that it names whose money it is, such as `order`; empty for none.
        assumed: whether the specification does not show it.
    """

    path: str
    answers: tuple[str, ...]
    about: str = ""
    makes: bool = False
    named: tuple[str, ...] = ()
    compared: tuple[tuple[str, str], ...] = ()
    fails: tuple[tuple[str, tuple[str, ...]], ...] = ()
    only_with: str = ""
    action: str = ""
    whole: bool = False
    money_of: str = ""
    assumed: bool = False

    def counts_for(self, body: Body | None) -> bool:
        """Whether `action` and `fails` count for a request with this body."""
        return not self.only_with or (body or {}).get(self.only_with) in (True, "true")


def _equal(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


_ORDER: Final = _equal("amount", "currency", "settlement_currency")
_CANCELLED: Final = "cancelled"
_FAILED: Final = ("status", ("failed",))

OPERATIONS: Final[dict[str, PostOperation]] = {
    "orders.create": PostOperation("/v1/orders", ("order",), makes=True, compared=_ORDER),
    "orders.update": PostOperation("/v1/orders/*", ("order",), "order", compared=_ORDER),
    "orders.cancel": PostOperation(
        "/v1/orders/*/cancel",
        ("order",),
        "order",
        fails=(("status", tuple(word for word in ORDER_STATUSES if word != _CANCELLED)),),
        action="cancel order {order}",
        money_of="order",
    ),
    # Its answer is either: the specification does not show which.
    "orders.capture": PostOperation(
        "/v1/orders/*/capture",
        ("payment", "order"),
        "order",
        compared=(("amount", "amount_captured"),),
        fails=(_FAILED, ("amount_captured", ("0",))),
        action="capture order {order}",
        whole=True,
        money_of="order",
    ),
    "refunds.create": PostOperation(
        "/v1/refunds",
        ("refund",),
        makes=True,
        named=("payment",),
        compared=_equal("amount", "currency"),
        fails=(_FAILED,),
        action="refund payment {payment}",
        whole=True,
        money_of="payment",
    ),
    "payouts.create": PostOperation(
        "/v1/payouts",
        ("payout",),
        makes=True,
        named=("destination",),
        compared=_equal("amount", "currency", "source_currency"),
        fails=(_FAILED,),
        action="send a payout",
    ),
    "landed-cost-quotes.create": PostOperation(
        "/v1/landed-cost/quotes", ("landed_cost_quote",), makes=True, compared=_equal("currency")
    ),
    "webhook-endpoints.create": PostOperation(
        "/v1/webhook_endpoints", ("webhook_endpoint",), makes=True
    ),
    "disputes.update": PostOperation(
        "/v1/disputes/*",
        ("dispute",),
        "dispute",
        fails=(("status", ("needs_response",)), ("evidence_status", ("none", "draft"))),
        only_with="submit",
        action="submit the evidence of dispute {dispute}",
        money_of="dispute",
    ),
    "disputes.accept": PostOperation(
        "/v1/disputes/*/accept",
        ("dispute",),
        "dispute",
        action="accept dispute {dispute} as lost",
        money_of="dispute",
        assumed=True,
    ),
}
_BY_PATH: Final = {operation.path: name for name, operation in OPERATIONS.items()}


class _Named(dict[str, object]):
    """The objects that a call names, for people."""

    def __missing__(self, name: str) -> str:
        return "(of the body)"


def action_of(call: Call) -> str:
    """What a POST does where it moves money, such as `capture order ord_1`; empty where none moves.

    Of one that is not in the table nobody knows that it moves none.
    """
    known = OPERATIONS.get(call.operation)
    if known is None:
        return f"POST to {call.path}"
    return known.action.format_map(_Named(call.names)) if known.counts_for(call.body) else ""


def find_failing_fields(call: Call, data: object) -> tuple[str, ...]:
    """The fields of an answer whose values mean that what was asked for has failed."""
    known = OPERATIONS.get(call.operation)
    if known is None or not isinstance(data, Mapping) or not known.counts_for(call.body):
        return ()
    return tuple(name for name, values in known.fails if str(data.get(name)) in values)


def failure_of(call: Call, data: object) -> str | None:
    """Says why an answer means that what was asked for has failed, or None (promise R117).

    `data` is the answer to `call`, or the same object as it was read later.
    """
    fields = find_failing_fields(call, data)
    if not fields or not isinstance(data, Mapping):
        return None
    why = data.get("failure_reason") or data.get("failure_code")
    said = f"the {fields[0]} of {data.get('id', 'the object')} is {data[fields[0]]}"
    return one_line(f"{said} ({why})" if why else said)


def find_undocumented_status(call: Call, data: object) -> str | None:
    """The status of an answered object that the description does not know, or None."""
    status = data.get("status") if isinstance(data, Mapping) else None
    known = STATUSES.get(str(data.get("object"))) if isinstance(data, Mapping) else None
    if not call.changes or not isinstance(status, str) or known is None or status in known:
        return None
    return one_line(status)


def post(name: str, body: Body | None, encoding: Encoding, identifier: str = "") -> Call:
    """Builds the call of an operation; `identifier` is of what it changes.

    Raises:
        UsageError: the id, or one in the body, is none (promise R25).
    """
    operation = OPERATIONS[name]
    body = with_checked_ids(body, operation.named)
    fields = body or {}
    identifier = segment(identifier) if operation.about else ""
    about = ((operation.about, identifier),) if operation.about else ()
    return Call(
        "POST",
        operation.path.replace("*", identifier),
        body=body,
        encoding=encoding,
        expects=operation.answers,
        checks=tuple(
            (theirs, fields[ours])
            for ours, theirs in operation.compared
            if fields.get(ours) not in (None, "")
        ),
        assumed=operation.assumed,
        operation=name,
        makes=operation.makes,
        names=(*about, *same(fields, *operation.named)),
    )


def with_checked_ids(fields: Body | None, names: Iterable[str]) -> Body | None:
    """Returns the fields with no blanks around the ids among them; `names` are of fields.

    Raises:
        UsageError: an id is no text, blank, or holds what no id does (promise R25).
    """
    given = fields or {}
    ids = {name for name in names if name in ID_PREFIXES and given.get(name) is not None}
    return {**given, **{name: checked_id(given[name], name) for name in ids}} if ids else fields


def operation_at(path: str) -> tuple[str, str] | None:
    """The name of the operation that a path is of, and the id in it; None where there is none."""
    pattern, identifier = pattern_of(path)
    name = _BY_PATH.get(pattern)
    return None if name is None else (name, identifier)


def near_command(call: Call) -> str | None:
    """The command for the known path that one of nobody's is nearly; None where none is near."""
    from svc.nearest import near_words

    paths = [path for known in COLLECTIONS.values() for path in (known.path, f"{known.path}/*")]
    if call.changes:
        paths = [known.path for known in OPERATIONS.values()]
    pattern, identifier = pattern_of(call.path)
    alike = (path for path in paths if path != pattern and path.count("/") == pattern.count("/"))
    near = near_words(pattern, alike)
    verb = "post" if call.changes else "get"
    return f"svc {verb} {near[0].replace('*', identifier)}" if near else None


STATUSES: Final = {
    "order": ORDER_STATUSES,
    "payment": PAYMENT_STATUSES,
    "refund": REFUND_STATUSES,
    "payout": PAYOUT_STATUSES,
    "dispute": DISPUTE_STATUSES,
}


class Collection(NamedTuple):
    """Where objects of one kind are read.

    Attributes:
        path: of the list; an object's has its id behind it.
        lists: whether there is a list.
        assumed: what of the two the specification does not show.
    """

    path: str
    lists: bool = True
    assumed: tuple[str, ...] = ()


COLLECTIONS: Final[dict[str, Collection]] = {
    "order": Collection("/v1/orders"),
    "payment": Collection("/v1/payments"),
    "refund": Collection("/v1/refunds", assumed=("list",)),
    "payout": Collection("/v1/payouts"),
    "landed_cost_quote": Collection("/v1/landed-cost/quotes", lists=False),
    "event": Collection("/v1/events", lists=False),
    "dispute": Collection("/v1/disputes", assumed=("retrieve", "list")),
}


def retrieval(kind: str, identifier: str) -> Call:
    """Builds the call that reads one object.

    Raises:
        UsageError: the id is none (promise R25).
    """
    known, identifier = COLLECTIONS[kind], segment(identifier)
    return Call(
        "GET",
        f"{known.path}/{identifier}",
        expects=(kind,),
        checks=(("id", identifier),),
        assumed="retrieve" in known.assumed,
    )


def listing(kind: str, params: QueryParams) -> Call:
    """Builds the call that lists objects, newest first: paging and its filters."""
    known = COLLECTIONS[kind]
    return Call(
        "GET",
        known.path,
        query=query_of(params),
        expects=("list",),
        assumed="list" in known.assumed,
    )
