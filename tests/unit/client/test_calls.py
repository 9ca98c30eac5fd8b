"""The operations of the service as calls: method, path, encoding, what the answer must be."""

import pytest

from support.calls import (
    disputes,
    events,
    orders,
    payments,
    payouts,
    quotes,
    refunds,
    webhook_endpoints,
)
from svc.client import find
from svc.client.call import Call
from svc.errors import UsageError

BODY = {"amount": 100, "currency": "EUR"}

# The 18 operations of the specification, and the four that it only hints at.
OPERATIONS = [
    (orders.create(BODY), "POST", "/v1/orders", "json", ("order",)),
    (orders.retrieve("ord_1"), "GET", "/v1/orders/ord_1", "json", ("order",)),
    (orders.update("ord_1", BODY), "POST", "/v1/orders/ord_1", "json", ("order",)),
    (orders.cancel("ord_1"), "POST", "/v1/orders/ord_1/cancel", "json", ("order",)),
    (orders.list(), "GET", "/v1/orders", "json", ("list",)),
    (orders.capture("ord_1"), "POST", "/v1/orders/ord_1/capture", "form", ("payment", "order")),
    (payments.retrieve("pay_1"), "GET", "/v1/payments/pay_1", "json", ("payment",)),
    (payments.list(), "GET", "/v1/payments", "json", ("list",)),
    (refunds.create(BODY), "POST", "/v1/refunds", "json", ("refund",)),
    (refunds.retrieve("rf_1"), "GET", "/v1/refunds/rf_1", "json", ("refund",)),
    (payouts.create(BODY), "POST", "/v1/payouts", "json", ("payout",)),
    (payouts.retrieve("po_1"), "GET", "/v1/payouts/po_1", "json", ("payout",)),
    (payouts.list(), "GET", "/v1/payouts", "json", ("list",)),
    (quotes.create(BODY), "POST", "/v1/landed-cost/quotes", "json", ("landed_cost_quote",)),
    (
        quotes.retrieve("lcq_1"),
        "GET",
        "/v1/landed-cost/quotes/lcq_1",
        "json",
        ("landed_cost_quote",),
    ),
    (
        webhook_endpoints.create({"url": "https://a.example", "events": ["order.paid"]}),
        "POST",
        "/v1/webhook_endpoints",
        "form",
        ("webhook_endpoint",),
    ),
    (events.retrieve("evt_1"), "GET", "/v1/events/evt_1", "json", ("event",)),
    (disputes.update("dp_1", {"submit": True}), "POST", "/v1/disputes/dp_1", "form", ("dispute",)),
    (refunds.list(), "GET", "/v1/refunds", "json", ("list",)),
    (disputes.retrieve("dp_1"), "GET", "/v1/disputes/dp_1", "json", ("dispute",)),
    (disputes.list(), "GET", "/v1/disputes", "json", ("list",)),
    (disputes.accept("dp_1"), "POST", "/v1/disputes/dp_1/accept", "form", ("dispute",)),
]


@pytest.mark.parametrize(("call", "method", "path", "encoding", "expects"), OPERATIONS)
def test_an_operation_is_the_documented_call(
    call: Call, method: str, path: str, encoding: str, expects: tuple[str, ...]
) -> None:
    """Every operation has the method, path and encoding of the specification."""
    assert (call.method, call.path, call.encoding, call.expects) == (
        method,
        path,
        encoding,
        expects,
    )


def test_all_operations_are_covered() -> None:
    """The specification's 18 operations and four assumed ones are there, each once."""
    assert len({(method, path) for _, method, path, _, _ in OPERATIONS}) == 22
    assumed = {(call.method, call.path) for call, *_ in OPERATIONS if call.assumed}
    assert assumed == {
        ("GET", "/v1/refunds"),
        ("GET", "/v1/disputes/dp_1"),
        ("GET", "/v1/disputes"),
        ("POST", "/v1/disputes/dp_1/accept"),
    }


@pytest.mark.parametrize(
    "identifier",
    ["", "../admin", "ord_1/../x", "a b", "ord_1?x=1", "ord%2f1", "ord_1#", "é", "x" * 129, "a\nb"],
)
def test_an_id_that_could_change_the_path_is_refused(identifier: str) -> None:
    """R25: an id is letters, digits, _ and - before it goes into a path."""
    with pytest.raises(UsageError) as caught:
        orders.retrieve(identifier)
    assert caught.value.exit_code == 2


def test_the_longest_id_is_taken() -> None:
    """R25: 128 characters are allowed."""
    assert orders.retrieve("x" * 128).path == "/v1/orders/" + "x" * 128


