"""Requests that outlive the process that made them."""

import hashlib
import json

import pytest

from support.calls import disputes, orders, payouts, refunds, webhook_endpoints
from svc.base_url import BaseUrl
from svc.client import find
from svc.client.call import Call
from svc.client.request import prepare
from svc.delivery.journal.entry import Scope, Stored, digests_of, restore_call, store_call
from svc.errors import LocalError

BASE = BaseUrl.parse("https://api.example.com/pre")

CALLS = [
    orders.create({"amount": 100, "currency": "EUR", "items": [{"name": "A"}]}),
    orders.create({"amount": 100, "currency": "EUR"}, encoding="form"),
    orders.update("ord_1", {"metadata": {"a": None}}),
    orders.cancel("ord_1"),
    orders.capture("ord_1", {"amount": 50}),
    refunds.create({"payment": "pay_1", "amount": 7}),
    payouts.create({"amount": 1, "currency": "JPY"}),
    webhook_endpoints.create({"url": "https://a.example", "events": ["order.paid"]}),
    disputes.update("dp_1", {"evidence": {"tracking_number": "1Z"}, "submit": True}),
    find.post("/v1/novel", {"a": "b"}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.path)
def test_a_request_comes_back_byte_for_byte(call: Call) -> None:
    """R1, R3: the same method, path, body, version and key after a crash."""
    first = prepare(call, BASE, new_key=lambda: "key-1", api_version="2026-03-01")
    again, prepared = restore_call(store_call(call, first), BASE)
    assert prepared == first
    assert (again.method, again.path, again.expects) == ("POST", call.path, call.expects)
    assert [(name, str(value)) for name, value in again.checks] == [
        (name, str(value)) for name, value in call.checks
    ]


@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff", b"null"])
def test_a_damaged_body_is_not_sent_again(body: bytes) -> None:
    """R67: what the disk garbled is reported, exit 10, and never sent."""
    with pytest.raises(LocalError) as caught:
        restore_call(Stored("/v1/refunds", "json", body, "key-1", None), BASE)
    assert (caught.value.code, caught.value.idempotency_key) == ("journal_damaged", "key-1")


def test_what_is_kept_is_plain_and_without_secrets() -> None:
    """R28, R45: the API key is no part of it."""
    call = refunds.create({"payment": "pay_1"})
    kept = store_call(call, prepare(call, BASE, new_key=lambda: "key-1"))
    assert kept == Stored("/v1/refunds", "json", b'{"payment":"pay_1"}', "key-1", None)
    assert json.loads(kept.body) == call.body


def test_a_damaged_request_is_only_the_same_as_itself() -> None:
    """R67, R91: its fields cannot be read; byte for byte the same body says the same."""
    scope = Scope("default", "test", "https://api.example.com")
    kept = Stored("/v1/refunds", "json", b'{"payment":', "key-1", None)
    digest = hashlib.sha256(kept.body).hexdigest()
    assert digests_of(scope, kept) == (f"sha256:{digest}",) * 2
    assert digests_of(scope, kept) != digests_of(scope, kept._replace(body=b"{"))
    whole = digests_of(scope, kept._replace(body=b'{"payment":"pay_1"}'))
    assert whole == digests_of(scope, kept._replace(body=b'{ "payment": "pay_1" }'))
