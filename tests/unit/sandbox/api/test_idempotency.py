"""Idempotency keys, rule by rule (R81; assumptions: Idempotency)."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc.sandbox.api.idempotency import ClaimedKey, KeyClaim, fingerprint

TEST, LIVE = ("world", "test"), ("world", "live")
FORM = (
    "currency=EUR&amount=12900&shipping[country]=DE&shipping[postal_code]=10115"
    "&items[3][unit_amount]=12900&items[3][quantity]=1"
    "&items[3][hs_code]=6203.39&items[3][name]=Linen+jacket"
)


def orders(sandbox: AsgiSandbox, key: str = "sk_test_sandbox") -> list[Any]:
    found: list[Any] = sandbox.call("GET", "/v1/orders", key=key).json["data"]
    return found


def test_the_same_request_is_replayed_byte_for_byte(sandbox: AsgiSandbox) -> None:
    """Status and body come back as they were, with the header and a new Request-Id; one object."""
    first = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    again = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    assert first.status == again.status == 200
    assert first.body == again.body
    assert b"client_secret" in again.body
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["request-id"] != first.headers["request-id"]
    assert len(orders(sandbox)) == 1


def test_money_moves_once(sandbox: AsgiSandbox) -> None:
    """Refund and payout under one key move the balance once."""
    payment = sandbox.paid()
    before = sandbox.balance("USD")
    body = {"payment": payment["id"], "amount": 100}
    for _ in range(3):
        assert sandbox.post("/v1/refunds", body, idem="refund").status == 200
        assert sandbox.post("/v1/payouts", sandbox.payout_params, idem="payout").status == 200
    assert sandbox.again(payment)["amount_refunded"] == 100
    assert sandbox.balance("USD") == before - 11200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/orders", {"amount": 1}),
        ("/v1/orders", {}),
        ("/v1/landed-cost/quotes", None),
        ("/v1/refunds", {"payment": "pay_x"}),
    ],
)
def test_a_key_used_for_another_request_is_refused(
    sandbox: AsgiSandbox, path: str, body: Any
) -> None:
    """Another body or path under a used key is 400 idempotency_key_reused, before validation."""
    sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    answer = sandbox.post(path, sandbox.order_params if body is None else body, idem="k1")
    assert (answer.status, answer.code) == (400, "idempotency_key_reused")
    assert answer.json["type"] == "idempotency_error"
    assert "param" not in answer.json


def test_the_key_belongs_to_a_path_with_its_id(sandbox: AsgiSandbox) -> None:
    """Cancelling another order under the same key is another request."""
    one, two = sandbox.order(), sandbox.order()
    assert sandbox.post(f"/v1/orders/{one['id']}/cancel", idem="k").status == 200
    answer = sandbox.post(f"/v1/orders/{two['id']}/cancel", idem="k")
    assert answer.code == "idempotency_key_reused"
    assert sandbox.again(two)["status"] == "requires_payment"


def test_form_and_json_with_one_content_match(sandbox: AsgiSandbox) -> None:
    """The fingerprint is over coerced parameters: encoding and key order do not matter."""
    first = sandbox.form("/v1/orders", FORM, idem="k1")
    assert first.status == 200
    again = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"


MISMATCHES = [
    {"amount": "12900"},
    {"amount": 12901},
    {"metadata": {"a": "b"}},
    {"capture_method": "automatic"},
]


@pytest.mark.parametrize("changes", MISMATCHES)
def test_what_is_not_the_same_content_does_not_match(sandbox: AsgiSandbox, changes: Any) -> None:
    """JSON text is no number, and a default that is spelled out is another request."""
    sandbox.form("/v1/orders", FORM, idem="k1")
    answer = sandbox.post("/v1/orders", {**sandbox.order_params, **changes}, idem="k1")
    assert answer.code == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": None}, {"a": ""}, True),
        ({"a": [{"b": None}, None]}, {"a": [{"b": ""}, ""]}, True),
        ({"a": {"b": None, "c": "null"}}, {"a": {"b": "", "c": "null"}}, True),
        ({"a": [None, "1"]}, {"a": ["", "2"]}, False),
        ({"a": ["null"]}, {"a": [""]}, False),
        ({"a": 0}, {"a": ""}, False),
        ({"a": "1", "b": "2"}, {"b": "2", "a": "1"}, True),
    ],
)
def test_what_says_the_same_has_one_fingerprint(one: Any, other: Any, same: bool) -> None:
    """However deep it stands, and in whatever order; nothing else is taken for the same."""
    found = {fingerprint("POST", "/v1/orders", tree) for tree in (one, other)}
    assert len(found) == (1 if same else 2)
    assert len({fingerprint(method, "/v1/orders", one) for method in ("POST", "DELETE")}) == 2
    assert len({fingerprint("POST", path, one) for path in ("/v1/orders", "/v1/refunds")}) == 2


def test_the_version_header_is_not_part_of_the_request(sandbox: AsgiSandbox) -> None:
    """The same request in another version is replayed (assumptions: Idempotency)."""
    first = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    older = {"svc-version": "2026-03-01"}
    again = sandbox.post("/v1/orders", sandbox.order_params, idem="k1", headers=older)
    assert again.body == first.body
    assert again.headers["svc-version"] == "2026-03-01"


def test_keys_are_shared_by_all_keys_of_the_account(sandbox: AsgiSandbox) -> None:
    """A rolled API key replays what the old one did."""
    first = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    fresh = sandbox.control("/keys", {"type": "secret"}).json["secret"]
    again = sandbox.post("/v1/orders", sandbox.order_params, idem="k1", key=fresh)
    assert again.body == first.body


REFUSALS: list[tuple[dict[str, Any], int]] = [
    ({"body": b"{"}, 400),
    ({"json": {}}, 400),
    ({"json": {"amount": 0}}, 400),
    ({"key": "sk_test_nobody"}, 401),
    ({"key": "rk_test_readonly"}, 403),
    ({"headers": {"svc-version": "x"}}, 400),
    ({"headers": {"content-type": "text/plain"}, "body": b"x"}, 415),
]


@pytest.mark.parametrize(("wrong", "status"), REFUSALS)
def test_an_error_releases_the_key(sandbox: AsgiSandbox, wrong: Any, status: int) -> None:
    """Only 2xx results are stored: after an error the key is free for a corrected request."""
    request: dict[str, Any] = {"headers": {"content-type": "application/json"}, **wrong}
    assert sandbox.call("POST", "/v1/orders", idem="k1", **request).status == status
    good = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    assert good.status == 200
    assert "idempotent-replayed" not in good.headers


def test_a_key_is_held_for_exactly_24_hours(sandbox: AsgiSandbox) -> None:
    """Free at 24 h from its first use, though it was replayed a second before (spec: Limits)."""
    first = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    sandbox.advance(24 * 3600 - 1)
    assert sandbox.post("/v1/orders", sandbox.order_params, idem="k1").body == first.body
    sandbox.advance(1)
    fresh = sandbox.post("/v1/orders", {**sandbox.order_params, "amount": 1}, idem="k1")
    assert fresh.status == 200
    assert fresh.json["id"] != first.json["id"]


@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_request_that_is_running_holds_its_key(sandbox: AsgiSandbox, phase: str) -> None:
    """R81: also once it is on disk; others are told so, and get its answer afterwards."""
    sandbox.control("/faults", {"phase": phase, "effect": {"delay_ms": 80}})
    request = ("POST", "/v1/orders", {"json": sandbox.order_params, "idem": "k1"})
    # Which of them is first is the event loop's choice.
    slow, *others = sorted(sandbox.together(*[request] * 5), key=lambda answer: answer.status)
    assert slow.status == 200
    assert {(each.status, each.code) for each in others} == {(409, "idempotency_key_in_use")}
    assert {each.json["type"] for each in others} == {"idempotency_error"}
    assert sandbox.post("/v1/orders", sandbox.order_params, idem="k1").body == slow.body
    assert len(orders(sandbox)) == 1


@pytest.mark.parametrize("phase", ["before", "after"])
def test_replays_that_a_rule_holds_do_not_turn_each_other_away(
    sandbox: AsgiSandbox, phase: str
) -> None:
    """R81: of a finished request any number may be on its way, however long a rule holds them."""
    first = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    sandbox.control("/faults", {"phase": phase, "times": 5, "effect": {"delay_ms": 50}})
    request = ("POST", "/v1/orders", {"json": sandbox.order_params, "idem": "k1"})
    answers = sandbox.together(*[request] * 5)
    assert [answer.status for answer in answers] == [200] * 5
    assert {answer.body for answer in answers} == {first.body}


def test_other_keys_and_requests_without_one_do_not_wait(sandbox: AsgiSandbox) -> None:
    """Only the same key in the same mode is held."""
    sandbox.control("/faults", {"match": {"idempotency_key": "k1"}, "effect": {"delay_ms": 50}})
    body = {"json": sandbox.order_params}
    answers = sandbox.together(
        ("POST", "/v1/orders", {**body, "idem": "k1"}),
        ("POST", "/v1/orders", {**body, "idem": "k2"}),
        ("POST", "/v1/orders", body),
        ("POST", "/v1/orders", {**body, "idem": "k1", "key": sandbox.live}),
    )
    assert [answer.status for answer in answers] == [200] * 4


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "a\t", "k" * 256, "a\x7f"])
def test_a_malformed_key_is_refused(shared: AsgiSandbox, key: str) -> None:
    """Keys are 1 to 255 printable ASCII characters without spaces."""
    answer = shared.post("/v1/orders", shared.order_params, idem=key)
    assert (answer.status, answer.code) == (400, "idempotency_key_invalid")


@pytest.mark.parametrize("key", ["k", "~!@#$%^&*()_+{}|:\"<>?`-=[]\\;',./", "k" * 255])
def test_a_strange_but_legal_key_is_taken(sandbox: AsgiSandbox, key: str) -> None:
    first, again = (sandbox.post("/v1/orders", sandbox.order_params, idem=key) for _ in range(2))
    assert first.body == again.body


def test_a_post_without_a_key_can_be_refused(sandbox: AsgiSandbox) -> None:
    """`require_idempotency_key`: nothing is done without one; a GET needs none."""
    sandbox.settings(require_idempotency_key=True)
    refused = sandbox.post("/v1/orders", sandbox.order_params)
    assert (refused.status, refused.code) == (400, "idempotency_key_missing")
    assert "Idempotency-Key" in refused.json["message"]
    assert sandbox.get("/v1/orders").json["data"] == []
    assert sandbox.post("/v1/orders", sandbox.order_params, idem="k").status == 200


def test_a_get_ignores_the_key(sandbox: AsgiSandbox) -> None:
    """GET is not stored and not replayed, and its key is not even looked at."""
    empty = sandbox.call("GET", "/v1/orders", idem="k1")
    sandbox.order()
    full = sandbox.call("GET", "/v1/orders", idem="k1")
    assert len(full.json["data"]) == len(empty.json["data"]) + 1
    assert sandbox.call("GET", "/v1/orders", idem="not good").status == 200
    assert sandbox.post("/v1/orders", sandbox.order_params, idem="k1").status == 200


def test_the_checkout_does_not_take_idempotency_keys(sandbox: AsgiSandbox) -> None:
    """Controls are outside the rule: the second payment meets a paid order."""
    order = sandbox.order()
    headers = {"idempotency-key": "k1"}
    assert sandbox.pay(order, headers=headers).status == 200
    assert sandbox.pay(order, headers=headers).code == "order_unexpected_state"


def test_loser_of_a_race_leaves_the_key_to_its_winner() -> None:
    """R81: being turned away releases nothing; only the end of the first request does."""
    held: set[ClaimedKey] = set()
    with KeyClaim(held, TEST, "k1", finished=False) as first:
        for _ in range(2):
            with KeyClaim(held, TEST, "k1", finished=False) as later:
                assert (first.free, later.free) == (True, False)
        for space in (LIVE, ("after a reset", "test")):
            with KeyClaim(held, space, "k1", finished=False) as elsewhere:
                assert elsewhere.free
    with KeyClaim(held, TEST, "k1", finished=False) as again:
        assert again.free


def test_requests_without_a_key_never_hold_each_other() -> None:
    """R81: they have nothing in common, also with one whose request has ended."""
    held: set[ClaimedKey] = set()
    with (
        KeyClaim(held, TEST, None, finished=False) as one,
        KeyClaim(held, TEST, None, finished=False) as other,
        KeyClaim(held, TEST, "k1", finished=True) as replayed,
        KeyClaim(held, TEST, "k1", finished=True) as too,
    ):
        assert all(claim.free for claim in (one, other, replayed, too))


def test_key_that_was_let_go_is_free_before_the_end_and_stays_with_who_has_it_next() -> None:
    """R81: a replay lets go of its key, and its end takes nothing from the next request."""
    held: set[ClaimedKey] = set()
    with KeyClaim(held, TEST, "k1", finished=False) as replayed:
        replayed.release()
        following = KeyClaim(held, TEST, "k1", finished=False)
        assert following.__enter__().free
    with KeyClaim(held, TEST, "k1", finished=False) as third:
        assert not third.free
    following.release()
