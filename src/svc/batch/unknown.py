"""Refuses a batch file with a name that no field of the operation has (exit 2).

`columns` checks the header of a CSV by it, `validate` the names in each row of NDJSON.
"""

import re
from collections.abc import Iterable, Iterator
from shlex import quote

from svc import service
from svc.batch.operations import BatchOperation
from svc.client.fields import UnknownName, check_name
from svc.errors import UsageError
from svc.nearest import find_near_words


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
        if not _is_free(operation, outer) and outer not in operation.answered:
            unknown[each.path] = each
    if not unknown:
        return
    meant = {path: next(_suggest_fields(operation, each), "") for path, each in unknown.items()}
    renamed = ", ".join(f"{field} for {path}" for path, field in meant.items() if field)
    fields = ", ".join((*(["id"] if operation.id_prefix else []), *operation.fields))
    advice = f"Write {renamed}" if renamed else f"Its fields are {fields}"
    # A refund or capture whose amount is left out moves everything (R120: a hint does no harm).
    known = service.operation(operation.name)
    whole = " (without amount, all that is left is moved)" if known and known[1].whole else ""
    s = "" if len(unknown) == 1 else "s"
    raise UsageError(
        f"Unknown column{s}: {', '.join(unknown)}. {operation.name} has no such field{s}. Nothing "
        "was sent.",
        code="column_unknown",
        param=next(iter(unknown)),
        hint=f"{advice}; to ignore the column{s}{whole}: "
        + " ".join(f"--ignore-column {quote(path)}" for path in unknown),
    )


def _is_free(operation: BatchOperation, name: str) -> bool:
    """Whether the merchant chooses the names within a field: in metadata and evidence."""
    kind = operation.kind_of((name,))
    return kind is not None and (kind.type == "free" or kind.merged)


def _suggest_fields(operation: BatchOperation, unknown: UnknownName) -> Iterator[str]:
    """Yields similar fields: a member of the same name, an equal part, or similar letters.

    `iban` is `destination[iban]`, `amount_eur` and `Amount (EUR)` are `amount`; `order` is the `id`
    of an order that is captured.
    """
    name = "_".join(re.findall(r"[^\W_]+", unknown.name.casefold()))
    if not unknown.within:
        known_as = service.operation(operation.name)
        if operation.id_prefix and known_as and name.removesuffix("_id") == known_as[0].name:
            yield "id"
        for outer, inner in operation.fields.items():
            if name in inner:
                yield f"{outer}[{name}]"
    known = [one for one in unknown.fields if unknown.within or one in operation.fields]
    words = f"_{name}_"
    parts = sorted((words.index(f"_{one}_"), one) for one in known if f"_{one}_" in words)
    for one in (*(one for _, one in parts), *find_near_words(name, known)):
        yield unknown._replace(name=one).path
