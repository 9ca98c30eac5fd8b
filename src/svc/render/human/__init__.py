"""Results for people: one object as a block, many as a table, findings with their remedies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from svc.render.human.block import block
from svc.render.human.cells import cell, plain
from svc.render.human.columns import choose, warning
from svc.render.human.labels import labelled
from svc.render.human.table import Listing
from svc.render.palette import Style
from svc.render.paths import Path, Record
from svc.render.printer import Objects, Printer, Write, chunks
from svc.render.style import Cell, Line, Screen, styled
from svc.render.text import cells, one_line, pad, wrap, wrap_beside

if TYPE_CHECKING:
    from svc.render.called import Called

_NOTHING: Final[list[Line]] = [[("Nothing found.", "")]]


class Human(Printer):
    """Writes results for people; `names` are the paths of `--fields`.

    `warn` takes a sentence about those that nothing has.
    """

    def __init__(
        self,
        write: Write,
        warn: Write,
        screen: Screen,
        names: Sequence[Path],
        *,
        color: bool,
    ) -> None:
        super().__init__(write, warn)
        self._screen = screen
        self._names = names
        self._color = color

    def stream(self, objects: Objects) -> None:
        """Prints objects as they arrive, a page at a time."""
        listing = Listing(self._screen, self._names)
        empty = True
        for piece in chunks(objects):
            if empty:
                self._check(piece)
            self._print(listing.lines([_named(item) for item in piece]))
            empty = False
        if empty:
            self._print(_NOTHING)

    def value(self, data: object) -> None:
        """Prints any result."""
        self._check(data if isinstance(data, list) else [data])
        self._print(self._lines(data))

    def checkup(self, findings: list[dict[str, Any]], called: "Called | None" = None) -> None:
        """Prints the findings of a check-up, its remedies for the name that was `called`."""
        if self._names:
            self.value(findings)
            return
        self._print(_checked(findings, self._screen, called))

    def _lines(self, data: object) -> list[Line]:
        if data is None or data in ({}, []):
            return _NOTHING
        if isinstance(data, dict):
            return self._fields(data) if self._names else block(data, self._screen)
        if not isinstance(data, list):
            return [[(line, "")] for line in plain(data).expandtabs().split("\n")]
        if any(isinstance(item, dict) for item in data):
            return Listing(self._screen, self._names).lines([_named(item) for item in data])
        if all(isinstance(item, list) for item in data):
            return Listing(self._screen, heads=False).lines([_named(item) for item in data])
        return [[(one_line(plain(item)), "")] for item in data]

    def _fields(self, data: dict[str, Any]) -> list[Line]:
        record = Record(data)
        columns = choose([data], self._names)
        items = ((column.label, cell(column, record, self._screen)) for column in columns)
        return labelled(
            [(label, item or Cell("none", "quiet")) for label, item in items], self._screen.width
        )

    def _check(self, objects: Sequence[object]) -> None:
        words = warning(objects, self._names)
        if words:
            self._warn(words)

    def _print(self, lines: list[Line]) -> None:
        self._write(styled(lines, color=self._color))


def _named(item: object) -> dict[str, Any]:
    """Gives the values of a row names, for results of --query that are no objects."""
    if isinstance(item, dict):
        return item
    values = item if isinstance(item, list) else [item]
    return {str(index): value for index, value in enumerate(values)}


_STYLES: Final[dict[str, Style]] = {
    "ok": "good",
    "warning": "attention",
    "failed": "bad",
    "skipped": "quiet",
    # Of a secret that is to be replaced one day.
    "due": "attention",
    "overdue": "bad",
    "unknown": "attention",
    "sandbox": "quiet",
}
_GAP: Final = "  "
_BESIDE_MIN: Final = 30  # columns that a text needs beside its name


def _checked(
    findings: Sequence[dict[str, Any]], screen: Screen, called: "Called | None"
) -> list[Line]:
    """Lays findings out in columns, or the text below its name where the screen is narrow."""
    verdict = max(cells(each["status"]) for each in findings)
    name = max(cells(each["name"]) for each in findings)
    beside = verdict + name + 2 * len(_GAP)
    margin = beside if screen.width - beside >= _BESIDE_MIN else 2
    lines: list[Line] = []
    for each in findings:
        lines += _finding(each, verdict, name, margin, screen)
        # A command at the end of a remedy has a line of its own: people copy it.
        remedy = wrap_beside(one_line(each["fix"] or ""), max(screen.width - margin, 1), called)
        lines.extend([(" " * margin + text, "hint")] for text in remedy if text)
    return lines


def _finding(
    each: dict[str, Any], verdict: int, name: int, margin: int, screen: Screen
) -> list[Line]:
    status = each["status"]
    head: Line = [(pad(status, verdict), _STYLES.get(status, "")), (_GAP, "")]
    texts = _wrapped(each["detail"], screen.width - margin)
    if margin > 2:  # noqa: PLR2004  beside the name
        head += [(pad(each["name"], name), "title"), (_GAP + texts.pop(0), "")]
    else:
        head += [(each["name"], "title")]
    rest: list[Line] = [[(" " * margin + text, "")] for text in texts]
    return [head, *rest]


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(one_line(text), max(width, 1))
