"""Rows of a file: CSV with bracket paths, NDJSON, and what makes a row or a file bad."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.batch.operations import find_operation
from svc.batch.reading import format_of, rows_of
from svc.batch.rows import BadRow, Read
from svc.errors import UsageError
from svc.inputs import read_bytes
from svc.render.csv_format import cell, row

# Columns of these tests that an order does not have.
TAKEN_BY: Final = {"submit": "disputes.update", "reason": "refunds.create"}


def csv_rows(
    text: str | bytes, *, raw: bool = False, operation: str | None = None, blank: bool = False
) -> list[Read]:
    data = text if isinstance(text, bytes) else text.encode()
    taking = find_operation(operation or "orders.create")
    found = rows_of(BytesIO(data), "csv", taking, raw=raw, blank_means_all=blank)
    return [one for one in found if isinstance(one, Read)]


def given_by(head: str, *lines: str, **options: Any) -> Any:
    """The fields of the first row under a head."""
    (first, *_) = csv_rows("\n".join((head, *lines)), **options)
    return first.given


def test_columns_are_bracket_paths() -> None:
    """`shipping[country]`, `items[0][name]`; names come in alphabetical order."""
    found = given_by(
        "currency,amount,shipping[country],items[1][name],items[0][quantity],items[0][name]",
        "EUR,12900,DE,Hat,2,Coat",
    )
    assert json.dumps(found) == json.dumps(
        {
            "amount": 12900,
            "currency": "EUR",
            "items": [{"name": "Coat", "quantity": 2}, {"name": "Hat"}],
            "shipping": {"country": "DE"},
        }
    )


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        ("amount", "12900", 12900),
        ("amount", " 12900 ", 12900),
        ("items[0][quantity]", "3", [{"quantity": 3}]),
        ("items[0][unit_amount]", "0", [{"unit_amount": 0}]),
        ("submit", "TRUE", True),
        ("submit", "false", False),
        ("reason", "12", "12"),
        ("shipping[postal_code]", "01067", {"postal_code": "01067"}),
        ("metadata[amount]", "12", {"amount": "12"}),
        ("capture_method", "1.5", "1.5"),
        ("capture_method:=", "1.5", 1.5),
        ("capture_method:=", "null", None),
        ("reason:=", '""""""', ""),
        ("items", '"[{""name"": ""Coat""}]"', [{"name": "Coat"}]),
        ("metadata", '"{""ref"": ""A""}"', {"ref": "A"}),
    ],
)
def test_the_column_says_the_type(column: str, text: str, value: object) -> None:
    """Documented whole numbers and booleans, JSON where it is asked for, else text as it is."""
    found = given_by(column, text, operation=TAKEN_BY.get(column.removesuffix(":=")))
    assert found[column.removesuffix(":=").partition("[")[0]] == value


def test_a_line_without_a_cell_that_says_something_is_no_row() -> None:
    """R97: told as a blank amount, it was hinted at `--blank-means-all`, which pays whole ones."""
    text = 'payment,amount\npay_1,5\n,\npay_2,\n,,,\n"",\n'
    rows = csv_rows(text, operation="refunds.create")
    assert [(row.number, row.line) for row in rows] == [(1, 2), (2, 4)]


def test_an_empty_cell_leaves_its_field_out() -> None:
    """Fewer items than columns is no error."""
    head = "amount,capture_method,items[0][name],items[1][name]"
    assert given_by(head, "5,,Coat,") == {"amount": 5, "items": [{"name": "Coat"}]}
    assert given_by(head, " ,,,", blank=True) == {}


def test_a_bad_row_does_not_stop_the_others() -> None:
    """Every row has its number and the line that it begins on, also after cells of two lines."""
    rows = csv_rows('amount,capture_method\n1,"two\nlines"\n\nx,bad\n3,\n')
    assert [(one.number, one.line) for one in rows] == [(1, 2), (2, 5), (3, 6)]
    assert rows[0].given == {"amount": 1, "capture_method": "two\nlines"}
    assert isinstance(rows[1].given, BadRow)
    assert rows[2].given == {"amount": 3}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("payment\r,amount\npay_1\r,1200\n", 1),
        ("payment\r,amount\r\npay_1\r,1200\r\n", 1),
        ("payment,amount\npay_1\r,1200\n", 2),
        ("payment,amount\npay_1,1200\npay_2\rpay_3\n", 3),
        ('payment,amount\n"pay_1"\r,1200\n', 2),
        ('payment,reason,amount\npay_1,"two\nlines",1\npay_2\r,none,1200\n', 4),
    ],
)
def test_a_carriage_return_in_a_line_refuses_the_file(text: str, line: int) -> None:
    """It is no end of a row: a refund would be made without the amount that stands behind it."""
    with pytest.raises(UsageError) as caught:
        csv_rows(text, operation="refunds.create")
    said = f"Line {line} of the file holds a carriage return (CR) in its middle."
    assert caught.value.message == said
    assert "tr -d '\\r'" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("payment,amount,reason\rpay_1,5,\r", None),
        ("payment,amount,reason\r\npay_1,5,\r\r\n", None),
        ('payment,amount,reason\r\npay_1,5,"a\rb"\r\n', "a\rb"),
        ('payment,amount,reason\npay_1,5,"a\r\nb"\n', "a\r\nb"),
    ],
)
def test_carriage_returns_that_end_lines_or_stand_in_quotes_are_read(
    text: str, reason: str | None
) -> None:
    """Old lists without any line feed, lines that end twice over, a text of two lines."""
    (one,) = csv_rows(text, operation="refunds.create")
    assert isinstance(one.given, dict)
    assert (one.given["payment"], one.given["amount"]) == ("pay_1", 5)
    assert one.given.get("reason") == reason


def test_text_that_is_not_utf8_is_refused_with_its_line() -> None:
    """A spreadsheet's own code page would put wrong names on customs papers."""
    with pytest.raises(UsageError) as caught:
        csv_rows("name\nok\nJäger\n".encode("latin-1"))
    assert caught.value.message == "Line 3 of the file is not UTF-8 text."


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_spreadsheets_of_all_countries_are_read(mark: str) -> None:
    """The separator is the one in the head; a byte order mark and CR LF are no part of a cell."""
    (one,) = csv_rows(b"\xef\xbb\xbf" + f"currency{mark}amount\r\nEUR{mark}5\r\n".encode())
    assert one.given == {"currency": "EUR", "amount": 5}


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4))
@example([";=", "a\t@b", "it's", "x\r\n-1"])
def test_exported_text_comes_back_exactly(texts: list[str]) -> None:
    """R64: what `cell` defused is what the row holds."""
    head = row([f"metadata[k{index}]" for index in range(len(texts))])
    line = row([cell(text) for text in texts])
    assert given_by((head + line).rstrip("\r\n")) == {
        "metadata": {f"k{index}": text for index, text in enumerate(texts)}
    }


