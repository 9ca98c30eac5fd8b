"""Every row of the card table at the checkout: result, events, retries, tokens."""

from pathlib import Path
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox

APPROVED = [
    ("4242424242424242", "visa", "active"),
    ("5555555555554444", "mastercard", "active"),
    ("378282246310005", "amex", "active"),
    ("3566002020360505", "jcb", "unavailable"),
    ("6200000000000005", "unionpay", "unavailable"),
    ("6011111111111117", "discover", "unavailable"),
    ("3056930009020004", "diners", "unavailable"),
    ("4000000000008039", "visa", "suspended"),
    ("4242 4242-4242 4242", "visa", "active"),
]
SOFT = [
    ("4000000000009995", "insufficient_funds", "card_declined"),
    ("4000000000000002", "generic_decline", "card_declined"),
    ("4000000000000119", "processing_error", "processing_error"),
    ("4000008400001629", "generic_decline", "card_declined"),
]
HARD = [
    ("4000000000009979", "stolen_card", "card_declined"),
    ("4000000000009987", "lost_card", "card_declined"),
    ("4000000000008021", "account_closed", "card_declined"),
    ("4000000000000069", "expired_card", "expired_card"),
    ("4000000000000127", "incorrect_cvc", "incorrect_cvc"),
    ("4100000000000019", "fraudulent", "card_declined"),
]
RESCUED = "4000000000008013"
CHALLENGE = "4000000000003220"


def card(number: str) -> dict[str, Any]:
    return {"cvc": "1234"} if number.startswith("37") else {}


@pytest.mark.parametrize(("number", "brand", "token"), APPROVED)
@pytest.mark.parametrize("manual", [False, True])
def test_approved_card(
    sandbox: AsgiSandbox, number: str, brand: str, token: str, manual: bool
) -> None:
    """Captured or authorised by the order's way of capture; a saved card shows its token."""
    order = sandbox.order(capture_method="manual" if manual else "automatic")
    answer = sandbox.pay(order, number, card=card(number), save_card=True)
    payment = answer.json["payment"]
    plain = number.replace(" ", "").replace("-", "")
    assert answer.status == 200
    assert list(answer.json) == ["order", "payment"]
    assert payment["status"] == ("authorized" if manual else "captured")
    assert payment["card"] == {"brand": brand, "last4": plain[-4:]}
    assert payment["payment_method"] == {
        "id": payment["payment_method"]["id"],
        "object": "payment_method",
        "type": "card",
        "card": {
            "brand": brand,
            "last4": plain[-4:],
            "network_token": token,
            "exp_month": 12,
            "exp_year": 2030,
        },
        "created": "2026-10-01T09:00:00Z",
        "livemode": False,
    }
    assert payment["payment_method"]["id"].startswith("pm_")
    assert "client_secret" not in answer.json["order"]
    assert answer.json["order"] == sandbox.again(order)
    assert payment == sandbox.again(payment)


@pytest.mark.parametrize(("number", "decline", "code"), [*SOFT, *HARD])
@pytest.mark.parametrize("retries", [False, True])
def test_declined_card(
    sandbox: AsgiSandbox, number: str, decline: str, code: str, retries: bool
) -> None:
    """402 with the decline; the failed payment stays; soft declines are retried once if on."""
    sandbox.settings(smart_retries=retries)
    soft = (number, decline, code) in SOFT
    order = sandbox.order()
    answer = sandbox.pay(order, number)
    shown = answer.json
    assert list(shown) == "type code message decline_code decline_type payment request_id".split()
    assert (answer.status, shown["type"], shown["code"]) == (402, "card_error", code)
    assert shown["decline_code"] == decline
    assert shown["decline_type"] == ("soft" if soft else "hard")
    payment = shown["payment"]
    assert payment == sandbox.again(payment)
    assert payment["status"] == "failed"
    assert payment["failure_code"] == decline
    assert payment["failure_message"] == shown["message"]
    assert payment["decline_type"] == shown["decline_type"]
    assert payment["retried"] is (soft and retries)
    assert payment["acquirer"] == ("sandbox_eu_2" if soft and retries else None)
    assert sandbox.event_types() == ["payment.failed"]
    after = sandbox.again(order)
    assert (after["status"], after["latest_payment"]) == ("requires_payment", payment["id"])