@pytest.mark.parametrize(
    ("call", "names", "checks"),
    [
        (
            orders.create({"amount": 100, "currency": "EUR", "items": []}),
            (),
            (("amount", 100), ("currency", "EUR")),
        ),
        (
            orders.capture("ord_1", {"amount": "50"}),
            (("order", "ord_1"),),
            (("amount_captured", "50"),),
        ),
        (orders.capture("ord_1"), (("order", "ord_1"),), ()),
        (
            refunds.create({"payment": "pay_1", "amount": 7}),
            (("payment", "pay_1"),),
            (("amount", 7),),
        ),
        (orders.update("ord_1", {"metadata": {}}), (("order", "ord_1"),), ()),
        (payouts.create({"destination": {"iban": "X"}}), (("destination", {"iban": "X"}),), ()),
        (payments.retrieve("pay_1"), (), (("id", "pay_1"),)),
    ],
)
def test_a_call_says_what_its_answer_must_repeat(
    call: Call, names: tuple[tuple[str, object], ...], checks: tuple[tuple[str, object], ...]
) -> None:
    """R93, R15: objects that it names, then amounts and currencies of what it is about."""
    assert (call.names, call.checks) == (names, checks)


def test_list_filters_become_query_pairs() -> None:
    """Filters are given nested and sent with brackets; a user's own pairs stay as they are."""
    created = {"gte": "2026-10-01T00:00:00Z"}
    call = orders.list({"limit": 3, "status": None, "created": created})
    assert call.query == (("limit", "3"), ("created[gte]", "2026-10-01T00:00:00Z"))
    assert orders.list((("b", "1"), ("a", "2"))).query == (("b", "1"), ("a", "2"))


@pytest.mark.parametrize(
    ("identifier", "path"),
    [
        ("ord_1", "/v1/orders/ord_1"),
        ("pay_1", "/v1/payments/pay_1"),
        ("rf_1", "/v1/refunds/rf_1"),
        ("po_1", "/v1/payouts/po_1"),
        ("lcq_1", "/v1/landed-cost/quotes/lcq_1"),
        ("evt_1", "/v1/events/evt_1"),
        ("dp_1", "/v1/disputes/dp_1"),
    ],
)
def test_an_id_is_turned_into_its_path(identifier: str, path: str) -> None:
    """The prefix of an id says which object it is."""
    assert find.retrieve(identifier).path == path
    assert find.retrieve(identifier).method == "GET"


@pytest.mark.parametrize("identifier", ["we_1", "pm_1", "cus_1", "nonsense"])
def test_an_unknown_prefix_names_the_known_ones(identifier: str) -> None:
    """An id without a GET is refused with the prefixes that have one."""
    with pytest.raises(UsageError) as caught:
        find.retrieve(identifier)
    assert caught.value.hint is not None
    assert "ord_ pay_ rf_ po_ lcq_ evt_ dp_" in caught.value.hint


@pytest.mark.parametrize(
    "path",
    [
        *("orders", "/orders", "/v1", "/v1/", "/v1/../admin", "/v1/orders/./x", "/v1//orders"),
        *("/v1/orders/%2e%2e", "/v1/orders\\x", "/v1/orders/a b", "/v2/orders"),
        *("/_sandbox/reset", "https://evil.example/v1/orders", "//evil.example/v1/orders"),
        *("/v1/orders#x", "/v1/\r\nHost: x"),
    ],
)
def test_a_raw_path_cannot_leave_the_api(path: str) -> None:
    """R25: whatever a server would make of a path, it stays below /v1."""
    for make in (find.get, find.post):
        with pytest.raises(UsageError):
            make(path)


def test_a_query_in_a_raw_path_is_kept() -> None:
    """`svc get '/v1/orders?limit=3'` works as people expect."""
    call = find.get("/v1/orders?limit=3&status=paid", (("created[gte]", "x"),))
    assert call.path == "/v1/orders"
    assert call.query == (("limit", "3"), ("status", "paid"), ("created[gte]", "x"))
    assert call.expects == ("list",)


def test_a_malformed_query_in_a_raw_path_is_refused() -> None:
    """What cannot be read is not guessed."""
    with pytest.raises(UsageError):
        find.get("/v1/orders?limit")


@pytest.mark.parametrize(("call", "method", "path", "encoding", "expects"), OPERATIONS)
def test_a_posted_path_is_judged_like_its_operation(
    call: Call, method: str, path: str, encoding: str, expects: tuple[str, ...]
) -> None:
    """R14, R15: `svc post` and a resumed request get the checks of the operation."""
    if method == "GET":
        return
    again = find.post(path, call.body, encoding=call.encoding)
    assert (again.expects, again.checks, again.encoding) == (expects, call.checks, encoding)


def test_an_unknown_path_can_be_posted_to() -> None:
    """A real endpoint that nobody documented is still reachable."""
    call = find.post("/v1/payouts/po_1/cancel", {"a": 1})
    assert (call.path, call.body, call.expects) == ("/v1/payouts/po_1/cancel", {"a": 1}, ())
