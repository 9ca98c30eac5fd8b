"""The body of a writing command."""

import io
from pathlib import Path
from typing import Any

import pytest

from svc.cli.framework.inputs import build_body, file_reader, parse_item, without
from svc.errors import UsageError


def build(data: list[str], base: str | None = None, typed: dict[str, Any] | None = None) -> Any:
    def read(name: str) -> str:
        return {"body.json": base or "", "note.txt": "from a file", "n.json": "[1, 2]"}[name]

    return build_body(
        base="body.json" if base is not None else None, typed=typed or {}, data=data, read=read
    )


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (["a=1"], {"a": "1"}),
        (["a:=1"], {"a": 1}),
        (["a:=true", "b:=null", "c:=[1]"], {"a": True, "b": None, "c": [1]}),
        (
            ["shipping[country]=DE", "shipping[city]=Berlin"],
            {"shipping": {"country": "DE", "city": "Berlin"}},
        ),
        (["items[0][name]=A", "items[0][quantity]:=2"], {"items": [{"name": "A", "quantity": 2}]}),
        (["items[0][name]=A", "items[1][name]=B"], {"items": [{"name": "A"}, {"name": "B"}]}),
        (
            ["events[]=order.paid", "events[]=refund.failed"],
            {"events": ["order.paid", "refund.failed"]},
        ),
        (["a=@note.txt"], {"a": "from a file"}),
        (["a:=@n.json"], {"a": [1, 2]}),
        (["a=x=y"], {"a": "x=y"}),
        (["a="], {"a": ""}),
        (['a:="@x"'], {"a": "@x"}),
        (["url=http://x/?a:=b"], {"url": "http://x/?a:=b"}),
    ],
)
def test_data_sets_fields_by_bracket_paths(data: list[str], body: Any) -> None:
    """`-d` reaches any field: text, JSON, or a file's content."""
    assert build(data) == body


def test_options_and_data_win_over_the_body_file() -> None:
    """Precedence is --body, then options, then -d; nested objects are merged field by field."""
    base = '{"amount": 1, "shipping": {"country": "DE", "city": "Ulm"}, "note": "kept"}'
    body = build(["amount:=3"], base, {"shipping": {"country": "FR"}})
    assert body == {"amount": 3, "shipping": {"country": "FR", "city": "Ulm"}, "note": "kept"}


def test_what_adds_to_an_option_is_no_second_value() -> None:
    """Another field of the same object, another entry of the same list."""
    typed = {"shipping": {"country": "DE"}, "items": [{"name": "A"}]}
    body = build(["shipping[city]=Ulm", "items[0][quantity]:=1", "items[1][name]=B"], typed=typed)
    assert body == {
        "shipping": {"country": "DE", "city": "Ulm"},
        "items": [{"name": "A", "quantity": 1}, {"name": "B"}],
    }


@pytest.mark.parametrize("text", ["[1]", "{", '"x"', '{"a":1,"a":2}', "", "[" * 100_000])
def test_body_must_be_one_json_object(text: str) -> None:
    """R71: a bad body file ends with exit 2 and the place of the mistake."""
    with pytest.raises(UsageError):
        build([], text)


def test_item_reads_name_value_pairs() -> None:
    """A comma inside a name is no separator unless a field name and = follow it."""
    item = parse_item("name=Shirt, blue,hs_code=6205,quantity=2,unit_amount=1999", "EUR")
    assert item == {"name": "Shirt, blue", "hs_code": "6205", "quantity": 2, "unit_amount": 1999}


def test_files_that_cannot_be_read_are_one_clear_line(tmp_path: Path) -> None:
    """A missing, binary or huge file names itself."""
    read = file_reader(io.TextIOWrapper(io.BytesIO(b"from stdin")))
    assert read("-") == "from stdin"
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", "binary"):
        with pytest.raises(UsageError) as caught:
            read(str(tmp_path / name))
        assert name in caught.value.message


@pytest.mark.parametrize(
    ("argv", "beginning", "kept"),
    [
        ("list --param a=1 --param b=2 x", "a=", "list --param b=2 x"),
        ("list --param=a=1 --param=b=2 x", "a=", "list --param=b=2 x"),
        ("list --param a=1 --param", "", "list"),
        ("list --param=a=1 --params b", "", "list --params b"),
    ],
)
def test_an_option_is_taken_out_of_a_command_line(argv: str, beginning: str, kept: str) -> None:
    """However its value was joined to it; all else stays."""
    assert without(argv.split(), "--param", beginning) == kept.split()