@pytest.mark.parametrize("manual", [False, True])
def test_smart_retry_rescues_a_soft_decline(sandbox: AsgiSandbox, manual: bool) -> None:
    """One payment, `retried` true, through the second acquirer, and no payment.failed."""
    sandbox.settings(smart_retries=True)
    order = sandbox.order(capture_method="manual" if manual else "automatic")
    answer = sandbox.pay(order, RESCUED)
    payment = answer.json["payment"]
    assert answer.status == 200
    assert payment["retried"] is True
    assert payment["acquirer"] == "sandbox_eu_2"
    assert payment["failure_code"] is None
    assert "payment.failed" not in sandbox.event_types()
    assert len(sandbox.get("/v1/payments").json["data"]) == 1


def test_smart_retries_are_off_by_default(sandbox: AsgiSandbox) -> None:
    """Without the setting the same card is declined (spec: 10)."""
    answer = sandbox.pay(sandbox.order(), RESCUED)
    assert (answer.status, answer.json["decline_code"]) == (402, "do_not_honor")
    assert answer.json["payment"]["retried"] is False


def test_challenge_succeeds(sandbox: AsgiSandbox) -> None:
    """3-D Secure passes by default."""
    for more in ({}, {"three_ds": "succeed"}):
        answer = sandbox.pay(sandbox.order(), CHALLENGE, **more)
        assert answer.json["payment"]["status"] == "captured"


@pytest.mark.parametrize("retries", [False, True])
def test_challenge_fails(sandbox: AsgiSandbox, retries: bool) -> None:
    """A failed challenge is a failed payment with authentication_failed, never retried."""
    sandbox.settings(smart_retries=retries)
    answer = sandbox.pay(sandbox.order(), CHALLENGE, three_ds="fail")
    assert (answer.status, answer.code) == (402, "authentication_failed")
    assert answer.json["payment"]["failure_code"] == "authentication_failed"
    assert answer.json["payment"]["retried"] is False
    assert sandbox.event_types() == ["payment.failed"]


@pytest.mark.parametrize("number", [CHALLENGE, "4000008400001629"])
def test_challenge_abandoned(sandbox: AsgiSandbox, number: str) -> None:
    """A shopper who walks away leaves no payment, no event and the order as it was."""
    order = sandbox.order()
    answer = sandbox.pay(order, number, three_ds="abandon")
    assert answer.status == 200
    assert answer.json["payment"] is None
    assert sandbox.again(order)["latest_payment"] is None
    assert sandbox.events() == []


def test_cards_without_a_challenge_are_not_asked(sandbox: AsgiSandbox) -> None:
    """`three_ds` says something only where there is a challenge."""
    assert sandbox.pay(sandbox.order(), three_ds="fail").status == 200


@pytest.mark.parametrize(
    ("number", "reason"),
    [("4000000000000259", "fraudulent"), ("4000000000002685", "product_not_received")],
)
@pytest.mark.parametrize("manual", [False, True])
def test_disputing_card(sandbox: AsgiSandbox, number: str, reason: str, manual: bool) -> None:
    """Disputed 5 s after the capture, not after the authorisation."""
    payment = sandbox.paid(number, capture_method="manual" if manual else "automatic")
    if manual:
        sandbox.advance(3600)
        assert sandbox.get("/v1/disputes").json["data"] == []
        sandbox.post(f"/v1/orders/{payment['order']}/capture")
    sandbox.advance(4)
    assert sandbox.get("/v1/disputes").json["data"] == []
    sandbox.advance(1)
    (dispute,) = sandbox.get("/v1/disputes").json["data"]
    assert (dispute["payment"], dispute["reason"]) == (payment["id"], reason)
    assert sandbox.event_types()[-1] == "dispute.opened"


def test_a_refunded_card_payment_is_not_disputed(sandbox: AsgiSandbox) -> None:
    """What was refunded in full within the 5 s leaves nothing to dispute."""
    payment = sandbox.paid("4000000000000259")
    sandbox.post("/v1/refunds", {"payment": payment["id"]})
    sandbox.advance(60)
    assert sandbox.get("/v1/disputes").json["data"] == []


