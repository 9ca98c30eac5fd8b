"""CSV that a spreadsheet opens safely and `svc batch` reads back (promise R64).

The columns of each kind and their order are fixed, so that scripts can rely on them; what else the
objects hold comes after them. The names are bracket paths.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final

from svc.errors import PartlyDone
from svc.redaction import UNSAFE, is_plain, rewritten
from svc.render.dump import dump, scalar
from svc.render.paths import FieldPath, bracketed, flatten, lookup, parse
from svc.render.printer import Objects, Printer, Write, chunks
from svc.render.text import visible

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


def cell(text: str, *, raw: bool = False) -> str:
    r"""Prepares one text cell: no formula starts in it and no control character is in it.

    What would start a formula gets a `'` in front, unless `raw`. Characters that could act on
    a terminal are written as `\u{..}` (promise R61). `restore` undoes both.
    """
    if not raw and _MARK.search(text):
        text = _FORMULA.sub("'", text)
    if is_plain(text) and r"\u{" not in text:
        return text
    text = text.replace(r"\u{", r"\u{5c}u{")  # so that text which looks like ours comes back
    return rewritten(UNSAFE, visible, text)


def restore(text: str, *, raw: bool = False) -> str:
    """Gives back the text that `cell` was given (promise R64)."""
    if "'" not in text and r"\u{" not in text:
        return text
    text = _SHOWN.sub(_char, text)
    return text if raw else _DEFUSED.sub("", text)


def _char(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= 0x10FFFF else found[0]  # noqa: PLR2004  the last code point


def row(cells: list[str]) -> str:
    """Joins cells to one line with its end (RFC 4180)."""
    return ",".join(map(_quoted, cells)) + "\r\n" if cells != [""] else '""\r\n'


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


COLUMNS: Final = {
    kind: tuple(names.split())
    for kind, names in {
        "order": """
            id status amount currency settlement_currency shipping[country] shipping[postal_code]
            items[0][name] items[0][hs_code] items[0][origin_country] items[0][quantity]
            items[0][unit_amount] capture_method landed_cost[duty] landed_cost[vat]
            landed_cost[fees] landed_cost[total] landed_cost[currency] landed_cost[guaranteed]
            amount_total amount_captured amount_refunded latest_payment paid_at cancelled_at
            cancellation_reason created livemode""",
        "payment": """
            id status order amount amount_captured amount_released amount_refunded currency method
            card[brand] card[last4] retried acquirer failure_code decline_type disputed
            settlement_amount settlement_currency fx_rate captured_at created livemode""",
        "refund": """
            id status payment order amount currency reason failure_reason created livemode""",
        "payout": """
            id status amount currency source_amount source_currency fx_rate network_fees
            destination[country] destination[account_holder_name] destination[bank_name]
            destination[last4] reference failure_reason estimated_arrival sent_at paid_at failed_at
            created livemode""",
        "landed_cost_quote": """
            id guaranteed duty vat fees total currency shipping[country] shipping[postal_code]
            ship_from_country shipping_amount expires_at created livemode""",
        "dispute": """
            id status amount currency reason payment order evidence_status evidence_due_by
            evidence_submitted_at closed_at created livemode""",
        "event": "id type created livemode api_version data[object][id] data[object][object]",
        "webhook_endpoint": "id url status description api_version created livemode",
        "payment_method": "id type card[brand] card[last4] card[network_token]",
    }.items()
}


_NAMED: Final = 5


class Csv(Printer):
    """Writes rows under a head; `names` are the paths of `--fields`, `raw` keeps formulas."""

    def __init__(
        self,
        write: Write,
        warn: Write,
        names: Sequence[FieldPath],
        *,
        raw: bool,
    ) -> None:
        super().__init__(write, warn)
        self._asked = tuple(names)
        self._raw = raw

    def stream(self, objects: Objects) -> None:
        """Prints objects as they arrive, in constant memory.

        The columns are those asked for; else the kind's own and what the first page holds besides.
        Raises PartlyDone, after the last row, when a later object held more than that.
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
            from svc.render.human.columns import warn_of_unknown

            warn_of_unknown(objects, self._asked, self._warn)

    def _head(self, columns: Sequence[FieldPath]) -> None:
        if columns:  # an empty list has no kind, and so no columns but those asked for
            self._write(row([cell(bracketed(path), raw=self._raw) for path in columns]))

    def _row(self, columns: Sequence[FieldPath], item: object) -> None:
        self._write(row([self._cell(lookup(item, path)) for path in columns]))

    def _cell(self, value: object) -> str:
        if isinstance(value, str):
            return cell(value, raw=self._raw)
        if value is None:
            return ""
        return cell(dump(value), raw=self._raw) if isinstance(value, dict | list) else scalar(value)


class _Lost:
    """Watches for values that no column takes."""

    def __init__(self, columns: frozenset[FieldPath]) -> None:
        self._columns = columns
        self._objects = 0
        self._paths: dict[FieldPath, None] = {}

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


def _columns(rows: Sequence[object]) -> tuple[FieldPath, ...]:
    """Gives the kind's columns and then all others that the rows hold."""
    first = rows[0] if rows else None
    kind = first.get("object") if isinstance(first, dict) else None
    declared = COLUMNS.get(kind, ()) if isinstance(kind, str) else ()
    found: dict[FieldPath, None] = dict.fromkeys(map(parse, declared))
    empty: dict[FieldPath, None] = {}
    for path, value in chain.from_iterable(map(flatten, rows)):
        (empty if value is None else found)[path] = None
    # A nested value that is null here and an object elsewhere needs no column of its own.
    above = {path[:depth] for path in found for depth in range(1, len(path))}
    return tuple(found) + tuple(path for path in empty if path not in above and path not in found)
