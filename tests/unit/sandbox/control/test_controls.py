"""The controls: their guard, the log of requests, triggered events, the fixtures."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc.errors import LocalError
from svc.sandbox.api.memory import LoggedRequest, RequestLog
from svc.sandbox.app import SandboxApp
from svc.sandbox.options import LaunchOptions
from svc.service.facts import EVENT_TYPES, SANDBOX_WORLD_HEADER

WORLD = SANDBOX_WORLD_HEADER.lower()

GUARDED = [
    ("GET", "/settings"),
    ("GET", "/keys"),
    ("GET", "/requests"),
    ("GET", "/faults"),
    ("POST", "/faults"),
    ("DELETE", "/faults"),
    ("POST", "/checkout/view"),
    ("POST", "/checkout/pay"),
    ("POST", "/payments/pay_x/transition"),
    ("POST", "/disputes"),
    ("POST", "/reset"),
    ("POST", "/clock/advance"),
    ("GET", "/nothing"),
    ("POST", "/health"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize("header", [{}, {"svc-sandbox": "0"}, {"svc-sandbox": "true"}])
def test_every_control_needs_its_header(
    shared: AsgiSandbox, method: str, path: str, header: dict[str, str]
) -> None:
    """Without `Svc-Sandbox: 1` a control is refused, whatever it is; a web page cannot send it."""
    answer = shared.call(method, f"/_sandbox{path}", headers=header)
    assert (answer.status, answer.code) == (403, "sandbox_header_required")
    assert answer.json["type"] == "sandbox_error"


def test_health_needs_no_header(shared: AsgiSandbox) -> None:
    """A client may ask whether it talks to a sandbox before it calls anything else."""
    answer = shared.call("GET", "/_sandbox/health", key=None)
    assert answer.status == 200
    assert answer.json["object"] == "sandbox"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "endpoint_unknown"),
        ("GET", "/checkout/pay", 405, "method_not_allowed"),
        ("PUT", "/keys", 405, "method_not_allowed"),
        ("POST", "/keys/key_none/roll", 404, "resource_missing"),
        ("POST", "/payments/pay_none/transition", 400, "parameter_missing"),
        ("POST", "/disputes/dp_none/decide", 400, "parameter_missing"),
    ],
)
def test_control_errors_have_a_type_of_their_own(
    shared: AsgiSandbox, method: str, path: str, status: int, code: str
) -> None:
    """The shape is the API's, the type sandbox_error, and a request id is there."""
    answer = shared.control(path, method=method)
    assert (answer.status, answer.code) == (status, code)
    assert answer.json["type"] == "sandbox_error"
    assert answer.json["request_id"] == answer.headers["request-id"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/payments/pay_x/transition", {"to": "captured"}),
        ("/refunds/rf_x/transition", {"to": "failed"}),
        ("/payouts/po_x/transition", {"to": "sent"}),
        ("/disputes/dp_x/decide", {"outcome": "won"}),
    ],
)
def test_controls_of_absent_objects_are_404(shared: AsgiSandbox, path: str, body: Any) -> None:
    """Also for an object of the other mode."""
    answer = shared.control(path, body)
    assert (answer.status, answer.code, answer.param) == (404, "resource_missing", "id")


# --- the log of requests ------------------------------------------------------------------------


def test_requests_are_logged_newest_first(sandbox: AsgiSandbox) -> None:
    """Method, path, status, error code, replay and masked key of each request to /v1."""
    sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    sandbox.get("/v1/orders/ord_x")
    sandbox.call("GET", "/v1/orders", key=None)
    log = sandbox.control("/requests", method="GET").json
    assert [(e["status"], e["error_code"], e["replayed"]) for e in log["data"]] == [
        (401, "api_key_missing", False),
        (404, "resource_missing", False),
        (200, None, True),
        (200, None, False),
    ]
    entry = log["data"][-1]
    assert entry == {
        "id": entry["id"],
        "object": "request",
        "method": "POST",
        "path": "/v1/orders",
        "params": sandbox.order_params,
        "key": "sk_test_…dbox",
        "idempotency_key": "k1",
        "status": 200,
        "error_code": None,
        "replayed": False,
        "created": "2026-10-01T09:00:00Z",
        "livemode": False,
    }


def test_log_is_bounded(sandbox: AsgiSandbox) -> None:
    """Memory stays flat: the latest 1000 requests are kept, large bodies are not."""
    for _ in range(1005):
        sandbox.get("/v1/nothing")
    sandbox.form("/v1/orders", "a=" + "x" * 9000)
    log = sandbox.control("/requests?limit=1000", method="GET").json
    assert len(log["data"]) == 1000
    assert log["data"][0]["params"] is None


