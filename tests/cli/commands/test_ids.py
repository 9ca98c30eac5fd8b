"""Ids as people paste them: blanks around them, an empty variable, something else in their place."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from support.running import Result, inside

# No service is there: whatever gets so far as to be sent ends with 8.
NOWHERE: Final = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}


def shown(*argv: str) -> dict[str, Any]:
    """What the dry run says would be sent."""
    result = inside(*argv, "--dry-run", env=NOWHERE)
    assert result.code == 0, result.err
    data: dict[str, Any] = json.loads(result.out)
    return data


@pytest.mark.parametrize("blank", [" ", "\t", "\r\n", "\u00a0"])
def test_blanks_around_an_id_are_taken_off(blank: str) -> None:
    """What was pasted with a blank, or read from a file of Windows, is the id without it."""
    pasted = f"{blank}pay_1{blank}"
    assert shown("refunds", "create", "--payment", pasted)["body"] == {"payment": "pay_1"}
    assert shown("refunds", "create", "-d", f"payment={pasted}")["body"] == {"payment": "pay_1"}
    assert shown("payments", "retrieve", pasted)["url"].endswith("/payments/pay_1")
    assert shown("get", pasted)["url"].endswith("/payments/pay_1")
    assert shown("refunds", "list", "--payment", pasted)["url"].endswith("?payment=pay_1")


def test_a_text_may_be_empty() -> None:
    """A field's value is the service's to judge, and a fault's answer may have no body."""
    sent = shown("disputes", "update", "dp_1", "--tracking-number", "")
    assert sent["body"] == "evidence%5Btracking_number%5D="
    fault = ("sandbox", "fault", "add", "--status", "502", "--body", "")
    assert inside(*fault, env=NOWHERE).code == 8  # it is sent


def row(operation: str, folder: Path, name: str, text: str) -> Result:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return inside("batch", operation, str(path), "--dry-run", env=NOWHERE)


@pytest.mark.parametrize("other", ['["pay_1"]', '{"id":"pay_1"}', "5", "true", '" "', '"pay_1 2"'])
def test_a_row_is_refused_likewise(other: str, tmp_path: Path) -> None:
    """In a batch it is the row: the payment of a refund, and the id of what is changed."""
    for operation, line in (
        ("refunds.create", f'{{"payment":{other},"amount":5}}\n'),
        ("orders.cancel", f'{{"id":{other.replace("pay_", "ord_")}}}\n'),
    ):
        result = row(operation, tmp_path, "a.ndjson", line)
        assert result.code == 9, result.err
        assert result.json["problems"][0]["code"] in ("id_invalid", "value_blank")


def test_a_row_s_ids_are_trimmed(tmp_path: Path) -> None:
    """A spreadsheet's blank behind an id is no part of it."""
    assert row("refunds.create", tmp_path, "a.csv", "payment,amount\npay_1 ,5\n").code == 0
    assert row("orders.cancel", tmp_path, "b.csv", "id,amount\n ord_1,\n").code == 0
    assert row("refunds.create", tmp_path, "c.ndjson", '{"payment":" pay_1"}\n').code == 0


def test_names_that_the_merchant_chose_hold_what_the_merchant_wrote() -> None:
    """Only the service's own countries and currencies are written in capitals."""
    note = ("--metadata", "home_country=de", "--metadata", "my_currency=eur")
    body = shown("refunds", "create", "--payment", "pay_1", *note)["body"]
    assert body["metadata"] == {"home_country": "de", "my_currency": "eur"}
    told = shown("disputes", "update", "dp_1", "--evidence", "origin_country=de")["body"]
    assert told == "evidence%5Borigin_country%5D=de"