UNUSABLE = [
    ({"number": "4242424242424241"}, "incorrect_number"),
    ({"exp_month": 9, "exp_year": 2026}, "expired_card"),
    ({"cvc": "12"}, "incorrect_cvc"),
]


@pytest.mark.parametrize(("wrong", "code"), UNUSABLE)
def test_unusable_card_makes_no_payment(sandbox: AsgiSandbox, wrong: Any, code: str) -> None:
    """Wrong number, past expiry, wrong CVC: 402, no payment object, no event."""
    order = sandbox.order()
    answer = sandbox.pay(order, card=wrong)
    assert (answer.status, answer.code) == (402, code)
    assert answer.json["type"] == "card_error"
    assert answer.json["payment"] is None
    assert sandbox.get("/v1/payments").json["data"] == []
    assert sandbox.events() == []
    assert sandbox.again(order)["latest_payment"] is None


def test_the_month_of_expiry_is_still_good(sandbox: AsgiSandbox) -> None:
    """A card is good to the end of its month; two-digit years are of this century."""
    for year in (2026, 26):
        card = {"exp_month": 10, "exp_year": year}
        payment = sandbox.pay(sandbox.order(), card=card, save_card=True).json["payment"]
        assert payment["payment_method"]["card"]["exp_year"] == 2026


# --- saved cards --------------------------------------------------------------------------------


def saved(sandbox: AsgiSandbox, number: str) -> str:
    more: Any = card(number)
    answer = sandbox.pay(sandbox.order(), number, card=more, save_card=True)
    return str(answer.json["payment"]["payment_method"]["id"])


@pytest.mark.parametrize("number", [row[0] for row in APPROVED])
def test_saved_card_pays_again(sandbox: AsgiSandbox, number: str) -> None:
    """A saved card pays another order without number or CVC, as the card it was."""
    method = saved(sandbox, number)
    payment = sandbox.pay(sandbox.order(), payment_method=method).json["payment"]
    assert payment["status"] == "captured"
    assert payment["payment_method"]["id"] == method
    assert payment["card"]["last4"] == number[-4:]


def test_saved_card_keeps_its_behaviour(sandbox: AsgiSandbox) -> None:
    method = saved(sandbox, "4000000000005126")
    payment = sandbox.pay(sandbox.order(), payment_method=method).json["payment"]
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"]}).json
    sandbox.advance(5)
    assert sandbox.again(refund)["status"] == "failed"


def test_saved_card_expires(sandbox: AsgiSandbox) -> None:
    """The clock reaches a saved card's expiry like any other's."""
    method = saved(sandbox, "4242424242424242")
    sandbox.control("/clock", {"mode": "frozen", "now": "2031-01-01T00:00:00Z"})
    answer = sandbox.pay(sandbox.order(), payment_method=method)
    assert (answer.status, answer.code) == (402, "expired_card")


def test_cards_are_saved_only_when_asked(sandbox: AsgiSandbox) -> None:
    """No `save_card`, no payment method; a declined card is not saved either."""
    assert sandbox.paid()["payment_method"] is None
    declined = sandbox.pay(sandbox.order(), "4000000000000002", save_card=True)
    assert declined.json["payment"]["payment_method"] is None


def test_no_card_number_is_stored(make_sandbox: Any, tmp_path: Path) -> None:
    """Of a card that is no test card the last four digits alone reach the disk or any log."""
    number = "4929420573595709"
    sandbox = make_sandbox(path=str(tmp_path / "sandbox.db"))
    refused = sandbox.pay(sandbox.order(), number, save_card=True)
    assert refused.json["payment"]["card"] == {"brand": "visa", "last4": "5709"}
    for log in ("/events?limit=100", "/requests"):
        assert number.encode() not in sandbox.control(log, method="GET").body
    files = [file for file in tmp_path.iterdir() if file.name.startswith("sandbox.db")]
    stored = b"".join(file.read_bytes() for file in files)
    assert refused.json["payment"]["id"].encode() in stored
    assert number.encode() not in stored


@pytest.mark.parametrize("number", ["4929420573595709", "5425233430109903", "6011000990139424"])
def test_number_that_is_no_test_card_is_declined(sandbox: AsgiSandbox, number: str) -> None:
    """Its check digit is right, and it may be somebody's: the code says why, and nothing is paid."""
    order = sandbox.order()
    refused = sandbox.pay(order, number).json
    assert (refused["code"], refused["decline_code"]) == ("card_declined", "test_card_required")
    assert refused["decline_type"] == "hard"
    assert "not a test card" in refused["message"]
    assert sandbox.again(order)["status"] == "requires_payment"


