"""What makes two requests the same: place, mode, path and the parsed body, not their spelling."""

import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.client.encoding import form_bytes, json_bytes
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.journal.transaction import Like
from svc.delivery.likeness import UnreadableBody, fields_of, likenesses, place_of
from svc.state import Database
from unit.delivery.journal.asking import asked

HERE = "https://api.example.com"
BODY = {"payment": "pay_1", "amount": 500, "metadata": {"a": "1", "b": [1, 2]}}


def same(body: dict[str, object], path: str = "/v1/refunds", where: str = HERE) -> str:
    return likenesses(where, "test", path, body)[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"amount":500,"payment":"pay_1","metadata":{"b":[1,2],"a":"1"}}',
        '{ "metadata": {"a": "1", "b": [1.0, 2]}, "payment": "pay_1", "amount": 500.00 }',
        '{"payment":"pay_1","amount":5e2,"metadata":{"a":1,"b":[1,2]},"reason":null}',
    ],
)
def test_spelling_and_order_do_not_count(text: str) -> None:
    """R91: names are sorted, numbers count by value; null leaves a field of something new out."""
    assert same(fields_of("json", text.encode())) == same(BODY)


def test_a_form_says_the_same_as_json() -> None:
    """R91: brackets are undone, and a form has nothing but text."""
    assert same(fields_of("form", form_bytes(BODY))) == same(BODY)
    items = {"items": [{"name": "Jacke", "quantity": 1}], "submit": True}
    assert same(fields_of("form", form_bytes(items))) == same(items)
    assert same(fields_of("json", json_bytes(items))) == same(items)


@pytest.mark.parametrize(
    "other",
    [
        {**BODY, "amount": 501},
        {**BODY, "amount": "500.0"},
        {**BODY, "payment": "pay_2"},
        {**BODY, "metadata": {"a": "1", "b": [2, 1]}},
        {**BODY, "metadata": {"a": "01", "b": [1, 2]}},
        {**BODY, "reason": ""},
    ],
)
def test_what_differs_in_value_is_another_request(other: dict[str, object]) -> None:
    """Text is itself: a reference 500.0 or 01 is not 500 or 1."""
    assert same(other) != same(BODY)


def test_exact_values_of_any_size() -> None:
    """No float lies in between, and no figure takes long to write down."""
    texts = ["12345678901234567.89", "12345678901234567.9", "1e400", "1e401", "-1", "0"]
    found = [same(fields_of("json", f'{{"x":{text}}}'.encode())) for text in texts]
    assert len(set(found)) == len(texts)
    for text, spelled in (("1e40", f"1{'0' * 40}"), ("-1.50", "-1.5"), ("2.0", "2"), ("0.0", "-0")):
        read = [fields_of("json", f'{{"x":{one}}}'.encode()) for one in (text, spelled)]
        assert same(read[0]) == same(read[1]), text
    huge = fields_of("json", b'{"x":1e999999999}')
    assert len(same(huge)) == 32


def test_null_counts_where_it_clears_something() -> None:
    """Changing an order with null is not the same as leaving the field out."""
    assert same({"metadata": None}, "/v1/orders/ord_1") != same({}, "/v1/orders/ord_1")
    assert same({"metadata": None}, "/v1/orders") == same({}, "/v1/orders")


def test_this_machine_has_one_name() -> None:
    """R91: localhost, 127.0.0.1 and ::1 are one service; a default port is as good as none."""
    names = ("http://localhost:4242", "http://127.0.0.1:4242", "http://[::1]:4242")
    assert len({same(BODY, where=name) for name in names}) == 1
    assert place_of("https://api.example.com:443") == place_of("https://API.example.com/")
    others = ("http://localhost:4243", "https://localhost:4242", "http://127.0.0.2:4242")
    assert all(place_of(one) != place_of(names[0]) for one in others)
    assert all(place_of(one) != place_of(other) for one, other in pairwise(others))


@pytest.mark.parametrize(
    ("encoding", "body"), [("json", b"[1]"), ("json", b"\xff"), ("form", b"a=1&a=2")]
)
def test_bytes_that_are_no_body_are_refused(encoding: str, body: bytes) -> None:
    """They are known by their digest alone."""
    with pytest.raises(UnreadableBody):
        fields_of("json" if encoding == "json" else "form", body)


def test_requests_from_before_get_their_identity(tmp_path: Path) -> None:
    """A journal of an earlier release: what is unresolved there stops the same request here."""
    path, clock = tmp_path / "state" / "state.db", ManualClock()
    with (
        Database.open(path, clock=clock) as state,
        closing(SenderLocks(path.parent / "senders")) as sender_locks,
    ):
        first = Journal(lambda: state, sender_locks, clock).record(asked())
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE requests SET likeness = NULL")
        database.commit()
    with (
        Database.open(path, clock=clock) as state,
        closing(SenderLocks(path.parent / "senders")) as sender_locks,
    ):
        found: list[Like] = []
        Journal(lambda: state, sender_locks, clock).record(asked(key="key-2"), found.extend)
    (duplicate,) = (one.intent for one in found)
    assert (duplicate.id, duplicate.likeness) == (first.id, first.likeness)
