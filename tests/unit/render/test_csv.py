"""CSV that a spreadsheet opens safely and `svc batch` reads back (promise R64)."""

import csv
import io
import json
import re
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from support.suite.shapes import SHAPES
from svc.errors import LocalError, PartlyDone
from svc.render.csv_format import Csv, cell, columns_of, restore, row
from svc.render.dump import dump
from svc.render.output import Output
from svc.render.paths import flatten, format_bracket_path, lookup

# As scripts know them: typed here, not derived.
COLUMNS: Final = {
    kind: tuple(names.split())
    for kind, names in {
        "order": """
            id status amount currency settlement_currency shipping[country] shipping[postal_code]
            items[0][name] items[0][hs_code] items[0][origin_country] items[0][quantity]
            items[0][unit_amount] capture_method landed_cost[duty] landed_cost[vat]
            landed_cost[fees] landed_cost[total] landed_cost[currency] landed_cost[guaranteed]
            customs[charged] customs[covered] customs[paid_by] amount_total amount_captured amount_refunded latest_payment paid_at cancelled_at
            cancellation_reason created livemode""",
        "payment": """
            id status order amount amount_captured amount_released amount_refunded currency method
            card[brand] card[last4] retried acquirer failure_code decline_type disputed
            settlement_amount settlement_currency fx_rate captured_at created livemode""",
        "refund": """
            id status payment order amount currency reason failure_reason created livemode""",
        "payout": """
            id status amount currency source_amount source_currency fx_rate network_fees
            destination[country] destination[account_holder_name] destination[bank_name]
            destination[last4] reference failure_reason estimated_arrival sent_at paid_at failed_at
            created livemode""",
        "landed_cost_quote": """
            id guaranteed duty vat fees total currency shipping[country] shipping[postal_code]
            ship_from_country shipping_amount expires_at created livemode""",
        "dispute": """
            id status amount currency reason payment order evidence_status evidence_due_by
            evidence_submitted_at closed_at created livemode""",
        "event": "id type created livemode api_version data[object][id] data[object][object]",
        "webhook_endpoint": "id url status description api_version created livemode",
        "payment_method": "id type card[brand] card[last4] card[network_token]",
    }.items()
}


