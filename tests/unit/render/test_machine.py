"""JSON, NDJSON and ids: exactly what the service sent, and nothing else on stdout."""

import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from svc.errors import NetworkError
from svc.inputs import Format
from svc.render.dump import compact, dump, indent
from svc.render.output import Output

KINDS = "order payment refund payout quote dispute event endpoint method".split()
FORMATS = "json ndjson id csv human".split()
SPELLED = '{"id":"po_1","fx_rate":0.90909091000,"big":1E+5,"neg":-0.0,"n":12345678901234567890123}'


class SpelledNumber(float):
    """A float that remembers its spelling, as the client makes them."""

    text: str


@pytest.mark.parametrize("kind", KINDS)
def test_json_is_what_was_sent_indented_by_two(printed: Any, samples: Any, kind: str) -> None:
    """One object keeps its keys, their order and its values (R72)."""
    data = samples[kind]
    assert printed("json").one(data) == json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def test_json_keeps_the_spelling_of_numbers_and_escapes() -> None:
    """Numbers and string escapes are not read and written again."""
    text = '{"a":1.10,"b":1E+5,"c":"\\u00e9\\/","d":-0.0,"e":[],"f":{},"g":12345678901234567890123}'
    assert indent(text).splitlines() == [
        "{",
        '  "a": 1.10,',
        '  "b": 1E+5,',
        '  "c": "\\u00e9\\/",',
        '  "d": -0.0,',
        '  "e": [],',
        '  "f": {},',
        '  "g": 12345678901234567890123',
        "}",
    ]


@pytest.mark.parametrize("spacing", [None, 1, 4])
def test_compact_takes_out_all_spacing(samples: Any, spacing: int | None) -> None:
    """However the service lays its JSON out, a line of NDJSON is one line."""
    order = samples["order"]
    assert compact(json.dumps(order, indent=spacing)) == json.dumps(order, separators=(",", ":"))


def test_indent_survives_hostile_nesting() -> None:
    """20,000 open brackets neither end the program nor grow the output with their square."""
    deep = "[" * 20_000 + "]" * 20_000
    out = indent(deep)
    assert len(out) < len(deep) * 140
    assert "".join(out.split()) == deep


def test_dump_keeps_spelled_numbers_and_decimals() -> None:
    """Numbers of parsed objects are written as they were read."""
    rate = SpelledNumber("0.90909091")
    rate.text = "0.90909091000"
    data = {"rate": rate, "whole": Decimal("1.10"), "n": 3, "f": 0.5}
    assert dump(data) == '{"rate":0.90909091000,"whole":1.10,"n":3,"f":0.5}'


def test_dump_writes_no_number_that_json_does_not_have() -> None:
    """NaN and Infinity are no JSON; they are written as null."""
    assert dump([float("nan"), float("-inf"), Decimal("NaN")]) == "[null,null,null]"


def test_dump_of_deep_data_needs_no_recursion() -> None:
    """Nesting as deep as a parser lets through is written."""
    data: list[object] = []
    for _ in range(20_000):
        data = [data]
    assert dump(data) == "[" * 20_001 + "]" * 20_001


def test_dump_refuses_what_json_has_no_form_for() -> None:
    """A mistake of ours is not printed as something else."""
    with pytest.raises(TypeError, match="StringIO has no form in JSON"):
        dump({"a": io.StringIO()})


def test_json_page_is_the_list_object_unchanged(printed: Any, samples: Any) -> None:
    """Without --all, json prints the service's list object."""
    objects = [samples["order"], samples["payment"]]
    page = {"object": "list", "data": objects, "has_more": True}
    output = printed("json")
    assert output.page(*objects, next_command="svc x") == json.dumps(page, indent=2) + "\n"
    assert output.err == ""


@pytest.mark.parametrize("form", ["json", "ndjson", "human"])
def test_query_over_one_page_of_several_says_so(printed: Any, form: Any) -> None:
    """The result has no `has_more`: a sum over the first 25 refunds looked like one over all."""
    output = printed(form, query="sum(data[].amount)")
    data = {"object": "list", "data": [{"id": "rf_1", "amount": 5}], "has_more": True}
    output.output.answer(json.dumps(data), data, next_command="svc refunds list")
    assert output.out == "5\n"
    assert output.err == "The query has seen this page only. Next page: svc refunds list\n"


def test_ndjson_page_is_a_line_an_object_spelled_as_sent(printed: Any) -> None:
    """Numbers keep their spelling when a page is cut into lines."""
    text = f'{{"has_more":true,"object":"list","data":[{SPELLED} , {SPELLED}]}}'
    output = printed("ndjson")
    output.output.answer(text, json.loads(text), next_command="svc payouts list --starting-after b")
    assert output.out == f"{SPELLED}\n{SPELLED}\n"
    assert output.err == "Next page: svc payouts list --starting-after b\n"


