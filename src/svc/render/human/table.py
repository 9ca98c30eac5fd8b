"""Lays out several objects as a table, or as blocks if the terminal is too narrow.

`human` makes a `Listing` for a list and passes it one page of objects after the other; lines out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from svc.render.human import columns
from svc.render.human.cells import cell
from svc.render.human.labels import lay_out_labels
from svc.render.paths import FieldPath, Record
from svc.render.style import Cell, Line, Screen, indent
from svc.render.text import cells, one_line, pad, shorten, wrap
from svc.render.views.model import ViewField

_GAP: Final = 2
_PROSE_MIN: Final = 12  # the width that shortened prose keeps at least
_BLANK: Final = Cell("")

TableRow = list[Cell]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table, by number, with their widths; `brief` chooses short times."""

    widths: dict[int, int]
    brief: bool

    @property
    def total(self) -> int:
        """The width of a row in columns of the terminal."""
        return sum(self.widths.values()) + _GAP * (len(self.widths) - 1)


def read(columns: Sequence[ViewField], records: Sequence[Record], screen: Screen) -> list[TableRow]:
    """Reads the cells of each record as one row."""
    return [[cell(column, record, screen) or _BLANK for column in columns] for record in records]


def fit(columns: Sequence[ViewField], rows: Sequence[TableRow], screen: Screen) -> Layout | None:
    """Finds the most columns that fit the screen; None if not even those of rank 0 fit.

    Columns without any value are left out. Prose and times are shortened before a column is
    dropped, the highest rank (`ViewField.rank`) first.
    """
    for rank in sorted({column.rank for column in columns}, reverse=True):
        layout = fit_all(
            [column if column.rank <= rank else None for column in columns], rows, screen
        )
        if layout:
            return layout
    return None


def fit_all(
    columns: Sequence[ViewField | None], rows: Sequence[TableRow], screen: Screen
) -> Layout | None:
    """Finds the layout of all columns that have a value; None if they do not fit."""
    heads = {
        index: cells(_head(column))
        for index, column in enumerate(columns)
        if column and any(row[index].text for row in rows)
    }
    for brief in (False, True):
        layout = _narrow(_measure(heads, rows, brief=brief), rows, heads, screen.width)
        if layout.total <= screen.width:
            return layout
    return None


def _measure(heads: dict[int, int], rows: Sequence[TableRow], *, brief: bool) -> Layout:
    widths = {
        index: max([head, *(cells(_text(row[index], brief=brief)) for row in rows)])
        for index, head in heads.items()
    }
    return Layout(widths, brief)


def _narrow(layout: Layout, rows: Sequence[TableRow], heads: dict[int, int], width: int) -> Layout:
    """Narrows the columns of prose to fit `width`, the widest first."""
    widths = dict(layout.widths)
    prose = [index for index in widths if not any(row[index].whole for row in rows)]
    excess = layout.total - width
    for index in sorted(prose, key=lambda index: -widths[index]):
        least = min(widths[index], max(_PROSE_MIN, heads[index]))
        taken = min(max(excess, 0), widths[index] - least)
        widths[index] -= taken
        excess -= taken
    return Layout(widths, layout.brief)


def grow(layout: Layout, rows: Sequence[TableRow]) -> Layout:
    """Widens columns for whole cells of later rows, even beyond the screen."""
    widths = {
        index: max(
            [
                width,
                *(cells(_text(row[index], brief=layout.brief)) for row in rows if row[index].whole),
            ]
        )
        for index, width in layout.widths.items()
    }
    return Layout(widths, layout.brief)


def head(columns: Sequence[ViewField], layout: Layout, rows: Sequence[TableRow]) -> Line:
    """Writes the line of column heads, aligned as their columns."""
    right = [any(row[index].right for row in rows) for index in layout.widths]
    texts = [_head(columns[index]) for index in layout.widths]
    return _line(
        [Cell(text, "head", right=end) for text, end in zip(texts, right, strict=True)], layout
    )


def body_of(layout: Layout, rows: Sequence[TableRow], screen: Screen) -> list[Line]:
    """Writes one line for each row; prose that is too wide is shortened."""
    return [
        _line(
            [_shorten(row[i], width, layout, screen) for i, width in layout.widths.items()], layout
        )
        for row in rows
    ]


def _shorten(item: Cell, width: int, layout: Layout, screen: Screen) -> Cell:
    text = _text(item, brief=layout.brief)
    return item._replace(text=text if item.whole else shorten(text, width, screen.ellipsis))


