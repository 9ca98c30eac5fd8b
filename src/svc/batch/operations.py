"""The operations that a batch can run, such as `refunds.create`, built from `svc.service`.

An export of `list --all` has more fields than a request takes. Its read-only fields are left out,
so that a batch accepts the export (promise R64). An unknown name stops the batch, unless it is to
be ignored.

`cli.batch` finds one by its name on the command line; `columns` and `validate` take from it which
fields a file may have; `validate` builds the call of each row by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from svc import service
from svc.client.call import Body, Call
from svc.client.fields import BodyPath, FieldTree, every_kind, tree_of
from svc.client.operations import post
from svc.errors import build_wrong_choice
from svc.service.model import Action, Kind, Resource

# The column of a row's own idempotency key, which is sent as a header.
KEY_COLUMN: Final = "idempotency_key"


@dataclass(frozen=True, slots=True)
class BatchOperation:
    """One operation.

    Attributes:
        id_prefix: the prefix of the ids in the column `id`; empty if the operation creates objects.
        answered: the read-only fields, which a request does not take.
        made: the read-only members of each field that a request takes.
        fields: the fields of a request.
        columns: the columns that a file may have: fields, read-only fields such as `id`, and
            `idempotency_key`.
        kinds: the kinds of the fields of a request and of their members.
        total: the field of an answer that is summed, in `currency`; empty for none.
        doubles: whether the operation has its effect again if an equal row is sent.
        moves: the question that is asked in live mode, with `{}` for the number of rows; empty if
            no money moves.
    """

    name: str
    id_prefix: str
    answered: frozenset[str]
    made: Mapping[str, frozenset[str]]
    fields: FieldTree
    columns: FieldTree
    kinds: Mapping[BodyPath, Kind]
    total: str
    doubles: bool
    moves: str

    def call(self, identifier: str, body: Body) -> Call:
        """Builds the call of a row from its id, which may be empty, and its fields."""
        return post(self.name, body, None, identifier)

    def kind_of(self, shape: BodyPath) -> Kind | None:
        """The kind of a field, by its path with `*` for list positions; None if there is none."""
        if shape[-1:] == ("*",):
            outer = self.kinds.get(shape[:-1])
            return outer.entry if outer is not None else None
        return self.kinds.get(shape)


def names() -> tuple[str, ...]:
    """The names of all operations that a batch can run."""
    return tuple(
        f"{noun.word}.{action.verb}"
        for noun in service.nouns()
        for action in noun.actions
        if action.many
    )


@cache
def find_operation(name: str) -> BatchOperation:
    """Finds an operation by its name on the command line; raises UsageError: there is none."""
    known = service.operation(name)
    if known is None or not known[1].many:
        raise build_wrong_choice("OPERATION", name, names())
    return _operation(name, *known)


def _operation(name: str, noun: Resource, action: Action) -> BatchOperation:
    given = noun.list_given(action.verb)
    taken = {field.name for field in given}
    answered = ["object", *(field.name for field in noun.fields if field.name not in taken)]
    shown: FieldTree = {one: {} for one in sorted(answered)}
    inside = {
        field.name: frozenset(one.name for one in field.kind.inner if one.made) for field in given
    }
    return BatchOperation(
        name,
        noun.prefix if action.is_on_one else "",
        frozenset(answered),
        {field: names for field, names in inside.items() if names},
        tree_of(given),
        {KEY_COLUMN: {}, **shown, **tree_of(given, answered=True)},
        dict(every_kind(given)),
        action.total,
        action.twice,
        action.rows,
    )
