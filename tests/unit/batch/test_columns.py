"""Columns of a CSV and members of NDJSON rows that no field of the operation has."""

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any, Final

import pytest

from svc.batch.columns import find_ignored_columns
from svc.batch.operations import find_operation
from svc.batch.reading import rows_of
from svc.batch.validate import Validator
from svc.delivery.journal.entry import Scope
from svc.delivery.plan import BatchRow, InvalidRow
from svc.errors import UsageError

SCOPE: Final = Scope("default", "test", "https://api.example.com")
Shape = Callable[..., list[BatchRow | InvalidRow]]


def csv_rows(operation: str, given: dict[str, Any], ignored: Sequence[str] = ()) -> list[Any]:
    text = f"{','.join(given)}\n{','.join(str(value) for value in given.values())}\n"
    return shaped(operation, text, "csv", ignored)


def ndjson_rows(operation: str, given: dict[str, Any], ignored: Sequence[str] = ()) -> list[Any]:
    return shaped(operation, json.dumps(given), "ndjson", ignored)


def shaped(operation: str, text: str, form: Any, ignored: Sequence[str]) -> list[Any]:
    known = find_operation(operation)
    paths = find_ignored_columns(ignored, known, blank_means_all=False)
    shaper = Validator(known, SCOPE, ignored=paths)
    return [
        shaper.shape(read) for read in rows_of(BytesIO(text.encode()), form, known, ignored=paths)
    ]


@pytest.mark.parametrize("read", [csv_rows, ndjson_rows])
def test_an_ignored_name_is_not_sent(read: Shape) -> None:
    """Also where it is nearly a field's, or has a field's name: the person has said so."""
    given = {"payment": "pay_1", "amount": 5, "betrag": 7, "Reason": "x", "reason": "y"}
    (row,) = read("refunds.create", given, ["betrag", "Reason", "reason"])
    assert isinstance(row, BatchRow)
    assert row.body == b'{"amount":5,"payment":"pay_1"}'


def test_an_ignored_name_inside_a_list_is_left_out_of_every_entry() -> None:
    """`items[0][colour]` is a column of CSV, and a member of each item of NDJSON."""
    items = [{"name": "Coat", "colour": "red"}, {"name": "Hat", "colour": {"a": 1}}]
    order = {"amount": 5, "currency": "EUR", "items": items}
    (row,) = ndjson_rows("orders.update", {"id": "ord_1", **order}, ["items[0][colour]"])
    assert b"colour" not in row.body
    assert b"Coat" in row.body


def test_an_amount_is_not_ignored_by_the_way() -> None:
    """R97: a refund without its amount gives everything back."""
    for operation in ("refunds.create", "orders.capture"):
        with pytest.raises(UsageError, match="takes all that is left"):
            find_ignored_columns(["amount"], find_operation(operation), blank_means_all=False)
        assert find_ignored_columns(["amount"], find_operation(operation), blank_means_all=True)
    assert find_ignored_columns(["amount"], find_operation("orders.cancel"), blank_means_all=False)


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("orders.update", {"id": "ord_1", "metadata": {"any": {"thing": 1}}}),
        ("orders.update", {"id": "ord_1", "capture_method": "manual", "landed_cost": {"x": 1}}),
        ("disputes.update", {"id": "dp_1", "evidence": {"own_key": "x"}}),
        ("payouts.create", {"amount": 5, "currency": "EUR", "destination": {"last4": "1"}}),
    ],
)
def test_what_the_merchant_or_the_service_names_is_no_unknown_column(
    operation: str, given: dict[str, Any]
) -> None:
    """R64: metadata and evidence are free, and what is only answered is left out, at any depth."""
    (row,) = ndjson_rows(operation, given)
    assert getattr(row, "code", "parameter_missing") == "parameter_missing"


def test_one_number_with_a_point_zero_is_its_row_s_mistake() -> None:
    """Where other values of the column are whole, or have cents, the column is not what is odd."""
    for other in ("5", "12.90"):
        text = f"payment,amount\npay_1,4999.0\npay_2,{other}\npay_3,1.0\n"
        rows = shaped("refunds.create", text, "csv", ())
        assert [isinstance(row, InvalidRow) for row in rows] == [True, other != "5", True]
