"""One object as a titled block of labelled fields, its nested parts below."""

from dataclasses import replace
from typing import Any, Final

from svc.render.human import columns, table
from svc.render.human.cells import NOTHING, cell, plain, status
from svc.render.human.columns import view_of
from svc.render.human.labels import Labelled, labelled
from svc.render.paths import Path, Record, ready
from svc.render.style import Cell, Line, Screen, indented
from svc.render.text import one_line, wrap
from svc.render.views.model import Field, Part, View

_INDENT: Final = 2
_DEEPEST: Final = 5
_ID: Final = Field("id", "ID", "id")
_UNKNOWN: Final = View(title="")


def block(data: dict[str, Any], screen: Screen) -> list[Line]:
    """Lays out one object: by its view when its kind is known, else by its own names."""
    return _object(Record(data), screen)


def _object(record: Record, screen: Screen) -> list[Line]:
    kind = record.data.get("object")
    if not isinstance(kind, str):
        return _body((), (), record, screen)
    view = view_of(record.data) or _UNKNOWN
    title = _title(view, kind, record, screen)
    body = _body(view.fields, view.parts, record, _narrower(screen))
    return [*title, [], *indented(body, _INDENT)] if body else title


def _title(view: View, kind: str, record: Record, screen: Screen) -> list[Line]:
    """Says what it is: its kind and id, its state, its mode."""
    record.take("object")
    items = [Cell(view.title or columns.label_of(kind), "title")]
    identity = cell(_ID, record, screen)
    if identity:
        items.append(replace(identity, style="title"))
    state = cell(view.status, record, screen)
    if state:
        items.append(state)
    live = record.data.get("livemode")
    if isinstance(live, bool):
        record.take("livemode")
        items.append(status("live mode" if live else "test mode"))
    return table.flowed(items, screen.width)


def _body(
    fields: tuple[Field, ...], parts: tuple[Part, ...], record: Record, screen: Screen
) -> list[Line]:
    """Lays out the fields, then what nobody described, then the nested parts."""
    rows: list[Labelled] = []
    for field in fields:
        item = cell(field, record, screen)
        if item:
            rows.append((field.label, item))
    groups = [(part, record.take(part.path)) for part in parts]
    for path, value in record.rest():
        label = _label(path, record)
        if isinstance(value, dict) or _objects(value):
            groups.append((Part(path, label), value))
        elif value not in NOTHING or not record.of_service:
            # A setting of ours without a value says that it can be set.
            rows.append((label, _unknown(path, value, record, screen)))
    lines = labelled(rows, screen.width)
    for part, value in groups:
        if value not in NOTHING:
            lines += [*([[]] if lines else []), *_part(part, value, record, screen)]
    return lines


def _label(path: Path, record: Record) -> str:
    """Keeps the service's own names; those of our own results are written as words."""
    return one_line(".".join(path)) if record.of_service else columns.label_of(path[-1])


def _unknown(path: Path, value: object, record: Record, screen: Screen) -> Cell:
    guessed = columns.inferred(path[-1], value, record.data)
    return cell(replace(guessed, path=path), record, screen) or Cell("none", "quiet")


def _part(part: Part, value: object, record: Record, screen: Screen) -> list[Line]:
    inside = _narrower(screen)
    if record.depth >= _DEEPEST:
        lines = _prose(value, inside)
    elif isinstance(value, dict) and part.nested and "object" in value:
        return _object(record.inner(ready(part.path), value), screen)
    elif isinstance(value, dict):
        lines = _body(part.fields, (), record.inner(ready(part.path), value), inside)
    elif objects := _objects(value):
        lines = table.inner(part.columns, [Record(item, record) for item in objects], inside)
    else:
        lines = _prose(value, inside)
    return [[(part.title, "title")], *indented(lines, _INDENT)]


def _objects(value: object) -> list[dict[str, Any]]:
    """Gives the objects of a list that holds nothing else."""
    items = value if isinstance(value, list) else []
    return items if all(isinstance(item, dict) for item in items) else []


def _prose(value: object, screen: Screen) -> list[Line]:
    return [[(line, "")] for line in wrap(plain(value), screen.width)]


def _narrower(screen: Screen) -> Screen:
    return replace(screen, width=screen.width - _INDENT)
