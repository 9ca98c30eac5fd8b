"""Every violation of each operation: status, code, parameter, and which one is first."""

from typing import Any

import pytest

from support.sandbox_calls import PAYOUT, AsgiSandbox
from svc.sandbox.openapi.document import OPERATIONS
from svc.sandbox.resources.operation import ApiOperation
from svc.service.facts import EVENT_TYPES

LONG = "x" * 501
JACKET = {"name": "Linen jacket", "quantity": 1, "unit_amount": 12900}
ORDER = {
    "amount": 12900,
    "currency": "EUR",
    "shipping": {"country": "DE"},
    "items": [JACKET],
}
QUOTE = {"currency": "EUR", "shipping": {"country": "DE"}, "items": [JACKET]}
ACCOUNT = {
    "country": "US",
    "account_holder_name": "Acme",
    "account_number": "000123456789",
    "bank_code": "021000021",
}
ENDPOINT = {"url": "https://example.com/hook", "events": ["order.paid"]}
ABSENT = object()


def changed(base: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The base with one field, dotted for nested ones, set or taken away."""
    head, _, rest = name.partition(".")
    result = dict(base)
    if rest and isinstance(base[head], list):
        index, _, field = rest.partition(".")
        entries = list(base[head])
        entries[int(index)] = changed(entries[int(index)], field, value)
        result[head] = entries
    elif rest:
        result[head] = changed(base[head], rest, value)
    elif value is ABSENT:
        del result[head]
    else:
        result[head] = value
    return result


ORDER_ROWS = [
    ("amount", ABSENT, "parameter_missing", "amount"),
    ("shipping.country", ABSENT, "parameter_missing", "shipping[country]"),
    ("items.0.name", ABSENT, "parameter_missing", "items[0][name]"),
    ("colour", "red", "parameter_unknown", "colour"),
    ("shipping.planet", "Mars", "parameter_unknown", "shipping[planet]"),
    ("items.0.colour", "red", "parameter_unknown", "items[0][colour]"),
    ("amount", "", "parameter_invalid_empty", "amount"),
    ("amount", None, "parameter_invalid_empty", "amount"),
    ("items", [], "parameter_invalid_empty", "items"),
    ("items", [None], "parameter_invalid_empty", "items[0]"),
    ("items.0.name", "", "parameter_invalid_empty", "items[0][name]"),
    ("shipping", None, "parameter_invalid_empty", "shipping"),
    ("amount", "12900", "parameter_invalid_integer", "amount"),
    ("amount", 129.0, "parameter_invalid_integer", "amount"),
    ("amount", True, "parameter_invalid_integer", "amount"),
    ("amount", [1], "parameter_invalid_integer", "amount"),
    ("items.0.quantity", 0, "parameter_invalid_integer", "items[0][quantity]"),
    ("items.0.quantity", 100001, "parameter_invalid_integer", "items[0][quantity]"),
    ("shipping", "DE", "parameter_invalid_type", "shipping"),
    ("shipping", [], "parameter_invalid_empty", "shipping"),
    ("shipping", ["DE"], "parameter_invalid_type", "shipping"),
    ("items", {"0": JACKET}, "parameter_invalid_type", "items"),
    ("items", ["jacket"], "parameter_invalid_type", "items[0]"),
    ("currency", 978, "parameter_invalid_type", "currency"),
    ("metadata", "x", "parameter_invalid_type", "metadata"),
    ("metadata", {"a": 1}, "parameter_invalid_type", "metadata[a]"),
    ("metadata", {"": "x"}, "parameter_invalid_empty", "metadata[]"),
    ("metadata", {"k" * 41: "x"}, "parameter_too_long", f"metadata[{'k' * 41}]"),
    ("metadata", {"k": LONG}, "parameter_too_long", "metadata[k]"),
    ("metadata", {str(n): "x" for n in range(51)}, "parameter_too_long", "metadata"),
    ("items", [JACKET] * 101, "parameter_too_long", "items"),
    ("items.0.name", "x" * 256, "parameter_too_long", "items[0][name]"),
    ("capture_method", "later", "parameter_invalid_value", "capture_method"),
    ("currency", "eur", "currency_invalid", "currency"),
    ("currency", "EURO", "currency_invalid", "currency"),
    ("currency", "QQQ", "currency_invalid", "currency"),
    ("currency", "ALL", "currency_unsupported", "currency"),
    ("shipping.country", "de", "country_code_invalid", "shipping[country]"),
    ("shipping.country", "XX", "country_code_invalid", "shipping[country]"),
    ("shipping.country", "DEU", "country_code_invalid", "shipping[country]"),
    ("items.0.origin_country", "QQ", "country_code_invalid", "items[0][origin_country]"),
    ("items.0.hs_code", "6203A", "hs_code_invalid", "items[0][hs_code]"),
    ("items.0.hs_code", "1" * 13, "hs_code_invalid", "items[0][hs_code]"),
    ("items.0.hs_code", "." * 65, "hs_code_invalid", "items[0][hs_code]"),
    ("items.0.hs_code", "\u0661\u0662", "hs_code_invalid", "items[0][hs_code]"),
    ("amount", 0, "amount_too_small", "amount"),
    ("amount", -1, "amount_too_small", "amount"),
    ("items.0.unit_amount", -1, "amount_too_small", "items[0][unit_amount]"),
    ("amount", 1_000_000_000_000, "amount_too_large", "amount"),
    ("amount", 10**400, "amount_too_large", "amount"),
    ("items.0.unit_amount", 10**12, "amount_too_large", "items[0][unit_amount]"),
    ("items", [{**JACKET, "quantity": 2, "unit_amount": 10**12 - 1}], "amount_too_large", "items"),
    ("metadata", {"a": "x\0y"}, "parameter_invalid_value", "metadata[a]"),
    ("metadata", {"a\0": "x"}, "parameter_invalid_value", "metadata[a\0]"),
    ("shipping.postal_code", "1\0", "parameter_invalid_value", "shipping[postal_code]"),
]
ALLOWED_ORDERS = [
    ("items.0.unit_amount", 0),
    ("items.0.origin_country", "XX"),
    ("items.0.origin_country", "ZZ"),
    ("items.0.hs_code", "6203.39-00 00"),
    ("items.0.hs_code", "62"),
    ("items.0.name", "x" * 255),
    ("amount", 1),
    ("items", [JACKET] * 100),
    ("metadata", {"k" * 40: "v" * 500}),
    ("shipping.city", "x" * 500),
    ("items.0.hs_code", "1" * 12),
    ("items.0.hs_code", "1" + "." * 63),
    ("items.0.quantity", 100_000),
    ("metadata", {str(n): "x" for n in range(50)}),
]
QUOTE_ROWS = [
    ("shipping_amount", -1, "amount_too_small", "shipping_amount"),
    ("shipping_amount", 10**12, "amount_too_large", "shipping_amount"),
]
PAYOUT_ROWS = [
    ("destination.iban", ABSENT, "parameters_exclusive", "destination"),
    ("destination.iban", "DE89370400440532013001", "iban_invalid"),
    ("destination.iban", "DE8937040044053201300", "iban_invalid"),
    ("destination.iban", "x", "iban_invalid"),
    ("destination.country", "FR", "iban_invalid", "destination[iban]"),
    ("amount", 0, "amount_too_small"),
    ("amount", 999_999_999_999, "balance_insufficient", None),
]
ACCOUNT_ROWS = [
    ("destination.iban", PAYOUT["destination"]["iban"], "parameters_exclusive", "destination"),
    ("destination.bank_code", ABSENT, "parameter_missing"),
    ("destination.bank_code", "0-1", "parameter_invalid_value"),
    ("destination.account_number", "123", "parameter_invalid_value"),
    ("destination.account_number", "1" * 18, "parameter_invalid_value"),
]
ENDPOINT_ROWS = [
    ("events", ["order.paid", "order.shipped"], "event_type_unknown", "events[1]"),
    ("events", ["*"], "event_type_unknown", "events[0]"),
    ("url", "ftp://example.com/", "url_invalid", "url"),
    ("url", "http://example.com/hook", "url_invalid", "url"),
    ("url", "https://user:pw@example.com/", "url_invalid", "url"),
    ("url", "/hook", "url_invalid", "url"),
    ("url", "https:///hook", "url_invalid", "url"),
    ("url", "https://example.com:port/", "url_invalid", "url"),
    ("url", "https://exämple.com/", "url_invalid", "url"),
    ("url", "https://example.com/a b", "url_invalid", "url"),
    ("url", "https://example.com\\@evil.example/", "url_invalid", "url"),
    ("url", "https://[::1/", "url_invalid", "url"),
    ("url", "https://example.com/" + "a" * 1981, "url_invalid", "url"),
]
REFUND_ROWS = [
    ({"payment": "pay_none"}, "resource_missing", "payment", 404),
    ({"payment": "ord_none"}, "resource_missing", "payment", 404),
    ({"payment": "pay_none", "amount": 0}, "amount_too_small", "amount", 400),
]


def rows(path: str, base: dict[str, Any], table: list[Any]) -> list[Any]:
    """Where a row names no parameter, it is the one that was changed."""
    made = []
    for index, (name, value, code, *other) in enumerate(table):
        head, *parts = name.split(".")
        param = other[0] if other else head + "".join(f"[{part}]" for part in parts)
        told = f"{path}-{name}-{code}-{index}"
        made.append(pytest.param(path, changed(base, name, value), code, param, id=told))
    return made


@pytest.mark.parametrize(
    ("path", "body", "code", "param"),
    [
        *rows("/v1/orders", ORDER, ORDER_ROWS),
        *rows("/v1/landed-cost/quotes", QUOTE, QUOTE_ROWS),
        *rows("/v1/payouts", PAYOUT, PAYOUT_ROWS),
        *rows("/v1/payouts", {**PAYOUT, "destination": ACCOUNT}, ACCOUNT_ROWS),
        *rows("/v1/webhook_endpoints", ENDPOINT, ENDPOINT_ROWS),
    ],
)
def test_violation_is_named(
    shared: AsgiSandbox, path: str, body: Any, code: str, param: str | None
) -> None:
    """Each rule, of all endpoints and of one, answers 400 with its code and parameter."""
    answer = shared.post(path, body)
    shown = answer.json
    assert (answer.status, shown["code"], shown.get("param")) == (400, code, param)
    assert shown["type"] == "invalid_request_error"
    assert shown["request_id"] == answer.headers["request-id"]
    assert shown["message"]
    assert list(shown) == [
        "type", "code", "message", *(["param"] if param else []), "request_id",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), ALLOWED_ORDERS)
def test_limits_are_inclusive(shared: AsgiSandbox, name: str, value: Any) -> None:
    assert shared.post("/v1/orders", changed(ORDER, name, value)).status == 200


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.example], ids=lambda one: one.id
)
def test_example_of_the_document_is_carried_out(
    shared: AsgiSandbox, operation: ApiOperation
) -> None:
    """As it stands: none of two that exclude each other stands beside the other."""
    assert shared.post(operation.path, operation.example).status == 200


def test_share_is_a_number_from_nothing_to_all(sandbox: AsgiSandbox) -> None:
    """Chaos, in JSON as in a form; what only looks like a number is none."""
    for share in (0, 1, 0.5, 0.25):
        for answer in (
            sandbox.control("/settings", {"chaos": share}),
            sandbox.control("/settings", form=f"chaos={share}"),
        ):
            assert (answer.status, answer.json["chaos"]) == (200, share)
    for wrong in (-0.1, 1.1, 2, True, "1", None, [0.5]):
        assert sandbox.control("/settings", {"chaos": wrong}).param == "chaos"
    for text in ("-0.1", "1.1", "2", "true", "1e-1", ""):
        assert sandbox.control("/settings", form=f"chaos={text}").param == "chaos"


def test_longest_address_is_taken(shared: AsgiSandbox) -> None:
    """2000 characters; one more is refused above."""
    address = "https://example.com/" + "a" * 1980
    assert shared.post("/v1/webhook_endpoints", {**ENDPOINT, "url": address}).status == 200


@pytest.mark.parametrize(("body", "code", "param", "status"), REFUND_ROWS)
def test_refund_violations(
    shared: AsgiSandbox, body: Any, code: str, param: str, status: int
) -> None:
    """Refund parameters are checked before the payment is looked for."""
    answer = shared.post("/v1/refunds", body)
    assert (answer.status, answer.code, answer.param) == (status, code, param)


MESSAGES = [
    ({}, "Missing required parameter: amount."),
    ({**ORDER, "colour": "red"}, "Unknown parameter: colour."),
    ({**ORDER, "amount": ""}, "amount must not be empty."),
    (
        changed(ORDER, "items.0.quantity", 0),
        "items[0][quantity] must be an integer from 1 to 100000.",
    ),
    ({**ORDER, "capture_method": "x"}, "capture_method must be one of: automatic, manual."),
]


@pytest.mark.parametrize(("body", "message"), MESSAGES)
def test_messages_follow_the_patterns(shared: AsgiSandbox, body: Any, message: str) -> None:
    """Messages that programs may have learnt keep their words."""
    assert shared.post("/v1/orders", body).json["message"] == message


def test_only_the_first_violation_is_reported_unknown_ones_first(shared: AsgiSandbox) -> None:
    """Unknown names come first, alphabetically; then the order of the table."""
    body: dict[str, Any] = {"zebra": 1, "apple": 2, "currency": "x", "items": [{"b": 1, "a": 2}]}
    assert shared.post("/v1/orders", body).param == "apple"
    del body["apple"]
    assert shared.post("/v1/orders", body).param == "items[0][a]"
    body["items"] = []
    del body["zebra"]
    seen = []
    fixes = {
        "amount": 1,
        "currency": "EUR",
        "settlement_currency": "USD",
        "shipping": {"country": "DE"},
        "items": [JACKET],
        "capture_method": "manual",
        "metadata": {},
    }
    body |= {"settlement_currency": "x", "capture_method": "x", "metadata": "x"}
    while (answer := shared.post("/v1/orders", body)).status == 400:
        seen.append(answer.param)
        body[seen[-1]] = fixes[seen[-1]]
    assert seen == list(fixes)


def test_unknown_parameters_can_be_ignored(sandbox: AsgiSandbox) -> None:
    """The setting `unknown_parameters=ignore` lets them pass, in bodies, nested and in queries."""
    sandbox.settings(unknown_parameters="ignore")
    body = {**ORDER, "colour": "red", "shipping": {"country": "DE", "planet": "Mars"}}
    assert sandbox.post("/v1/orders", body).status == 200
    assert sandbox.post("/v1/orders?x=1", ORDER).status == 200
    assert sandbox.get("/v1/orders", colour="red").status == 200


def test_the_total_of_an_order_keeps_the_limit_of_an_amount(sandbox: AsgiSandbox) -> None:
    """An order that is taken can be captured by its own total, on creation and after an update."""
    most = 999_999_999_999
    item = {**sandbox.order_params["items"][0], "unit_amount": most}
    body = {**sandbox.order_params, "amount": most, "items": [item], "capture_method": "manual"}
    answer = sandbox.post("/v1/orders", body)
    assert (answer.status, answer.code, answer.param) == (400, "amount_too_large", "amount")
    body = {**body, "amount": most // 2, "items": [{**item, "unit_amount": most // 2}]}
    inland = {**body, "amount": most, "shipping": {"country": "US"}}
    assert sandbox.post("/v1/orders", inland).json["amount_total"] == most
    order = sandbox.post("/v1/orders", body).json
    assert most // 2 < order["amount_total"] <= most
    url = f"/v1/orders/{order['id']}"
    assert sandbox.post(url, {"amount": most}).code == "amount_too_large"
    assert sandbox.get(url).json["amount_total"] == order["amount_total"]
    sandbox.pay(order)
    captured = sandbox.post(f"{url}/capture", {"amount": order["amount_total"]})
    assert (captured.status, captured.json["amount_captured"]) == (200, order["amount_total"])


def test_query_parameters_of_a_post_are_refused(shared: AsgiSandbox) -> None:
    """An amount in the address is not silently left out: the parameters belong in the body."""
    answer = shared.post("/v1/refunds?amount=100", {"payment": "pay_none"})
    assert (answer.code, answer.param) == ("parameter_unknown", "amount")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("orders/ord_none", "order"),
        ("orders/pay_x", "order"),
        ("payments/pay_none", "payment"),
        ("refunds/rf_none", "refund"),
        ("payouts/po_none", "payout"),
        ("landed-cost/quotes/lcq_none", "landed cost quote"),
        ("events/evt_none", "event"),
        ("disputes/dp_none", "dispute"),
    ],
)
def test_absent_object_is_404(shared: AsgiSandbox, path: str, code: str) -> None:
    """An object that is not there answers 404 resource_missing, param id."""
    answer = shared.get(f"/v1/{path}")
    assert (answer.status, answer.code, answer.param) == (404, "resource_missing", "id")
    assert answer.json["message"] == f"No such {code}: {path.rpartition('/')[2]}."
    assert answer.json["type"] == "invalid_request_error"


def test_an_id_of_another_kind_is_404(shared: AsgiSandbox) -> None:
    """An existing id under another resource's path is not found."""
    order = shared.order()
    assert shared.get(f"/v1/payments/{order['id']}").status == 404
    assert shared.post(f"/v1/disputes/{order['id']}", {}).status == 404
    assert shared.get(f"/v1/orders/{order['landed_cost']['quote']}").status == 404


def test_loopback_http_webhooks_depend_on_the_setting(sandbox: AsgiSandbox) -> None:
    """Plain HTTP to this machine is taken while `allow_http_webhooks` is true, and only there."""
    for host in ("localhost:3000", "127.0.0.1", "[::1]:8080"):
        body = {**ENDPOINT, "url": f"http://{host}/hook"}
        assert sandbox.post("/v1/webhook_endpoints", body).status == 200
    sandbox.settings(allow_http_webhooks=False)
    refused = sandbox.post("/v1/webhook_endpoints", body)
    assert (refused.code, refused.param) == ("url_invalid", "url")
    assert "localhost" not in refused.json["message"]
    assert sandbox.post("/v1/webhook_endpoints", ENDPOINT).status == 200


def test_refused_address_says_which_are_taken(shared: AsgiSandbox) -> None:
    """It is https anywhere, http on this machine while the setting allows it, and not too long."""
    body = {**ENDPOINT, "url": "http://shop.example/hook"}
    said = shared.post("/v1/webhook_endpoints", body).json["message"]
    assert "an https:// address or http://localhost, without a user name, up to 2000" in said


def test_at_most_16_endpoints_are_enabled_in_a_mode(sandbox: AsgiSandbox) -> None:
    """The 17th endpoint is refused; a disabled one makes room; live mode counts on its own."""
    made = [sandbox.post("/v1/webhook_endpoints", ENDPOINT).json for _ in range(16)]
    refused = sandbox.post("/v1/webhook_endpoints", ENDPOINT)
    assert (refused.status, refused.code) == (400, "webhook_endpoint_limit")
    assert "param" not in refused.json
    assert sandbox.post("/v1/webhook_endpoints", ENDPOINT, key=sandbox.live).status == 200
    sandbox.control(f"/webhook_endpoints/{made[0]['id']}/disable")
    assert sandbox.post("/v1/webhook_endpoints", ENDPOINT).status == 200


def test_every_event_type_can_be_subscribed_to(shared: AsgiSandbox) -> None:
    """All 18 names are taken."""
    body = {**ENDPOINT, "events": list(EVENT_TYPES)}
    assert shared.post("/v1/webhook_endpoints", body).json["events"] == list(EVENT_TYPES)


def test_metadata_has_at_most_50_keys_after_a_merge(sandbox: AsgiSandbox) -> None:
    """Updates merge; more than 50 keys together are refused and nothing is changed."""
    order = sandbox.order(metadata={str(n): "x" for n in range(50)})
    path = f"/v1/orders/{order['id']}"
    refused = sandbox.post(path, {"amount": 1, "metadata": {"one_more": "x"}})
    assert (refused.code, refused.param) == ("parameter_too_long", "metadata")
    assert sandbox.again(order)["amount"] == 12900
    assert sandbox.post(path, {"metadata": {"0": "", "one_more": "x"}}).status == 200


UPDATE_ROWS = [
    ({"amount": None}, "parameter_invalid_empty", "amount"),
    ({"items": []}, "parameter_invalid_empty", "items"),
    ({"shipping": {"postal_code": "1"}}, "parameter_missing", "shipping[country]"),
]


@pytest.mark.parametrize(("body", "code", "param"), UPDATE_ROWS)
def test_update_violations(shared: AsgiSandbox, body: Any, code: str, param: str) -> None:
    """An update checks what it is given; replaced objects must be whole."""
    order = shared.order()
    answer = shared.post(f"/v1/orders/{order['id']}", body)
    assert (answer.status, answer.code, answer.param) == (400, code, param)
    order.pop("client_secret")
    assert shared.again(order) == order
