"""The lint of an integration: each rule finds what breaks it, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox

VERSION = {"svc-version": "2026-09-01"}


def findings(sandbox: AsgiSandbox) -> dict[str, Any]:
    """The findings by their rules."""
    return {each["rule"]: each for each in sandbox.control("/lint").json["findings"]}


def create(sandbox: AsgiSandbox, key: str | None = "k1", **changes: Any) -> Any:
    body = {**sandbox.order_params, **changes}
    return sandbox.post("/v1/orders", body, idem=key, headers=VERSION).json


def test_good_citizen_is_found_nothing(sandbox: AsgiSandbox) -> None:
    """A key and a version with each POST, and one look at what came of it."""
    order = create(sandbox)
    sandbox.call("GET", f"/v1/orders/{order['id']}", headers=VERSION)
    assert sandbox.control("/lint").json == {
        "object": "lint",
        "requests": 2,
        "deliveries": 0,
        "findings": [],
    }


def fail_once(sandbox: AsgiSandbox) -> None:
    sandbox.control("/faults", {"effect": {"status": 503}})
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
