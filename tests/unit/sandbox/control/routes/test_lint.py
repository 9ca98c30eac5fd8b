"""The lint of an integration: each rule finds what breaks it, and nothing else."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc.sandbox.store import deliveries

VERSION = {"svc-version": "2026-09-01"}
PUBLIC = "pk_test_sandbox"


def findings(sandbox: AsgiSandbox) -> dict[str, Any]:
    """The findings by their rules."""
    return {each["rule"]: each for each in sandbox.control("/lint").json["findings"]}


def create(sandbox: AsgiSandbox, key: str | None = "k1", **changes: Any) -> Any:
    body = {**sandbox.order_params, **changes}
    return sandbox.post("/v1/orders", body, idem=key, headers=VERSION).json


def test_good_citizen_is_found_nothing(sandbox: AsgiSandbox) -> None:
    """A key and a version with each POST, and no more than four looks at what came of it."""
    order = create(sandbox)
    for _ in range(4):
        sandbox.call("GET", f"/v1/orders/{order['id']}", headers=VERSION)
    assert sandbox.control("/lint").json == {
        "object": "lint",
        "requests": 5,
        "deliveries": 0,
        "findings": [],
    }


def fail_once(sandbox: AsgiSandbox) -> None:
    sandbox.control("/faults", {"effect": {"status": 500}})
    create(sandbox)


def poll(sandbox: AsgiSandbox) -> None:
    path = f"/v1/orders/{create(sandbox)['id']}"
    for _ in range(5):
        sandbox.call("GET", path, headers=VERSION)


BREAKING: dict[str, Callable[[AsgiSandbox], object]] = {
    "post_without_key": lambda sandbox: create(sandbox, None),
    "key_reused": lambda sandbox: (create(sandbox), create(sandbox, currency="USD")),
    "not_retried": fail_once,
    "polled": poll,
    "wrong_key_kind": lambda sandbox: sandbox.call(
        "GET", "/v1/orders", key=sandbox.publishable, headers=VERSION
    ),
    "no_version": lambda sandbox: sandbox.get("/v1/orders"),
    "amount_differs": lambda sandbox: create(sandbox, amount=12901),
}


@pytest.mark.parametrize("rule", BREAKING)
def test_each_rule_finds_what_breaks_it(sandbox: AsgiSandbox, rule: str) -> None:
    """It alone; with the requests that it is about."""
    BREAKING[rule](sandbox)
    found = findings(sandbox)
    assert list(found) == [rule]
    latest = sandbox.control("/requests", method="GET").json["data"][0]["id"]
    assert (found[rule]["count"], found[rule]["examples"]) == (1, [latest])


def test_post_without_a_key_is_found_also_where_it_failed(sandbox: AsgiSandbox) -> None:
    """It is the one that may have been done; of many the latest five are examples."""
    sandbox.control("/faults", {"effect": {"status": 503}})
    for _ in range(6):
        create(sandbox, None)
    found = findings(sandbox)["post_without_key"]
    latest = [one["id"] for one in sandbox.control("/requests", method="GET").json["data"][:5]]
    assert (found["count"], found["examples"]) == (6, latest[::-1])


@pytest.mark.parametrize(("ms", "found"), [(None, False), (2000, False), (2001, True)])
def test_handler_that_takes_over_two_seconds_is_found(
    sandbox: AsgiSandbox, monkeypatch: pytest.MonkeyPatch, ms: int | None, found: bool
) -> None:
    """A service would time it out on a bad day; one that was not asked took no time."""
    row = SimpleNamespace(id="dlv_1", ms=ms)
    monkeypatch.setattr(deliveries, "page", lambda *_, **asked: ([row] * asked["limit"], True))
    told = sandbox.control("/lint").json
    assert [(each["rule"], each["count"]) for each in told["findings"]] == (
        [("slow_handler", 1000)] if found else []
    )
    assert told["deliveries"] == 1000


@pytest.mark.parametrize(
    ("secret", "shown"),
    [("whsec_5f3a", "whsec_…5f3a"), ("ord_1_secret_2", "ord_…et_2"), (PUBLIC, "pk_test_…dbox")],
)
def test_secret_of_another_kind_is_found(sandbox: AsgiSandbox, secret: str, shown: str) -> None:
    """A signing secret and a client secret are no keys; of none is more shown than its kind."""
    assert sandbox.call("GET", "/v1/orders", key=secret, headers=VERSION).status in (401, 403)
    assert list(findings(sandbox)) == ["wrong_key_kind"]
    (entry,) = sandbox.control("/requests", method="GET").json["data"]
    assert entry["key"] == shown


def test_secret_key_in_the_checkout_is_found(sandbox: AsgiSandbox) -> None:
    """On its page as in its control; what is shown has no client secret in it."""
    order = create(sandbox)
    secret = order["client_secret"]
    page = sandbox.call("GET", f"/checkout/{secret}", query=f"key={sandbox.secret}", key=None)
    body = {"client_secret": secret}
    view = sandbox.control("/checkout/view", body, key=sandbox.secret)
    assert (page.status, view.code) == (403, "publishable_key_required")
    found = findings(sandbox)
    assert list(found) == ["secret_key_in_checkout"]
    assert found["secret_key_in_checkout"]["examples"] == ["/checkout", "/_sandbox/checkout"]


def test_what_was_sent_again_after_a_failure_is_no_finding(sandbox: AsgiSandbox) -> None:
    """The same request with the same key, whatever became of that."""
    fail_once(sandbox)
    create(sandbox)
    assert findings(sandbox) == {}


@pytest.mark.parametrize(("code", "found"), [(200, True), (400, False)])
def test_receiver_that_takes_a_wrong_signature_is_found(
    sandbox: AsgiSandbox, code: int, found: bool
) -> None:
    """One badly signed delivery of an event that it knows is sent, and none is written down."""
    url = "http://127.0.0.1:9/hook"
    sandbox.post("/v1/webhook_endpoints", {"url": url, "events": ["order.cancelled"]})
    sandbox.control("/events/trigger", {"type": "order.cancelled"})
    sandbox.advance(0)
    sandbox.postman.codes = [code]
    before = sandbox.control("/deliveries", method="GET").json
    shown = findings(sandbox).get("unverified_webhook")
    assert (shown is not None and shown["examples"] == [url]) is found
    good, bad = sandbox.postman.sent
    assert good.body == bad.body
    signature = "Svc-Signature"
    assert dict(good.headers)[signature][:-1] == dict(bad.headers)[signature][:-1]
    assert dict(good.headers)[signature] != dict(bad.headers)[signature]
    assert sandbox.control("/deliveries", method="GET").json == before
