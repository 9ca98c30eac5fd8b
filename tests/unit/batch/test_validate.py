"""From a row's fields to its request: the eight operations, and what is checked before sending."""

import json
from io import BytesIO
from typing import Any

import pytest

from svc.batch.operations import find_operation, names
from svc.batch.reading import rows_of
from svc.batch.rows import Read
from svc.batch.validate import Validator
from svc.delivery.journal.entry import Scope
from svc.delivery.plan import BatchRow, InvalidRow
from svc.errors import UsageError

SCOPE = Scope("default", "test", "https://api.example.com")
ITEM = {"name": "Coat", "quantity": 1, "unit_amount": 12900}
ORDER = {"amount": 12900, "currency": "EUR", "shipping": {"country": "DE"}, "items": [ITEM]}
BANK = {"country": "DE", "account_holder_name": "Ana", "iban": "DE1"}
PAYOUT = {"amount": 10000, "currency": "EUR", "destination": BANK}
QUOTE = {"currency": "EUR", "shipping": {"country": "DE"}, "items": [ITEM]}


def shape(operation: str, given: dict[str, Any]) -> BatchRow | InvalidRow:
    (read,) = rows_of(BytesIO(json.dumps(given).encode()), "ndjson", find_operation(operation))
    assert isinstance(read, Read)
    return Validator(find_operation(operation), SCOPE).shape(Read(3, 4, read.given))


def sent(operation: str, given: dict[str, Any]) -> tuple[str, str]:
    """Path and body of the request."""
    found = shape(operation, given)
    assert isinstance(found, BatchRow), found
    return found.path, found.body.decode()


@pytest.mark.parametrize(
    ("operation", "given", "path", "body"),
    [
        (
            "orders.create",
            ORDER,
            "/v1/orders",
            (
                '{"amount":12900,"currency":"EUR","items":[{"name":"Coat","quantity":1,'
                '"unit_amount":12900}],"shipping":{"country":"DE"}}'
            ),
        ),
        ("orders.update", {"id": "ord_1", "amount": 5}, "/v1/orders/ord_1", '{"amount":5}'),
        ("orders.cancel", {"id": "ord_1"}, "/v1/orders/ord_1/cancel", ""),
        (
            "orders.cancel",
            {"id": "ord_1", "cancellation_reason": "duplicate"},
            "/v1/orders/ord_1/cancel",
            '{"cancellation_reason":"duplicate"}',
        ),
        ("orders.capture", {"id": "ord_1", "amount": 5}, "/v1/orders/ord_1/capture", "amount=5"),
        (
            "refunds.create",
            {"payment": "pay_1", "amount": 5},
            "/v1/refunds",
            '{"amount":5,"payment":"pay_1"}',
        ),
        (
            "payouts.create",
            PAYOUT,
            "/v1/payouts",
            (
                '{"amount":10000,"currency":"EUR","destination":{"account_holder_name":"Ana",'
                '"country":"DE","iban":"DE1"}}'
            ),
        ),
        (
            "landed-cost-quotes.create",
            QUOTE,
            "/v1/landed-cost/quotes",
            (
                '{"currency":"EUR","items":[{"name":"Coat","quantity":1,"unit_amount":12900}],'
                '"shipping":{"country":"DE"}}'
            ),
        ),
        (
            "disputes.update",
            {"id": "dp_1", "evidence": {"tracking_number": "1Z"}, "submit": True},
            "/v1/disputes/dp_1",
            "evidence%5Btracking_number%5D=1Z&submit=true",
        ),
    ],
)
def test_each_operation_posts_where_its_command_does(
    operation: str, given: dict[str, Any], path: str, body: str
) -> None:
    """Eight operations, with the path and the encoding of their commands."""
    assert sent(operation, given) == (path, body)


def test_the_eight_operations_are_those_of_the_interface() -> None:
    """Another name is refused with the list."""
    assert list(names()) == [
        *("orders.create", "orders.update", "orders.cancel", "orders.capture"),
        *("refunds.create", "payouts.create", "landed-cost-quotes.create", "disputes.update"),
    ]
    with pytest.raises(UsageError, match=r"Did you mean 'orders.update'") as caught:
        find_operation("orders.udpate")
    assert "refunds.create" in str(caught.value)


def test_fields_that_are_only_answered_are_left_out_and_named() -> None:
    """R64: an export is taken back."""
    shaper = Validator(find_operation("orders.create"), SCOPE)
    exported = {
        **ORDER,
        "id": "ord_1",
        "object": "order",
        "status": "paid",
        "livemode": False,
        "created": "x",
        "landed_cost": {"duty": 1},
    }
    row = shaper.shape(Read(1, 1, dict(sorted(exported.items()))))
    assert isinstance(row, BatchRow)
    assert row.body == shape_of(ORDER)
    assert list(shaper.left_out) == ["created", "id", "landed_cost", "livemode", "object", "status"]


def shape_of(given: dict[str, Any]) -> bytes:
    found = shape("orders.create", given)
    assert isinstance(found, BatchRow)
    return found.body


def test_parts_that_are_only_answered_are_left_out() -> None:
    """A payout's destination is answered with `last4`, a quote's items with their duty."""
    _, body = sent("payouts.create", {**PAYOUT, "destination": {**BANK, "last4": "3000"}})
    assert "last4" not in body
    quoted = {**QUOTE, "items": [{**ITEM, "duty": 1, "vat": 2, "duty_rate_bps": 3}]}
    _, body = sent("landed-cost-quotes.create", quoted)
    assert json.loads(body) == QUOTE