# --- vouchers -----------------------------------------------------------------------------------


def bought_in(sandbox: AsgiSandbox, country: str, currency: str) -> Any:
    item = {**sandbox.order_params["items"][0], "unit_amount": 500}
    there = {"country": country}
    return sandbox.order(amount=500, currency=currency, shipping=there, items=[item])


@pytest.mark.parametrize(
    ("method", "country", "currency", "outcome", "status"),
    [
        ("konbini", "JP", "JPY", "success", "captured"),
        ("konbini", "JP", "JPY", "failure", "failed"),
        ("multibanco", "PT", "EUR", "success", "captured"),
        ("oxxo", "MX", "MXN", "success", "captured"),
    ],
)
def test_vouchers_take_the_days_that_the_setting_says(
    sandbox: AsgiSandbox, method: str, country: str, currency: str, outcome: str, status: str
) -> None:
    """A slip is paid at a shop, days later or never; until then the order is processing."""
    sandbox.settings(voucher_days=3)
    order = bought_in(sandbox, country, currency)
    payment = sandbox.pay(order, method=method, outcome=outcome).json["payment"]
    assert payment["status"] == "processing"
    sandbox.advance(3 * 86400 - 1)
    assert sandbox.get(f"/v1/orders/{order['id']}").json["status"] == "processing"
    sandbox.advance(1)
    ended = sandbox.again(payment)
    failure = "voucher_expired" if outcome == "failure" else None
    assert (ended["status"], ended["failure_code"]) == (status, failure)


def test_voucher_is_paid_at_once_unless_the_setting_says_otherwise(sandbox: AsgiSandbox) -> None:
    """The kinder way is the default; a redirect that is no voucher never waits."""
    paid = sandbox.pay(bought_in(sandbox, "JP", "JPY"), method="konbini").json["payment"]
    assert paid["status"] == "captured"
    sandbox.settings(voucher_days=3)
    paid = sandbox.pay(bought_in(sandbox, "JP", "JPY"), method="paypay").json["payment"]
    assert paid["status"] == "captured"


# --- the checkout itself ------------------------------------------------------------------------


def test_view_shows_what_the_shopper_sees(sandbox: AsgiSandbox) -> None:
    """Methods, language by country, currency and the duty-inclusive total (spec: 2)."""
    order = sandbox.order()
    body = {"client_secret": order["client_secret"]}
    view = sandbox.control("/checkout/view", body, key=sandbox.publishable)
    assert view.json == {
        "object": "checkout",
        "order": order["id"],
        "status": "requires_payment",
        "methods": ["card", "sepa_debit", "klarna", "paypal"],
        "locale": "de-DE",
        "currency": "EUR",
        "amount": 12900,
        "landed_cost": order["landed_cost"],
        "amount_total": 15708,
    }


@pytest.mark.parametrize("path", ["/checkout/view", "/checkout/pay"])
def test_checkout_takes_publishable_keys_only(sandbox: AsgiSandbox, path: str) -> None:
    """Secret and restricted keys are refused with 403, no or wrong keys with 401."""
    body = {"client_secret": sandbox.order()["client_secret"]}
    for key, status, code in (
        (sandbox.secret, 403, "publishable_key_required"),
        ("rk_test_readonly", 403, "publishable_key_required"),
        (None, 401, "api_key_missing"),
        ("pk_test_nobody", 401, "api_key_invalid"),
    ):
        answer = sandbox.control(path, body, key=key)
        assert (answer.status, answer.code) == (status, code)
        assert answer.json["type"] == "sandbox_error"


@pytest.mark.parametrize("path", ["/checkout/view", "/checkout/pay"])
def test_checkout_needs_the_right_secret(sandbox: AsgiSandbox, path: str) -> None:
    """A wrong secret, or one of the other mode, is 404."""
    order = sandbox.order()
    good = order["client_secret"]
    for secret, key in (
        (good + "x", sandbox.publishable),
        (order["id"], sandbox.publishable),
        ("ord_none_secret_x", sandbox.publishable),
        (good, sandbox.live_publishable),
    ):
        answer = sandbox.control(path, {"client_secret": secret}, key=key)
        assert (answer.status, answer.code) == (404, "resource_missing")
        assert answer.param == "client_secret"


