"""What is wrong with a file or a row, before anything is sent: each refusal, whole.

It lies in `refusals.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from support.suite.golden import hold_golden
from svc.batch.columns import find_ignored_columns
from svc.batch.operations import find_operation
from svc.batch.reading import rows_of
from svc.batch.validate import Validator
from svc.delivery.plan import InvalidRow
from svc.errors import UsageError
from unit.batch.test_validate import BANK, ITEM, ORDER, PAYOUT, QUOTE, SCOPE

REFUND = {"payment": "pay_1", "amount": 5}


def changed(
    operation: str, row: dict[str, Any], *changes: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The row with each of these changes."""
    return ((operation, {**row, **change}) for change in changes)


# By operation: rows of NDJSON, and whole files of CSV; options stand behind.
CASES: list[tuple[str, Any]] = [
    *changed(
        "orders.create",
        ORDER,
        {"amount": None},
        *({"amount": one} for one in ("5", 5.0, True, {"a": None}, 0, 10**12, "99.5")),
        *({"currency": one} for one in ("eur", 978, "EURO", None)),
        {"settlement_currency": "US"},
        {"items": [ITEM, {**ITEM, "quantity": 0}]},
        {"items": [{**ITEM, "unit_amount": 1.5}]},
        {"items": [{**ITEM, "origin_country": "xx"}]},
        {"metadata": {"a": "\ud800"}},
        {"shipping": {"country": "DEU"}},
        {"colour": "red"},
    ),
    ("orders.create", {"amount": 5}),
    ("orders.update", {"amount": 5}),
    *(("orders.update", {"id": one, "amount": 5}) for one in ("", "pay_1", "ord_../x", 7)),
    ("orders.update", {"id": "ord_1"}),
    ("orders.capture", {"id": "ord_1", "amount": "05"}),
    ("orders.capture", {"id": "ord_1", "amount": 12900, "amount_total": 15708}),
    *changed(
        "refunds.create",
        REFUND,
        {"amount": None},
        *({"payment": one} for one in (None, "ord_1", "xyz")),
        {"currency": "eur"},
        *({"idempotency_key": one} for one in ("a b", "ü", "x" * 256, 7, ["a"])),
    ),
    *(
        ("payouts.create", {**PAYOUT, "destination": one})
        for one in (None, {**BANK, "iban": ""}, {**BANK, "iban": None, "account_number": "1"})
    ),
    ("payouts.create", {**PAYOUT, "source_currency": "Us$"}),
    ("disputes.update", {"id": "dp_1"}),
    ("disputes.update", {"id": "dp_1", "evidence": {}}),
    ("landed-cost-quotes.create", {**QUOTE, "currency": ""}),
    *(
        ("orders.create", text)
        for text in (
            *("", "\n\n", ",,\n1,2,3", "amount,amount\n", "shipping,shipping[country]\n"),
            *("shipping[country],shipping\n", "shipping[country\n", "a[]\n", "items[1][name]\n"),
            *('amount,currency\n1,"2\n3,4\n', 'amount,currency\n1,2\n1,"2"x\n', "amount\n1\0\n"),
            *("amount\n129.00", "amount,currency\n129.00,EUR", "amount,currency\n15.000,KWD"),
            *("amount,currency\n4999.0,JPY", "amount\n12.90", "amount,currency\n15.5,JPY"),
            *('amount\n"1,290"', "amount\n1e3", f"amount\n{'9' * 5000}", "amount,currency\n1"),
            *("items[0][quantity]\n1.0", "amount,currency\n1,2,3", "currency,\n1,2"),
            *("capture_method:=\n{", 'capture_method:=\n"{""k"":1,""k"":2}"'),
            *("capture_method:=\nNaN", f"metadata:=\n{'[' * 100_000}"),
            *("items[0][name],items[1][name]\n,Hat", "items[0][unit-amount]\n1"),
            *("shipping[postal code]\n1", "shipping[city_name]\n1", "items[0][colour]\n1"),
            *("currency[code]\n1", "shipping[country\n", "[1]\n", '{"a":1,"a":2}\n', '{"a":\n'),
            *('[{"amount":5}]', "\n [\n"),
        )
    ),
    *(
        ("refunds.create", text)
        for text in (
            *("payment\r,amount\npay_1\r,1200\n", "payment,amount\npay_1,5\npay_2\rpay_3\n"),
            *("payment,amount\npay_1,4999.0\npay_2,12900.0\n", "Amount\n1", " amount\n1"),
            *("amount \n1", "amout\n1", "amountt\n1", "ammunt\n1", "AMOUNT\n1"),
            *("a mount\n1", "amonut\n1", "Amount:=\n1", "betrag\n1", "EUR amount\n1"),
            *("payment,amount\npay_1,\n", "payment,amount:=\npay_1,null", "amount_eur,betrag\n1,2"),
            *('{"payment":"pay_1","Amount":5}', '{"payment":"pay_1","amount":"5"}'),
            '{"payment":"pay_1","amount":5}\n{"payment":"pay_2"}',
            '{"payment":"pay_1","amount":5}\n{"payment":"pay_2","amount":9.5,"currency":"EUR"}',
            '{"payment":"pay_1","amount":5,"currency":"JPY"}\n{"payment":"pay_2","amount":9.5}',
            "payment,amount,currency\npay_1,99.5,EUR\npay_2,100,EUR\n",
            "payment,amount,idempotency_key\npay_1,1,a\npay_2,2,a\n",
        )
    ),
    ("payouts.create", "IBAN\n1"),
    ("payouts.create", "destination[ibn]\n1"),
    ("orders.capture", "order\n1"),
    ("orders.capture", "id\nord_1\nord_1\n"),
    ("orders.update", "Id\n1"),
    ("orders.update", "id,amount\nord_1,1\nord_1,2\n"),
    ("orders.cancel", "grund\n1"),
    ("disputes.update", "Dispute ID\n1"),
    ("disputes.update", "evidence[tracking_nummber]\n1"),
    ("disputes.update", "id,submit\ndp_1,yes\n"),
    ("landed-cost-quotes.create", "postal_code\n1"),
    ("landed-cost-quotes.create", "metadata[a]\n1"),
]
DECIMALS = (
    *("payment,amount\npay_1,5.00\n", "payment,amount,currency\npay_1,5.00,\n"),
    *("payment,amount,currency\npay_1,5.00,XXQ\n", "payment,amount,currency\npay_1,5.0,EUR\n"),
    *("payment,amount,currency\npay_1,-5.00,EUR\n", "payment,amount,currency\npay_1,5,KWD\n"),
    *('payment,amount,currency\npay_1,"5,00",EUR\n', "payment,amount,currency\npay_1,0.00,EUR\n"),
)