def test_null_is_an_absent_field_where_something_is_made_and_clears_one_elsewhere() -> None:
    """What a service answers as null is taken back."""
    assert shape_of({**ORDER, "settlement_currency": None}) == shape_of(ORDER)
    assert sent("orders.update", {"id": "ord_1", "metadata": None})[1] == '{"metadata":null}'


def test_equal_rows_are_equal_whatever_their_order_and_format() -> None:
    """The row's identity is its content, not its columns' order."""
    one = shape("orders.create", ORDER)
    other = shape("orders.create", dict(reversed(ORDER.items())))
    assert isinstance(one, BatchRow)
    assert isinstance(other, BatchRow)
    assert one.digest == other.digest
    changed = shape("orders.create", {**ORDER, "amount": 12901})
    assert isinstance(changed, BatchRow)
    assert changed.digest != one.digest


def test_equal_bodies_of_two_objects_are_not_equal() -> None:
    """Cancelling two orders is two requests without a body."""
    one, other = (shape("orders.cancel", {"id": f"ord_{n}"}) for n in (1, 2))
    assert isinstance(one, BatchRow)
    assert isinstance(other, BatchRow)
    assert one.digest != other.digest


def test_an_orders_price_is_no_amount_to_capture() -> None:
    """The rest of a partial capture is released for good, so an order's export must not do it."""
    assert sent("orders.capture", {"id": "ord_1", "amount_total": 15708})[1] == ""


def test_a_row_may_have_an_idempotency_key_of_its_own() -> None:
    """The column `idempotency_key` is no part of the body; a blank leaves the key to the batch."""
    row = shape("refunds.create", {"payment": "pay_1", "idempotency_key": "invoice-7"})
    assert isinstance(row, BatchRow)
    assert (row.given_key, row.body) == ("invoice-7", b'{"payment":"pay_1"}')
    for blank in ("", None):
        row = shape("refunds.create", {"payment": "pay_1", "idempotency_key": blank})
        assert isinstance(row, BatchRow)
        assert row.given_key is None


@pytest.mark.parametrize(
    ("operation", "given", "currency", "compared"),
    [
        ("refunds.create", {"payment": "pay_1", "amount": 5, "currency": "JPY"}, "JPY", "JPY"),
        ("refunds.create", {"payment": "pay_1", "amount": 5, "currency": ""}, None, None),
        ("orders.capture", {"id": "ord_1", "amount": 5, "currency": "EUR"}, "EUR", "EUR"),
        ("orders.create", ORDER, "EUR", None),
        ("orders.cancel", {"id": "ord_1", "currency": "EUR"}, "EUR", None),
    ],
)
def test_a_currency_that_is_not_sent_is_kept_to_be_compared(
    operation: str, given: dict[str, Any], currency: str | None, compared: str | None
) -> None:
    """5000 of JPY are not 50.00 EUR, whatever the payment's currency is."""
    row = shape(operation, given)
    assert isinstance(row, BatchRow)
    assert (row.currency, row.compared_currency) == (currency, compared)
    assert (b"currency" in row.body) is (operation == "orders.create")


@pytest.mark.parametrize(
    ("operation", "first", "second", "is_refused"),
    [
        ("orders.update", {"amount": 1000}, {"amount": 1200}, True),
        ("orders.update", {"amount": 1000}, {"amount": 1000}, False),
        ("orders.update", {"amount": 1000}, {"metadata": {"x": "1"}}, False),
        ("orders.update", {"metadata": {"x": "1"}}, {"metadata": {"x": ""}}, True),
        (
            "disputes.update",
            {"evidence": {"a": "1"}},
            {"evidence": {"a": "1"}, "submit": True},
            False,
        ),
        (
            "disputes.update",
            {"evidence": {"a": "1"}},
            {"evidence": {"a": "2"}, "submit": True},
            True,
        ),
    ],
)
def test_two_rows_do_not_give_one_field_two_values(
    operation: str, first: dict[str, Any], second: dict[str, Any], is_refused: bool
) -> None:
    """Eight are under way at a time: which amount an order ends with would be left to chance."""
    shaper = Validator(find_operation(operation), SCOPE)
    prefix = "ord" if operation == "orders.update" else "dp"
    rows = [{**first, "id": f"{prefix}_2"}, first | {"id": f"{prefix}_1"}]
    for number, given in enumerate(rows, 1):
        assert isinstance(shaper.shape(Read(number, number, given)), BatchRow)
    last = Read(3, 3, second | {"id": f"{prefix}_1"})
    if not is_refused:
        assert isinstance(shaper.shape(last), BatchRow)
        return
    with pytest.raises(UsageError, match="Lines 2 and 3 give one field") as caught:
        shaper.shape(last)
    assert (caught.value.code, caught.value.param) == ("update_contradicted", "id")


@pytest.mark.parametrize("value", [None, "", " ", [], {}])
def test_a_row_without_the_id_that_names_it_is_bad(value: object) -> None:
    refunds = find_operation("refunds.create")
    validator = Validator(refunds, SCOPE, row_id="metadata[ref]")
    ids = ({"ref": "A-1"}, {"ref": 7}, {"ref": value}, value)
    rows = [{"payment": f"pay_{n}", "metadata": one} for n, one in enumerate(ids)]
    named, counted, *bad = [validator.shape(Read(2, 3, row)) for row in rows]
    assert (getattr(named, "row_id", ""), getattr(counted, "row_id", "")) == ("A-1", "7")
    message = "ref is blank, but --row-id names each row by it"
    assert bad == [InvalidRow(2, 3, message, "ref", "row_id_missing")] * 2
