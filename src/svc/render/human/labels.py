"""Lays out labelled values, one a line: amounts align, prose wraps, ids stay whole (R63).

`human` lays out one object with it, `table` an object of a list on a narrow terminal.
"""

from collections.abc import Sequence
from typing import Final

from svc.render.style import Cell, Line
from svc.render.text import cells, pad, wrap

_GAP: Final = 2
_LABEL_MAX: Final = 24
_PROSE_MIN: Final = 24  # where a wrapped value has less room than this it begins under its label

Labelled = tuple[str, Cell]


def lay_out_labels(rows: Sequence[Labelled], width: int) -> list[Line]:
    """Writes each value beside its label, or over several lines if it does not fit."""
    beside = (
        max((cells(label) for label, _ in rows if cells(label) <= _LABEL_MAX), default=0) + _GAP
    )
    fitting = [_shorten_time(row, beside, width) for row in _align(rows)]
    if sum(not _fits(*row, beside, width) for row in fitting) * 2 > len(fitting):
        beside = 0  # a narrow terminal: every value under its label reads better than a mixture
    lines: list[Line] = []
    for label, item in fitting:
        fits = _fits(label, item, beside, width)
        lines += (
            [_lay_out_beside(label, item, beside, width)]
            if fits
            else _lay_out_prose(label, item, beside, width)
        )
    return lines


def _shorten_time(row: Labelled, beside: int, width: int) -> Labelled:
    """Chooses the longest form of a value that fits: beside its label, else on a line of its own.

    An urgent time whose hint does not fit (`in 2 days`) drops it, as its shorter forms say it.
    """
    label, item = row
    forms = item.forms()
    if item.urgent and beside + cells(item.text) + _GAP + cells(item.hint) > width:
        forms, item = forms[1:], item._replace(hint="")  # they say the hint themselves
    for room in (width - beside, width - _GAP):
        for form in forms:
            if cells(form) <= room:
                return label, item._replace(text=form)
    return label, item


def _fits(label: str, item: Cell, beside: int, width: int) -> bool:
    room = cells(label) + _GAP <= beside and beside + cells(item.text) <= width
    return room and "\n" not in item.text and "\t" not in item.text


def _align(rows: Sequence[Labelled]) -> list[Labelled]:
    figures = max((len(item.text.split(" ")[0]) for _, item in rows if item.money), default=0)
    return [
        (label, item._replace(text=" " * (figures - len(item.text.split(" ")[0])) + item.text))
        if item.money
        else (label, item)
        for label, item in rows
    ]


def _lay_out_beside(label: str, item: Cell, beside: int, width: int) -> Line:
    line: Line = [(pad(label, beside), "label"), (item.text, item.style)]
    if item.hint and beside + cells(item.text) + _GAP + cells(item.hint) <= width:
        line += [(" " * _GAP, ""), (item.hint, "hint")]
    return line


def _lay_out_prose(label: str, item: Cell, beside: int, width: int) -> list[Line]:
    """Wraps prose beside its label if there is room, else below it."""
    if item.whole or width - beside < _PROSE_MIN or cells(label) + _GAP > beside:
        texts = [item.text.strip()] if item.whole else wrap(item.text, width - _GAP)
        return [[(label, "label")], *([(" " * _GAP, ""), (text, item.style)] for text in texts)]
    first, *others = wrap(item.text, width - beside)
    lines: list[Line] = [[(pad(label, beside), "label"), (first, item.style)]]
    return [*lines, *([(" " * beside, ""), (text, item.style)] for text in others)]
