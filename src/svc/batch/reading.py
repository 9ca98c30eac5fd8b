"""Reads the rows of a batch file: CSV with bracket paths as its header, or NDJSON.

`cli.batch.rows` calls `rows_of` before anything is sent: a file in, a `Read` for each row out,
which `validate` then turns into a request. A plain row of a CSV comes out as the request itself
(`BatchRow`), which `templates` has built.
"""

import codecs
import csv
import io
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, TypeAlias

from svc.batch.columns import Cells, Columns
from svc.batch.operations import BatchOperation
from svc.batch.rows import BadRow, Read, parse
from svc.client.fields import BodyPath
from svc.delivery.plan import BatchRow
from svc.errors import UsageError
from svc.inputs import STDIN, decode

if TYPE_CHECKING:
    import _csv

FileFormat = Literal["csv", "ndjson"]
# Of the columns, the number and line of a row, and its cells.
BuildQuickly: TypeAlias = Callable[[Columns, int, int, Cells], BatchRow | None]

SIZE_MAX: Final = 256 * 1024 * 1024
_ONE_A_LINE: Final = "one object a line: jq -c '.[]' FILE"
_CHUNK: Final = 1024 * 1024
_ENDINGS: Final[dict[str, FileFormat]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}
_SEPARATORS: Final = ",;\t"
_LONE_RETURN: Final = "new-line character"  # how the csv module's error of one begins


def format_of(name: str, file: BinaryIO) -> FileFormat:
    """The format of a file by its suffix, else by its first bytes; standard input is NDJSON."""
    if name == STDIN:
        return "ndjson"
    known = _ENDINGS.get(Path(name).suffix.lower())
    if known is not None:
        return known
    begin = file.read(_CHUNK).removeprefix(codecs.BOM_UTF8).lstrip()
    return "ndjson" if begin.startswith(b"{") else "csv"


def rows_of(
    file: BinaryIO,
    form: FileFormat,
    operation: BatchOperation,
    *,
    raw: bool = False,
    decimals: bool = False,
    blank_means_all: bool = False,
    ignored: Container[BodyPath] = (),
    quick: BuildQuickly | None = None,
) -> Iterator[Read | BatchRow]:
    """Yields every row in the order of the file, as it is read; `raw` takes cells as they are.

    `decimals` reads amounts with the decimals of the row's currency. `blank_means_all` leaves out
    an amount whose cell of a CSV is blank, and columns that are `ignored` are left out. `quick`
    is asked first for each row of a CSV: it returns the request, or None where it cannot build it.

    Raises:
        UsageError: the file as a whole cannot be read: its encoding, its head, a quote that is
            never closed, a carriage return in the middle of a line, a column of a CSV whose every
            value is `N.0`. After that no row could be trusted.
    """
    if form == "ndjson":
        if decimals:
            raise UsageError("--decimals is for a CSV; NDJSON has minor units.", param="--decimals")
        return _json_rows(file)

    columns_of = partial(
        Columns,
        operation=operation,
        raw=raw,
        decimals=decimals,
        blank_means_all=blank_means_all,
        ignored=ignored,
    )
    return _csv_rows(file, columns_of, quick or (lambda *_: None))


def _csv_rows(
    file: BinaryIO, columns_of: Callable[[list[str]], Columns], quick: BuildQuickly
) -> Iterator[Read | BatchRow]:
    has_feeds = _find_feeds(file)
    # Where lines end in a line feed, a lone carriage return does not end one: a program that
    # appends the end of such a line leaves it in the middle, and its cells would be taken for two
    # rows. In a file without line feeds it is the end of a line.
    ends = "\n" if has_feeds else ""
    separator = _find_separator(_text_of(file, ends))
    reader = csv.reader(_text_of(file, ends), delimiter=separator, strict=True)
    lines = _records(reader)
    _, head = next(lines, (1, []))
    if not any(head):
        raise UsageError(
            "The file has no header row.",
            code="file_invalid",
            hint="The first line of the file names the columns, such as payment,amount,reason",
        )
    columns = columns_of(head)
    filled = (one for one in lines if any(one[1]))  # a spreadsheet writes `,,` below its rows
    for number, (line, cells) in enumerate(filled, 1):
        row = quick(columns, number, line, cells)
        if row is not None:
            yield row
            continue
        try:
            yield Read(number, line, columns.row(cells))
        except BadRow as bad:
            yield Read(number, line, bad)
    columns.refuse_zeros()


def _text_of(file: BinaryIO, ends: str) -> Iterator[str]:
    """Yields the lines of a file from its beginning; refuses a file that is not UTF-8."""
    file.seek(0)
    text = io.TextIOWrapper(file, "utf-8-sig", newline=ends)
    try:
        for line in text:  # noqa: UP028  `yield from` would close the file with its text
            yield line
    except UnicodeDecodeError:
        file.seek(0)
        decode(file.read(), "the file", "FILE")  # names the line
        raise
    finally:
        with suppress(ValueError):  # the file was closed first
            text.detach()


def _find_feeds(file: BinaryIO) -> bool:
    """Whether the file has line feeds; refuses a NUL, which ends a string in C programs."""
    file.seek(0)
    feeds = 0
    while chunk := file.read(_CHUNK):
        at = chunk.find(b"\0")
        if at >= 0:
            raise UsageError(
                f"Line {feeds + chunk.count(10, 0, at) + 1} of the file holds a NUL character.",
                code="file_invalid",
                param="FILE",
                hint="Save it as UTF-8 text; a file of UTF-16 is full of them",
            )
        feeds += chunk.count(10)
    return feeds > 0


def _records(reader: "_csv.Reader") -> Iterator[tuple[int, list[str]]]:
    """Yields the records that are not empty, each with the number of its first line."""
    begins = 1
    try:
        for cells in reader:
            if cells:
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        if str(error).startswith(_LONE_RETURN):
            raise UsageError(
                f"Line {reader.line_num} of the file holds a carriage return (CR) in its middle.",
                code="file_invalid",
                param="FILE",
                hint="Something was added behind the CR of a line that ended in CR LF. "
                "Take all CRs out: tr -d '\\r' < FILE > NEW",
            ) from None
        raise UsageError(
            f"The file is not valid CSV from line {begins} on: {error}.",
            code="file_invalid",
            hint='Put a cell with a comma, a quote or a line feed in quotes: "Smith, ""Al"""',
        ) from None


def _find_separator(lines: Iterator[str]) -> str:
    """The first separator of the header outside quotes; many spreadsheets write semicolons."""
    quoted = False
    for mark in dropwhile("\r\n".__contains__, chain.from_iterable(lines)):
        if mark == '"':
            quoted = not quoted
        elif not quoted and mark in _SEPARATORS:
            return mark
        elif not quoted and mark == "\n":
            break
    return ","


def _json_rows(file: BinaryIO) -> Iterator[Read]:
    number = 0
    for line, text in enumerate(_text_of(file, "\n"), 1):
        row = text.removesuffix("\n")
        if not row.strip():
            continue
        if number == 0 and row.lstrip().startswith("["):  # some of its lines may be rows
            raise UsageError(
                "The file is a JSON array, not an object a line. Nothing was sent.",
                code="file_invalid",
                hint=_ONE_A_LINE,
            )
        number += 1
        try:
            yield Read(number, line, _object(row))
        except BadRow as bad:
            yield Read(number, line, bad)


def _object(text: str) -> dict[str, object]:
    value = parse(text)
    if not isinstance(value, dict):
        hint = _ONE_A_LINE if isinstance(value, list) else None
        raise BadRow("it is not a JSON object", hint=hint)
    return value