@pytest.mark.parametrize("path", ["/checkout/view", "/checkout/pay"])
def test_a_page_cannot_pay_an_order_by_its_id(sandbox: AsgiSandbox, path: str) -> None:
    """What a browser holds does here no more than at the service: it needs the client secret."""
    order = sandbox.order()
    for key in (sandbox.publishable, sandbox.live_publishable, "rk_test_readonly"):
        answer = sandbox.control(path, {"order": order["id"]}, key=key)
        assert (answer.status, answer.code, answer.param) == (403, "secret_key_required", "order")
    assert sandbox.again(order)["latest_payment"] is None


def test_checkout_takes_the_orders_id_from_a_secret_key(sandbox: AsgiSandbox) -> None:
    """The client secret is shown once; who has the secret key does without, and needs only one."""
    order = sandbox.order()
    by_id: dict[str, Any] = {"order": order["id"]}
    for key, status in (("sk_live_sandbox", 404), (sandbox.secret, 200)):
        assert sandbox.control("/checkout/view", by_id, key=key).status == status
    both = {**by_id, "client_secret": order["client_secret"]}
    answer = sandbox.control("/checkout/view", both, key=sandbox.secret)
    assert (answer.code, answer.param) == ("parameters_exclusive", "client_secret")
    neither = sandbox.control("/checkout/view", {}, key=sandbox.publishable)
    assert (neither.code, neither.param) == ("parameter_missing", "client_secret")
    text = f"order={order['id']}&card[number]=4242424242424242&card[exp_month]=12"
    text += "&card[exp_year]=2030&card[cvc]=123&save_card=true"
    headers = {"svc-sandbox": "1"}
    paid = sandbox.form("/_sandbox/checkout/pay", text, key=sandbox.secret, headers=headers)
    assert paid.json["order"]["status"] == "paid"


PAY_ROWS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "parameter_missing", "card"),
    ({"method": "ideal"}, "method_not_offered", "method"),
    ({"method": "cash"}, "method_not_offered", "method"),
    ({"method": "sepa_debit", "iban": "DE1"}, "iban_invalid", "iban"),
]


@pytest.mark.parametrize(("body", "code", "param"), PAY_ROWS)
def test_pay_is_checked(shared: AsgiSandbox, body: Any, code: str, param: str) -> None:
    """Wrong parameters are 400 and make no attempt."""
    order = shared.order()
    given = {"client_secret": order["client_secret"], **body}
    answer = shared.control("/checkout/pay", given, key=shared.publishable)
    assert (answer.status, answer.code, answer.param) == (400, code, param)
    assert shared.again(order)["latest_payment"] is None


def test_card_and_saved_card_exclude_each_other(shared: AsgiSandbox) -> None:
    """One of the two, and a saved card must exist."""
    order = shared.order()
    both = shared.pay(order, payment_method="pm_x", card={"number": "4242424242424242",
                      "exp_month": 1, "exp_year": 2030, "cvc": "123"})  # fmt: skip
    assert (both.code, both.param) == ("parameters_exclusive", "card")
    absent = shared.pay(order, payment_method="pm_x")
    assert (absent.status, absent.param) == (404, "payment_method")


@pytest.mark.parametrize(
    "params",
    [{}, {"number": "4929420573595709"}, {"method": "paypal"}, {"method": "sepa_debit"}],
)
def test_no_live_order_is_ever_paid(sandbox: AsgiSandbox, params: dict[str, Any]) -> None:
    """In live mode every attempt fails, whatever the method."""
    sandbox.settings(smart_retries=True)
    order = sandbox.post("/v1/orders", sandbox.order_params, key=sandbox.live).json
    answer = sandbox.pay(order, key=sandbox.live_publishable, **params)
    assert (answer.status, answer.code) == (402, "card_declined")
    assert answer.json["decline_code"] == "live_mode_test_card"
    assert answer.json["payment"]["livemode"] is True
    path = f"/v1/orders/{order['id']}"
    assert sandbox.call("GET", path, key=sandbox.live).json["status"] == "requires_payment"
