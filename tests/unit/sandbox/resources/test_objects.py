"""Every operation's happy path: its exact fields, in their exact order (R80)."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from support.orders import NEW_ORDER
from support.sandbox_calls import AsgiSandbox
from svc.sandbox.openapi.document import OPERATIONS, document

NOW = "2026-10-01T09:00:00Z"
ORDER_KEYS = (
    "id object status amount currency settlement_currency shipping items capture_method methods "
    "landed_cost customs amount_total amount_captured amount_refunded latest_payment "
    "cancellation_reason cancelled_at paid_at metadata created livemode"
).split()
PAYMENT_KEYS = (
    "id object order status amount amount_captured amount_released amount_refunded currency method "
    "card payment_method retried acquirer failure_code failure_message decline_type disputed "
    "settlement_currency settlement_amount fx_rate fee authorization_expires_at captured_at "
    "created livemode"
).split()
REFUND_KEYS = (
    "id object payment order amount currency reason status failure_reason metadata created livemode"
).split()
PAYOUT_KEYS = (
    "id object status amount currency source_currency source_amount fx_rate network_fees "
    "destination reference failure_reason failure_message estimated_arrival sent_at paid_at "
    "failed_at metadata created livemode"
).split()
QUOTE_KEYS = (
    "id object currency shipping items ship_from_country shipping_amount duty vat fees total "
    "guaranteed warnings expires_at created livemode"
).split()
DISPUTE_KEYS = (
    "id object payment order amount currency reason status evidence evidence_status "
    "evidence_due_by evidence_submitted_at closed_at created livemode"
).split()
ENDPOINT_KEYS = (
    "id object url events secret status description api_version created livemode".split()
)


def test_order_create_answers_the_worked_example(sandbox: AsgiSandbox) -> None:
    """A new order has all its fields in their order, with its client secret last."""
    answer = sandbox.post("/v1/orders", sandbox.order_params)
    order = answer.json
    assert answer.status == 200
    assert list(order) == [*ORDER_KEYS, "client_secret"]
    drawn = {name: order[name] for name in ("id", "client_secret")}
    quote = {"quote": order["landed_cost"]["quote"]}
    assert order == {**NEW_ORDER, **drawn, "landed_cost": {**NEW_ORDER["landed_cost"], **quote}}
    assert list(order["landed_cost"]) == "duty vat fees total currency guaranteed quote".split()
    assert list(order["items"][0]) == "name hs_code origin_country quantity unit_amount".split()
    assert order["client_secret"].startswith(order["id"] + "_secret_")
    assert b": " not in answer.body
    assert b", " not in answer.body


@pytest.mark.parametrize("path", ["", "/cancel"], ids=["update", "cancel"])
def test_no_later_answer_shows_the_client_secret(sandbox: AsgiSandbox, path: str) -> None:
    """Retrieve, update, cancel and list leave the client secret out, and nothing else."""
    order = sandbox.order()
    base = f"/v1/orders/{order['id']}"
    for answer in (sandbox.get(base), sandbox.post(base + path)):
        assert list(answer.json) == ORDER_KEYS
    assert list(sandbox.get("/v1/orders").json["data"][0]) == ORDER_KEYS


def test_ids_have_their_prefix_and_24_characters(sandbox: AsgiSandbox) -> None:
    """Ids are prefix and 24 letters or digits (assumptions: Conventions)."""
    payment = sandbox.paid()
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"]}).json
    payout = sandbox.post("/v1/payouts", sandbox.payout_params).json
    quote = sandbox.post("/v1/landed-cost/quotes", sandbox.quote_params).json
    request = sandbox.get("/v1/orders").headers["request-id"]
    key = sandbox.control("/keys", {"type": "secret"}).json["secret"]
    order = sandbox.order()
    found = [payment["order"], payment["id"], refund["id"], payout["id"], quote["id"], request]
    prefixes = ["ord_", "pay_", "rf_", "po_", "lcq_", "req_"]
    pairs = [*zip(prefixes, found, strict=True), (f"{order['id']}_secret_", order["client_secret"])]
    for prefix, identity in pairs:
        assert re.fullmatch(f"{prefix}[0-9A-Za-z]{{24}}", identity)
    assert re.fullmatch("sk_test_[0-9A-Za-z]{20}", key)  # no scanner takes it for a leaked one


def test_address_parts_are_shown_only_if_given(sandbox: AsgiSandbox) -> None:
    """`postal_code` is always there; further parts of the address only when they were sent."""
    bare = sandbox.order(shipping={"country": "AE"})
    assert bare["shipping"] == {"country": "AE", "postal_code": None}
    full = {
        "country": "DE",
        "postal_code": "10115",
        "name": "A. Muster",
        "line1": "Hauptstr. 1",
        "line2": "Hof",
        "city": "Berlin",
        "state": "BE",
        "phone": "+49 30 1",
    }
    assert sandbox.order(shipping=full)["shipping"] == full


def test_update_changes_what_follows_from_it(sandbox: AsgiSandbox) -> None:
    """An update computes methods, landed cost and total anew and replaces whole objects."""
    order = sandbox.order(metadata={"ref": "A-1", "keep": "x"})
    changed = sandbox.post(
        f"/v1/orders/{order['id']}",
        {
            "amount": 16000,
            "currency": "GBP",
            "settlement_currency": "EUR",
            "shipping": {"country": "GB"},
            "items": [{"name": "Shoe", "quantity": 2, "unit_amount": 8000, "hs_code": "640391"}],
            "capture_method": "manual",
            "metadata": {"ref": "", "new": "y"},
        },
    ).json
    assert changed["amount"] == 16000
    assert changed["settlement_currency"] == "EUR"
    assert changed["shipping"] == {"country": "GB", "postal_code": None}
    assert changed["items"][0]["name"] == "Shoe"
    assert changed["methods"] == ["card", "klarna", "paypal"]
    assert changed["landed_cost"]["duty"] == 1280
    assert changed["landed_cost"]["vat"] == 3456
    assert changed["landed_cost"]["quote"] != order["landed_cost"]["quote"]
    assert changed["amount_total"] == 16000 + 4736
    assert changed["metadata"] == {"keep": "x", "new": "y"}
    assert changed["created"] == order["created"]
    assert sandbox.again(order) == changed


def test_empty_update_changes_nothing_but_the_quote(sandbox: AsgiSandbox) -> None:
    order = sandbox.order(metadata={"ref": "A-1"})
    secret = order.pop("client_secret")
    changed = sandbox.post(f"/v1/orders/{order['id']}").json
    changed["landed_cost"]["quote"] = order["landed_cost"]["quote"]
    assert changed == order
    assert sandbox.pay({"client_secret": secret}).status == 200


def test_clearing_an_optional_field_restores_its_default(sandbox: AsgiSandbox) -> None:
    """`null`, `""` and an empty form value unset optional fields on update."""
    order = sandbox.order(settlement_currency="EUR", metadata={"a": "1", "b": "2"})
    path = f"/v1/orders/{order['id']}"
    assert sandbox.post(path, {"settlement_currency": ""}).json["settlement_currency"] == "USD"
    assert sandbox.form(path, "metadata[a]=").json["metadata"] == {"b": "2"}
    assert sandbox.form(path, "metadata=").json["metadata"] == {}


def test_empty_optional_fields_on_create_equal_absent_ones(sandbox: AsgiSandbox) -> None:
    order = sandbox.order(
        settlement_currency="",
        metadata={"a": "", "b": None, "c": "1"},
        shipping={"country": "DE", "postal_code": ""},
    )
    assert order["settlement_currency"] == "USD"
    assert order["metadata"] == {"c": "1"}
    assert order["shipping"]["postal_code"] is None


def test_payment_has_its_fields_in_order(sandbox: AsgiSandbox) -> None:
    payment = sandbox.paid()
    shown = sandbox.get(f"/v1/payments/{payment['id']}").json
    assert list(shown) == PAYMENT_KEYS
    schema = document(OPERATIONS)["components"]["schemas"]["Payment"]
    assert set(schema["properties"]) == set(schema["required"]) == set(PAYMENT_KEYS)
    assert shown == {
        **dict.fromkeys(PAYMENT_KEYS),
        "id": payment["id"],
        "object": "payment",
        "order": payment["order"],
        "status": "captured",
        "amount": 15708,
        "amount_captured": 15708,
        "amount_released": 0,
        "amount_refunded": 0,
        "currency": "EUR",
        "method": "card",
        "card": {"brand": "visa", "last4": "4242"},
        "retried": False,
        "disputed": False,
        "settlement_currency": "USD",
        "settlement_amount": 17279,
        "fx_rate": 1.1,
        "captured_at": NOW,
        "created": NOW,
        "livemode": False,
    }


def test_refund_has_its_fields_in_order(sandbox: AsgiSandbox) -> None:
    payment = sandbox.paid()
    params = {
        "payment": payment["id"],
        "amount": 500,
        "reason": "duplicate",
        "metadata": {"k": "v"},
    }
    refund = sandbox.post("/v1/refunds", params).json
    assert list(refund) == REFUND_KEYS
    assert refund == {
        "id": refund["id"],
        "object": "refund",
        "payment": payment["id"],
        "order": payment["order"],
        "amount": 500,
        "currency": "EUR",
        "reason": "duplicate",
        "status": "pending",
        "failure_reason": None,
        "metadata": {"k": "v"},
        "created": NOW,
        "livemode": False,
    }
    assert sandbox.get(f"/v1/refunds/{refund['id']}").json == refund


def test_payout_answers_the_worked_example(sandbox: AsgiSandbox) -> None:
    """EUR 100.00 from USD: rate 0.90909091, 11000 + 200."""
    answer = sandbox.post("/v1/payouts", {**sandbox.payout_params, "reference": "INV-7"})
    payout = answer.json
    assert list(payout) == PAYOUT_KEYS
    assert payout == {
        "id": payout["id"],
        "object": "payout",
        "status": "created",
        "amount": 10000,
        "currency": "EUR",
        "source_currency": "USD",
        "source_amount": 11200,
        "fx_rate": 0.90909091,
        "network_fees": 200,
        "destination": {
            "country": "DE",
            "account_holder_name": "Muster GmbH",
            "bank_name": None,
            "last4": "3000",
        },
        "reference": "INV-7",
        "failure_reason": None,
        "failure_message": None,
        "estimated_arrival": "2026-10-02T09:00:00Z",
        "sent_at": None,
        "paid_at": None,
        "failed_at": None,
        "metadata": {},
        "created": NOW,
        "livemode": False,
    }
    assert b'"fx_rate":0.90909091,' in answer.body
    assert sandbox.get(f"/v1/payouts/{payout['id']}").body == answer.body


def test_payout_to_an_account_number(sandbox: AsgiSandbox) -> None:
    """An account number with a bank code does as well as an IBAN; only its end is shown."""
    destination = {
        "country": "US",
        "account_holder_name": "Acme",
        "account_number": "000123456789",
        "bank_code": "021000021",
        "bic": "CHASUS33",
        "bank_name": "Chase",
    }
    params = {**sandbox.payout_params, "currency": "USD", "destination": destination}
    payout = sandbox.post("/v1/payouts", params).json
    assert payout["destination"] == {
        "country": "US",
        "account_holder_name": "Acme",
        "bank_name": "Chase",
        "last4": "6789",
    }


def test_quote_has_its_fields_in_order(sandbox: AsgiSandbox) -> None:
    """A quote shows all its fields with the charges of every line."""
    params = {**sandbox.quote_params, "shipping_amount": 1000}
    quote = sandbox.post("/v1/landed-cost/quotes", params).json
    assert list(quote) == QUOTE_KEYS
    assert quote == {
        "id": quote["id"],
        "object": "landed_cost_quote",
        "currency": "EUR",
        "shipping": {"country": "DE", "postal_code": None},
        "items": [
            {
                "name": "Linen jacket",
                "hs_code": "6203.39",
                "origin_country": None,
                "quantity": 1,
                "unit_amount": 12900,
                "duty": 300,
                "vat": 2508,
                "duty_rate_bps": 0,
            }
        ],
        "ship_from_country": "US",
        "shipping_amount": 1000,
        "duty": 300,
        "vat": 2508 + 190,
        "fees": 0,
        "total": 2998,
        "guaranteed": False,
        "warnings": [
            {
                "code": "origin_country_unknown",
                "item": "Linen jacket",
                "message": "The country of origin of Linen jacket is unknown.",
            }
        ],
        "expires_at": "2026-10-02T09:00:00Z",
        "created": NOW,
        "livemode": False,
    }
    sandbox.advance(48 * 3600)
    assert sandbox.again(quote) == quote


def test_the_quote_of_an_order_can_be_retrieved(sandbox: AsgiSandbox) -> None:
    """`landed_cost.quote` names a quote with the same figures; a surplus counts as freight."""
    for amount in (12900, 1):  # no less than nothing is freight
        quote = sandbox.order(amount=amount)["landed_cost"]["quote"]
        assert sandbox.get(f"/v1/landed-cost/quotes/{quote}").json["shipping_amount"] == 0
    order = sandbox.order(amount=13900)
    quote = sandbox.get(f"/v1/landed-cost/quotes/{order['landed_cost']['quote']}").json
    assert quote["shipping_amount"] == 1000
    for name in ("duty", "vat", "fees", "total", "guaranteed"):
        assert quote[name] == order["landed_cost"][name]
    assert quote["ship_from_country"] == "US"


def test_landed_cost_is_not_collected_where_the_setting_says_so(sandbox: AsgiSandbox) -> None:
    """With `collect_landed_cost` false the total is the amount; the quote is shown all the same."""
    sandbox.settings(collect_landed_cost=False)
    order = sandbox.order()
    assert order["amount_total"] == 12900
    assert order["landed_cost"]["total"] == 2808


def test_account_settings_are_the_defaults_of_new_objects(sandbox: AsgiSandbox) -> None:
    """Settlement currency and country of the account are used where none is given."""
    sandbox.settings(settlement_currency="EUR", country="FR")
    order = sandbox.order()
    assert order["settlement_currency"] == "EUR"
    assert order["landed_cost"]["total"] == 0
    payout = sandbox.post("/v1/payouts", sandbox.payout_params).json
    assert payout["source_currency"] == "EUR"
    quote = sandbox.post("/v1/landed-cost/quotes", sandbox.quote_params).json
    assert (quote["ship_from_country"], quote["shipping_amount"]) == ("FR", 0)


def test_webhook_endpoint_shows_its_secret_once(sandbox: AsgiSandbox) -> None:
    """Registering answers the endpoint with `secret` after `events`; repeated names are merged."""
    text = (
        "url=https://example.com/hook&events[]=order.paid&events[]=refund.succeeded"
        "&events[]=order.paid&description=Shop"
    )
    endpoint = sandbox.form("/v1/webhook_endpoints", text).json
    assert list(endpoint) == ENDPOINT_KEYS
    assert endpoint == {
        "id": endpoint["id"],
        "object": "webhook_endpoint",
        "url": "https://example.com/hook",
        "events": ["order.paid", "refund.succeeded"],
        "secret": endpoint["secret"],
        "status": "enabled",
        "description": "Shop",
        "api_version": "2026-09-01",
        "created": NOW,
        "livemode": False,
    }
    assert endpoint["id"].startswith("we_")
    assert len(endpoint["secret"]) == len("whsec_") + 32
    listed = sandbox.control("/webhook_endpoints", method="GET").json["data"][0]
    shown = [key for key in ENDPOINT_KEYS if key != "secret"]
    assert list(listed) == [*shown, "signing_secrets"]


def test_event_can_be_retrieved_for_30_days(sandbox: AsgiSandbox) -> None:
    """An event is a snapshot of the whole object without secrets, and is gone after 30 days."""
    payment = sandbox.paid()
    event = sandbox.events()[-1]
    shown = sandbox.get(f"/v1/events/{event['id']}").json
    assert list(shown) == "id object type created livemode api_version data".split()
    assert shown["type"] == "order.paid"
    assert shown["object"] == "event"
    assert shown["api_version"] == "2026-09-01"
    assert shown["data"]["object"] == sandbox.get(f"/v1/orders/{payment['order']}").json
    assert list(shown["data"]["object"]) == ORDER_KEYS
    sandbox.post("/v1/refunds", {"payment": payment["id"]})
    assert sandbox.get(f"/v1/events/{event['id']}").json == shown
    sandbox.advance(30 * 86400 - 1)
    assert sandbox.get(f"/v1/events/{event['id']}").status == 200
    sandbox.advance(1)
    assert sandbox.get(f"/v1/events/{event['id']}").status == 404


def test_dispute_has_its_fields_in_order(sandbox: AsgiSandbox) -> None:
    """A new dispute shows all its fields; evidence is due 14 days later at the end of the day."""
    payment = sandbox.paid()
    dispute = sandbox.control("/disputes", {"payment": payment["id"]}).json
    assert list(dispute) == DISPUTE_KEYS
    assert dispute == {
        "id": dispute["id"],
        "object": "dispute",
        "payment": payment["id"],
        "order": payment["order"],
        "amount": 15708,
        "currency": "EUR",
        "reason": "general",
        "status": "needs_response",
        "evidence": {},
        "evidence_status": "none",
        "evidence_due_by": "2026-10-15T23:59:59Z",
        "evidence_submitted_at": None,
        "closed_at": None,
        "created": NOW,
        "livemode": False,
    }
    assert sandbox.again(dispute) == dispute
    path = f"/v1/disputes/{dispute['id']}"
    draft = sandbox.form(path, "evidence[shipping_carrier]=DHL&evidence[tracking_number]=1").json
    assert list(draft) == DISPUTE_KEYS
    assert list(draft["evidence"]) == ["tracking_number", "shipping_carrier"]
    assert list(sandbox.post(path + "/accept").json) == DISPUTE_KEYS


def disputed(sandbox: AsgiSandbox, evidence: str = "") -> str:
    """A new dispute, which was answered where there is evidence."""
    opened = str(sandbox.control("/disputes", {"payment": sandbox.paid()["id"]}).json["id"])
    if evidence:
        body = {"evidence": {"uncategorized_text": evidence}, "submit": True}
        sandbox.post(f"/v1/disputes/{opened}", body)
    return opened


def moved(sandbox: AsgiSandbox, path: str, **asked: Any) -> None:
    assert sandbox.control(path, asked).status == 200


ENDS: dict[str, Callable[[AsgiSandbox], object]] = {
    "capture": lambda on: on.post(
        f"/v1/orders/{on.paid(capture_method='manual')['order']}/capture"
    ),
    "cancel": lambda on: on.post(f"/v1/orders/{on.paid(capture_method='manual')['order']}/cancel"),
    "customs": lambda on: moved(
        on,
        f"/orders/{on.paid(shipping={'country': 'DE', 'name': 'customs_over'})['order']}/customs",
        charged=1,
    ),
    "debit": lambda on: moved(
        on,
        f"/payments/{on.pay(on.order(), method='sepa_debit').json['payment']['id']}/transition",
        to="captured",
    ),
    "refund": lambda on: moved(
        on,
        f"/refunds/{on.post('/v1/refunds', {'payment': on.paid()['id']}).json['id']}/transition",
        to="succeeded",
    ),
    "accept": lambda on: on.post(f"/v1/disputes/{disputed(on)}/accept"),
    "submit": lambda on: disputed(on, "any"),
    "decide": lambda on: moved(
        on, f"/disputes/{disputed(on, 'winning_evidence')}/decide", outcome="lost"
    ),
}


def next_job(sandbox: AsgiSandbox) -> Any:
    return sandbox.control("/clock", method="GET").json["next_job_at"]


@pytest.mark.parametrize("how", ENDS)
def test_what_has_ended_leaves_nothing_to_wait_for(sandbox: AsgiSandbox, how: str) -> None:
    """`advance --until idle` would go on to the day on which it would have ended by itself."""
    ENDS[how](sandbox)
    assert next_job(sandbox) is None


def test_payout_waits_for_its_next_step_alone(sandbox: AsgiSandbox) -> None:
    """Once it is sent by hand not for its sending, and once it has ended for nothing."""
    for steps in (["sent", "paid"], ["failed"]):
        path = sandbox.post("/v1/payouts", sandbox.payout_params).json["id"]
        for step in steps:
            moved(sandbox, f"/payouts/{path}/transition", to=step)
            assert next_job(sandbox) == ("2026-10-02T09:00:00Z" if step == "sent" else None)
