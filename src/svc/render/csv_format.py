"""CSV that is safe in a spreadsheet and that `svc batch` reads back (promise R64).

The columns of each kind of object and their order are fixed, so that scripts can rely on them.
Other values of the objects follow in further columns. The headers are bracket paths.

`output` chooses it for `-o csv`; `batch.columns` reads escaped cells back by `restore`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

from svc import service
from svc.errors import LocalError, PartlyDone
from svc.money import decimal_text
from svc.redaction import UNSAFE, is_plain, rewrite
from svc.render.dump import dump, scalar
from svc.render.paths import FieldPath, flatten, format_bracket_path, lookup, parse
from svc.render.printer import Objects, Printer, Write, chunks
from svc.render.text import make_visible
from svc.service.model import Field, Kind

# What begins a formula for a spreadsheet, in full width as well, and behind blanks, which some
# take away. A cell begins at the text's start, and where one that parts cells by semicolons or tabs
# would begin another.
_MARKS: Final = r"=+\-@\uff1d\uff0b\uff0d\uff20"
_MARK: Final = re.compile(rf"[{_MARKS}\t\r]")
_BEGINS: Final = r"(?:^|(?<=[;\t\r\n]))"
_FORMULA: Final = re.compile(rf"{_BEGINS}(?='*[^\S\t\r\n]*[{_MARKS}])|^(?='*[\t\r])")
_DEFUSED: Final = re.compile(rf"{_BEGINS}'(?='*[^\S\t\r\n]*[{_MARKS}])|^'(?='*[\t\r])")
_SHOWN: Final = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
_NEEDS_QUOTES: Final = re.compile(r'[",\n]|^\s|\s$')
# Most cells: text that is neither escaped nor quoted.
_AS_IT_IS: Final = re.compile(r"[0-9A-Za-z_](?:[ !#-+\--:<-\[\]-~]*[!#-+\--:<-\[\]-~])?").fullmatch


def cell(text: str, *, raw: bool = False) -> str:
    r"""Escapes the text of a cell against formulas and control characters.

    Text that would start a formula gets a `'` in front, unless `raw`. Characters that could control
    a terminal are written as `\u{..}` (promise R61). `restore` undoes both.
    """
    if not raw and _MARK.search(text):
        text = _FORMULA.sub("'", text)
    if is_plain(text) and r"\u{" not in text:
        return text
    text = text.replace(r"\u{", r"\u{5c}u{")  # so that text which looks like ours comes back
    return rewrite(UNSAFE, make_visible, text)


def restore(text: str, *, raw: bool = False) -> str:
    """Returns the original text of an escaped cell (promise R64)."""
    if "'" not in text and r"\u{" not in text:
        return text
    text = _SHOWN.sub(_char, text)
    return text if raw else _DEFUSED.sub("", text)


def _char(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= 0x10FFFF else found[0]  # noqa: PLR2004  the last code point


def row(cells: list[str]) -> str:
    """Joins cells to one line with its end (RFC 4180)."""
    return _join([_quote(text) for text in cells])


def _join(quoted: list[str]) -> str:
    return ",".join(quoted) + "\r\n" if quoted != [""] else '""\r\n'


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


@cache
def columns_of(kind: str) -> tuple[FieldPath, ...]:
    """The fixed columns of a kind of object, in order; empty for an unknown kind."""
    known = service.noun(kind)
    return tuple(_paths(known.fields)) if known is not None else ()


def _paths(fields: Sequence[Field]) -> Iterator[FieldPath]:
    """Yields the path of each value with a column; for a list of objects those of the first one."""
    for field in _in_order(fields):
        kind = field.kind
        above = (field.name, "0") if kind.entry else (field.name,)
        if kind.inner:
            yield from ((*above, *path) for path in _paths(kind.inner))
        elif kind.type not in ("list", "free"):
            yield (field.name,)


def _in_order(fields: Sequence[Field]) -> list[Field]:
    """Sorts the fields with columns, so that each is after the field that it has to follow."""
    shown = [one for one in fields if one.csv != "-" and one.answered == "always"]
    found = [one for one in shown if not one.csv]
    waiting = [one for one in shown if one.csv]
    for field in (*waiting, *waiting):  # twice: one may follow another one that follows
        names = [one.name for one in found]
        if field in waiting and field.csv in names:
            found.insert(names.index(field.csv) + 1, field)
            waiting.remove(field)
    return found + waiting


@cache
def _kind_at(name: str, path: FieldPath) -> Kind | None:
    """The kind of a value of the service's objects, or None if it is not documented."""
    known = service.noun(name)
    fields = () if known is None else known.fields
    kind: Kind | None = None
    for part in (part for part in path if not part.isdecimal()):
        found = next((field for field in fields if field.name == part), None)
        if found is None:
            return None
        kind, fields = found.kind, found.kind.inner
    return kind