# --- triggered events ---------------------------------------------------------------------------


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_every_event_type_can_be_triggered(sandbox: AsgiSandbox, event_type: str) -> None:
    """The event happens for real: it is stored, and what was created for it can be retrieved."""
    told = sandbox.control("/events/trigger", {"type": event_type}).json
    event = told["event"]
    assert (told["object"], told["type"], event["type"]) == ("trigger", event_type, event_type)
    assert sandbox.get(f"/v1/events/{event['id']}").json == event
    shown = event["data"]["object"]
    assert shown["object"] == event_type.partition(".")[0]
    assert shown in told["created"]
    for doc in told["created"]:
        assert sandbox.again(doc) == doc
    assert [each["type"] for each in told["events"]] == sandbox.event_types()
    assert {"id": event["id"], "type": event_type} in told["events"]


def test_trigger_takes_overrides(sandbox: AsgiSandbox) -> None:
    """Overrides are parameters of the order or payout behind the event, and are checked."""
    overrides = {"amount": 500, "metadata": {"ref": "T-1"}}
    body = {"type": "order.paid", "overrides": overrides}
    order = sandbox.control("/events/trigger", body).json["event"]["data"]["object"]
    assert (order["amount"], order["metadata"]) == (500, {"ref": "T-1"})
    typed = {"type": "payout.paid", "overrides": {"amount": "700"}}
    assert sandbox.control("/events/trigger", typed).json["created"][0]["amount"] == 700
    wrong = {"type": "payout.paid", "overrides": {"amount": 0}}
    assert sandbox.control("/events/trigger", wrong).code == "amount_too_small"
    unknown = {"type": "order.paid", "overrides": {"colour": "red"}}
    assert sandbox.control("/events/trigger", unknown).code == "parameter_unknown"
    assert sandbox.control("/events/trigger", {**body, "overrides": "x"}).param == "overrides"


def test_trigger_says_when_an_event_cannot_happen(sandbox: AsgiSandbox) -> None:
    """Live mode takes no payments; nothing is left behind."""
    for event_type in ("order.paid", "payment.authorized", "payment.cancelled", "dispute.won"):
        answer = sandbox.control("/events/trigger", {"type": event_type, "mode": "live"})
        assert (answer.status, answer.code, answer.param) == (400, "event_not_triggered", "type")
    assert sandbox.call("GET", "/v1/orders", key=sandbox.live).json["data"] == []
    manual = {"type": "order.paid", "overrides": {"capture_method": "manual"}}
    assert sandbox.control("/events/trigger", manual).code == "event_not_triggered"
    live = sandbox.control("/events/trigger", {"type": "order.cancelled", "mode": "live"})
    assert live.json["event"]["livemode"] is True


@pytest.mark.parametrize(
    ("begun", "kind", "field", "usual"),
    [
        ("payment.processing", "payment", "failure_code", "insufficient_funds"),
        ("refund.created", "refund", "failure_reason", "unknown"),
        ("payout.sent", "payout", "failure_reason", "could_not_process"),
    ],
)
def test_bank_that_gives_no_reason_has_the_usual_one(
    sandbox: AsgiSandbox, begun: str, kind: str, field: str, usual: str
) -> None:
    made = sandbox.control("/events/trigger", {"type": begun}).json["created"]
    (identity,) = (one["id"] for one in made if one["object"] == kind)
    failed = sandbox.control(f"/{kind}s/{identity}/transition", {"to": "failed"}).json
    assert (failed["status"], failed[field]) == ("failed", usual)


def test_shopper_who_gives_no_reason_disputes_in_general(sandbox: AsgiSandbox) -> None:
    dispute = sandbox.control("/disputes", {"payment": sandbox.paid()["id"]}).json
    assert dispute["reason"] == "general"
    absent = sandbox.control("/faults/flt_1", method="DELETE")
    assert (absent.status, absent.code, absent.param) == (404, "resource_missing", "id")
    assert absent.json["message"] == "No such fault: flt_1."
    rolled = sandbox.control("/keys/key_1/roll")
    assert rolled.json["message"] == "No such API key: key_1."


# --- webhooks, fixtures, reset ------------------------------------------------------------------


def test_default_fixture_has_keys_and_balances(sandbox: AsgiSandbox) -> None:
    """1,000,000.00 in every currency of test mode, nothing in live, five fixed keys."""
    balances = sandbox.control("/balances", method="GET").json["data"]
    shown = {balance["currency"]: balance["amount"] for balance in balances}
    assert len(shown) == 64
    assert (shown["EUR"], shown["JPY"], shown["KWD"]) == (100_000_000, 1_000_000, 1_000_000_000)
    live = sandbox.control("/balances?mode=live", method="GET").json["data"]
    assert {balance["amount"] for balance in live} == {0}
    keys = [
        *sandbox.control("/keys", method="GET").json["data"],
        *sandbox.control("/keys?mode=live", method="GET").json["data"],
    ]
    assert [key["key"] for key in keys] == [
        "sk_test_…dbox",
        "pk_test_…dbox",
        "rk_test_…only",
        "sk_live_…dbox",
        "pk_live_…dbox",
    ]