def lay_out_whole(layout: Layout, rows: Sequence[TableRow]) -> list[Line]:
    """Writes each row with its prose wrapped over several lines."""
    lines: list[Line] = []
    for row in rows:
        wrapped = [_wrap_cell(row[index], width, layout) for index, width in layout.widths.items()]
        lines += [_line(parts, layout) for parts in zip_longest(*wrapped, fillvalue=_BLANK)]
    return lines


def _wrap_cell(item: Cell, width: int, layout: Layout) -> list[Cell]:
    text = _text(item, brief=layout.brief)
    return [item._replace(text=line) for line in ([text] if item.whole else wrap(text, width))]


def _line(items: Sequence[Cell], layout: Layout) -> Line:
    line: Line = []
    for item, width in zip(items, layout.widths.values(), strict=True):
        line += [(pad(item.text, width, right=item.right), item.style), (" " * _GAP, "")]
    return _trim(line)


def _trim(line: Line) -> Line:
    while line and not line[-1][0].strip():
        line = line[:-1]
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else line


def _text(item: Cell, *, brief: bool) -> str:
    return (item.brief if brief else item.listed) or one_line(item.text)


def _head(column: ViewField) -> str:
    return one_line(column.label).upper()


_FLOWED_GAP: Final = 2
_STACKED_RANK: Final = 2  # what matters less is left out where there is no room for a table


class Listing:
    """Lays out a list page by page, with the columns and the layout of its first page.

    `names` are the paths of `--fields`; `heads` is whether the columns have heads.
    """

    def __init__(
        self, screen: Screen, names: Sequence[FieldPath] = (), *, heads: bool = True
    ) -> None:
        self._heads = heads
        self._screen = screen
        self._names = names
        self._columns: tuple[ViewField, ...] | None = None
        self._layout: Layout | None = None

    def lines(self, objects: Sequence[dict[str, Any]]) -> list[Line]:
        """Lays out the next objects."""
        records = [Record(data) for data in objects]
        first = self._columns is None
        if self._columns is None:
            self._columns = columns.choose(objects, self._names)
        rows = read(self._columns, records, self._screen)
        if first:
            self._layout = fit(self._columns, rows, self._screen)
        if self._layout is None:
            below = lay_out_stacked(self._columns, rows, self._screen.width, rank=_STACKED_RANK)
            return below if first else [[], *below]
        self._layout = grow(self._layout, rows)
        body = body_of(self._layout, rows, self._screen)
        if not first or not self._heads:
            return body
        return [head(self._columns, self._layout, rows), *body]


def inner(
    described: tuple[ViewField, ...], records: Sequence[Record], screen: Screen
) -> list[Line]:
    """Lays out the objects of a nested list with all their fields, without shortening."""
    fields = columns.add_columns(described, [record.data for record in records])
    rows = read(fields, records, screen)
    layout = fit_all(fields, rows, screen)
    if layout is None:
        return lay_out_stacked([replace(field, rank=0) for field in fields], rows, screen.width)
    return [head(fields, layout, rows), *lay_out_whole(layout, rows)]


def lay_out_stacked(
    fields: Sequence[ViewField], rows: Sequence[TableRow], width: int, *, rank: int = 0
) -> list[Line]:
    """Writes each row as a block, for a terminal that is too narrow for a table.

    The first line has the first value, and the second one if the first field `leads`. The values up
    to `rank` follow, in as few lines as possible if the view has ranks, else each with its label.
    """
    ranked = any(field.rank for field in fields)
    lines: list[Line] = []
    for row in rows:
        (_, first), *others = [
            (field.label, item)
            for field, item in zip(fields, row, strict=True)
            if item.text and field.rank <= rank
        ] or [("", Cell("-"))]
        title = one_line(first.text)
        if others and fields[0].leads:
            title += f" {one_line(others.pop(0)[1].text)}"
        below = (
            lay_out_flow([item for _, item in others], width - _FLOWED_GAP)
            if ranked
            else lay_out_labels(others, width - _FLOWED_GAP)
        )
        lines += [[], [(title, "title")], *indent(below, _FLOWED_GAP)]
    return lines[1:]


def lay_out_flow(items: Sequence[Cell], width: int) -> list[Line]:
    """Writes cells one after another, two columns apart, over as many lines as needed."""
    lines: list[Line] = []
    used = width
    for item in items:
        text = item.listed or one_line(item.text)
        if cells(text) > width:
            shortest = item.hint if item.urgent else text
            text = next((form for form in item.forms() if cells(form) <= width), shortest)
        text = text if item.whole else shorten(text, max(width, 1), "...")
        if used + _FLOWED_GAP + cells(text) > width:
            lines.append([])
            used = 0
        else:
            lines[-1].append((" " * _FLOWED_GAP, ""))
            used += _FLOWED_GAP
        lines[-1].append((text, item.style))
        used += cells(text)
    return lines
