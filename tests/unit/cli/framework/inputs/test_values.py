"""Values on a command line: ids as people paste them, texts, and what is read from a file."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from support.running import Result, inside

# No service is there: whatever gets so far as to be sent ends with 8.
NOWHERE: Final = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}
REFUND: Final = ("refunds", "create", "--payment", "pay_1")


def test_options_that_may_be_repeated_are() -> None:
    """Also an option before the noun and behind the verb, where the verb's counts."""
    result = inside("-o", "ndjson", *REFUND, "-o", "json", "--dry-run", "-q", "-q", env=NOWHERE)
    assert result.code == 0, result.err
    assert result.json["body"] == {"payment": "pay_1"}


def shown(*argv: str, stdin: bytes = b"") -> Any:
    """What the dry run says would be sent."""
    result = inside(*argv, "--dry-run", stdin=stdin, env=NOWHERE)
    assert result.code == 0, result.err
    return json.loads(result.out)


def sent(*argv: str, stdin: bytes = b"") -> Any:
    return shown(*argv, stdin=stdin)["body"]


def test_a_file_is_read_wherever_a_value_has_a_name(tmp_path: Path) -> None:
    """`NAME=@FILE` is the file's content, as with -d; `@-` is standard input."""
    path = tmp_path / "note.txt"
    path.write_text("two\nlines", encoding="utf-8")
    text = {"note": "two\nlines"}
    assert sent(*REFUND, "--metadata", f"note=@{path}")["metadata"] == text
    assert sent(*REFUND, "--metadata", "note=@-", stdin=b"two\nlines")["metadata"] == text
    evidence = sent("disputes", "update", "dp_1", "--evidence", f"receipt=@{path}")
    assert evidence == "evidence%5Breceipt%5D=two%0Alines"
    item = sent("orders", "update", "ord_1", "--item", f"quantity=1,name=@{path}")
    assert item["items"] == [{"quantity": 1, "name": "two\nlines"}]
    listed = inside("orders", "list", "--param", f"note=@{path}", "--dry-run", env=NOWHERE)
    assert listed.json["url"].endswith("note=two%0Alines")


@pytest.mark.parametrize("blank", [" ", "\t", "\r\n", "\u00a0"])
def test_blanks_around_an_id_are_taken_off(blank: str) -> None:
    """What was pasted with a blank, or read from a file of Windows, is the id without it."""
    pasted = f"{blank}pay_1{blank}"
    assert sent("refunds", "create", "--payment", pasted) == {"payment": "pay_1"}
    assert sent("refunds", "create", "-d", f"payment={pasted}") == {"payment": "pay_1"}
    assert shown("payments", "retrieve", pasted)["url"].endswith("/payments/pay_1")
    assert shown("get", pasted)["url"].endswith("/payments/pay_1")
    assert shown("refunds", "list", "--payment", pasted)["url"].endswith("?payment=pay_1")


def test_a_text_may_be_empty() -> None:
    """A field's value is the service's to judge, and a fault's answer may have no body."""
    told = sent("disputes", "update", "dp_1", "--tracking-number", "")
    assert told == "evidence%5Btracking_number%5D="
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
    assert sent(*REFUND, *note)["metadata"] == {"home_country": "de", "my_currency": "eur"}
    told = sent("disputes", "update", "dp_1", "--evidence", "origin_country=de")
    assert told == "evidence%5Borigin_country%5D=de"
