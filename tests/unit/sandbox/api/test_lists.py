"""Lists: order, paging, filters (spec: List object; assumptions: Lists)."""

from typing import Any
from urllib.parse import urlencode

import pytest

from support.sandbox_calls import AsgiSandbox

PATHS = ["/v1/orders", "/v1/payments", "/v1/refunds", "/v1/payouts", "/v1/disputes"]
STATUSES = {
    "/v1/orders": ["requires_payment", "processing", "authorized", "paid", "cancelled"],
    "/v1/payments": ["processing", "authorized", "captured", "failed", "cancelled"],
    "/v1/refunds": ["pending", "succeeded", "failed"],
    "/v1/payouts": ["created", "sent", "paid", "failed"],
    "/v1/disputes": ["needs_response", "under_review", "won", "lost"],
}


def ids(answer: Any) -> list[str]:
    assert answer.status == 200, answer.body
    assert list(answer.json) == ["object", "url", "data", "has_more"]
    assert answer.json["object"] == "list"
    return [entry["id"] for entry in answer.json["data"]]


@pytest.fixture(scope="module")
def full(shared: AsgiSandbox) -> AsgiSandbox:
    """Every list with entries in several states, spread over two hours."""
    for _ in range(3):
        shared.order()
        payment = shared.paid()
        shared.paid("4000000000005126", capture_method="manual")
        shared.pay(shared.order(), "4000000000000002")
        shared.post("/v1/refunds", {"payment": payment["id"], "amount": 100})
        shared.post("/v1/payouts", shared.payout_params)
        lost = shared.control("/disputes", {"payment": shared.paid()["id"]}).json
        shared.post(f"/v1/disputes/{lost['id']}/accept")
        shared.control("/disputes", {"payment": shared.paid()["id"]})
        shared.advance(3600)
    return shared


@pytest.mark.parametrize("path", PATHS)
def test_lists_are_newest_first_and_page_without_gaps(full: AsgiSandbox, path: str) -> None:
    """Paging by any limit gives each object once, newest first, ties by creation."""
    everything = ids(full.get(path, limit=100))
    created = [entry["created"] for entry in full.get(path, limit=100).json["data"]]
    assert created == sorted(created, reverse=True)
    assert len(everything) == len(set(everything)) >= 3
    for limit in (1, 2, 5):
        found: list[str] = []
        page = full.get(path, limit=limit)
        while True:
            found += ids(page)
            if not page.json["has_more"]:
                break
            assert len(page.json["data"]) == limit
            page = full.get(path, limit=limit, starting_after=found[-1])
        assert found == everything


def test_default_page_has_25_objects(sandbox: AsgiSandbox) -> None:
    """25 without a limit; `has_more` says that there is another one (spec: Limits)."""
    for _ in range(26):
        sandbox.order()
    first = sandbox.get("/v1/orders")
    assert (len(ids(first)), first.json["has_more"]) == (25, True)
    last = sandbox.get("/v1/orders", starting_after=ids(first)[-1])
    assert (len(ids(last)), last.json["has_more"]) == (1, False)
    assert sandbox.get("/v1/orders", limit=26).json["has_more"] is False


def test_a_page_after_the_last_object_is_empty(sandbox: AsgiSandbox) -> None:
    order = sandbox.order()
    page = sandbox.get("/v1/orders", starting_after=order["id"])
    assert (ids(page), page.json["has_more"]) == ([], False)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("limit", ["0", "101", "-1", "x", "1.0", "", "9" * 30, "%2B1"])
def test_limit_is_1_to_100(full: AsgiSandbox, path: str, limit: str) -> None:
    """Anything else is refused, an empty one too."""
    answer = full.call("GET", path, query=f"limit={limit}")
    code = "parameter_invalid_integer" if limit else "parameter_invalid_empty"
    assert (answer.status, answer.code, answer.param) == (400, code, "limit")
    if limit == "0":
        assert answer.json["message"] == "limit must be an integer from 1 to 100."


