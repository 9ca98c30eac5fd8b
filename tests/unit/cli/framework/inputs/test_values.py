"""Values on a command line: what is given twice, and what is read from a file."""

import json
from pathlib import Path
from typing import Any, Final

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
