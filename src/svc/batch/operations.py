"""The eight operations that a batch can run, as data.

An export holds more fields than its object can be made of. Those that are only ever answered are
named here and left out, so that what `list --all` wrote is taken back (promise R64); a name that
is no field's stops the batch, unless it is to be ignored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from svc.client import options
from svc.client.call import Body, Call
from svc.client.fields import BodyPath, FieldTree, fields_at
from svc.client.operations import OPERATIONS as POSTS
from svc.client.options import RequestOption
from svc.client.resources import disputes, orders, payouts, quotes, refunds
from svc.errors import wrong_choice

_EVERYWHERE: Final = "id object status created livemode"
# The column of a row's own idempotency key, which is sent as a header.
KEY_COLUMN: Final = "idempotency_key"


@dataclass(frozen=True, slots=True)
class BatchOperation:
    """One operation.

    Attributes:
        call: builds the call from the id, empty where there is none, and the fields of a row.
        id_prefix: of the column `id`, which says what is changed; empty where something is made.
        options: of the single command, where it makes something: what it needs, a row needs.
        answered: fields of the service's answers that a request does not take.
        total: the field of an answer that is added up, in `currency`; empty for none.
        doubles: whether the same row twice does the same thing twice.
        moves: what a person is asked to confirm in live mode; empty where no money moves.
    """

    name: str
    call: Callable[[str, Body], Call]
    answered: frozenset[str]
    id_prefix: str = ""
    options: tuple[RequestOption, ...] = ()
    total: str = ""
    doubles: bool = False
    moves: str = ""

    @property
    def fields(self) -> FieldTree:
        """What its request takes."""
        return fields_at(POSTS[self.name].path)

    @property
    def columns(self) -> FieldTree:
        """What a file for it may name: also what identifies a row, and what is only answered."""
        answered: dict[str, FieldTree] = {name: {} for name in sorted(self.answered)}
        taken = {name: _with_answers(name, one) for name, one in self.fields.items()}
        return {KEY_COLUMN: {}, **answered, **taken}


def named(name: str) -> BatchOperation:
    """Finds an operation by its name on the command line.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in OPERATIONS:
        raise wrong_choice("OPERATION", name, OPERATIONS)
    return OPERATIONS[name]


def _with_answers(name: str, fields: FieldTree) -> FieldTree:
    """The fields inside one, and those that are answered in it, or in its entries, only."""
    answered: dict[str, FieldTree] = {one: {} for one in sorted(ANSWERED_INSIDE.get(name, ()))}
    if not answered:
        return fields
    return {"*": {**fields["*"], **answered}} if "*" in fields else {**fields, **answered}


def _answered(fields: str) -> frozenset[str]:
    return frozenset(f"{_EVERYWHERE} {fields}".split())


_ORDER_ANSWERS: Final = (
    "client_secret methods landed_cost customs amount_total amount_captured amount_refunded "
    "latest_payment cancelled_at paid_at"
)
_ORDER_FIELDS: Final = "currency settlement_currency shipping items capture_method metadata"

_ALL: Final = (
    BatchOperation(
        "orders.create",
        lambda _, body: orders.create(body),
        _answered(f"{_ORDER_ANSWERS} cancellation_reason"),
        options=options.ORDER,
        total="amount",
        doubles=True,
        moves="create {} orders",
    ),
    BatchOperation(
        "orders.update",
        orders.update,
        _answered(f"{_ORDER_ANSWERS} cancellation_reason"),
        id_prefix="ord_",
        total="amount",
        moves="change {} orders",
    ),
    BatchOperation(
        "orders.cancel",
        orders.cancel,
        _answered(f"{_ORDER_ANSWERS} {_ORDER_FIELDS} amount"),
        id_prefix="ord_",
        total="amount",
        moves="cancel {} orders",
    ),
    BatchOperation(
        "orders.capture",
        orders.capture,
        _answered(f"{_ORDER_ANSWERS} {_ORDER_FIELDS} cancellation_reason"),
        id_prefix="ord_",
        total="amount_captured",
        moves="capture {} orders",
    ),
    BatchOperation(
        "refunds.create",
        lambda _, body: refunds.create(body),
        _answered("order currency failure_reason"),
        options=options.REFUND,
        total="amount",
        doubles=True,
        moves="make {} refunds",
    ),
    BatchOperation(
        "payouts.create",
        lambda _, body: payouts.create(body),
        _answered(
            "source_amount fx_rate network_fees failure_reason failure_message estimated_arrival "
            "sent_at paid_at failed_at"
        ),
        options=options.PAYOUT,
        total="amount",
        doubles=True,
        moves="send {} payouts",
    ),
    BatchOperation(
        "landed-cost-quotes.create",
        lambda _, body: quotes.create(body),
        _answered("duty vat fees total guaranteed warnings expires_at"),
        options=options.QUOTE,
    ),
    BatchOperation(
        "disputes.update",
        disputes.update,
        _answered(
            "payment order amount currency reason evidence_status evidence_due_by "
            "evidence_submitted_at closed_at"
        ),
        id_prefix="dp_",
        moves="answer {} disputes",
    ),
)
OPERATIONS: Final = {operation.name: operation for operation in _ALL}

# Parts of answered objects inside a field that a request takes, or inside its entries.
ANSWERED_INSIDE: Final = {
    "destination": frozenset({"last4"}),
    "items": frozenset({"duty", "vat", "duty_rate_bps"}),
}

# The types of the other fields of a CSV; what is named nowhere is text.
BOOLEANS: Final[frozenset[BodyPath]] = frozenset({("submit",)})
OBJECTS: Final[frozenset[BodyPath]] = frozenset(
    {("shipping",), ("items",), ("items", "*"), ("destination",), ("metadata",), ("evidence",)}
)
