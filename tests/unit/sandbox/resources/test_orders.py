"""Orders: every transition that is allowed, every one that is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox, SandboxAnswer
from svc.sandbox.store.sqlite import Store, Value
from svc.service.facts import AMOUNT_MAX

Doc = dict[str, Any]
DAY = 86400
DEBIT = {"method": "sepa_debit"}


def order_in(sandbox: AsgiSandbox, status: str) -> Doc:
    """An order in a state, with manual capture wherever that leads there."""
    manual = "manual" if status in ("authorized", "captured", "voided") else "automatic"
    order = sandbox.order(capture_method=manual)
    path = f"/v1/orders/{order['id']}"
    steps: dict[str, Callable[[], Any]] = {
        "requires_payment": lambda: None,
        "processing": lambda: sandbox.pay(order, **DEBIT),
        "authorized": lambda: sandbox.pay(order),
        "paid": lambda: sandbox.pay(order),
        "captured": lambda: (sandbox.pay(order), sandbox.post(f"{path}/capture")),
        "cancelled": lambda: sandbox.post(f"{path}/cancel"),
        "voided": lambda: (sandbox.pay(order), sandbox.post(f"{path}/cancel")),
    }
    steps[status]()
    return order


STATES = ["requires_payment", "processing", "authorized", "paid", "captured", "cancelled", "voided"]
SHOWN = {"captured": "paid", "voided": "cancelled"}
ALLOWED = {
    "update": {"requires_payment": "requires_payment"},
    "cancel": {"requires_payment": "cancelled", "authorized": "cancelled"},
    "capture": {"authorized": "paid"},
    "pay": {"requires_payment": "paid"},
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("action", list(ALLOWED))
def test_order_action_in_each_state(sandbox: AsgiSandbox, state: str, action: str) -> None:
    """Every action in every state: it leads where the table says, or is refused and does nothing."""
    order = order_in(sandbox, state)
    before, events = sandbox.again(order), len(sandbox.events())
    status = SHOWN.get(state, state)
    assert before["status"] == status
    answer = _act(sandbox, order, action)
    after = sandbox.again(order)
    if state in ALLOWED[action]:
        assert answer.status == 200
        assert after["status"] == ALLOWED[action][state]
        return
    assert answer.status == 400
    assert after == before
    assert len(sandbox.events()) == events
    if action == "capture" and order["capture_method"] == "automatic":
        assert answer.code == "capture_not_allowed"
    else:
        assert answer.code == "order_unexpected_state"
        assert answer.json["current_status"] == status
        assert "param" not in answer.json


def _act(sandbox: AsgiSandbox, order: Doc, action: str) -> SandboxAnswer:
    if action == "pay":
        return sandbox.pay(order)
    if action == "update":
        return sandbox.post(f"/v1/orders/{order['id']}", {"metadata": {"a": "b"}})
    return sandbox.post(f"/v1/orders/{order['id']}/{action}")


def test_cancelling_a_paid_order_points_to_refunds(sandbox: AsgiSandbox) -> None:
    order = order_in(sandbox, "paid")
    assert "refund" in _act(sandbox, order, "cancel").json["message"]


@pytest.mark.parametrize(
    "reason", [None, "duplicate", "fraudulent", "requested_by_customer", "abandoned"]
)
def test_cancelling_an_unpaid_order(sandbox: AsgiSandbox, reason: str | None) -> None:
    """requires_payment to cancelled: one event, the reason and the time are kept."""
    order = sandbox.order()
    body = {} if reason is None else {"cancellation_reason": reason}
    cancelled = sandbox.post(f"/v1/orders/{order['id']}/cancel", body).json
    assert cancelled["cancellation_reason"] == reason
    assert cancelled["cancelled_at"] == "2026-10-01T09:00:00Z"
    assert [(e["type"], e["data"]["object"]) for e in sandbox.events()] == [
        ("order.cancelled", cancelled)
    ]


def test_cancelling_for_an_unknown_reason_is_refused(sandbox: AsgiSandbox) -> None:
    """The reason is one of four; `authorization_expired` is the sandbox's own."""
    order = sandbox.order()
    body = {"cancellation_reason": "authorization_expired"}
    answer = sandbox.post(f"/v1/orders/{order['id']}/cancel", body)
    assert (answer.code, answer.param) == ("parameter_invalid_value", "cancellation_reason")


def test_automatic_capture(sandbox: AsgiSandbox) -> None:
    """A card approves: captured and paid, payment.captured before order.paid, balance credited."""
    before = sandbox.balance("USD")
    payment = sandbox.paid()
    order = sandbox.get(f"/v1/orders/{payment['order']}").json
    assert (payment["status"], order["status"]) == ("captured", "paid")
    assert order["paid_at"] == payment["captured_at"] == "2026-10-01T09:00:00Z"
    assert order["latest_payment"] == payment["id"]
    assert order["amount_captured"] == payment["amount_captured"] == 15708
    assert sandbox.balance("USD") == before + 17279
    events = sandbox.events()
    assert [event["type"] for event in events] == ["payment.captured", "order.paid"]
    assert [event["data"]["object"] for event in events] == [payment, order]


