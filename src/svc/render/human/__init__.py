"""Prints results for people: an object as a block, several as a table, findings with hints.

`svc.render.output` makes a `Human` for `-o human`, the format at a terminal. Data in, styled lines
out.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from svc.render.human.cells import NOTHING, cell, format_plain, status
from svc.render.human.columns import choose, infer_field, label_of, view_of, warn_of_unknown
from svc.render.human.labels import Labelled, lay_out_labels
from svc.render.human.table import Listing, inner, lay_out_flow
from svc.render.paths import FieldPath, Record, split_path
from svc.render.printer import Objects, Printer, Write, chunks
from svc.render.style import Cell, Line, Screen, Style, indent, style_lines
from svc.render.text import cells as width
from svc.render.text import one_line, pad, wrap, wrap_beside
from svc.render.views.model import Part, View, ViewField

if TYPE_CHECKING:
    from svc.render.program_name import ProgramName

_NOTHING: Final[list[Line]] = [[("Nothing found.", "")]]


class Human(Printer):
    """Writes results for people; `names` are the paths of `--fields`.

    `warn` is called with a sentence about paths that no object has.
    """

    def __init__(
        self,
        write: Write,
        warn: Write,
        screen: Screen,
        names: Sequence[FieldPath],
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
                warn_of_unknown(piece, self._names, self._warn)
            self._print(listing.lines([_name_values(item) for item in piece]))
            empty = False
        if empty:
            self._print(_NOTHING)

    def value(self, data: object) -> None:
        """Prints any result."""
        warn_of_unknown(data if isinstance(data, list) else [data], self._names, self._warn)
        self._print(self._lines(data))

    def checkup(
        self, findings: list[dict[str, Any]], program_name: "ProgramName | None" = None
    ) -> None:
        """Prints the findings of a check; their commands begin with `program_name`."""
        if self._names:
            self.value(findings)
            return
        self._print(_lay_out_findings(findings, self._screen, program_name))

    def _lines(self, data: object) -> list[Line]:
        if data is None or data in ({}, []):
            return _NOTHING
        if isinstance(data, dict):
            return self._fields(data) if self._names else block(data, self._screen)
        if not isinstance(data, list):
            return [[(line, "")] for line in format_plain(data).expandtabs().split("\n")]
        if any(isinstance(item, dict) for item in data):
            return Listing(self._screen, self._names).lines([_name_values(item) for item in data])
        if all(isinstance(item, list) for item in data):
            return Listing(self._screen, heads=False).lines([_name_values(item) for item in data])
        return [[(one_line(format_plain(item)), "")] for item in data]

    def _fields(self, data: dict[str, Any]) -> list[Line]:
        record = Record(data)
        columns = choose([data], self._names)
        items = ((column.label, cell(column, record, self._screen)) for column in columns)
        return lay_out_labels(
            [(label, item or Cell("none", "quiet")) for label, item in items], self._screen.width
        )

    def _print(self, lines: list[Line]) -> None:
        self._write(style_lines(lines, color=self._color))


def _name_values(item: object) -> dict[str, Any]:
    """Names the values of a row, for results of --query that are no objects."""
    if isinstance(item, dict):
        return item
    values = item if isinstance(item, list) else [item]
    return {str(index): value for index, value in enumerate(values)}


_STYLES: Final[dict[str, Style]] = {
    "ok": "good",
    "warning": "attention",
    "failed": "bad",
    "skipped": "quiet",
    # Of a rule that a webhook handler must bear.
    "passed": "good",
    "advice": "attention",
    # Of a secret that is to be replaced one day.
    "due": "attention",
    "overdue": "bad",
    "unknown": "attention",
    "sandbox": "quiet",
}
_GAP: Final = "  "
_BESIDE_MIN: Final = 30  # columns that a text needs beside its name


def _lay_out_findings(
    findings: Sequence[dict[str, Any]], screen: Screen, program_name: "ProgramName | None"
) -> list[Line]:
    """Lays out findings in columns, or each text below its name on a narrow screen."""
    verdict = max(width(each["status"]) for each in findings)
    name = max(width(each["name"]) for each in findings)
    beside = verdict + name + 2 * len(_GAP)
    margin = beside if screen.width - beside >= _BESIDE_MIN else 2
    lines: list[Line] = []
    for each in findings:
        lines += _lay_out_finding(each, verdict, name, margin, screen)
        # A command at the end of a remedy has a line of its own: people copy it.
        remedy = wrap_beside(
            one_line(each["fix"] or ""), max(screen.width - margin, 1), program_name
        )
        lines.extend([(" " * margin + text, "hint")] for text in remedy if text)
    return lines


def _lay_out_finding(
    each: dict[str, Any], verdict: int, name: int, margin: int, screen: Screen
) -> list[Line]:
    status = each["status"]
    head: Line = [(pad(status, verdict), _STYLES.get(status, "")), (_GAP, "")]
    texts = wrap(one_line(each["detail"]), max(screen.width - margin, 1))
    if margin > 2:  # noqa: PLR2004  beside the name
        head += [(pad(each["name"], name), "title"), (_GAP + texts.pop(0), "")]
    else:
        head += [(each["name"], "title")]
    rest: list[Line] = [[(" " * margin + text, "")] for text in texts]
    return [head, *rest]


_INDENT: Final = 2
_DEEPEST: Final = 5
_ID: Final = ViewField("id", "ID", "id")
_UNKNOWN: Final = View(title="")


def block(data: dict[str, Any], screen: Screen) -> list[Line]:
    """Lays out one object by the view of its kind, or by its own names if the kind is unknown."""
    return _object(Record(data), screen)


def _object(record: Record, screen: Screen) -> list[Line]:
    kind = record.data.get("object")
    if not isinstance(kind, str):
        return _body((), (), record, screen)
    view = view_of(record.data) or _UNKNOWN
    title = _title(view, kind, record, screen)
    body = _body(view.fields, view.parts, record, _narrow(screen))
    return [*title, [], *indent(body, _INDENT)] if body else title


def _title(view: View, kind: str, record: Record, screen: Screen) -> list[Line]:
    record.take("object")
    items = [Cell(view.title or label_of(kind), "title")]
    identity = cell(_ID, record, screen)
    if identity:
        items.append(identity._replace(style="title"))
    state = cell(view.status, record, screen)
    if state:
        items.append(state)
    live = record.data.get("livemode")
    if isinstance(live, bool):
        record.take("livemode")
        items.append(status("live mode" if live else "test mode"))
    return lay_out_flow(items, screen.width)


def _body(
    fields: tuple[ViewField, ...], parts: tuple[Part, ...], record: Record, screen: Screen
) -> list[Line]:
    """Lays out the fields, then values that are in no view, then the nested parts."""
    rows: list[Labelled] = []
    for field in fields:
        item = cell(field, record, screen)
        if item:
            rows.append((field.label, item))
    groups = [(part, record.take(part.path)) for part in parts]
    for path, value in record.rest():
        # A value without a view has the service's own name; one of svc's results has words.
        label = one_line(".".join(path)) if record.of_service else label_of(path[-1])
        if isinstance(value, dict) or _objects(value):
            groups.append((Part(path, label), value))
        elif value not in NOTHING or not record.of_service:
            # A setting of ours without a value says that it can be set.
            guessed = replace(infer_field(path[-1], value, record.data), path=path)
            rows.append((label, cell(guessed, record, screen) or Cell("none", "quiet")))
    lines = lay_out_labels(rows, screen.width)
    for part, value in groups:
        if value not in NOTHING:
            lines += [*([[]] if lines else []), *_part(part, value, record, screen)]
    return lines


def _part(part: Part, value: object, record: Record, screen: Screen) -> list[Line]:
    inside = _narrow(screen)
    if record.depth >= _DEEPEST:
        lines = _prose(value, inside)
    elif isinstance(value, dict) and part.nested and "object" in value:
        return _object(record.inner(split_path(part.path), value), screen)
    elif isinstance(value, dict):
        lines = _body(part.fields, (), record.inner(split_path(part.path), value), inside)
    elif objects := _objects(value):
        lines = inner(part.columns, [Record(item, record) for item in objects], inside)
    else:
        lines = _prose(value, inside)
    return [[(part.title, "title")], *indent(lines, _INDENT)]


def _objects(value: object) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else []
    return items if all(isinstance(item, dict) for item in items) else []


def _prose(value: object, screen: Screen) -> list[Line]:
    return [[(line, "")] for line in wrap(format_plain(value), screen.width)]


def _narrow(screen: Screen) -> Screen:
    return screen._replace(width=screen.width - _INDENT)