def table(text: str) -> list[dict[str, str]]:
    """Reads CSV by the standard library's reader."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_one_object_is_a_head_and_a_row(printed: Any, samples: Any) -> None:
    """Nested fields are bracket paths; text, numbers, booleans and null have one form each."""
    (line,) = table(printed("csv").one(samples["order"]))
    assert line["id"] == samples["order"]["id"]
    assert line["amount"] == "12900"
    assert line["shipping[country]"] == "DE"
    assert line["items[0][name]"] == "Linen jacket"
    assert line["items[0][unit_amount]"] == "12900"
    assert line["methods[3]"] == "paypal"
    assert line["metadata[ref]"] == "A-1001"
    assert line["livemode"] == "false"
    assert line["latest_payment"] == ""


def test_lines_end_as_rfc_4180_says(printed: Any) -> None:
    """CR LF ends a line; quotes are doubled; a line feed stays inside its quotes."""
    out = printed("csv").value([{"a": 'x "y", z', "b": "1\n2", "c": " pad "}])
    assert out == 'a,b,c\r\n"x ""y"", z","1\n2"," pad "\r\n'


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_a_kind_are_always_there_and_first(printed: Any, kind: str) -> None:
    """Scripts can rely on them, whatever the objects hold."""
    head = printed("csv").stream([{"object": kind, "id": "x", "surprise": 1}]).splitlines()[0]
    assert head.split(",") == [*COLUMNS[kind], "object", "surprise"]
    assert tuple(map(format_bracket_path, columns_of(kind))) == COLUMNS[kind]


OWN_LISTS: Final = {
    **dict.fromkeys(("request", "logged_request"), SHAPES["request"]),
    "sandbox": SHAPES["sandbox_process"],
    **{
        kind: SHAPES[kind]
        for kind in "kept_delivery profile key reminder fault failed_event delivery email".split()
    },
}


@pytest.mark.parametrize("kind", OWN_LISTS)
def test_a_list_of_ours_without_rows_names_what_rows_hold(printed: Any, kind: str) -> None:
    """Its head is no shorter than a script needs, and has no name that no row has."""
    empty = printed("csv")
    empty.output.value([], kind=kind)
    names = empty.out.split()[0].split(",")
    assert {"object", "id" if "id" in OWN_LISTS[kind] else "object"} <= set(names)
    assert {part.rstrip("]") for name in names for part in name.split("[")} <= OWN_LISTS[kind]


def test_numbers_keep_their_spelling(printed: Any) -> None:
    """A rate is exported as the service spelled it."""
    from decimal import Decimal

    assert printed("csv").value([{"fx_rate": Decimal("1.10")}]) == "fx_rate\r\n1.10\r\n"


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-x", "@SUM(A1)", "\tx", "\rx", "'=1", "''@"])
def test_formula_is_defused_and_comes_back(text: str) -> None:
    """A text that a spreadsheet would run gets a quote before it, and loses it on the way back."""
    made = cell(text)
    assert made.startswith("'")
    assert restore(made) == text
    assert cell(text, raw=True).replace("\\u{d}", "\r") == text
    assert restore(cell(text, raw=True), raw=True) == text


@pytest.mark.parametrize("text", ["x=1", "'quoted'", "", " =1", "1.5", "true", "a\nb", "\\u{1b}"])
def test_other_text_has_no_quote_before_it(text: str) -> None:
    """Only what is dangerous is changed, and everything comes back."""
    assert not cell(text).startswith("''")
    assert restore(cell(text)) == text


BLANKS = ("", "\n", " ", "\t ", "\u00a0", "\u3000", "\r\n", "'")
MARKS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


@pytest.mark.parametrize("before", ["", "a;", "a\t", "a\n", "a; ", ";;"])
def test_no_formula_begins_wherever_a_cell_may(before: str) -> None:
    """R64: not behind blanks, not in full width, not where semicolons or tabs part cells."""
    for blank, mark in product(BLANKS, MARKS):
        text = f"{before}{blank}{mark}cmd|' /C calc'!A0"
        made = cell(text)
        for part in re.split(r"[;\t\n]", made.replace("\\u{d}", "\n")):
            assert part.strip()[:1] not in MARKS, made
        assert restore(made) == text


def test_amounts_below_zero_are_numbers(printed: Any) -> None:
    """A number is no text: it never gets a quote before it."""
    assert printed("csv").value([{"n": -5, "t": "-5"}]) == "n,t\r\n-5,'-5\r\n"


def test_raw_csv_leaves_formulas(printed: Any) -> None:
    """--raw-csv is for readers that are no spreadsheet."""
    assert printed("csv", raw_csv=True).value([{"t": "=1"}]) == "t\r\n=1\r\n"


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
@settings(max_examples=examples(3))
@example(texts=[""])
@example(texts=['"', ",", "\r\n"])
@example(texts=["\x00\x1b[0m", "=1+1", "-1"])
def test_round_trip_is_exact(texts: list[str]) -> None:
    """Whatever the text, what was exported is what is imported (R64)."""
    line = row([cell(text) for text in texts])
    (back,) = csv.reader(io.StringIO(line, newline=""), strict=True)
    assert [restore(text) for text in back] == texts
    assert "\x1b" not in line


@given(
    st.dictionaries(
        st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8),
        st.text(max_size=20) | st.integers(-(10**12), 10**12) | st.booleans(),
        min_size=1,
        max_size=6,
    )
)
@example({"\u115f": ""})
@settings(max_examples=examples(1))
def test_round_trip_of_objects_is_exact(data: dict[str, Any]) -> None:
    """Every field of an object is under its own column."""
    out = io.StringIO()
    output = Output(format="csv", stdout=out, stderr=out, color=False, width=80, now=lambda: 0.0)
    output.value([{"nested": data}])
    (named,) = table(out.getvalue())
    line = {
        restore(name): text for name, text in named.items()
    }  # an invisible letter is written out
    words = {True: "true", False: "false"}
    for key, value in data.items():
        text = (
            value
            if isinstance(value, str)
            else words.get(value, str(value))
            if isinstance(value, bool)
            else str(value)
        )
        assert restore(line[f"nested[{key}]"]) == text


JSON_TEXT: Final = st.text(alphabet="abc=-;,\" \\'\n\u00e9", max_size=5)
JSON_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | JSON_TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "0", "1"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), JSON_VALUES, min_size=1), min_size=1))
@settings(max_examples=examples(3))
@example([{"a": {"0": 1}}] * 100 + [{"a": [1]}, {"a": {"b": 1}}, {"a": [[1], {"b": 2}]}])
@example([{"a": None}] * 100 + [{"a": {}}, {"a": []}, {"a": {"b": None}}, {"b": None}])
def test_one_walk_reads_what_each_path_says(rows: list[dict[str, Any]]) -> None:
    """A stream has the cells that its columns' paths name, and tells of each value without one."""
    rows = [{"id": number, **one} for number, one in enumerate(rows)]
    written: list[str] = []
    printer = Csv(written.append, lambda _: None, (), raw=False)
    try:
        printer.stream(("", one) for one in rows)
        told = ""
    except PartlyDone as error:
        told = error.message
    head, *lines = csv.reader(io.StringIO("".join(written), newline=""))
    first = [path for one in rows[:100] for path, _ in flatten(one)]
    paths = {format_bracket_path(path): path for path in first}
    for one, cells in zip(rows, lines, strict=True):
        for name, text in zip(head, cells, strict=True):
            value = lookup(one, paths[name])
            shown = value if isinstance(value, str) else "" if value is None else dump(value)
            assert text == cell(shown, raw=not isinstance(value, str | list | dict))
    known = set(head)
    lost = sum(
        any(v is not None and format_bracket_path(p) not in known for p, v in flatten(one))
        for one in rows
    )
    assert told.startswith(f"{lost} objects" if lost else "")
    assert bool(told) == bool(lost)


