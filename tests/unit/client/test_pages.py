"""Following lists."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from support.calls import orders
from svc.client.exchange import Failure, RawReply, Trouble, WireRequest
from svc.client.pages import WINDOW, Walk, pages
from svc.errors import NetworkError, NotFound, PartlyDone, ReplyContradiction, SvcError
from unit.client.bench import Bench


def page(ids: Iterable[Any], *, more: bool = False) -> RawReply:
    entries = [{"id": one, "object": "order"} for one in ids]
    body = {"object": "list", "data": entries, "has_more": more}
    return RawReply(200, (), json.dumps(body).encode())


def targets(requests: list[WireRequest]) -> list[str]:
    return [request.target for request in requests]


def collect(made: Bench, *, maximum: int | None = None, **query: Any) -> tuple[list[str], Any]:
    """Walks to the end and gives the ids and the error, if there was one."""
    found: list[str] = []
    try:
        for one in pages(made.client, orders.list(query), max_items=maximum):
            found += [item.data["id"] for item in one.items]
    except SvcError as error:
        return found, error
    return found, None


def test_a_list_is_followed_to_its_end(bench: type[Bench]) -> None:
    """The last id of a page leads to the next; filters stay."""
    made = bench(page(["a", "b"], more=True), page(["c", "d"], more=True), page(["e"]))
    found, error = collect(made, status="paid")
    assert (found, error) == (["a", "b", "c", "d", "e"], None)
    assert targets(made.wire.requests) == [
        "/v1/orders?status=paid&limit=100",
        "/v1/orders?status=paid&limit=100&starting_after=b",
        "/v1/orders?status=paid&limit=100&starting_after=d",
    ]


def test_an_empty_list_is_one_empty_page(bench: type[Bench]) -> None:
    """Nothing found is no error."""
    made = bench(page([]))
    walked = list(pages(made.client, orders.list()))
    assert [(one.items, one.has_more) for one in walked] == [((), False)]


def test_pages_come_one_by_one(bench: type[Bench]) -> None:
    """An object a line as pages arrive: nothing is asked for ahead of the reader."""
    made = bench(page(["a"], more=True), page(["b"]))
    walk = pages(made.client, orders.list())
    next(walk)
    assert made.attempts == 1


def test_entries_keep_their_exact_text(bench: type[Bench]) -> None:
    """What is printed is what was sent."""
    text = b'{"object":"list","data":[{"id":"a","n":1.50},  {"id": "b"}],"has_more":false}'
    made = bench(RawReply(200, (), text))
    (one,) = pages(made.client, orders.list())
    assert [item.text for item in one.items] == ['{"id":"a","n":1.50}', '{"id": "b"}']
    assert one.items[0].data["n"].text == "1.50"


@pytest.mark.parametrize(
    ("maximum", "found", "more", "limit"),
    [(1, 1, True, 1), (2, 2, True, 2), (3, 3, True, 3), (4, 4, False, 4), (9, 4, False, 9)],
)
def test_a_maximum_ends_the_walk(
    maximum: int, found: int, more: bool, limit: int, bench: "type[Bench]"
) -> None:
    """`--max N`: no more objects than that, and word that there are more."""
    results = [page(["a", "b"], more=True), page(["c", "d"])]
    if limit == 1:
        results = [page(["a"], more=True)]
    made = bench(*results)
    walked = list(pages(made.client, orders.list(), max_items=maximum))
    assert sum(len(one.items) for one in walked) == found
    assert walked[-1].has_more is more
    assert f"limit={limit}" in targets(made.wire.requests)[0]


def test_a_large_maximum_asks_for_whole_pages(bench: type[Bench]) -> None:
    """Spec, Limits: a page holds at most 100."""
    made = bench(page([]))
    collect(made, maximum=5000)
    assert targets(made.wire.requests) == ["/v1/orders?limit=100"]


def test_the_users_limit_and_start_are_kept(bench: type[Bench]) -> None:
    """`--limit` and `--starting-after` are the user's."""
    made = bench(page(["b"], more=True), page(["c"]))
    found, error = collect(made, limit=7, starting_after="a")
    assert (found, error) == (["b", "c"], None)
    assert targets(made.wire.requests) == [
        "/v1/orders?starting_after=a&limit=7",
        "/v1/orders?limit=7&starting_after=b",
    ]


