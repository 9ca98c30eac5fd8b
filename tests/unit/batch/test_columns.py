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
def test_a_name_that_no_field_has_stops_the_file(read: Shape) -> None:
    """`amount_eur` would give everything back, and `betrag` too: neither is sent as it is."""
    with pytest.raises(UsageError) as caught:
        read("refunds.create", {"payment": "pay_1", "amount_eur": 5, "betrag": 5})
    error = caught.value
    assert (error.code, error.param) == ("column_unknown", "amount_eur")
    assert error.message == (
        "Unknown columns: amount_eur, betrag. refunds.create has no such fields. Nothing was sent."
    )
    assert error.hint == (
        "Write amount for amount_eur; "
        "to ignore the columns (without amount, all that is left is moved): "
        "--ignore-column amount_eur --ignore-column betrag"
    )


@pytest.mark.parametrize(
    ("operation", "column", "said"),
    [
        ("refunds.create", "betrag", "Its fields are payment, amount, reason, metadata;"),
        ("refunds.create", "EUR amount", "Write amount for EUR amount;"),
        ("payouts.create", "betrag", "Its fields are amount, currency"),
        ("orders.capture", "order", "Write id for order;"),
        ("disputes.update", "Dispute ID", "Write id for Dispute ID;"),
        ("orders.cancel", "grund", "Its fields are id, cancellation_reason;"),
        ("payouts.create", "IBAN", "Write destination[iban] for IBAN;"),
        ("landed-cost-quotes.create", "postal_code", "Write shipping[postal_code] for postal"),
        ("orders.create", "shipping[city_name]", "Write shipping[city] for shipping[city_name];"),
        ("orders.create", "items[0][colour]", "Its fields are"),
        ("orders.create", "currency[code]", "Its fields are"),
        ("landed-cost-quotes.create", "metadata[a]", "Its fields are"),
    ],
)
def test_the_nearest_field_is_named(operation: str, column: str, said: str) -> None:
    """Else all that there are; a path through a plain field is no field's either."""
    with pytest.raises(UsageError) as caught:
        csv_rows(operation, {"amount": 5, column: 5} if "quotes" not in operation else {column: 5})
    assert str(caught.value.hint).startswith(said)


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


def test_a_column_of_numbers_with_a_point_zero_is_named() -> None:
    """Spreadsheets and pandas write whole numbers so: it is no column of euros, or it is one."""
    with pytest.raises(UsageError) as caught:
        shaped("refunds.create", "payment,amount\npay_1,4999.0\npay_2,12900.0\n", "csv", ())
    assert caught.value.code == "column_not_whole"
    assert caught.value.message.startswith("Every value of amount ends in .0")
    assert caught.value.hint == "4999, or 499900 if 4,999.00 EUR is meant"


def test_one_number_with_a_point_zero_is_its_row_s_mistake() -> None:
    """Where other values of the column are whole, or have cents, the column is not what is odd."""
    for other in ("5", "12.90"):
        text = f"payment,amount\npay_1,4999.0\npay_2,{other}\npay_3,1.0\n"
        rows = shaped("refunds.create", text, "csv", ())
        assert [isinstance(row, InvalidRow) for row in rows] == [True, other != "5", True]