def test_fields_choose_the_columns(printed: Any, samples: Any) -> None:
    """--fields takes dotted and bracket paths; a column is headed by its bracket path."""
    out = printed("csv", fields=("id", "shipping.country", "items[0].name", "shipping")).page(
        samples["order"]
    )
    assert out.splitlines()[0] == "id,shipping[country],items[0][name],shipping"
    (line,) = table(out)
    assert line["items[0][name]"] == "Linen jacket"
    assert json.loads(line["shipping"]) == samples["order"]["shipping"]


def test_stream_holds_a_page_and_no_more(printed: Any, samples: Any) -> None:
    """Rows come out while later objects are still unread (constant memory)."""
    output = printed("csv")
    seen: list[int] = []

    def objects() -> Any:
        for _ in range(300):
            seen.append(output.out.count("\r\n"))
            yield samples["refund"]

    output.stream(objects())
    assert seen[99] == 0
    assert seen[150] == 101
    assert seen[299] == 201
    assert output.out.count("\r\n") == 301


def test_a_stream_warns_once_of_a_field_that_there_is_not(printed: Any, samples: Any) -> None:
    """By its first page, and not again by each later one."""
    output = printed("csv", fields=("id", "nope"))
    output.stream([samples["refund"]] * 201)
    assert output.err.count("Warning: No object has the field nope") == 1
    assert output.out.count("\r\n") == 202


def test_stream_says_when_a_later_object_had_more(printed: Any, samples: Any) -> None:
    """Values that no column takes are never lost in silence: every row, then exit 9 (R18)."""
    order = samples["order"]
    wide = order | {"items": order["items"] * 2}
    output = printed("csv")
    with pytest.raises(PartlyDone) as caught:
        output.stream([order] * 100 + [wide, order])
    assert output.out.count("\r\n") == 103
    assert caught.value.message.startswith("1 objects have values that no column took: items[1][na")
    assert "ndjson" in str(caught.value.hint)


def test_stream_learns_columns_from_the_first_page(printed: Any, samples: Any) -> None:
    """An order with two items on the first page gives every row the columns for two."""
    order = samples["order"]
    wide = order | {"items": order["items"] * 2}
    lines = table(printed("csv").stream([order, wide]))
    assert [line["items[1][name]"] for line in lines] == ["", "Linen jacket"]


def test_null_and_object_under_one_name_share_the_columns(printed: Any) -> None:
    """`card` that is null once needs no column beside `card[brand]`."""
    out = printed("csv").value([{"card": None}, {"card": {"brand": "visa"}}])
    assert out == "card[brand]\r\n\r\nvisa\r\n".replace("\r\n\r\n", '\r\n""\r\n')


def test_empty_list_has_a_head_only_where_the_columns_are_known(printed: Any) -> None:
    """With --fields an empty export still has its head."""
    assert printed("csv", fields=("id", "amount")).stream([]) == "id,amount\r\n"


@pytest.mark.parametrize(
    ("changed", "cells"),
    [
        ({"amount": 1234, "currency": "EUR"}, "12.34,1.00,"),
        ({"amount": 1234, "currency": "JPY"}, "1234,100,"),
        ({"amount": None, "currency": "KWD"}, ",0.100,"),
        ({"amount": 1.5, "currency": "EUR", "novel": 7}, "1.5,1.00,7"),
        ({"object": "novel", "amount": 1234}, "1234,100,"),
    ],
)
def test_amounts_have_the_decimals_of_their_currency(
    printed: Any, samples: Any, changed: dict[str, Any], cells: str
) -> None:
    """Of items as well, whose currency is the order's; what is no amount stays."""
    order = samples["order"] | {"items": [{"unit_amount": 100}]} | changed
    names = ("amount", "items[0][unit_amount]", "novel")
    for how in ("stream", "value"):
        output = printed("csv", fields=names, decimals=True)
        assert getattr(output, how)([order]).splitlines()[1] == cells


def test_an_amount_whose_decimals_are_not_known_is_not_guessed_at(
    printed: Any, samples: Any
) -> None:
    """It would be off by a hundred; in minor units it can be written."""
    with pytest.raises(LocalError, match="amount is in 'XXX', whose") as refused:
        printed("csv", decimals=True).stream([samples["refund"] | {"currency": "XXX"}])
    assert (refused.value.code, refused.value.param) == ("currency_unknown", "decimals")