def test_manual_capture_in_full(sandbox: AsgiSandbox) -> None:
    """Authorised first, nothing on the balance; captured later, once."""
    before = sandbox.balance("USD")
    held = sandbox.paid(capture_method="manual")
    assert held["status"] == "authorized"
    assert held["amount_captured"] == held["amount_released"] == 0
    assert held["settlement_amount"] is None
    assert held["authorization_expires_at"] == "2026-10-08T09:00:00Z"
    assert sandbox.balance("USD") == before
    assert sandbox.event_types() == ["payment.authorized"]
    captured = sandbox.post(f"/v1/orders/{held['order']}/capture").json
    assert (captured["status"], captured["amount_captured"]) == ("captured", 15708)
    assert captured["amount_released"] == 0
    assert captured["captured_at"] == "2026-10-01T09:00:00Z"
    assert sandbox.balance("USD") == before + 17279
    assert sandbox.event_types() == ["payment.authorized", "payment.captured", "order.paid"]
    assert sandbox.post(f"/v1/orders/{held['order']}/capture").code == "order_unexpected_state"


def test_partial_capture_releases_the_rest(sandbox: AsgiSandbox) -> None:
    """A partial capture gives the remainder back at once, and there is no second capture."""
    held = sandbox.paid(capture_method="manual")
    captured = sandbox.form(f"/v1/orders/{held['order']}/capture", "amount=10000").json
    assert captured["amount_captured"] == 10000
    assert captured["amount_released"] == 5708
    assert captured["settlement_amount"] == 11000
    order = sandbox.get(f"/v1/orders/{held['order']}").json
    assert (order["status"], order["amount_captured"]) == ("paid", 10000)
    sandbox.advance(8 * DAY)
    assert sandbox.again(captured)["status"] == "captured"
    assert "order.cancelled" not in sandbox.event_types()


def test_order_that_no_amount_can_hold_is_refused_before_anything_is_stored(
    sandbox: AsgiSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its quote is not stored first: to take it back, the neighbours would be done again."""
    order = sandbox.order()
    stored: list[str] = []
    write = Store.write

    def noted(store: Store, sql: str, *args: Value) -> int:
        stored.append(sql)
        return write(store, sql, *args)

    monkeypatch.setattr(Store, "write", noted)
    for path, more in (("", sandbox.order_params), (f"/{order['id']}", {})):
        answer = sandbox.post(f"/v1/orders{path}", {**more, "amount": AMOUNT_MAX})
        assert (answer.status, answer.code, answer.param) == (400, "amount_too_large", "amount")
    assert {sql.split()[0] for sql in stored} <= {"BEGIN", "ROLLBACK"}


@pytest.mark.parametrize(
    ("amount", "code"),
    [(15709, "amount_too_large"), (0, "amount_too_small"), (-5, "amount_too_small")],
)
def test_capture_amount_is_bounded(sandbox: AsgiSandbox, amount: int, code: str) -> None:
    """1 to the authorised amount; a refused capture leaves the authorisation as it was."""
    held = sandbox.paid(capture_method="manual")
    answer = sandbox.post(f"/v1/orders/{held['order']}/capture", {"amount": amount})
    assert (answer.status, answer.code, answer.param) == (400, code, "amount")
    assert sandbox.again(held) == held
    for good in (1, 15708):
        held = sandbox.paid(capture_method="manual")
        path = f"/v1/orders/{held['order']}/capture"
        assert sandbox.post(path, {"amount": good}).json["amount_captured"] == good


def test_cancelling_an_authorised_order_releases_it(sandbox: AsgiSandbox) -> None:
    """payment.cancelled comes before order.cancelled; the whole amount is released."""
    before = sandbox.balance("USD")
    held = sandbox.paid(capture_method="manual")
    order = sandbox.post(f"/v1/orders/{held['order']}/cancel").json
    payment = sandbox.again(held)
    assert (order["status"], payment["status"]) == ("cancelled", "cancelled")
    assert payment["amount_released"] == 15708
    assert sandbox.event_types() == ["payment.authorized", "payment.cancelled", "order.cancelled"]
    assert sandbox.events()[1]["data"]["object"] == payment
    assert sandbox.balance("USD") == before


def test_authorisation_expires_after_seven_days(sandbox: AsgiSandbox) -> None:
    """To the second: then the order is cancelled for `authorization_expired`."""
    held = sandbox.paid(capture_method="manual")
    sandbox.advance(7 * DAY - 1)
    assert sandbox.again(held)["status"] == "authorized"
    sandbox.advance(1)
    order = sandbox.get(f"/v1/orders/{held['order']}").json
    assert order["status"] == "cancelled"
    assert order["cancellation_reason"] == "authorization_expired"
    assert order["cancelled_at"] == "2026-10-08T09:00:00Z"
    assert sandbox.again(held)["amount_released"] == 15708
    assert sandbox.event_types()[1:] == ["payment.cancelled", "order.cancelled"]


def test_a_declined_order_can_be_paid_again(sandbox: AsgiSandbox) -> None:
    """A decline keeps the order open; each attempt is a payment of its own."""
    order = sandbox.order()
    assert sandbox.pay(order, "4000000000000002").status == 402
    failed = sandbox.again(order)
    assert failed["status"] == "requires_payment"
    paid = sandbox.pay(order).json["payment"]
    assert failed["latest_payment"] != paid["id"]
    assert len(sandbox.get("/v1/payments", order=order["id"]).json["data"]) == 2
    assert sandbox.event_types() == ["payment.failed", "payment.captured", "order.paid"]