def tell(operation: str, given: Any, **options: Any) -> str:
    """What is said of a file: the error of it all, or those of its rows."""
    known, row_id = find_operation(operation), options.pop("row_id", None)
    text = given if isinstance(given, str) else json.dumps(given)
    form: Any = "ndjson" if text.lstrip().startswith(("{", "[")) else "csv"
    shaper = Validator(known, SCOPE, row_id=row_id)
    try:
        rows = [*map(shaper.shape, rows_of(BytesIO(text.encode()), form, known, **options))]
        shaper.refuse_mixed_amounts()
    except UsageError as error:
        found = [f"{error.code} {error.param}: {error.message}\n    {error.hint}"]
    else:
        bad = [row for row in rows if isinstance(row, InvalidRow)]
        found = [f"line {row.line}, {row.code} {row.param}: {row.message}" for row in bad]
    assert found, text
    return "\n  ".join((f"{operation} {text[:150]!a}", *found))


def each_refusal() -> Iterator[str]:
    for operation, given in CASES:
        yield tell(operation, given)
    for text in DECIMALS:
        yield tell("refunds.create", text, decimals=True)
    yield tell("refunds.create", '{"payment":"pay_1","amount":5}', decimals=True)
    named = "payment,metadata[ref]\n"
    for text in (f"{named}pay_1,a\npay_2,a\n", f"{named}pay_1, \n"):
        yield tell("refunds.create", text, row_id="metadata[ref]")
    for operation, column in (("orders.capture", "amount"), ("refunds.create", "amount")):
        with pytest.raises(UsageError) as told:
            find_ignored_columns([column], find_operation(operation), blank_means_all=False)
        yield f"{told.value.code} {told.value.param}: {told.value.message}\n    {told.value.hint}"


def test_each_refusal_is_told_as_agreed() -> None:
    """R97, R132: which line and which field, and what to write instead."""
    told = "".join(f"{line}\n" for line in each_refusal())
    hold_golden(Path(__file__).with_name("refusals.txt"), told)
