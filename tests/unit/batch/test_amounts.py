"""Amounts of a file that are not there, and columns that are nearly the ones that were meant."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from support.running import Sandbox, Svc
from svc.batch.operations import find_operation, names
from svc.batch.reading import FileFormat, rows_of
from svc.batch.validate import Validator
from svc.delivery.journal.entry import Scope
from svc.delivery.plan import BatchRow, InvalidRow

SCOPE = Scope("default", "test", "https://api.example.com")


def shaped(
    operation: str, text: str, form: FileFormat = "csv", *, blank: bool = False
) -> BatchRow | InvalidRow:
    """The first row of a file."""
    shaper = Validator(find_operation(operation), SCOPE, blank_means_all=blank)
    reads = rows_of(BytesIO(text.encode()), form, find_operation(operation), blank_means_all=blank)
    return shaper.shape(next(reads))


@pytest.mark.parametrize(
    ("operation", "form", "text"),
    [
        ("refunds.create", "csv", "payment,amount\npay_1,"),
        ("refunds.create", "csv", "payment,amount\npay_1,  "),
        ("refunds.create", "csv", "payment,amount:=\npay_1,"),
        ("refunds.create", "csv", "payment,amount:=\npay_1,null"),
        ("refunds.create", "ndjson", '{"payment":"pay_1","amount":null}'),
        ("orders.capture", "csv", "id,amount\nord_1,"),
        ("orders.capture", "ndjson", '{"id":"ord_1","amount":null}'),
        ("orders.update", "ndjson", '{"id":"ord_1","amount":null}'),
        (
            "landed-cost-quotes.create",
            "csv",
            "currency,shipping[country],items[0][name],items[0][unit_amount]\nEUR,DE,Coat,",
        ),
    ],
)
def test_a_blank_amount_is_no_row(operation: str, form: FileFormat, text: str) -> None:
    """R97: it would mean all that is left; only `--blank-means-all` says so."""
    bad = shaped(operation, text, form)
    assert isinstance(bad, InvalidRow)
    assert bad.code == "amount_blank"
    assert "--blank-means-all" in bad.message
    row = shaped(operation, text, form, blank=True)
    assert isinstance(row, InvalidRow if operation == "orders.update" else BatchRow)
    assert b"amount" not in getattr(row, "body", b"")


def test_a_blank_elsewhere_is_a_field_that_is_not_there() -> None:
    """An export has a column for each item of its longest order; others leave them blank."""
    head = "id,capture_method,items[0][unit_amount],items[1][name],items[1][unit_amount]"
    row = shaped("orders.update", f"{head}\nord_1,,7,,")
    assert isinstance(row, BatchRow)
    assert json.loads(row.body) == {"items": [{"unit_amount": 7}]}


@pytest.mark.parametrize("operation", names())
def test_known_columns_pass(operation: str) -> None:
    """What a request takes, what an export holds, and names that the merchant chose."""
    known: Any = find_operation(operation).columns
    free = [f"{name}[Amount]" for name in ("metadata", "evidence") if name in known]
    for name in [*known, *free]:
        list(rows_of(BytesIO(f"{name}\n".encode()), "csv", find_operation(operation)))


def test_nothing_is_sent_for_such_a_file(sandbox: Sandbox, svc: Svc, tmp_path: Path) -> None:
    """R97 through the program: the dry run says the same as the run, and neither sends."""
    misspelt, blank = tmp_path / "misspelt.csv", tmp_path / "blank.csv"
    misspelt.write_text("payment,Amount\npay_1,5\n")
    blank.write_text("payment,amount\npay_1,\n")
    for extra in ((), ("--dry-run",)):
        result = svc("batch", "refunds.create", str(misspelt), *extra)
        assert (result.code, result.error["code"]) == (2, "field_misspelt")
        assert svc("batch", "refunds.create", str(blank), *extra).code in (2, 9)
    assert svc.ok("batch", "refunds.create", str(blank), "--dry-run", "--blank-means-all")
    asked = sandbox.control("GET", "/requests")["data"]
    assert not [one for one in asked if one["method"] == "POST" and "/v1/" in one["path"]]