def test_raw_cells_stay_as_they_are() -> None:
    """An export of `--raw-csv` holds formulas, and quotes that are no protection."""
    assert given_by("capture_method", "=1+1", raw=True) == {"capture_method": "=1+1"}
    assert given_by("capture_method", "'=1+1", raw=True) == {"capture_method": "'=1+1"}
    assert given_by("capture_method", "'=1+1") == {"capture_method": "=1+1"}


def test_lines_of_json_are_rows() -> None:
    """Blank lines are none; numbers keep their spelling; a bad line is a bad row."""
    data = b'{"amount": 5, "x": 1.50}\r\n\n[1]\n{"a":1,"a":2}\n{"a":\n"text"\n{"amount":6}'
    found = rows_of(BytesIO(data), "ndjson", find_operation("orders.create"))
    rows = [one for one in found if isinstance(one, Read)]
    assert [(one.number, one.line) for one in rows] == [
        (1, 1),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 6),
        (6, 7),
    ]
    assert rows[0].given["amount"] == 5  # type: ignore[index]
    assert str(rows[0].given["x"]) == "1.50"  # type: ignore[index]
    said = [one.given.message for one in rows if isinstance(one.given, BadRow)]
    assert said[0] == "it is not a JSON object; one object a line: jq -c '.[]' FILE"
    assert "the key 'a' appears twice" in said[1]
    assert "it is not valid JSON at column" in said[2]
    assert said[3] == "it is not a JSON object"


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("a.csv", b"{", "csv"),
        ("a.CSV", b"", "csv"),
        ("a.ndjson", b"amount\n1", "ndjson"),
        ("a.jsonl", b"", "ndjson"),
        ("a.json", b"[]", "ndjson"),
        ("a.TSV", b"{", "csv"),
        ("a.txt", b' \n{"a":1}', "ndjson"),
        ("a", b"amount\n1", "csv"),
        ("-", b"amount\n1", "ndjson"),
    ],
)
def test_the_ending_says_the_format(name: str, data: bytes, form: str) -> None:
    """Else the first character does; standard input is NDJSON."""
    assert format_of(name, BytesIO(data)) == form


def test_files_are_read_whole_or_refused(tmp_path: Path) -> None:
    """`-` is standard input; what is missing or too large is a mistake of use."""
    assert read_bytes("-", BytesIO(b"x"), 3) == b"x"
    (tmp_path / "a.csv").write_bytes(b"y")
    assert read_bytes(str(tmp_path / "a.csv"), BytesIO(), 3) == b"y"
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        read_bytes(str(tmp_path / "b.csv"), BytesIO(), 3)
    with pytest.raises(UsageError, match="cannot be read: is a directory"):
        read_bytes(str(tmp_path), BytesIO(), 3)
    with pytest.raises(UsageError, match="is over"):
        read_bytes("-", BytesIO(b"four"), 3)