_NAMED: Final = 5


class Csv(Printer):
    """Writes a header row and rows; `names` are the paths of `--fields`, `raw` keeps formulas.

    `decimals` writes amounts with the decimal places of their currency.
    """

    def __init__(
        self,
        write: Write,
        warn: Write,
        names: Sequence[FieldPath],
        *,
        raw: bool,
        decimals: bool = False,
    ) -> None:
        super().__init__(write, warn)
        self._asked = tuple(names)
        self._raw = raw
        self._decimals = decimals

    def stream(self, objects: Objects) -> None:
        """Prints objects as they arrive, in constant memory.

        The columns are those of `--fields`, or else those of the kind with further values of the
        first page. Raises PartlyDone, after the last row, if a later object had other values.
        """
        columns = self._asked
        lost: _Lost | None = None
        self._head(columns)
        first = True
        for piece in chunks(objects):
            if first:
                self._check(piece)
                first = False
            if not columns:
                columns = _columns(piece)
                lost = _Lost(columns)
                self._head(columns)
            for item in piece:
                self._write_object(columns, lost, item)
        if first and not columns:
            self._head(_columns_without_rows(self.kind))
        if lost:
            lost.report()

    def _write_object(
        self, columns: Sequence[FieldPath], lost: "_Lost | None", item: object
    ) -> None:
        cells = None if lost is None else lost.watch(item, self._write_cell)
        if cells is None or self._decimals:
            self._row(columns, item)
        else:
            self._write(_join(cells))

    def value(self, data: object) -> None:
        """Prints any result: objects under their columns, lists as rows, a value as one cell."""
        items = data if isinstance(data, list) else [data]
        rows = [item for item in items if isinstance(item, list)]
        if rows and len(rows) == len(items):
            for values in rows:
                self._write(row([self._cell(value) for value in values]))
            return
        objects = [item if isinstance(item, dict) else {"value": item} for item in items]
        columns = self._asked or _columns(objects) or _columns_without_rows(self.kind)
        self._check(objects)
        self._head(columns)
        for item in objects:
            self._row(columns, item)

    def _check(self, objects: Sequence[object]) -> None:
        if self._asked:
            from svc.render.human.columns import warn_of_unknown

            warn_of_unknown(objects, self._asked, self._warn)

    def _head(self, columns: Sequence[FieldPath]) -> None:
        if columns:  # an empty list of an unknown kind has none but those asked for
            self._write(row([cell(format_bracket_path(path), raw=self._raw) for path in columns]))

    def _row(self, columns: Sequence[FieldPath], item: object) -> None:
        read = self._in_decimals if self._decimals else lookup
        self._write(_join([self._write_cell(read(item, path)) for path in columns]))

    def _in_decimals(self, item: object, path: FieldPath) -> object:
        """Converts an amount to decimals; other values stay unchanged.

        Raises:
            LocalError: the currency, and so its number of places, is not known.
        """
        value = lookup(item, path)
        name = item.get("object") if isinstance(item, dict) else None
        kind = _kind_at(name, path) if isinstance(name, str) else None
        if kind is None or kind.type != "amount" or type(value) is not int:
            return value
        currency = lookup(item, (*path[:-1], kind.currency)) or lookup(item, (kind.currency,))
        text = decimal_text(value, str(currency))
        if text is None:
            raise LocalError(
                f"{format_bracket_path(path)} is in {currency!r}, whose decimals are not known.",
                code="currency_unknown",
                param="decimals",
                hint="Leave --decimals out: amounts are in minor units then",
            )
        return text

    def _write_cell(self, value: object) -> str:
        if type(value) is str:
            return value if _AS_IT_IS(value) else _quote(cell(value, raw=self._raw))
        return str(value) if type(value) is int else _quote(self._cell(value))

    def _cell(self, value: object) -> str:
        if isinstance(value, str):
            return cell(value, raw=self._raw)
        if value is None:
            return ""
        return cell(dump(value), raw=self._raw) if isinstance(value, dict | list) else scalar(value)


