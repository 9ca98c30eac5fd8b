"""What each POST does, as one table: its answer, what proves it, and whether it moves money.

The table serves the sender and everything that names an operation. A path that is not in it is
sent as it is, and any JSON is an answer to it.
"""

from typing import Final, NamedTuple

from svc.client.call import Body, Call, Encoding, same


class PostOperation(NamedTuple):
    """One POST of the documentation.

    Attributes:
        answers: names that the answer's `object` may have.
        makes: whether the answer is a new object, with an id that no other request has brought.
        named: fields of the request that name an object; the answer must name the same one, else
            it is the answer to another request (promise R93).
        compared: fields whose difference, on our own object, is a contradiction; as the request
            and as the answer call them (promise R15).
        action: what it does where it moves money, with the objects that it names in braces; empty
            where none moves.
        whole: whether it moves all that there is where the request has no amount.
        money_of: the object that it names whose money it is, such as `order`; empty for none.
    """

    answers: tuple[str, ...]
    makes: bool = False
    named: tuple[str, ...] = ()
    compared: tuple[tuple[str, str], ...] = ()
    action: str = ""
    whole: bool = False
    money_of: str = ""


def _equal(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


_ORDER: Final = _equal("amount", "currency", "settlement_currency")

# What is changed stands in the path, and its id is compared wherever it does.
OPERATIONS: Final[dict[str, PostOperation]] = {
    "orders.create": PostOperation(("order",), makes=True, compared=_ORDER),
    "orders.update": PostOperation(("order",), compared=_ORDER),
    "orders.cancel": PostOperation(("order",), action="cancel order {order}", money_of="order"),
    # Either the payment or the order.
    "orders.capture": PostOperation(
        ("payment", "order"),
        compared=(("amount", "amount_captured"),),
        action="capture order {order}",
        whole=True,
        money_of="order",
    ),
    "refunds.create": PostOperation(
        ("refund",),
        makes=True,
        named=("payment",),
        compared=_equal("amount", "currency"),
        action="refund payment {payment}",
        whole=True,
        money_of="payment",
    ),
    "payouts.create": PostOperation(
        ("payout",),
        makes=True,
        named=("destination",),
        compared=_equal("amount", "currency", "source_currency"),
        action="send a payout",
    ),
    "landed-cost-quotes.create": PostOperation(
        ("landed_cost_quote",), makes=True, compared=_equal("currency")
    ),
    "webhook-endpoints.create": PostOperation(("webhook_endpoint",), makes=True),
    "disputes.update": PostOperation(("dispute",)),
    "disputes.accept": PostOperation(
        ("dispute",), action="accept dispute {dispute} as lost", money_of="dispute"
    ),
}


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
    return known.action.format_map(_Named(call.names))


def post(
    name: str,
    path: str,
    body: Body | None,
    encoding: Encoding,
    *,
    about: tuple[tuple[str, str], ...] = (),
    assumed: bool = False,
) -> Call:
    """Builds the call of an operation; `about` is the object in its path, such as `("order", id)`.

    The answer is that object, or has a field of that name with its id.
    """
    operation, fields = OPERATIONS[name], body or {}
    return Call(
        "POST",
        path,
        body=body,
        encoding=encoding,
        expects=operation.answers,
        checks=tuple(
            (theirs, fields[ours])
            for ours, theirs in operation.compared
            if fields.get(ours) not in (None, "")
        ),
        assumed=assumed,
        operation=name,
        makes=operation.makes,
        names=(*about, *same(fields, *operation.named)),
    )
