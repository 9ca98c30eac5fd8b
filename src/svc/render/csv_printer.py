"""Results as CSV that a spreadsheet opens safely and `svc batch` reads back (promise R64)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from svc.errors import PartlyDone
from svc.render.csv_columns import COLUMNS
from svc.render.csv_text import cell, row
from svc.render.fieldpaths import Path, bracketed, flatten, lookup, parse
from svc.render.json_dump import dump, scalar
from svc.render.pieces import pieces

_NAMED: Final = 5


class Csv:
    """Writes rows under a head; `names` are the paths of `--fields`, `raw` keeps formulas."""

    def __init__(
        self,
        write: Callable[[str], None],
        warn: Callable[[str], None],
        names: Sequence[Path],
        *,
        raw: bool,
    ) -> None:
        self._write = write
        self._warn = warn
        self._asked = tuple(names)
        self._raw = raw

    def one(self, text: str, data: object) -> None:
        """Prints one object as one row."""
        del text
        self.value(data)

    def page(self, text: str, data: dict[str, Any]) -> None:
        """Prints the objects of a list object."""
        del text
        self.value(data["data"])

    def stream(self, objects: Iterator[tuple[str, object]]) -> None:
        """Prints objects as they arrive, in constant memory.

        The columns are those asked for; else the kind's own and what the first page holds besides.
        Raises PartlyDone, after the last row, when a later object held more than that.
        """
        columns = self._asked
        lost: _Lost | None = None
        self._head(columns)
        first = True
        for piece in pieces(objects):
            if first:
                self._check(piece)
                first = False
            if not columns:
                columns = _columns(piece)
                lost = _Lost(frozenset(columns))
                self._head(columns)
            for item in piece:
                self._row(columns, item)
                if lost:
                    lost.watch(item)
        if lost:
            lost.report()

    def value(self, data: object) -> None:
        """Prints any result: objects under their columns, lists as rows, a value as one cell."""
        items = data if isinstance(data, list) else [data]
        rows = [item for item in items if isinstance(item, list)]
        if rows and len(rows) == len(items):
            for values in rows:
                self._write(row([self._cell(value) for value in values]))
            return
        objects = [item if isinstance(item, dict) else {"value": item} for item in items]
        columns = self._asked or _columns(objects)
        self._check(objects)
        self._head(columns)
        for item in objects:
            self._row(columns, item)

    def _check(self, objects: Sequence[object]) -> None:
        if self._asked:
            from svc.render.unknown_fields import warning

            words = warning(objects, self._asked)
            if words:
                self._warn(words)

    def _head(self, columns: Sequence[Path]) -> None:
        if columns:  # an empty list has no kind, and so no columns but those asked for
            self._write(row([cell(bracketed(path), raw=self._raw) for path in columns]))

    def _row(self, columns: Sequence[Path], item: object) -> None:
        self._write(row([self._cell(lookup(item, path)) for path in columns]))

    def _cell(self, value: object) -> str:
        if isinstance(value, str):
            return cell(value, raw=self._raw)
        if value is None:
            return ""
        return cell(dump(value), raw=self._raw) if isinstance(value, dict | list) else scalar(value)


class _Lost:
    """Watches for values that no column takes."""

    def __init__(self, columns: frozenset[Path]) -> None:
        self._columns = columns
        self._objects = 0
        self._paths: dict[Path, None] = {}

    def watch(self, item: object) -> None:
        missing = [
            path for path, value in flatten(item) if value is not None and path not in self._columns
        ]
        self._objects += bool(missing)
        for path in missing:
            if len(self._paths) < _NAMED:
                self._paths[path] = None

    def report(self) -> None:
        if self._objects:
            names = ", ".join(map(bracketed, self._paths))
            raise PartlyDone(
                f"{self._objects} objects have values that no column took: {names}",
                code="columns_missing",
                hint="-o ndjson keeps everything; --fields names the columns for csv",
            )


def _columns(rows: Sequence[object]) -> tuple[Path, ...]:
    """Gives the kind's columns and then all others that the rows hold."""
    first = rows[0] if rows else None
    kind = first.get("object") if isinstance(first, dict) else None
    declared = COLUMNS.get(kind, ()) if isinstance(kind, str) else ()
    found: dict[Path, None] = dict.fromkeys(map(parse, declared))
    empty: dict[Path, None] = {}
    for path, value in chain.from_iterable(map(flatten, rows)):
        (empty if value is None else found)[path] = None
    # A nested value that is null here and an object elsewhere needs no column of its own.
    above = {path[:depth] for path in found for depth in range(1, len(path))}
    return tuple(found) + tuple(path for path in empty if path not in above and path not in found)