@pytest.mark.parametrize("path", PATHS)
def test_starting_after_must_exist(full: AsgiSandbox, path: str) -> None:
    """An unknown id, an id of another type and an empty one are refused."""
    other = "/v1/orders" if path != "/v1/orders" else "/v1/payments"
    for identity in ("ord_none", ids(full.get(other))[0]):
        answer = full.get(path, starting_after=identity)
        assert (answer.status, answer.code) == (400, "resource_missing")
        assert answer.param == "starting_after"
    assert full.get(path, starting_after="").code == "parameter_invalid_empty"


@pytest.mark.parametrize("path", PATHS)
def test_status_filter(full: AsgiSandbox, path: str) -> None:
    """Each status gives exactly the objects in it; the statuses together give all."""
    everything = full.get(path, limit=100).json["data"]
    found = []
    for status in STATUSES[path]:
        some = ids(full.get(path, limit=100, status=status))
        assert some == [entry["id"] for entry in everything if entry["status"] == status]
        found += some
    assert sorted(found) == sorted(entry["id"] for entry in everything)
    answer = full.get(path, status="unknown")
    assert (answer.code, answer.param) == ("parameter_invalid_value", "status")
    assert full.get(path, status="").code == "parameter_invalid_empty"


@pytest.mark.parametrize(
    ("path", "name"),
    [("/v1/payments", "order"), ("/v1/refunds", "payment"), ("/v1/disputes", "payment")],
)
def test_filter_by_parent(full: AsgiSandbox, path: str, name: str) -> None:
    """Payments of an order, refunds and disputes of a payment; an unknown one has none."""
    entry = full.get(path).json["data"][0]
    found = full.get(path, **{name: entry[name]}).json["data"]
    assert found
    assert {other[name] for other in found} == {entry[name]}
    assert ids(full.get(path, **{name: "none"})) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/orders", "order"),
        ("/v1/orders", "payment"),
        ("/v1/payments", "payment"),
        ("/v1/refunds", "order"),
        ("/v1/payouts", "payment"),
        ("/v1/disputes", "order"),
        ("/v1/orders", "ending_before"),
    ],
)
def test_other_filters_do_not_exist(full: AsgiSandbox, path: str, name: str) -> None:
    answer = full.get(path, **{name: "x"})
    assert (answer.code, answer.param) == ("parameter_unknown", name)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("bound", "keeps"),
    [
        ("gte", lambda created, at: created >= at),
        ("gt", lambda created, at: created > at),
        ("lte", lambda created, at: created <= at),
        ("lt", lambda created, at: created < at),
    ],
)
def test_created_filters(full: AsgiSandbox, path: str, bound: str, keeps: Any) -> None:
    """Each bound of `created` keeps just what it says."""
    everything = full.get(path, limit=100).json["data"]
    at = everything[len(everything) // 2]["created"]
    query = urlencode({f"created[{bound}]": at, "limit": 100})
    found = ids(full.call("GET", path, query=query))
    assert found == [entry["id"] for entry in everything if keeps(entry["created"], at)]


def test_filters_combine_and_page(full: AsgiSandbox) -> None:
    """Bounds, status and cursor hold together; the cursor need not match the filter."""
    everything = full.get("/v1/orders", limit=100).json["data"]
    wanted = [
        e["id"]
        for e in everything
        if e["status"] == "paid" and "2026-10-01T10" <= e["created"] < "2026-10-01T11"
    ]
    query = {
        "status": "paid",
        "created[gte]": "2026-10-01T10:00:00Z",
        "created[lt]": "2026-10-01T11:00:00Z",
    }
    assert ids(full.get("/v1/orders", **query)) == wanted
    cursor = everything[0]["id"]
    assert everything[0]["status"] != "paid" or cursor not in wanted
    assert ids(full.get("/v1/orders", starting_after=cursor, **query)) == wanted


SPELLINGS = [
    "2026-10-01T09:59:30Z",
    "2026-10-01T09:59:30.000Z",
    "2026-10-01T09:59:30.000000+00:00",
    "2026-10-01T09:59:30+00:00",
]


@pytest.mark.parametrize("text", SPELLINGS)
@pytest.mark.parametrize("escaped", [True, False])
def test_created_takes_what_programs_print(full: AsgiSandbox, text: str, escaped: bool) -> None:
    """Parts of a second and +00:00, its plus unescaped as well."""
    wanted = ids(full.get("/v1/orders", **{"created[gte]": SPELLINGS[0]}))
    assert len(wanted) > 0
    query = urlencode({"created[gte]": text}) if escaped else f"created[gte]={text}"
    assert ids(full.call("GET", "/v1/orders", query=query)) == wanted


@pytest.mark.parametrize(
    ("bound", "whole"), [("gte", "gt"), ("gt", "gt"), ("lt", "lte"), ("lte", "lte")]
)
def test_part_of_a_second_bounds_exactly(full: AsgiSandbox, bound: str, whole: str) -> None:
    """What was made at 10:00:00 is before 10:00:00.5 and after 09:59:59.5."""
    everything = full.get("/v1/orders", limit=100).json["data"]
    at = everything[len(everything) // 2]["created"]
    later = at.replace("Z", ".500Z")
    found = ids(full.get("/v1/orders", limit=100, **{f"created[{bound}]": later}))
    assert found == ids(full.get("/v1/orders", limit=100, **{f"created[{whole}]": at}))


def test_created_takes_a_date(full: AsgiSandbox) -> None:
    """Its first second, in UTC."""
    for bound in ("gte", "lt"):
        day = full.get("/v1/orders", limit=100, **{f"created[{bound}]": "2026-10-02"})
        exact = full.get("/v1/orders", limit=100, **{f"created[{bound}]": "2026-10-02T00:00:00Z"})
        assert ids(day) == ids(exact)


BAD_TIMES = ["", "2026-10-01T09:00:00", "1790845200", "2026-10-01T09:00Z", "2026-10-01T11:59:30+02:00",
             "2026-02-30T00:00:00Z", "2026-10-01t09:00:00z", "2026-02-30", "20261001", "now",
             "٢026-10-01T09:00:00Z"]  # fmt: skip


@pytest.mark.parametrize("text", BAD_TIMES)
def test_created_takes_timestamps_only(full: AsgiSandbox, text: str) -> None:
    """Anything but a moment in UTC or a date is refused, and shown how one is written."""
    answer = full.get("/v1/orders", **{"created[gte]": text})
    code = "parameter_invalid_timestamp" if text else "parameter_invalid_empty"
    assert (answer.code, answer.param) == (code, "created[gte]")
    assert not text or "such as 2026-10-01T09:00:00Z" in answer.json["message"]
    if text.isdecimal() and len(text) == 10:  # seconds since 1970, as they have to be written
        assert f"{text} is 2026-10-01T09:00:00Z" in answer.json["message"]


def test_created_has_four_bounds(full: AsgiSandbox) -> None:
    """Another bound is unknown, and a bare value has the wrong type."""
    answer = full.get("/v1/orders", **{"created[eq]": "2026-10-01T09:00:00Z"})
    assert (answer.code, answer.param) == ("parameter_unknown", "created[eq]")
    bare = full.get("/v1/orders", created="2026-10-01T09:00:00Z")
    assert (bare.code, bare.param) == ("parameter_invalid_type", "created")


def test_a_retrieve_takes_no_parameters(full: AsgiSandbox) -> None:
    """GET of one object refuses what it does not know."""
    order = ids(full.get("/v1/orders"))[0]
    answer = full.get(f"/v1/orders/{order}", **{"expand[]": "payments"})
    assert (answer.code, answer.param) == ("parameter_unknown", "expand")