def test_request_that_outlasts_a_reset_is_not_in_its_log() -> None:
    """A fault rule may hold an answer until after it; what began later is noted."""
    log = RequestLog()
    held = log.begin()
    log.clear()
    held(LoggedRequest("req_1", "2026-11-23T04:00:00Z", "GET", "/v1/orders", None))
    assert log.page(9, {})["data"] == []
    log.begin()(LoggedRequest("req_2", "2026-11-23T04:00:00Z", "GET", "/v1/orders", None))
    assert [one["id"] for one in log.page(9, {})["data"]] == ["req_2"]


def test_reset_drops_everything(sandbox: AsgiSandbox) -> None:
    """Objects, settings, faults, the log and stored results go; the fixed keys are back."""
    key = sandbox.control("/keys", {"type": "secret"}).json["secret"]
    first = sandbox.post("/v1/orders", sandbox.order_params, idem="k1", key=key)
    sandbox.settings(smart_retries=True)
    sandbox.control("/faults", {"effect": {"status": 500}, "times": 9})
    assert sandbox.control("/reset", {"fixture": "demo"}).status == 200
    assert sandbox.control("/requests", method="GET").json["data"] == []
    assert sandbox.control("/faults", method="GET").json["data"] == []
    assert len(sandbox.get("/v1/orders").json["data"]) == 6
    assert sandbox.call("GET", "/v1/orders", key=key).status == 401
    again = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    assert "idempotent-replayed" not in again.headers
    assert again.json["id"] != first.json["id"]
    assert sandbox.control("/settings", method="GET").json["smart_retries"] is False


def test_answer_that_a_reset_overtakes_names_the_world_it_was_given_in(
    sandbox: AsgiSandbox,
) -> None:
    """In the next one a seed gives its id to another order, which is no contradiction."""
    before = sandbox.get("/v1/orders").headers[WORLD]
    answer, reset = sandbox.together(
        ("POST", "/v1/orders", {"json": sandbox.order_params}),
        ("POST", "/_sandbox/reset", {"json": {}, "headers": {"svc-sandbox": "1"}}),
    )
    assert (answer.status, reset.status) == (200, 200)
    after = sandbox.get("/v1/orders")
    assert after.json["data"] == []
    assert answer.headers[WORLD] == before != after.headers[WORLD]


def test_state_has_one_name_until_it_is_replaced(make_sandbox: Any, tmp_path: Path) -> None:
    """A restart serves the same objects, so what was done there stands; a reset and an import do not.

    A file that an older svc made gets a name as well, and an export has none.
    """
    path = str(tmp_path / "sandbox.db")

    def name_in_next_run(*controls: tuple[str, Any]) -> str:
        sandbox = make_sandbox(path=path)
        try:
            for control, body in controls:
                assert sandbox.control(control, body).status == 200
            return str(sandbox.get("/v1/orders").headers[WORLD])
        finally:
            sandbox.close()

    sandbox = make_sandbox(path=path)
    first = sandbox.get("/v1/orders").headers[WORLD]
    state = sandbox.control("/export", method="GET").json
    sandbox.close()
    assert first not in json.dumps(state)
    assert name_in_next_run() == name_in_next_run() == first
    replacing: list[tuple[str, Any]] = [("/reset", {}), ("/import", state)]
    names = [first, *map(name_in_next_run, replacing)]
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("DROP TABLE instance")
    names.append(name_in_next_run())
    assert len(set(names)) == 4
    assert name_in_next_run() == names[-1]


def test_unknown_fixture_is_refused(sandbox: AsgiSandbox) -> None:
    """By the reset control, which then changes nothing, and at the start."""
    order = sandbox.order()
    sandbox.control("/faults", {"match": {"path": "/none"}, "effect": {"status": 500}})
    answer = sandbox.control("/reset", {"fixture": "nothing"})
    assert (answer.status, answer.param) == (400, "fixture")
    assert sandbox.get(f"/v1/orders/{order['id']}").status == 200
    assert len(sandbox.control("/faults", method="GET").json["data"]) == 1
    assert len(sandbox.control("/requests", method="GET").json["data"]) == 2

    async def begin() -> None:
        async with SandboxApp(LaunchOptions(fixture="nothing")).run():
            """It does not come so far."""

    with pytest.raises(LocalError, match="fixture"):
        asyncio.run(begin())


def test_state_survives_a_restart(make_sandbox: Any, tmp_path: Path) -> None:
    """Orders, keys, stored results and scheduled work are on disk (R82, R85)."""
    path = str(tmp_path / "sandbox.db")
    first = make_sandbox(path=path)
    key = first.control("/keys", {"type": "secret"}).json["secret"]
    order = first.post("/v1/orders", first.order_params, idem="k1", key=key)
    payment = first.pay(order.json).json["payment"]
    refund = first.post("/v1/refunds", {"payment": payment["id"]}).json
    first.close()
    second = make_sandbox(path=path)
    again = second.post("/v1/orders", second.order_params, idem="k1", key=key)
    assert again.body == order.body
    second.advance(5)
    assert second.again(refund)["status"] == "succeeded"