def test_ndjson_stream_hands_every_page_on_in_one_write() -> None:
    """`head -1` ends svc no more often than `git log`; only one page is held."""
    handed_on: list[str] = []

    class Pipe(io.StringIO):
        def flush(self) -> None:
            handed_on.append(self.getvalue())

    def objects() -> Iterator[tuple[str, object]]:
        for n in range(3):
            assert len(handed_on) == n // 2
            yield f'{{"id":"ord_{n}"}}', {"id": f"ord_{n}"}

    out = Pipe()
    Output(
        format="ndjson", stdout=out, stderr=io.StringIO(), color=False, width=80, now=lambda: 0.0
    ).stream(objects(), page_size=2)
    assert handed_on[1] == '{"id":"ord_0"}\n{"id":"ord_1"}\n{"id":"ord_2"}\n'


@pytest.mark.parametrize("count", [0, 1, 3])
def test_json_stream_is_one_array(printed: Any, samples: Any, count: int) -> None:
    """With --all, json is one array, laid out like any other (R72)."""
    objects = [samples["order"]] * count
    assert printed("json").stream(objects) == json.dumps(objects, indent=2) + "\n"


def test_json_stream_that_ends_in_an_error_is_no_whole_document(printed: Any) -> None:
    """Half an export must not read as a whole one, even when the exit code is ignored (R18)."""

    def objects() -> Iterator[object]:
        yield {"id": "ord_1"}
        raise NetworkError("cut")

    output = printed("json")
    with pytest.raises(NetworkError):
        output.stream(objects())
    assert output.out == '[\n  {\n    "id": "ord_1"\n  }\n'


@pytest.mark.parametrize("form", ["ndjson", "csv", "id", "human"])
def test_stream_that_ends_in_an_error_prints_what_came_before_it(
    printed: Any, form: Format
) -> None:
    """What an export says that it has received is on stdout (R18)."""

    def objects() -> Iterator[object]:
        yield from ({"id": f"ord_{n}"} for n in range(130))
        raise NetworkError("cut")

    output = printed(form)
    with pytest.raises(NetworkError):
        output.stream(objects())
    assert [f"ord_{n}" in output.out for n in range(130)] == [True] * 130


def test_ids_come_one_a_line(printed: Any, samples: Any) -> None:
    """-o id gives what a shell loop needs."""
    order, payment = samples["order"], samples["payment"]
    assert printed("id").page(order, payment).split() == [order["id"], payment["id"]]
    assert printed("id").one(order) == order["id"] + "\n"
    assert printed("id").stream([payment, order]).split() == [payment["id"], order["id"]]
    assert printed("id").value(["evt_1", 7]) == "evt_1\n7\n"


def test_ids_say_what_has_none(printed: Any) -> None:
    """A result without an id is not dropped in silence, not even with --quiet."""
    output = printed("id", quiet=True)
    assert output.value([{"name": "x"}, {"id": "ord_1"}]) == "ord_1\n"
    assert output.err == "Warning: 1 without an id; -o json shows them\n"


def test_value_prints_our_own_results_in_the_same_formats(printed: Any) -> None:
    """A list of ours is an array in json and lines in ndjson."""
    data = [{"id": "a", "n": 1}, {"id": "b", "n": None}]
    assert printed("json").value(data) == json.dumps(data, indent=2) + "\n"
    assert printed("ndjson").value(data) == '{"id":"a","n":1}\n{"id":"b","n":null}\n'


def test_record_is_one_line(printed: Any) -> None:
    """A listener's reader gets a line for each record."""
    output = printed("ndjson")
    output.output.record({"type": "event", "verified": True, "text": "a\nb\x1b"})
    assert output.out == '{"type":"event","verified":true,"text":"a\\nb\\u001b"}\n'


@pytest.mark.parametrize("form", FORMATS)
def test_list_object_given_as_one_object_prints_as_a_page(
    printed: Any, samples: Any, form: Format
) -> None:
    """`svc get /v1/orders` prints like `svc orders list`."""
    page = {"object": "list", "data": [samples["order"]], "has_more": False}
    assert printed(form).one(page) == printed(form).page(samples["order"]) != ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_encoding_can_be_written(form: Format, encoding: str) -> None:
    """With LANG=C nothing fails, and JSON stays the same value."""
    data = {"id": "ord_é", "object": "order", "name": "株式会社 é 🎌 …"}
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    output = Output(format=form, stdout=out, stderr=out, color=False, width=20, now=lambda: 0.0)
    output.answer(json.dumps(data, ensure_ascii=False), data)
    output.line("…")
    output.warn("…")
    written = raw.getvalue().decode(encoding)
    if form in ("json", "ndjson"):
        assert json.JSONDecoder().raw_decode(written)[0] == data
    assert written.count("\n") >= 3