class _Node:
    """One name of the tree of columns: its own column, if it has one, and what is within.

    Attributes:
        inner: the names within an object.
        entries: the positions within a list.
    """

    __slots__ = ("entries", "inner", "place")

    def __init__(self) -> None:
        self.place: int | None = None
        self.inner: dict[str, _Node] = {}
        self.entries: dict[int, _Node] = {}

    def add(self, part: str) -> "_Node":
        node = self.inner.setdefault(part, _Node())
        if part.isdecimal() and part == str(int(part)):
            self.entries[int(part)] = node
        return node

    def fill(self, value: object, cells: list[str], write: Callable[[object], str]) -> bool:
        """Writes the cells of a value and of those within; returns whether each has a column."""
        if self.place is not None:
            cells[self.place] = write(value)
        if type(value) is dict:
            values: Iterable[tuple[object, object]] = value.items()
            nodes: Mapping[Any, _Node] = self.inner
        elif type(value) is list:
            values, nodes = enumerate(value), self.entries
        else:
            return self.place is not None
        is_complete = True
        for part, one in values:
            node = nodes.get(part)
            if one is not None and (node is None or not node.fill(one, cells, write)):
                is_complete = False
        return is_complete


class _Lost:
    """Reads the cells of objects, and records the values for which there is no column."""

    def __init__(self, columns: Sequence[FieldPath]) -> None:
        self._columns = frozenset(columns)
        self._tree = _Node()
        for place, path in enumerate(columns):
            node = self._tree
            for part in path:
                node = node.add(part)
            node.place = place
        self._objects = 0
        self._paths: dict[FieldPath, None] = {}

    def watch(self, item: object, write: Callable[[object], str]) -> list[str]:
        """Returns the cells of an object, which one walk reads."""
        cells = [""] * len(self._columns)
        if self._tree.fill(item, cells, write):
            return cells
        missing = [
            path for path, value in flatten(item) if value is not None and path not in self._columns
        ]
        self._objects += bool(missing)
        for path in missing:
            if len(self._paths) < _NAMED:
                self._paths[path] = None
        return cells

    def report(self) -> None:
        if self._objects:
            names = ", ".join(map(format_bracket_path, self._paths))
            raise PartlyDone(
                f"{self._objects} objects have values that no column took: {names}",
                code="columns_missing",
                hint="-o ndjson keeps everything; --fields names the columns for csv",
            )


# What the lists of this program and of the sandbox's controls hold; the service's objects describe
# their own. A test compares each with a list that has rows.
_OURS: Final = {
    "request": "id object status operation created path object_id mode profile idempotency_key "
    "error_code",
    "kept_delivery": "object id type received_at state attempts copies object_id error target "
    "status",
    "profile": "object name active base_url sandbox auth api_version proxy ca_bundle",
    "key": "object profile origin mode kind fingerprint added keyring checked",
    "reminder": "object type name status profile origin mode source gone_with_reset since "
    "age_days due old_key old_key_ends_by next",
    "sandbox": "object status pid port url db started log now version certificate",
    "fault": "id object match[path] skip times phase effect[status] fired",
    "failed_event": "object number event type group reason deliveries time seq",
    "delivery": "id object event event_type endpoint url attempt status scheduled_at started_at "
    "response_code error duration_ms next_attempt livemode",
    "email": "id object type webhook_endpoint subject body created livemode",
    "logged_request": "id object method path params key idempotency_key status replayed created "
    "livemode error_code",
}


def _columns_without_rows(kind: str) -> tuple[FieldPath, ...]:
    return columns_of(kind) or tuple(map(parse, _OURS.get(kind, "").split()))


def _columns(rows: Sequence[object]) -> tuple[FieldPath, ...]:
    """Returns the columns of the kind, then those for all other values of the rows."""
    first = rows[0] if rows else None
    kind = first.get("object") if isinstance(first, dict) else None
    declared = columns_of(kind) if isinstance(kind, str) else ()
    found: dict[FieldPath, None] = dict.fromkeys(declared)
    empty: dict[FieldPath, None] = {}
    for path, value in chain.from_iterable(map(flatten, rows)):
        (empty if value is None else found)[path] = None
    # A nested value that is null here and an object elsewhere needs no column of its own.
    above = {path[:depth] for path in found for depth in range(1, len(path))}
    return tuple(found) + tuple(path for path in empty if path not in above and path not in found)
