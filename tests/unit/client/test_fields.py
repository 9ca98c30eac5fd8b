"""What is said of the body of a request before it is sent, field by field."""

from typing import Any

import pytest

from svc.client.fields import check_body, check_filters, check_value
from svc.errors import UsageError

ITEM = {"name": "J", "quantity": 1, "unit_amount": 0}
ORDER = {"amount": 1, "currency": "EUR", "shipping": {"country": "DE"}, "items": [ITEM]}
PAYOUT = {"amount": 1, "currency": "EUR"}
PAYEE = {"country": "DE", "account_holder_name": "A"}
LACKS = "parameter_missing"
SLIP = "field_misspelt"
WHERE = "svc payments list --order ord_1"
BODIES: list[tuple[str, dict[str, Any], str, str, str, str | None]] = [
    ("refunds.create", {"payment": ""}, LACKS, "payment", "payment is missing.", None),
    ("orders.create", {"currency": "EUR", "items": [ITEM]}, LACKS, "amount",
     "amount and shipping[country] are missing.", None),
    ("payouts.create", PAYOUT, LACKS, "destination[country]",
     ("destination[country], destination[account_holder_name] and destination[iban] "
     "(or account_number with bank_code) are missing."), None),
    ("payouts.create", {**PAYOUT, "destination": {**PAYEE, "bank_code": "1"}}, LACKS,
     "destination[account_number]", "destination[account_number] is missing.", None),
    ("orders.create", {**ORDER, "currency": "eur"}, "currency_invalid", "currency",
     "A currency is written in capitals: EUR", "--currency EUR"),
    ("orders.create", {**ORDER, "currency": "EURO" * 20}, "currency_invalid", "currency",
     f"currency '{'EURO' * 10}' is not three capital letters, such as EUR.", None),
    ("orders.create", {**ORDER, "currency": 978}, "currency_invalid", "currency",
     "currency '978' is not three capital letters, such as EUR.", None),
    ("orders.create", {**ORDER, "shipping": {"country": "de"}}, "country_code_invalid",
     "shipping[country]", "A country is written in capitals: DE", "--country DE"),
    ("orders.create", {**ORDER, "shipping": {"country": "ÄÖ"}}, "country_code_invalid",
     "shipping[country]", "shipping[country] 'ÄÖ' is not two capital letters, such as DE.", None),
    ("refunds.create", {"payment": "ord_1"}, "id_of_another_kind", "payment",
     "payment 'ord_1' is the id of an order.", WHERE),
    ("refunds.create", {"payment": "dp_1"}, "id_of_another_kind", "payment",
     "payment 'dp_1' is the id of a dispute.", None),
    ("refunds.create", {"payment": "x" * 41}, "id_invalid", "payment",
     f"payment '{'x' * 40}' does not begin with pay_.", None),
    ("orders.create", {**ORDER, "items": [ITEM, {**ITEM, "quantity": 0}]}, "amount_invalid",
     "items[1][quantity]", "items[1][quantity] 0 is not from 1 to 999999999999.", None),
    ("orders.create", {**ORDER, "items": [{**ITEM, "quantity": 1.5}]}, "amount_invalid",
     "items[0][quantity]", "items[0][quantity] 1.5 is not a whole number.", None),
    ("orders.create", {**ORDER, "amount": 1.5, "currency": "JPY"}, "amount_invalid", "amount",
     "amount 1.5 is not a whole number.",
     ("Amounts are whole numbers in the currency's minor unit, such as 12900 for 12,900 JPY, "
     "which has no decimals")),
    ("refunds.create", {"payment": "pay_1", "A mout": 1}, SLIP, "A mout",
     "Unknown field 'A mout'. Did you mean 'amount'?", "Write amount"),
    ("orders.create", {**ORDER, "items": [{**ITEM, "qty": 1}]}, SLIP, "items[0][qty]",
     "Unknown field 'items[0][qty]'. Did you mean 'items[0][quantity]'?",
     "Write items[0][quantity]"),
    ("orders.create", {**ORDER, "items": {"0": {"price": 1}}}, SLIP, "items[0][price]",
     "Unknown field 'items[0][price]'. Did you mean 'items[0][unit_amount]'?",
     "Write items[0][unit_amount]"),
    ("orders.create", {**ORDER, "shipping": {"zip": "1"}}, SLIP, "shipping[zip]",
     "Unknown field 'shipping[zip]'. Did you mean 'shipping[postal_code]'?",
     "Write shipping[postal_code]"),
    ("orders.create", {**ORDER, "item.0.Name": "J"}, SLIP, "item.0.Name",
     "Unknown field 'item.0.Name'. A field inside another is written in brackets.",
     "Write items[0][name]"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "body", "code", "param", "said", "hint"), BODIES)
