"""The command-line options of each operation's fields, built from `svc.service`.

Options, request bodies, completion and the advice of errors are built from these rows. A field
without an option is given by `-d`.

`cli.framework.registry` adds them to commands; `fields` and `refusal` name the option of a field in
an error, although they know no command line otherwise.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from svc import service
from svc.service.model import Field, Kind, Resource

ValueKind: TypeAlias = Literal["text", "amount", "item", "pairs", "list", "flag"]


class RequestOption(NamedTuple):
    """One option.

    Attributes:
        name: the name on the command line, such as `--postal-code`.
        path: the path of the field in the body, such as `("shipping", "postal_code")`.
        metavar: the placeholder of the value in the help.
        help: its line in the help.
        kind: the kind of the value. An `amount` is in minor units; `item`, `pairs` and `list` are
            repeatable.
        words: the name of its set of words in the completion scripts.
        is_needed: whether a request is refused without it.
        instead: the options that may be given together in place of a needed one.
        field: the field that the option gives.
    """

    name: str
    path: tuple[str, ...]
    metavar: str
    help: str
    kind: ValueKind
    words: str
    is_needed: bool
    instead: tuple[str, ...]
    field: Field

    @property
    def key(self) -> str:
        """The name as a Python parameter."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def is_required(self) -> bool:
        """Whether the option is required and has no alternative."""
        return self.is_needed and not self.instead


@cache
def options_of(operation: str) -> tuple[RequestOption, ...]:
    """The options of a POST such as `refunds.create`; empty if it is unknown."""
    known = service.operation(operation)
    return () if known is None else rows_of(known[0], known[1].verb)


def rows_of(noun: Resource, verb: str) -> tuple[RequestOption, ...]:
    """The options of the fields of a verb's request, in the order of the help."""
    needed = verb == "create"
    return tuple(
        row for field in noun.list_given(verb) for row in _rows(noun, field, (), needed=needed)
    )


def _rows(
    noun: Resource, field: Field, within: tuple[str, ...], *, needed: bool
) -> Iterator[RequestOption]:
    """Yields the options of a field and of its members."""
    path = (*within, field.name)
    if field.kind.type == "object":
        yield from _inner_rows(noun, field.kind, path, needed=needed and field.is_needed)
    if not field.option:
        return
    name, _, metavar = field.option.partition(" ")
    yield RequestOption(
        name,
        path,
        metavar,
        field.help.replace("{words}", ", ".join(field.kind.words)),
        _value_kind(field.kind),
        _words(noun, field),
        needed and field.is_needed,
        (),
        field,
    )


def _inner_rows(
    noun: Resource, kind: Kind, path: tuple[str, ...], *, needed: bool
) -> Iterator[RequestOption]:
    fields = {field.name: field for field in kind.fields if not field.made}
    first, *others = kind.one_of or ((),)
    instead = tuple(fields[name].option.split()[0] for names in others for name in names)
    for field in fields.values():
        for row in _rows(noun, field, path, needed=needed):
            if needed and first[:1] == (field.name,):
                yield row._replace(is_needed=True, instead=instead)
            else:
                yield row


def _value_kind(kind: Kind) -> ValueKind:
    match kind.type:
        case "amount":
            return "amount"
        case "list":
            return "item" if kind.inner else "list"
        case "object" | "free":
            return "pairs"
        case "boolean":
            return "flag"
    return "text"


def _words(noun: Resource, field: Field) -> str:
    kind = field.kind.entry or field.kind
    if kind.type in ("currency", "country", "event_type"):
        return kind.type
    has_words = kind.type == "choice" or (kind.fields and not field.kind.entry)
    return f"{noun.name}_{field.name}" if has_words else ""


def item_placeholder(entry: Iterable[Field]) -> str:
    """Formats an entry of a list, such as an order's item, for a hint; no value is invented."""
    return ",".join(f"{field.name}={field.name.upper()}" for field in entry if field.required)


def advice(operation: str, path: tuple[str, ...]) -> str | None:
    """Formats the options of a field for an error; None if only `-d` gives the field."""
    rows = {row.path: row for row in options_of(operation)}
    row = rows.get(path)
    if row is None and path[:1] in rows and rows[path[:1]].kind in ("item", "pairs", "list"):
        row = rows[path[:1]]  # one option for what is inside
    if row is not None:
        return _format_option(row)
    if not path:
        return None
    inside = [one for one in rows.values() if one.path[:-1] == path and one.field.is_needed]
    inside += [one for one in rows.values() if one.path[:-1] == path and one.instead]
    return " ".join(_format_option(one) for one in inside) or None


def _format_option(row: RequestOption) -> str:
    if row.kind == "item":
        return f"{row.name} '{item_placeholder(row.field.kind.inner)}'"
    unit = " (minor units)" if row.kind == "amount" else ""
    return f"{row.name} {row.metavar}{unit}".rstrip()
