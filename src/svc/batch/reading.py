"""A file's rows: CSV with bracket paths as its head, or NDJSON."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from svc.batch.columns import Columns
from svc.batch.rows import BadRow, Read
from svc.batch.strict_json import parse
from svc.errors import UsageError

if TYPE_CHECKING:
    import _csv

Format = Literal["csv", "ndjson"]

STDIN: Final = "-"
SIZE_MAX: Final = 256 * 1024 * 1024
_ENDINGS: Final[dict[str, Format]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}
_SEPARATORS: Final = ",;\t"


def read_bytes(name: str, stdin: BinaryIO) -> bytes:
    """Reads a whole file, or standard input for `-`, before anything is sent.

    Raises:
        UsageError: it cannot be read, or is over 256 MiB.
    """
    try:
        data = stdin.read(SIZE_MAX + 1) if name == STDIN else _read_file(Path(name))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{name} cannot be read: {why}.", param="FILE") from None
    if len(data) > SIZE_MAX:
        raise UsageError(
            f"{name} is over {SIZE_MAX // 2**20} MiB.", param="FILE", hint="Split it into parts"
        )
    return data


def format_of(name: str, data: bytes) -> Format:
    """CSV or NDJSON: by the file's ending, else by how it begins; standard input is NDJSON."""
    if name == STDIN:
        return "ndjson"
    known = _ENDINGS.get(Path(name).suffix.lower())
    if known is not None:
        return known
    return "ndjson" if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" else "csv"


def rows_of(data: bytes, form: Format, *, raw: bool) -> Iterator[Read]:
    """Yields every row in the order of the file; `raw` takes CSV cells as they are.

    Raises:
        UsageError: the file as a whole cannot be read: its encoding, its head, a quote that is
            never closed. After that no row could be trusted.
    """
    text = _decoded(data)
    return _csv_rows(text, raw=raw) if form == "csv" else _json_rows(text)


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(SIZE_MAX + 1)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"Line {line} of the file is not UTF-8 text.",
            code="file_invalid",
            hint="Save it as UTF-8; in a spreadsheet: CSV UTF-8",
        ) from None


def _csv_rows(text: str, *, raw: bool) -> Iterator[Read]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    lines = _records(reader)
    _, head = next(lines, (1, []))
    if not any(head):
        raise UsageError(
            "The file has no head.",
            code="file_invalid",
            hint="The first line names the columns, such as payment,amount,reason",
        )
    columns = Columns(head, raw=raw)
    for number, (line, cells) in enumerate(lines, 1):
        try:
            yield Read(number, line, columns.row(cells))
        except BadRow as bad:
            yield Read(number, line, bad)


def _records(reader: "_csv.Reader") -> Iterator[tuple[int, list[str]]]:
    """Yields records that are not empty, each with the line that it begins on."""
    begins = 1
    try:
        for cells in reader:
            if cells:
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"The file is no valid CSV from line {begins} on: {error}.",
            code="file_invalid",
            hint='A cell with a comma, a quote or a line feed stands in quotes: "Smith, ""Al"""',
        ) from None


def _separator(text: str) -> str:
    """The first separator in the head; spreadsheets of many countries write semicolons."""
    head = text.lstrip("\r\n").partition("\n")[0]
    found = [mark for mark in head if mark in _SEPARATORS]
    return found[0] if found else ","


def _json_rows(text: str) -> Iterator[Read]:
    number = 0
    for line, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        number += 1
        try:
            yield Read(number, line, _object(row))
        except BadRow as bad:
            yield Read(number, line, bad)


def _object(text: str) -> dict[str, object]:
    value = parse(text)
    if not isinstance(value, dict):
        hint = "one object a line: jq -c '.[]' FILE" if isinstance(value, list) else None
        raise BadRow("it is no JSON object", hint=hint)
    return value
