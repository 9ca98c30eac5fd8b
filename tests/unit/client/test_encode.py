"""Bodies as bytes."""

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.client.encoding import form_bytes, json_bytes, pairs_text
from svc.errors import UsageError
from svc.json_text import ExactNumber, parse


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"amount": 6450}, "amount=6450"),
        ({"submit": True, "draft": False}, "submit=true&draft=false"),
        (
            {"events": ["order.paid", "order.cancelled"]},
            "events[]=order.paid&events[]=order.cancelled",
        ),
        ({"evidence": {"tracking_number": "1Z"}}, "evidence[tracking_number]=1Z"),
        (
            {"items": [{"name": "A", "quantity": 1}, {"name": "B"}]},
            "items[0][name]=A&items[0][quantity]=1&items[1][name]=B",
        ),
        ({"description": None}, "description="),
        ({"name": "a&b=c d+é"}, "name=a%26b%3Dc%20d%2B%C3%A9"),
        ({"rate": ExactNumber("1.50")}, "rate=1.50"),
        ({"deep": [["x"], ["y"]]}, "deep[0][]=x&deep[1][]=y"),
    ],
)
def test_form_bodies_have_the_stated_syntax(body: dict[str, Any], text: str) -> None:
    """Brackets for nesting, [] for plain lists, [0] for lists of objects."""
    shown = form_bytes(body).decode().replace("%5B", "[").replace("%5D", "]")
    assert shown == text


@pytest.mark.parametrize(
    "body",
    [
        *({"items": []}, {"shipping": {}}, {"a": {"b": []}}, {"a[b]": "x"}, {"": "x"}),
        *({"a": {"": "x"}}, {"x": float("nan")}, {"x": object()}, {"x": "\ud800"}),
    ],
)
def test_what_a_form_cannot_say_is_refused(body: dict[str, Any]) -> None:
    """Nothing is dropped on the way: what would be lost is an error before sending."""
    with pytest.raises(UsageError) as caught:
        form_bytes(body)
    assert caught.value.outcome == "not_sent"


@pytest.mark.parametrize(
    "body",
    [{"x": float("inf")}, {"x": float("nan")}, {"x": {1, 2}}, {"x": "\udfff"}, {1: "x"}],
)
def test_what_json_cannot_say_is_refused(body: dict[Any, Any]) -> None:
    """A body that is not JSON is an error before sending."""
    with pytest.raises(UsageError):
        json_bytes(body)


def test_json_is_compact_utf8_and_keeps_numbers() -> None:
    """Numbers leave as they were spelled, text as UTF-8, keys in the order given."""
    body = {"b": [1, True, None, "é\n"], "a": {"rate": ExactNumber("0.90909091000"), "n": 10**30}}
    assert (
        json_bytes(body)
        == (
            '{"b":[1,true,null,"é\\n"],"a":{"rate":0.90909091000,"n":' + "1" + "0" * 30 + "}}"
        ).encode()
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), values, max_size=4))
def test_json_bodies_survive_a_round_trip(body: dict[str, Any]) -> None:
    """What is encoded is what a reader gets."""
    assert json.loads(json_bytes(body)) == body


names = st.text(
    st.characters(codec="utf-8", exclude_characters="[]0123456789"), min_size=1, max_size=6
)
scalars = st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8)
nested = st.recursive(
    scalars | st.lists(scalars, min_size=1, max_size=3),
    lambda inner: (
        st.dictionaries(names, inner, min_size=1, max_size=3)
        | st.lists(st.dictionaries(names, inner, min_size=1, max_size=2), min_size=1, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(names, nested, max_size=4))
def test_form_bodies_survive_a_round_trip(body: dict[str, Any]) -> None:
    """A reader of the stated syntax gets every name, place and value back."""
    pairs = parse_qsl(form_bytes(body).decode("ascii"), keep_blank_values=True)
    assert _folded(pairs) == _as_text(body)


def test_spaces_are_escaped_in_queries() -> None:
    """A plus sign means something else in some servers; %20 does not."""
    assert pairs_text([("a b", "c d")]) == "a%20b=c%20d"


@pytest.mark.parametrize(
    "text", ["1.10", "1e5", "0.00000001", "-0.0", "1E400", "123456789.123456789"]
)
def test_numbers_keep_their_spelling(text: str) -> None:
    """What the service spelled is what is sent and shown again, and it is still a number."""
    number = parse(text)
    assert isinstance(number, ExactNumber)
    assert number.text == text
    assert str(number) == text
    assert number == float(text)
    assert json_bytes({"n": number}) == b'{"n":' + text.encode() + b"}"


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_text(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_text(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _folded(pairs: list[tuple[str, str]]) -> Any:
    root: dict[str, Any] = {}
    for name, value in pairs:
        head, *rest = name.replace("]", "").split("[")
        _put(root, [head, *rest], value)
    return _listed(root)


def _put(place: dict[str, Any], path: list[str], value: str) -> None:
    head, *rest = path
    if rest == [""]:
        place.setdefault(head, []).append(value)
    elif rest:
        _put(place.setdefault(head, {"\0index": rest[0]}), rest, value)
    else:
        place[head] = value


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {name: _listed(one) for name, one in value.items() if name != "\0index"}
    # `a[0][b]` is a list in this syntax unless an object has digits for names, which is excluded.
    return list(inner.values()) if value.get("\0index") == "0" else inner