def test_a_wrong_field_is_named_with_what_helps(
    operation: str, body: dict[str, Any], code: str, param: str, said: str, hint: str | None
) -> None:
    """R97, R98: before anything is sent, by its bracket path."""
    with pytest.raises(UsageError) as refused:
        check_body(operation, body, is_form=False)
    error = refused.value
    assert (error.code, error.param, error.message, error.hint) == (code, param, said, hint)


@pytest.mark.parametrize(
    ("operation", "body", "options"),
    [
        ("orders.create", ORDER, {}),
        ("payouts.create", {**PAYOUT, "destination": {**PAYEE, "iban": "x"}}, {}),
        ("payouts.create", {**PAYOUT, "destination": "whatever"}, {}),
        ("refunds.create", {"payment": "pay_1", "amount": "5"}, {"is_form": True}),
        ("refunds.create", {"payment": "pay_1", "metadata": {"amout": 1}, "novel": {}}, {}),
        ("refunds.create", {"payment": "pay_1", "a.b": 1}, {}),
        ("refunds.create", {"payment": "any"}, {"is_raw": True}),
        ("refunds.create", {}, {"is_raw": True}),
        ("shops.create", {"amout": 1.5}, {}),
    ],
)
def test_what_the_service_may_take_is_let_through(
    operation: str, body: dict[str, Any], options: dict[str, Any]
) -> None:
    """A field or an operation that is not described is the service's to refuse."""
    check_body(operation, body, **{"is_form": False, **options})


@pytest.mark.parametrize(
    ("name", "typed", "hint"),
    [
        ("shiping", "shiping[country]=DE", "-d 'shipping[country]=DE'"),
        ("shiping", "shiping:={}", "-d 'shipping:={}'"),
        ("shipping.country", "shipping.country=DE", "-d 'shipping[country]=DE'"),
        ("shiping", "shiping[city]=L'Aquila", "Write shipping"),
        ("shiping", "shipingx=1", "Write shipping"),
    ],
)
def test_a_slip_in_what_was_typed_is_written_anew(name: str, typed: str, hint: str) -> None:
    """To be copied, unless a quote in it would end what is quoted."""
    with pytest.raises(UsageError) as refused:
        check_body("orders.create", {name: {}}, is_form=False, typed=("a=1", typed))
    assert refused.value.hint == hint


def test_a_value_and_a_filter_are_checked_as_the_field_of_their_name() -> None:
    """What the noun does not describe is not checked."""
    with pytest.raises(UsageError, match="capitals: EUR"):
        check_value("refunds.create", "currency", "eur")
    for operation, name in (("refunds.create", "amount"), ("refunds.create", "new"), ("x.y", "a")):
        check_value(operation, name, "ord_1")
    with pytest.raises(UsageError, match="the id of an order") as refused:
        check_filters("/v1/refunds", {"payment": "ord_1"})
    assert refused.value.hint == WHERE
    check_filters("/v1/refunds", {"payment": "any", "status": "ord_1"})
    check_filters("/v1/shops", {"payment": "ord_1"})
