"""Makes options of the fields of a request, and a request body of the values that were typed.

`nouns` gives a command its options by `parameter_of`; when it runs, it puts the body of their
values into `session.given.fields`, of which `sending` makes the request.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from svc.client.call import check_id
from svc.client.options import RequestOption, item_placeholder
from svc.errors import UsageError
from svc.inputs import split_list

if TYPE_CHECKING:
    from svc.client.fields import Incomplete


def parameter_of(row: RequestOption) -> inspect.Parameter:
    """Returns the option of a field as a parameter of a command, as Typer reads it."""
    kinds: dict[str, Any] = {"flag": bool, "text": str | None, "amount": str | None}
    default = False if row.kind == "flag" else None
    return inspect.Parameter(
        row.key,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=typer.Option(default, row.name, metavar=row.metavar or None, help=row.help),
        annotation=kinds.get(row.kind, list[str] | None),
    )


def body_of(
    rows: Sequence[RequestOption],
    given: Mapping[str, Any],
    read: Callable[[str], str] | None = None,
) -> dict[str, Any]:
    """Builds a body of the given values; None and empty lists or objects are left out.

    `read` reads the file of `KEY=@FILE`; without it `@FILE` is refused.

    Raises:
        UsageError: a value is not of its field's kind, or a field is given twice.
    """
    body: dict[str, Any] = {}
    for row in rows:
        value = _value(row, given[row.key], given.get("currency"), read)
        if value not in (None, [], {}):
            _put(body, row, value)
    return body


def _value(
    row: RequestOption, given: Any, currency: str | None, read: Callable[[str], str] | None
) -> object:
    from svc.cli.framework.inputs import pairs_of, parse_item, text_of
    from svc.client.amounts import amount_option

    match row.kind:
        case "amount":
            return amount_option(given, row.name, currency, minimum=row.field.kind.minimum)
        case "item":
            return [parse_item(text, currency, read) for text in given or ()]
        case "pairs":
            return pairs_of(given, row.name, read=read)
        case "list":
            return [name for text in given or () for name in split_list(text)]
        case "flag":
            return True if given else None
    if given is not None and row.field.kind.type == "identifier":
        return check_id(given, row.name)
    return given and text_of(given, row.name, None)


def _put(body: dict[str, Any], row: RequestOption, value: object) -> None:
    *around, last = row.path
    for name in around:
        body = body.setdefault(name, {})
    before = body.get(last)
    if isinstance(before, dict) and isinstance(value, dict):
        for name in before.keys() & value.keys():
            raise UsageError(f"{name} is given twice.", code="given_twice", param=row.name)
        value = {**before, **value}
    body[last] = value


def in_options(error: "Incomplete", command: str, argv: Sequence[str]) -> UsageError:
    """Converts an error about missing fields to one that names their options.

    `argv` is the typed command line, which the hint completes.

    A placeholder stands for each value (promise R120: a hint never holds an invented amount,
    recipient or account).
    """
    import shlex

    from svc.cli.framework.inputs import without

    names = [
        f"{row.name} (or {' with '.join(row.instead)})" if row.instead else row.name
        for row in error.rows
    ]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    filled = [word for row in error.rows for word in (row.name, _placeholder(row))]
    for row in error.rows:  # an option that was given without a value is not given twice
        argv = without(argv, row.name)
    return UsageError(
        f"{command} needs {listed}.",
        code=error.code,
        param=error.rows[0].name,
        hint=shlex.join(("svc", *argv, *filled)),
    )


def _placeholder(row: RequestOption) -> str:
    return item_placeholder(row.field.kind.inner) if row.kind == "item" else row.key.upper()
