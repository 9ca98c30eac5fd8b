"""The client against the service's stand-in: every operation once, over real HTTP."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
from support.orders import JACKET, ORDER
from svc.base_url import BaseUrl
from svc.client.client import Client
from svc.client.pages import pages
from svc.client.sandbox import SandboxClient, control_call
from svc.errors import Conflict, Forbidden, NotFound, OutcomeUnknown, Unauthorized

if TYPE_CHECKING:
    from support.running import Sandbox

PAYOUT = {
    "amount": 10000,
    "currency": "EUR",
    "destination": {
        "country": "DE",
        "account_holder_name": "Muster GmbH",
        "iban": "DE89370400440532013000",
    },
}


@pytest.fixture
def client(sandbox: "Sandbox") -> Iterator[Client]:
    with Client(BaseUrl.parse(sandbox.url), "sk_test_sandbox", mode="test") as made:
        yield made


@pytest.fixture
def control(sandbox: "Sandbox") -> Iterator[SandboxClient]:
    with SandboxClient(BaseUrl.parse(sandbox.url)) as made:
        yield made


def pay(client: Client, control: SandboxClient, card: str, **extra: Any) -> dict[str, Any]:
    order = client.send(orders.create({**ORDER, **extra})).data
    shopper = {
        "client_secret": order["client_secret"],
        "card": {"number": card, "exp_month": 12, "exp_year": 2040, "cvc": "123"},
    }
    paid = control.send(
        control_call("POST", "checkout", "pay", body=shopper), key="pk_test_sandbox"
    ).data
    return dict(paid["payment"])


def test_an_order_from_creation_to_cancellation(client: Client) -> None:
    """Create, retrieve, update, cancel and list do what the specification says."""
    order = client.send(orders.create(ORDER)).data
    identifier = order["id"]
    assert order["status"] == "requires_payment"
    changed = client.send(orders.update(identifier, {"metadata": {"ref": "A-1"}})).data
    assert changed["metadata"] == {"ref": "A-1"}
    assert client.send(orders.retrieve(identifier)).data == changed
    assert client.send(orders.cancel(identifier)).data["status"] == "cancelled"
    listed = client.send(orders.list({"limit": 1})).data
    assert [one["id"] for one in listed["data"]] == [identifier]


def test_both_encodings_reach_the_same_order(client: Client) -> None:
    """A form body and a JSON body with the same content match."""
    as_json = client.send(orders.create(ORDER), idempotency_key="same")
    as_form = client.send(orders.create(ORDER, encoding="form"), idempotency_key="same")
    assert as_form.replayed
    assert as_form.text == as_json.text


def test_a_payment_is_captured_and_refunded(client: Client, control: SandboxClient) -> None:
    """Capture in part, retrieve and list payments, refund, retrieve and list refunds."""
    payment = pay(client, control, "4242424242424242", capture_method="manual")
    captured = client.send(orders.capture(payment["order"], {"amount": 6450})).data
    assert (captured["object"], captured["amount_captured"]) == ("payment", 6450)
    assert client.send(payments.retrieve(payment["id"])).data["status"] == "captured"
    assert len(client.send(payments.list({"order": payment["order"]})).data["data"]) == 1
    refund = client.send(refunds.create({"payment": payment["id"], "amount": 1000})).data
    assert client.send(refunds.retrieve(refund["id"])).data["amount"] == 1000
    assert client.send(refunds.list({"payment": payment["id"]})).data["data"][0] == refund


def test_payouts_and_quotes(client: Client) -> None:
    """Rates keep the digits that the service spelled."""
    payout = client.send(payouts.create(PAYOUT))
    assert payout.data["fx_rate"].text == "0.90909091"
    identifier = payout.data["id"]
    assert client.send(payouts.retrieve(identifier)).data["id"] == identifier
    assert len(client.send(payouts.list()).data["data"]) == 1
    asked = {"currency": "EUR", "shipping": {"country": "DE"}, "items": [JACKET]}
    quote = client.send(quotes.create(asked)).data
    assert client.send(quotes.retrieve(quote["id"])).data["guaranteed"] is False


def test_an_endpoint_and_an_event(client: Client, control: SandboxClient) -> None:
    """A form with a repeated field; the signing secret comes once."""
    body = {"url": "https://example.com/hook", "events": ["order.cancelled", "order.paid"]}
    endpoint = client.send(webhook_endpoints.create(body)).data
    assert endpoint["secret"].startswith("whsec_")
    assert sorted(endpoint["events"]) == ["order.cancelled", "order.paid"]
    order = client.send(orders.create(ORDER)).data
    client.send(orders.cancel(order["id"]))
    event = control.send(control_call("GET", "events", params={"type": "order.cancelled"})).data[
        "data"
    ][0]
    assert client.send(events.retrieve(event["id"])).data["data"]["object"]["id"] == order["id"]


def test_a_dispute_is_answered(client: Client, control: SandboxClient) -> None:
    """Evidence is a draft until it is submitted; accept gives another one up."""
    disputed = [pay(client, control, "4242424242424242") for _ in range(2)]
    opened = [
        control.send(control_call("POST", "disputes", body={"payment": one["id"]})).data
        for one in disputed
    ]
    first, second = (dispute["id"] for dispute in opened)
    evidence = {"evidence": {"tracking_number": "1Z", "shipping_carrier": "UPS"}}
    assert client.send(disputes.update(first, evidence)).data["evidence_status"] == "draft"
    sent = client.send(disputes.update(first, {"submit": True})).data
    assert (sent["status"], sent["evidence"]["tracking_number"]) == ("under_review", "1Z")
    assert client.send(disputes.accept(second)).data["status"] == "lost"
    assert client.send(disputes.retrieve(second)).data["status"] == "lost"
    assert len(client.send(disputes.list()).data["data"]) == 2


def test_a_list_is_walked_in_pages(client: Client) -> None:
    """Every object once, newest first."""
    made = [client.send(orders.create(ORDER)).data["id"] for _ in range(5)]
    walk = pages(client, orders.list({"limit": 2}))
    assert [item.data["id"] for page in walk for item in page.items] == made[::-1]


@pytest.mark.parametrize(
    "effect",
    [
        {"connection": "close"},
        {"connection": "reset"},
        {"connection": "truncate"},
        {"connection": "garbage"},
        {"status": 500},
        {"status": 503},
    ],
    ids=lambda effect: str(*effect.values()),
)
def test_one_order_is_made_whatever_happens_to_its_answer(
    effect: dict[str, Any], client: Client, control: SandboxClient
) -> None:
    """R1: committed, then the answer is lost; the retry is replayed, one object."""
    rule = {"match": {"method": "POST", "path": "/v1/orders"}, "phase": "after", "effect": effect}
    control.send(control_call("POST", "faults", body=rule))
    reply = client.send(orders.create(ORDER))
    assert (reply.replayed, reply.attempts) == (True, 2)
    assert len(client.send(orders.list()).data["data"]) == 1


@pytest.mark.slow
def test_an_order_whose_answers_are_all_lost_is_found_again(
    client: Client, control: SandboxClient
) -> None:
    """Unknown after four attempts; the same key later gives the one order."""
    rule = {
        "match": {"method": "POST", "path": "/v1/orders"},
        "times": 4,
        "phase": "after",
        "effect": {"connection": "close"},
    }
    control.send(control_call("POST", "faults", body=rule))
    with pytest.raises(OutcomeUnknown) as caught:
        client.send(orders.create(ORDER))
    again = client.send(orders.create(ORDER), idempotency_key=caught.value.idempotency_key)
    assert again.replayed
    assert len(client.send(orders.list()).data["data"]) == 1


def test_refusals_have_their_classes(client: Client, sandbox: "Sandbox") -> None:
    """Conflict, unknown key, missing permission, missing object."""
    client.send(orders.create(ORDER), idempotency_key="mine")
    with pytest.raises(Conflict):
        client.send(orders.create({**ORDER, "amount": 1}), idempotency_key="mine")
    with pytest.raises(NotFound):
        client.send(orders.retrieve("ord_absent"))
    base = BaseUrl.parse(sandbox.url)
    with Client(base, "sk_test_nobody", mode="test") as stranger, pytest.raises(Unauthorized):
        stranger.send(orders.list())
    with Client(base, "rk_test_readonly", mode="test", auth="basic") as reader:
        assert reader.send(orders.list()).status == 200
        with pytest.raises(Forbidden) as caught:
            reader.send(payouts.create(PAYOUT))
    assert "payouts:write" in f"{caught.value.message} {caught.value.hint}"
