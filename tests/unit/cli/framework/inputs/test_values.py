"""Values on a command line: what is given twice, and what is read from a file."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from support.running import inside

# No service is there: whatever gets so far as to be sent ends with 8.
NOWHERE: Final = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}
REFUND: Final = ("refunds", "create", "--payment", "pay_1")


def test_options_that_may_be_repeated_are() -> None:
    """Also an option before the noun and behind the verb, where the verb's counts."""
    result = inside("-o", "ndjson", *REFUND, "-o", "json", "--dry-run", "-q", "-q", env=NOWHERE)
    assert result.code == 0, result.err
    assert result.json["body"] == {"payment": "pay_1"}


def sent(*argv: str, stdin: bytes = b"") -> Any:
    """The body that the dry run shows."""
    result = inside(*argv, "--dry-run", stdin=stdin, env=NOWHERE)
    assert result.code == 0, result.err
    return json.loads(result.out)["body"]


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


def test_a_file_that_cannot_be_read_is_no_text() -> None:
    """The name of a missing file is not sent in its place; how to send the text is said."""
    result = inside(*REFUND, "--metadata", "x=@acme", "-o", "human", "--dry-run", env=NOWHERE)
    assert result.code == 2
    assert "acme cannot be read" in result.err
    assert "-d 'PATH:=" in result.err
    shown = sent(*REFUND, "-d", 'metadata[x]:="@acme"')
    assert shown["metadata"] == {"x": "@acme"}


@pytest.mark.parametrize("first", [("-d", "metadata[a]=@-"), ("--metadata", "a=@-")])
def test_standard_input_is_read_once(first: tuple[str, ...]) -> None:
    """The second value would be empty, by whichever option."""
    words = (*first, "-d", "metadata[b]=@-")
    assert inside(*REFUND, *words, stdin=b"x", env=NOWHERE).error["code"] == "given_twice"


@pytest.mark.parametrize(
    "argv", [("sandbox", "settings", "decline=@x"), ("sandbox", "balances", "EUR=@x")], ids=" ".join
)
def test_a_value_that_is_no_text_takes_no_file(argv: tuple[str, ...]) -> None:
    """Settings and amounts are words and numbers."""
    result = inside(*argv, env=NOWHERE)
    assert (result.code, result.error["code"]) == (2, "file_not_taken"), result.err
