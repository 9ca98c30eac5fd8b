"""The fixtures for users' own tests: what they ask of a sandbox, and what they make of its webhooks."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from svc.errors import SignatureError
from svc.pytest_plugin import SandboxFixture, WebhooksFixture
from svc.service.facts import EVENT_TYPES, SANDBOX_KEYS
from svc.signature import header_value

SECRET = "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3"
URL = "http://127.0.0.1:9"


class AskedSandbox(SandboxFixture):
    """Notes what it is asked for in place of sending it; answers with what each test needs."""

    def __init__(self) -> None:
        super().__init__(URL)
        self.asked: list[tuple[Any, ...]] = []

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        self.asked.append((method, path, body, headers))
        data = [{"type": "order.paid"}, {"type": "payout.paid"}]
        return {"client_secret": "ord_1_secret_x", "secret": SECRET, "data": data}


def test_what_no_test_asks_for_is_not_loaded() -> None:
    """The plugin is loaded in every project of whoever has svc."""
    code = "import sys, pytest; had = {*sys.modules}; import svc.pytest_plugin; print(*sys.modules.keys() - had)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert sorted(loaded) == ["svc", "svc.pytest_plugin"]


def test_a_program_under_test_gets_the_public_keys() -> None:
    """`env` is all that it needs."""
    sandbox = SandboxFixture(URL)
    assert sandbox.env == {"SVC_BASE_URL": URL, "SVC_API_KEY": SANDBOX_KEYS["secret_test"]}
    assert sandbox.publishable_key == SANDBOX_KEYS["publishable_test"]


def test_each_deed_is_one_of_the_sandbox_s_controls() -> None:
    """As the help on the sandbox and `svc help faults` have them."""
    sandbox = AskedSandbox()
    sandbox.reset()
    for passes in (5, timedelta(hours=1, seconds=2.5)):
        sandbox.advance(passes)
    sandbox.fault(match={"path": "/v1/orders"}, effect={"status": 500})
    sandbox.fault(times=3, match={}, effect={})
    assert [one["type"] for one in sandbox.events()] == ["order.paid", "payout.paid"]
    assert sandbox.events("payout.paid") == [{"type": "payout.paid"}]
    listed: tuple[Any, ...] = ("GET", "/_sandbox/events?limit=100", None, {})
    rule = {"match": {"path": "/v1/orders"}, "times": 1, "effect": {"status": 500}}
    assert sandbox.asked == [
        ("POST", "/_sandbox/reset", {}, {}),
        ("POST", "/_sandbox/clock/advance", {"seconds": 5}, {}),
        ("POST", "/_sandbox/clock/advance", {"seconds": 3602}, {}),
        ("POST", "/_sandbox/faults", rule, {}),
        ("POST", "/_sandbox/faults", {"match": {}, "times": 3, "effect": {}}, {}),
        listed,
        listed,
    ]


@pytest.mark.parametrize("order", ["ord_1", {"id": "ord_1"}])
@pytest.mark.parametrize("number", [None, "4000000000000002"])
def test_an_order_is_paid_as_a_shopper_pays_it(order: Any, number: str | None) -> None:
    """With the key of a checkout, by a card that is good for long; one that works, else the given."""
    sandbox = AskedSandbox()
    sandbox.pay(order, number)
    first, (method, path, body, headers) = sandbox.asked
    assert first == ("GET", "/_sandbox/orders/ord_1/checkout_url", None, {})
    assert (method, path) == ("POST", "/_sandbox/checkout/pay")
    assert headers == {"Authorization": f"Bearer {SANDBOX_KEYS['publishable_test']}"}
    assert (body["client_secret"], body["method"]) == ("ord_1_secret_x", "card")
    card = body["card"]
    assert card["number"] == (number or "4242424242424242")
    assert {*card} == {"number", "exp_month", "exp_year", "cvc"}
    assert (1 <= card["exp_month"] <= 12, card["exp_year"] > 2090, len(card["cvc"])) == (1, 1, 3)


@contextmanager
def answering(status: int, text: bytes) -> Iterator[tuple[SandboxFixture, list[Any]]]:
    """A sandbox whose service answers each request so."""
    came: list[Any] = []

    class CannedAnswers(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            came.append((self.command, self.path, {**self.headers}, body))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Keeps quiet."""

    with HTTPServer(("127.0.0.1", 0), CannedAnswers) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield SandboxFixture(f"http://127.0.0.1:{server.server_address[1]}"), came
        server.shutdown()


def test_a_call_is_authorised_and_says_that_it_is_a_control() -> None:
    """A page elsewhere that knows the address cannot send that header."""
    with answering(200, b'{"a": 1}') as (sandbox, came):
        assert sandbox.call("GET", "/v1/x") == {"a": 1}
        sandbox.call("POST", "/v1/y", {"b": 2}, Authorization="Bearer other")
    (_, path, headers, body), (method, _, others, data) = came
    key = f"Bearer {SANDBOX_KEYS['secret_test']}"
    assert (path, body, headers["Authorization"], headers["Svc-Sandbox"]) == (
        "/v1/x",
        b"",
        key,
        "1",
    )
    assert "Content-Type" not in headers
    assert (method, json.loads(data), others["Authorization"]) == ("POST", {"b": 2}, "Bearer other")
    assert others["Content-Type"] == "application/json"
    with answering(204, b"") as (sandbox, _):
        assert sandbox.call("POST", "/v1/x") is None


@pytest.mark.parametrize("status", [400, 500])
def test_a_refusal_fails_the_test_with_what_was_asked_and_said(status: int) -> None:
    with (
        answering(status, b'{"error": "no such order"}') as (sandbox, _),
        pytest.raises(AssertionError, match=r"GET /v1/x: .*no such order"),
    ):
        sandbox.call("GET", "/v1/x")


@pytest.fixture
def webhooks() -> WebhooksFixture:
    return WebhooksFixture(AskedSandbox(), "http://127.0.0.1:7/webhooks", Queue())


def come(webhooks: WebhooksFixture, kind: str, secret: str = SECRET) -> None:
    body = json.dumps({"type": kind}).encode()
    webhooks._come.put((header_value(body, [secret], int(time.time())), body))


def test_a_receiver_is_registered_for_every_type() -> None:
    sandbox = AskedSandbox()
    webhooks = WebhooksFixture(sandbox, "http://127.0.0.1:7/webhooks", Queue())
    endpoint = {"url": webhooks.url, "events": list(EVENT_TYPES)}
    assert sandbox.asked == [("POST", "/v1/webhook_endpoints", endpoint, {})]
    assert (webhooks.secret, webhooks.received) == (SECRET, [])


def test_an_event_is_waited_for_by_its_type(webhooks: WebhooksFixture) -> None:
    """What came before it is kept, and found at once when it is asked for."""
    for kind in ("order.paid", "payout.paid", "refund.created"):
        come(webhooks, kind)
    assert webhooks.wait("payout.paid") == {"type": "payout.paid"}
    assert [one["type"] for one in webhooks.received] == ["order.paid", "payout.paid"]
    assert webhooks.wait("order.paid", 0) == {"type": "order.paid"}
    with pytest.raises(AssertionError, match=r"no dispute.won in 0.01 s"):
        webhooks.wait("dispute.won", 0.01)


def test_a_delivery_that_is_not_authentic_fails_the_test(webhooks: WebhooksFixture) -> None:
    """Whatever the test waits for."""
    come(webhooks, "order.paid", "whsec_another")
    with pytest.raises(SignatureError, match="No signature fits"):
        webhooks.wait("order.paid")
    assert webhooks.received == []
