"""Chooses the columns of a list: those of `--fields`, else of the view of its kind of object.

Without a view (`views.model`) they are inferred from the values. Unknown fields are warned of.

`table` and `human` call it with the first page of objects, before a line is printed; `csv_format`
only warns by it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from svc.render.human import cells
from svc.render.paths import FieldPath, has, lookup, split_path
from svc.render.text import one_line
from svc.render.views import local, sandbox
from svc.render.views.local import SENT_REQUEST
from svc.render.views.model import FieldKind, View, ViewField
from svc.render.views.service import view_of_noun

_ABBREVIATIONS: Final = (
    "api",
    "ca",
    "csv",
    "fx",
    "hs",
    "http",
    "https",
    "iban",
    "id",
    "ip",
    "json",
    "pid",
    "tls",
    "url",
    "utc",
    "vat",
)
_QUANTITIES: Final = ("bytes", "days", "seconds")
_STATES: Final = ("status", "state", "outcome")


def infer_fields(objects: Iterable[dict[str, Any]]) -> tuple[ViewField, ...]:
    """Infers a field for every key of the objects, in the order of first appearance."""
    found: dict[str, ViewField] = {}
    for data in objects:
        for key, value in data.items():
            if key not in found or found[key].kind == "text":
                found[key] = infer_field(key, value, data)
    return tuple(found.values())


def infer_field(key: str, value: object, data: dict[str, Any]) -> ViewField:
    """Infers how one value of an object is formatted; its label is its name in words."""
    return ViewField((key,), label_of(key), _kind(key, value, data), currency=_currency(key, data))


def label_of(key: str) -> str:
    """Formats a field's name as a label, safe for a terminal.

    `key_source` becomes `Key source`, and `key_age_days` `Key age (days)`.
    """
    parts = [part.upper() if part in _ABBREVIATIONS else part for part in key.split("_")]
    if len(parts) > 1 and parts[-1] in _QUANTITIES:
        parts[-1] = f"({parts[-1]})"
    text = one_line(" ".join(parts))
    return text[:1].upper() + text[1:]


def _kind(key: str, value: object, data: dict[str, Any]) -> FieldKind:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        money = key == "amount" or key.startswith("amount_") or key.endswith("_amount")
        return "money" if money and _currency(key, data) in data else "number"
    if isinstance(value, str):
        if key in _STATES:
            return "status"
        if key == "id" or key.endswith("_id"):
            return "id"
        return "time" if cells.parse(value) else "text"
    return "list" if isinstance(value, list) else "text"


def _currency(key: str, data: dict[str, Any]) -> str:
    own = key.removesuffix("_amount") + "_currency"
    return own if own in data else "currency"


_UNKNOWN_RANK: Final = 9


def choose(objects: Sequence[dict[str, Any]], names: Sequence[FieldPath]) -> tuple[ViewField, ...]:
    """Returns the columns of a list; `names` are the paths of `--fields`. Raises UsageError."""
    first = objects[0] if objects else {}
    view = view_of(first)
    if not names:
        return view.columns if view else infer_fields(objects)
    known = dict(_list_known(view)) if view else {}
    return tuple(_describe_asked(name, known, first) for name in names)


def view_of(data: dict[str, Any]) -> View | None:
    """Finds the view of an object of the service, of the sandbox or of this machine; or None."""
    kind = data.get("object")
    if not isinstance(kind, str):
        return None
    if kind == "request" and local.is_local(data):
        return SENT_REQUEST  # the sandbox's log has another of the name
    return view_of_noun(kind) or sandbox.VIEWS.get(kind) or local.VIEWS.get(kind)


def add_columns(
    columns: tuple[ViewField, ...], objects: Sequence[dict[str, Any]]
) -> tuple[ViewField, ...]:
    """Adds columns for values that are in no view; these are the first to be left out."""
    described = {split_path(column.path)[0] for column in columns}
    more = [field for field in infer_fields(objects) if field.path[0] not in described]
    return columns + tuple(
        replace(field, label=one_line(field.path[0]), rank=_UNKNOWN_RANK) for field in more
    )


def _list_known(view: View) -> Iterator[tuple[FieldPath, ViewField]]:
    for part in view.parts:
        above = split_path(part.path)
        for field in part.columns:
            yield (*above, *split_path(field.path)), field
        for field in part.fields:
            path = (*above, *split_path(field.path))
            yield path, replace(field, currency=(*above, *split_path(field.currency)))
    for field in (*view.fields, *view.columns):
        yield split_path(field.path), field


def _describe_asked(
    path: FieldPath, known: dict[FieldPath, ViewField], first: dict[str, Any]
) -> ViewField:
    """Builds one column of `--fields` from the view, else from the value of the first object."""
    field = known.get(tuple(part for part in path if not part.isdecimal()))
    if field:
        return replace(field, path=path, rank=0, fallback="")
    around = lookup(first, path[:-1])
    data = around if isinstance(around, dict) else {}
    guessed = infer_field(path[-1], data.get(path[-1]), data)
    return replace(
        guessed,
        path=path,
        label=one_line(".".join(path)),
        currency=(*path[:-1], *split_path(guessed.currency)),
    )


_NAMED: Final = 40


def warn_of_unknown(
    objects: Sequence[object], names: Sequence[FieldPath], warn: Callable[[str], None]
) -> None:
    """Warns of paths that no object of the first page has and that are not documented.

    That is no error: the service may add a field that only some objects have.
    """
    found = [data for data in objects if isinstance(data, dict)]
    if not found or not names:
        return
    view = view_of(found[0])
    known = [path for path, _ in _list_known(view)] if view else []
    missing = [name for name in names if not _there(name, found, known)]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        said = ", ".join(map(".".join, missing))
        warn(f"No object has the field{plural} {said}; fields are: {_keys(found)}")


def _there(name: FieldPath, found: Sequence[dict[str, Any]], known: Sequence[FieldPath]) -> bool:
    plain = tuple(part for part in name if not part.isdecimal())
    described = plain and any(path[: len(plain)] == plain for path in known)
    return bool(described) or any(has(data, name) for data in found)


def _keys(found: Sequence[dict[str, Any]]) -> str:
    keys = list(dict.fromkeys(str(key) for data in found for key in data))
    more = ["..."] if len(keys) > _NAMED else []
    return ", ".join([*keys[:_NAMED], *more])
