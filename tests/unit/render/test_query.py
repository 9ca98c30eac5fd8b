"""--query: JMESPath over the whole result, checked before anything is sent."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from svc.errors import LocalError, UsageError
from svc.inputs import Format
from svc.render.query import Condition

pytestmark = pytest.mark.smoke

OBJECTS = [{"id": f"ord_{n}", "amount": n, "fx_rate": Decimal("1.10")} for n in range(250)]
Ask = Callable[..., str]


@pytest.fixture
def asked(printed: Any) -> Ask:
    """Prints the result of a query over one object."""

    def ask(query: str, data: object, form: Format = "json") -> str:
        output = printed(form, query=query)
        output.output.answer("{}", data)
        return str(output.out)

    return ask


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("length(@)", "250\n"),
        ("[0].id", '"ord_0"\n'),
        ("[-1].id", '"ord_249"\n'),
        ("sum([].amount)", "31125\n"),
        ("[?amount > `247`].id", '[\n  "ord_248",\n  "ord_249"\n]\n'),
    ],
)
def test_query_is_over_all_pages_at_once(printed: Any, query: str, result: str) -> None:
    """With --all the expression sees every object, never a page at a time."""
    output = printed("json", query=query)
    output.output.stream(("{}", item) for item in OBJECTS)
    assert output.out == result


def test_query_keeps_the_spelling_of_what_it_selects(asked: Ask) -> None:
    """A rate that is only selected is printed as sent, and can be calculated with."""
    assert asked("fx_rate", OBJECTS[0]) == "1.10\n"
    assert asked("[fx_rate, to_number('2.50')]", OBJECTS[0]) == "[\n  1.10,\n  2.5\n]\n"
    assert asked("fx_rate > `1.05`", OBJECTS[0]) == "true\n"
    assert asked("max_by([@], &fx_rate).fx_rate", OBJECTS[0]) == "1.10\n"
    assert asked("ceil(fx_rate)", OBJECTS[0]) == "2\n"


@pytest.mark.parametrize(
    ("form", "query", "out"),
    [
        ("ndjson", "items[].name", '"Linen jacket"\n'),
        ("ndjson", "amount", "12900\n"),
        ("csv", "items[].{name: name, n: quantity}", "name,n\r\nLinen jacket,1\r\n"),
        ("csv", "items[].[name, quantity]", "Linen jacket,1\r\n"),
        ("csv", "methods", "value\r\ncard\r\nsepa_debit\r\nklarna\r\npaypal\r\n"),
        ("id", "methods", "card\nsepa_debit\nklarna\npaypal\n"),
        ("id", "@", "ord_3kPq0aVb7cXd9eYf1gZh2iWj\n"),
        ("human", "status", "requires_payment\n"),
        ("human", "methods", "card\nsepa_debit\nklarna\npaypal\n"),
        ("human", "items[].[name, quantity]", "Linen jacket  1\n"),
        ("human", "items[].{name: name, n: quantity}", "NAME          N\nLinen jacket  1\n"),
        ("human", "missing", "The query has found nothing in ord_3kPq0aVb7cXd9eYf1gZh2iWj.\n"),
        ("json", "missing", "null\n"),
    ],
)
def test_result_prints_in_the_chosen_format(
    asked: Ask, samples: Any, form: Format, query: str, out: str
) -> None:
    """Whatever shape the result has, every format can print it."""
    assert asked(query, samples["order"], form) == out


def test_query_of_a_page_sees_the_list_object(printed: Any, samples: Any) -> None:
    """Without --all the whole result is the service's list object."""
    output = printed("json", query="[has_more, length(data)]")
    output.page(samples["order"], samples["payment"], next_command="svc x")
    assert json.loads(output.out) == [True, 2]


def test_query_applies_to_our_own_results(printed: Any) -> None:
    """`svc whoami --query mode` works like any other."""
    assert printed("json", query="mode").value({"mode": "test"}) == '"test"\n'


def test_a_query_finds_data_where_people_read_a_sentence(printed: Any) -> None:
    """`svc sandbox export FILE --query file` on a terminal is answered as well."""
    for query, shown in ((None, "Written.\n"), ("file", "a\n")):
        output = printed("human", query=query)
        output.output.result({"file": "a"}, "Written.")
        assert output.out == shown


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("data[", "it ends too early"),
        ("a ]]", "']' is unexpected at character 3"),
        ("", "it is empty"),
        ("#", "'#' is unexpected at character 1"),
        ("frobnicate(a)", "there is no function frobnicate()"),
        ("length(a, b)", "length() takes 1, not 2"),
        ("not_null()", "not_null() takes at least 1, not 0"),
        ("[&a]", "& may stand only before a function's argument"),
        ("(" * 5000, "it nests too deeply"),
    ],
)
def test_bad_expression_is_found_before_anything_is_sent(
    printed: Any, query: str, why: str
) -> None:
    """A mistake names its place when the output is made, so that no request is out (exit 2)."""
    with pytest.raises(UsageError) as caught:
        printed("json", query=query)
    assert f"--query: {why}, in " in caught.value.message
    assert caught.value.param == "query"


@pytest.mark.parametrize(
    "query", ["length(amount)", "amount < 'x'", "sort_by(items, &hs)", "items[::0]"]
)
def test_an_expression_that_does_not_fit_does_not_say_that_nothing_was_sent(
    asked: Ask, samples: Any, query: str
) -> None:
    """What was sent is for the command to say, which knows it (R70)."""
    with pytest.raises(LocalError) as caught:
        asked(query, samples["order"])
    assert caught.value.outcome is None
    assert caught.value.hint is None  # nothing that would send it again (R120)


@pytest.mark.parametrize("form", ["json", "csv", "human"])
def test_bad_field_path_is_found_before_anything_is_sent(printed: Any, form: Format) -> None:
    """--fields is checked when the output is made."""
    with pytest.raises(UsageError, match="fields"):
        printed(form, fields=("a]b",))


@pytest.mark.parametrize(
    ("expression", "body", "met"),
    [
        *(("a > `1`", b'{"a": 2}', True), ("a > `1`", b'{"a": 1}', False), ("a", b"{}", False)),
        *(("a", b'{"a": 0}', True), ("a", b'{"a": ""}', False), ("a", b'{"a": []}', False)),
        *(("a", b'{"a": {}}', False), ("a", b'{"a": false}', False), ("a", b'{"a": "x"}', True)),
        *(("length(a)", b'{"a": 1}', False), ("a", b"no JSON", False), ("a", b"\xff", False)),
    ],
)
def test_a_condition_is_met_by_what_is_true_in_its_language(
    expression: str, body: bytes, met: bool
) -> None:
    """0 is true there; what does not fit, or is no JSON, does not meet it."""
    assert Condition(expression, "--where")(body) is met
