"""The operations that a batch can run, such as `refunds.create`, built from `svc.service`.

An export of `list --all` has more fields than a request takes. Its read-only fields are left out,
so that a batch accepts the export (promise R64). An unknown name stops the batch, unless it is to
be ignored.

`cli.batch` finds one by its name on the command line; `columns` and `validate` take from it which
fields a file may have, and refuse a file with other names by `refuse_unknown`: `columns` by the
header of a CSV, `validate` by each row of NDJSON. `validate` builds the call of each row by it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from shlex import quote
from typing import Final

from svc import service
from svc.client.call import Body, Call
from svc.client.fields import (
    BodyPath,
    FieldTree,
    UnknownName,
    check_name,
    every_kind,
    tree_of,
)
from svc.client.operations import post
from svc.errors import UsageError, build_wrong_choice
from svc.nearest import find_near_words
from svc.service.model import Action, Kind

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
        action: its description.
    """

    name: str
    id_prefix: str
    answered: frozenset[str]
    made: Mapping[str, frozenset[str]]
    fields: FieldTree
    columns: FieldTree
    kinds: Mapping[BodyPath, Kind]
    action: Action

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
    noun, action = known
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
        action,
    )


def refuse_unknown(operation: BatchOperation, names: Iterable[UnknownName]) -> None:
    """Refuses unknown names of a file.

    Names within metadata, evidence and read-only fields are allowed.

    Raises:
        UsageError: there is such a name. The error lists all of them, or only the first that is a
            misspelt field (R97).
    """
    unknown: dict[str, UnknownName] = {}
    for each in names:
        check_name(*each)
        outer = each.within.partition("[")[0]
        kind = operation.kind_of((outer,))
        # The merchant chooses the names within metadata and evidence.
        is_free = kind is not None and (kind.type == "free" or kind.merged)
        if not is_free and outer not in operation.answered:
            unknown[each.path] = each
    if not unknown:
        return
    meant = {path: next(_suggest_fields(operation, each), "") for path, each in unknown.items()}
    renamed = ", ".join(f"{field} for {path}" for path, field in meant.items() if field)
    fields = ", ".join((*(["id"] if operation.id_prefix else []), *operation.fields))
    advice = f"Write {renamed}" if renamed else f"Its fields are {fields}"
    # A refund or capture whose amount is left out moves everything (R120: a hint does no harm).
    whole = " (without amount, all that is left is moved)" if operation.action.whole else ""
    s = "" if len(unknown) == 1 else "s"
    raise UsageError(
        f"Unknown column{s}: {', '.join(unknown)}. {operation.name} has no such field{s}. Nothing "
        "was sent.",
        code="column_unknown",
        param=next(iter(unknown)),
        hint=f"{advice}; to ignore the column{s}{whole}: "
        + " ".join(f"--ignore-column {quote(path)}" for path in unknown),
    )


def _suggest_fields(operation: BatchOperation, unknown: UnknownName) -> Iterator[str]:
    """Yields similar fields: a member of the same name, an equal part, or similar letters.

    `iban` is `destination[iban]`, `amount_eur` and `Amount (EUR)` are `amount`; `order` is the `id`
    of an order that is captured.
    """
    name = "_".join(re.findall(r"[^\W_]+", unknown.name.casefold()))
    if not unknown.within:
        known = service.operation(operation.name)
        if operation.id_prefix and known and name.removesuffix("_id") == known[0].name:
            yield "id"
        for outer, inner in operation.fields.items():
            if name in inner:
                yield f"{outer}[{name}]"
    there = [one for one in unknown.fields if unknown.within or one in operation.fields]
    words = f"_{name}_"
    parts = sorted((words.index(f"_{one}_"), one) for one in there if f"_{one}_" in words)
    for one in (*(one for _, one in parts), *find_near_words(name, there)):
        yield unknown._replace(name=one).path
