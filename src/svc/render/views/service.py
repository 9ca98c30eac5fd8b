"""Builds the view of each kind of object of the service from `svc.service`.

A view says which fields are the columns of a list, and which are the lines and parts of one object,
with label and format. A field that is in no view is still shown: `human` puts it after the others,
with the service's own name, since the service may have more fields than the specification shows.

`human.columns` asks `view_of_noun` for each object that the service has sent.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final, cast

from svc import service
from svc.render.views.model import FieldKind, Part, View, ViewField
from svc.service.model import Field, Resource, ValueType

_KINDS: Final[dict[ValueType, FieldKind]] = {
    "amount": "money",
    "timestamp": "time",
    "identifier": "id",
    "boolean": "flag",
    "integer": "number",
    "list": "list",
    "url": "id",
}
_IN_ONE_LINE: Final = ("address", "card")


@cache
def view_of_noun(kind: str) -> View | None:
    """The view of a kind of object of the service; None for an unknown kind."""
    known = service.noun(kind)
    return None if known is None else _view(known)


def _view(noun: Resource) -> View:
    undone = tuple((field.name, field.part_of) for field in noun.fields if field.part_of)
    lines = [
        (field, replace(view, undone=undone) if view.kind == "status" else view)
        for field, view in _lines(noun.fields)
    ]
    columns = sorted((each for each in lines if each[0].column), key=lambda each: _place(each[0]))
    cards = (each for each in lines if each[0].card)
    fields = sorted(
        (one for one in cards if one[0].shown in _IN_ONE_LINE or not one[0].kind.inner),
        key=lambda each: each[0].card,
    )
    headline = next((view for field, view in lines if field.name == noun.headline), None)
    title = View(noun.title).status if headline is None else headline
    return View(
        noun.title,
        tuple(_column(field, view) for field, view in columns),
        tuple(view for _, view in fields),
        tuple(_parts(noun.fields)),
        title,
    )


def _lines(fields: tuple[Field, ...], within: str = "") -> Iterator[tuple[Field, ViewField]]:
    """Yields each field that may be a line or a column of the object, with its view field."""
    for field in fields:
        if field.lifted if within else field.label:
            yield field, _build_view_field(field, within)
        if field.kind.type == "object":
            yield from _lines(field.kind.fields, f"{within}{field.name}.")


def _build_view_field(field: Field, within: str = "") -> ViewField:
    kind: FieldKind = _KINDS.get(field.kind.type, "text")
    if field.answered == "create":
        kind = "id"
    elif field.shown and field.shown != "object":
        kind = cast("FieldKind", field.shown)
    elif field.name == "status":
        kind = "status"
    currency = f"{within}{field.kind.currency or 'currency'}"
    label = field.lifted if within else field.label
    return ViewField(f"{within}{field.name}", label, kind, currency=currency, during=field.during)


def _column(field: Field, view: ViewField) -> ViewField:
    rank = field.column[1] if field.column else 0
    return replace(view, rank=rank, fallback=field.fallback)


def _parts(fields: tuple[Field, ...], within: str = "") -> Iterator[Part]:
    """Yields the parts with a heading: objects and lists of objects."""
    for field in sorted(fields, key=lambda each: each.card):
        path, inner = f"{within}{field.name}", field.kind.inner
        if field.shown == "object":
            yield Part(path, field.label, nested=True)
        elif field.shown in _IN_ONE_LINE or not (inner or field.kind.type == "free"):
            continue
        elif not field.label:
            yield from _parts(inner, f"{path}.")
        elif field.kind.entry:
            yield Part(path, field.label, columns=_columns(inner))
        else:
            yield Part(
                path,
                field.label,
                fields=tuple(_build_view_field(one) for one in inner if one.label),
            )


def _columns(entry: tuple[Field, ...]) -> tuple[ViewField, ...]:
    placed = sorted((field for field in entry if field.column), key=_place)
    return tuple(_column(field, _build_view_field(field)) for field in placed)


def _place(field: Field) -> int:
    return field.column[0] if field.column else 0