BREAKS = {
    "more of nothing": [page([], more=True)],
    "the same page again": [page(["b", "a"], more=True)],
    "back to the start": [page(["b"], more=True), page(["a"], more=True)],
    "over the limit": [page(["b", "c", "d"])],
    "no id": [page([None])],
    "nothing new": [page(["x"], more=True), page(["y"])],
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_list_never_ends_well(name: str, bench: type[Bench]) -> None:
    """R18: after some objects it is exit 9 and names the last one; nothing comes twice."""
    made = bench(page(["x", "a"], more=True), *BREAKS[name])
    found, error = collect(made, limit=2)
    assert isinstance(error, PartlyDone)
    assert int(error.exit_code) == 9
    assert found[:2] == ["x", "a"]
    assert len(found) == len(set(found))
    assert f"--starting-after {found[-1]}" in (error.hint or "")


@pytest.mark.parametrize("name", ["more of nothing", "over the limit", "no id"])
def test_a_list_that_is_broken_at_once_contradicts_itself(name: str, bench: type[Bench]) -> None:
    """R18: before any output it is a reply that cannot be right, exit 1."""
    found, error = collect(bench(*BREAKS[name]), limit=2)
    assert found == []
    assert isinstance(error, ReplyContradiction)


def test_a_start_that_is_answered_with_itself_is_a_loop(bench: type[Bench]) -> None:
    """R18: the user's own cursor counts as one that was there."""
    found, error = collect(bench(page(["a"], more=True)), starting_after="a")
    assert found == []
    assert isinstance(error, ReplyContradiction)


def test_an_object_that_comes_twice_is_given_once(bench: type[Bench]) -> None:
    """R18: ids are deduplicated, also across pages."""
    made = bench(page(["a", "b", "a"], more=True), page(["b", "c"]))
    assert collect(made) == (["a", "b", "c"], None)


def test_a_loop_over_many_objects_is_found(bench: type[Bench]) -> None:
    """R18: no loop escapes, however long, and nothing of it is given twice."""
    results = [page([f"o{n}_{i}" for i in range(100)], more=True) for n in range(WINDOW // 100 + 5)]
    made = bench(*results, results[0])
    found, error = collect(made)
    assert len(found) == len(set(found)) == 100 * len(results)
    assert isinstance(error, PartlyDone)


def test_memory_stays_flat_over_many_objects(bench: type[Bench]) -> None:
    """Only the latest ids are remembered, and one cursor a page."""
    walk = Walk(orders.list())
    for number in range(WINDOW // 100 + 50):
        made = bench(page([f"o{number}_{i}" for i in range(100)], more=True))
        walk.take(made.client.send(walk.call))
    assert len(walk._known) == len(walk._recent) == WINDOW
    assert len(walk._cursors) == WINDOW // 100 + 50


@pytest.mark.parametrize(
    "fault",
    [
        Failure(Trouble.NO_CONNECTION, sent=False),
        RawReply(401, (), b"{}"),
        RawReply(404, (), b"{}"),
    ],
)
def test_a_list_that_ends_early_is_partly_done(
    fault: RawReply | Failure, bench: "type[Bench]"
) -> None:
    """R18: an export that ended early is exit 9, never 0, and keeps the cause."""
    found, error = collect(bench(page(["a"], more=True), fault))
    assert found == ["a"]
    assert isinstance(error, PartlyDone)
    assert error.__cause__ is not None
    assert "after 1 objects" in error.message


def test_the_first_request_fails_as_itself(bench: type[Bench]) -> None:
    """Without any output a refusal is just that."""
    assert isinstance(collect(bench(RawReply(404, (), b"{}")))[1], NotFound)
    failed = collect(bench(Failure(Trouble.NO_CONNECTION, sent=False)))[1]
    assert isinstance(failed, NetworkError)
