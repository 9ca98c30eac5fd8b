"""Many objects: a table where it fits, else a small block each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from svc.render import columns, table
from svc.render.fieldpaths import Path
from svc.render.labels import labelled
from svc.render.record import Record
from svc.render.screen import Cell, Line, Screen, indented
from svc.render.text import cells, one_line, shorten
from svc.render.view import Field

_GAP: Final = 2
_STACKED_RANK: Final = 2  # what matters less is left out where there is no room for a table


class Listing:
    """A list that may come in pieces: the first one settles the columns and the layout.

    `names` are the paths of `--fields`; `heads` says whether the columns have names.
    """

    def __init__(self, screen: Screen, names: Sequence[Path] = (), *, heads: bool = True) -> None:
        self._heads = heads
        self._screen = screen
        self._names = names
        self._columns: tuple[Field, ...] | None = None
        self._layout: table.Layout | None = None

    def lines(self, objects: Sequence[dict[str, Any]]) -> list[Line]:
        """Lays out the next objects."""
        records = [Record(data) for data in objects]
        first = self._columns is None
        if self._columns is None:
            self._columns = columns.choose(objects, self._names)
        rows = table.read(self._columns, records, self._screen)
        if first:
            self._layout = table.fit(self._columns, rows, self._screen)
        if self._layout is None:
            below = stacked(self._columns, rows, self._screen.width, rank=_STACKED_RANK)
            return below if first else [[], *below]
        self._layout = table.grown(self._layout, rows)
        body = table.body(self._layout, rows, self._screen)
        if not first or not self._heads:
            return body
        return [table.head(self._columns, self._layout, rows), *body]


def inner(described: tuple[Field, ...], records: Sequence[Record], screen: Screen) -> list[Line]:
    """Lays out the objects of a nested list, everything in them, and nothing shortened."""
    fields = columns.extended(described, [record.data for record in records])
    rows = table.read(fields, records, screen)
    layout = table.fit_all(fields, rows, screen)
    if layout is None:
        return stacked([replace(field, rank=0) for field in fields], rows, screen.width)
    return [table.head(fields, layout, rows), *table.full_body(layout, rows)]


def stacked(
    fields: Sequence[Field], rows: Sequence[table.Row], width: int, *, rank: int = 0
) -> list[Line]:
    """Writes every row as a small block, for a terminal too narrow for a table.

    The first value stands alone. The others up to `rank` follow: in as few lines as hold them where
    a view ranks them, else each with its label.
    """
    ranked = any(field.rank for field in fields)
    lines: list[Line] = []
    for row in rows:
        (_, first), *others = [
            (field.label, item)
            for field, item in zip(fields, row, strict=True)
            if item.text and field.rank <= rank
        ] or [("", Cell("-"))]
        below = (
            flowed([item for _, item in others], width - _GAP)
            if ranked
            else labelled(others, width - _GAP)
        )
        lines += [[], [(one_line(first.text), "title")], *indented(below, _GAP)]
    return lines[1:]


def flowed(items: Sequence[Cell], width: int) -> list[Line]:
    """Sets cells one after another, two columns apart, and begins a line when one is full."""
    lines: list[Line] = []
    used = width
    for item in items:
        text = item.listed or one_line(item.text)
        if item.urgent and cells(text) > width:
            text = next((form for form in item.forms() if cells(form) <= width), item.hint)
        text = text if item.whole else shorten(text, max(width, 1), "...")
        if used + _GAP + cells(text) > width:
            lines.append([])
            used = 0
        else:
            lines[-1].append((" " * _GAP, ""))
            used += _GAP
        lines[-1].append((text, item.style))
        used += cells(text)
    return lines
