"""Error answers of any shape."""

import json
from typing import Any

import pytest

from support.calls import disputes, events, orders, payouts, quotes, refunds, webhook_endpoints
from svc.client.call import Call
from svc.client.exchange import RawReply
from svc.client.refusal import api_error, permission, read
from svc.client.reply import classify
from svc.client.sandbox import control_call
from svc.errors import ApiError, Conflict, Forbidden, NotFound, Unauthorized
from svc.redaction import one_line

FIELDS = {
    "type": "invalid_request_error",
    "code": "parameter_missing",
    "message": "Missing required parameter: currency.",
    "param": "currency",
    "request_id": "req_body",
}


PLACEHOLDER = "name=NAME,quantity=QUANTITY,unit_amount=UNIT_AMOUNT"


def raised(status: int, body: Any, call: Call | None = None, **headers: str) -> ApiError:
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    target = call or orders.create({})
    finding = classify(RawReply(status, fields, payload), target, 0.0)
    return api_error(target, finding, idempotency_key="key-1")


@pytest.mark.parametrize("body", [FIELDS, {"error": FIELDS}, {"error": FIELDS, "x": 1}])
def test_flat_and_nested_bodies_say_the_same(body: Any) -> None:
    """Both shapes fill every field of the envelope, in the service's words."""
    caught = raised(400, body, request_id="req_1")
    assert caught.message == FIELDS["message"]
    assert caught.type == FIELDS["type"]
    assert (caught.code, caught.param, caught.status) == ("parameter_missing", "currency", 400)
    assert (caught.request_id, caught.outcome, caught.idempotency_key) == (
        "req_1",
        "refused",
        "key-1",
    )
    assert caught.exit_code == 3


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"request_id": "a"}, "a"),
        ({"svc_request_id": "b"}, "b"),
        ({"x_request_id": "c"}, "c"),
        ({}, "req_body"),
    ],
)
def test_the_request_id_is_found_anywhere(headers: dict[str, str], expected: str) -> None:
    """Three header names, then the body."""
    assert raised(400, FIELDS, None, **headers).request_id == expected


@pytest.mark.parametrize(
    ("status", "fields", "kind", "code"),
    [
        (401, {"code": "api_key_invalid"}, Unauthorized, 4),
        (403, {"code": "permission_denied"}, Forbidden, 4),
        (404, {"code": "resource_missing"}, NotFound, 5),
        (409, {}, Conflict, 6),
        (400, {"code": "idempotency_key_reused"}, Conflict, 6),
        (400, {"type": "idempotency_error"}, Conflict, 6),
        (422, {"type": "idempotency_error"}, Conflict, 6),
        (400, {"code": "idempotency_key_invalid"}, ApiError, 3),
        (400, {"type": "idempotency_error", "code": "idempotency_key_invalid"}, ApiError, 3),
        (422, {}, ApiError, 3),
        (402, {"type": "card_error"}, ApiError, 3),
        (405, {}, ApiError, 3),
        (413, {}, ApiError, 3),
        (418, {}, ApiError, 3),
    ],
)
def test_the_status_and_code_choose_the_exit_code(
    status: int, fields: dict[str, str], kind: type[ApiError], code: int
) -> None:
    """R12, R71: a mismatch of the idempotency key is a conflict whatever the status."""
    caught = raised(status, {"message": "No.", **fields})
    assert type(caught) is kind
    assert caught.exit_code == code
    assert caught.message == "No."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "The service answered 400, without saying why"),
        (b"plain text", "The service answered 400: plain text"),
        (b"<html><title>Bad</title>\r\n<h1>Request</h1>", "The service answered 400: Bad Request"),
        (b"[1, 2]", "The service answered 400: [1, 2]"),
        (b'"text"', 'The service answered 400: "text"'),
        (b"\xff\xfe", "The service answered 400: \ufffd\ufffd"),
        (b"red \x1b[31m\x07 [/foo] text\x00", "The service answered 400: red [31m [/foo] text"),
        (b'{"error":"nope"}', "nope"),
        (b'{"code":"x","message":7}', "The service answered 400, without saying why"),
        (b'{"code":"x","message":""}', "The service answered 400, without saying why"),
        (b"[" * 100_000, "The service answered 400: " + "[" * 299 + "\u2026"),
    ],
)
def test_a_body_that_is_no_error_object_becomes_one_line(body: bytes, words: str) -> None:
    """Not JSON, control bytes and markup end as one short clean line."""
    assert raised(400, body).message == words


def test_ten_megabytes_become_one_line() -> None:
    """An overlong body is not shown."""
    message = raised(500, b"x\x1by\n" * 2_500_000).message
    assert len(message) < 350
    assert message.isprintable()


def test_a_hostile_message_is_cleaned_and_cut() -> None:
    """R61: text of the service that reaches a person holds nothing that moves a cursor."""
    text = "a\u001b]8;;x\u0007b\u009bc\u202ed\u200be\ud800f\r\ng" + "h" * 5000
    message = raised(400, {"message": text}).message
    assert message.startswith("a]8;;xbcdef g")
    assert len(message) <= 1000
    assert message.isprintable()


def test_one_line_keeps_what_people_write() -> None:
    """Accents, ideographs and emoji are no control characters."""
    assert one_line("Überweisung 支払い 🙂 ok") == "Überweisung 支払い 🙂 ok"
    assert one_line("a\u2028b\tc\n\n d") == "a b c d"
    assert one_line("x" * 10, 5) == "xxxx\u2026"


def test_what_a_screen_would_escape_is_not_in_a_line() -> None:
    """R61: soft hyphens, fillers and tags go like the other marks that nobody sees."""
    assert one_line("re\u00adfu\u115fse\u061cd \U000e0041 now") == "refused now"


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (orders.create({}), "orders:write"),
        (orders.list(), "orders:read"),
        (orders.cancel("ord_1"), "orders:write"),
        (orders.capture("ord_1"), "payments:write"),
        (refunds.retrieve("rf_1"), "refunds:read"),
        (payouts.create({}), "payouts:write"),
        (quotes.create({}), "landed_cost:write"),
        (events.retrieve("evt_1"), "events:read"),
        (disputes.accept("dp_1"), "disputes:write"),
        (Call("GET", "/v1/novel"), None),
        (Call("GET", "/v1"), None),
        (Call("GET", "/orders"), None),
    ],
)
def test_a_403_names_the_permission(call: Call, needed: str | None) -> None:
    """R30: the person learns which permission the key lacks."""
    assert permission(call) == needed
    caught = raised(403, {"code": "permission_denied", "message": "No."}, call)
    assert caught.hint is not None
    assert (needed or "permissions") in caught.hint


def test_a_404_of_an_assumed_call_says_so() -> None:
    """A call that the documentation does not show may not exist; a missing object does not."""
    hint = raised(404, {"message": "No."}, disputes.accept("dp_1")).hint
    assert "documentation" in (hint or "")
    hint = raised(404, {"code": "resource_missing"}, disputes.accept("dp_1")).hint
    assert "mode" in (hint or "")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (orders.retrieve("nope"), "The id of an order begins with ord_"),
        (
            control_call("GET", "orders", "ORDER", "checkout_url"),
            "The id of an order begins with ord_",
        ),
        (orders.retrieve("pay_1"), "pay_1 is a payment: svc get pay_1"),
        (orders.retrieve("ord_"), "ord_ alone is not an id"),
        (
            control_call("POST", "disputes", "dp_1", "decide", body={"outcome": "won"}),
            "Objects of the other mode are invisible",
        ),
        (
            control_call("POST", "webhook_endpoints", "we_1", "enable"),
            "svc sandbox endpoints list shows the ids",
        ),
        (control_call("POST", "keys", "key_1", "roll"), "svc sandbox keys list shows the ids"),
    ],
)
def test_a_404_says_what_an_id_looks_like(call: Call, words: str) -> None:
    """What is no id at all is in no mode; of a sandbox's controls as of the API."""
    body = {"message": "No.", "code": "resource_missing", "param": "id"}
    assert (raised(404, body, call).hint or "").startswith(words)


@pytest.mark.parametrize(
    ("code", "param", "words"),
    [
        ("resource_missing", "id", "Objects of the other mode are invisible"),
        ("resource_missing", None, "Objects of the other mode are invisible"),
        ("resource_missing", "payment", "Objects of the other mode are invisible"),
        ("resource_missing", "client_secret", None),
        ("endpoint_unknown", None, "What the API has: svc commands"),
        ("something_new", "id", None),
        (None, None, None),
    ],
)
def test_a_404_says_why_nothing_may_be_there(
    code: str | None, param: str | None, words: str | None
) -> None:
    """The other mode is named only where an object is missing that could be in it."""
    body = {"message": "No.", "code": code, "param": param}
    hint = raised(404, body, orders.retrieve("ord_1")).hint
    assert (hint is None) if words is None else (hint or "").startswith(words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (orders.retrieve("pay_1"), "pay_1 is a payment: svc get pay_1"),
        (orders.capture("pay_1"), "pay_1 is a payment: svc get pay_1"),
        (refunds.retrieve("ord_1"), "ord_1 is an order: svc get ord_1"),
        (quotes.retrieve("evt_1"), "evt_1 is an event: svc get evt_1"),
        (events.retrieve("lcq_1"), "lcq_1 is a landed-cost quote: svc get lcq_1"),
        (events.retrieve("we_1"), "we_1 is a webhook endpoint."),
    ],
)
def test_a_404_names_the_kind_of_a_wrong_id(call: Call, words: str) -> None:
    """An id of another kind than the path's is said to be that, with the command for it."""
    body = {"message": "No.", "code": "resource_missing", "param": "id"}
    assert raised(404, body, call).hint == words


@pytest.mark.parametrize(
    ("call", "param", "words"),
    [
        (refunds.create({}), "payment", "Add --payment ID"),
        (refunds.create({}), "amount", "Add --amount N (minor units)"),
        (orders.create({}), "currency", "Add --currency CODE"),
        (orders.create({}), "shipping", "Add --country CODE"),
        (orders.create({}), "shipping[country]", "Add --country CODE"),
        (orders.create({}), "items", f"Add --item '{PLACEHOLDER}'"),
        (orders.create({}), "items[0][name]", f"Add --item '{PLACEHOLDER}'"),
        (
            payouts.create({}),
            "destination",
            "Add --country CODE --account-holder-name TEXT --iban IBAN",
        ),
        (payouts.create({}), "destination[iban]", "Add --iban IBAN"),
        (webhook_endpoints.create({}), "url", "Add --url URL"),
        (webhook_endpoints.create({}), "events", "Add --events TYPE"),
        (webhook_endpoints.create({}), "events[0]", "Add --events TYPE"),
        (orders.create({}), "gift", "Add -d gift=VALUE"),
        (orders.create({}), "shipping[city]", "Add -d 'shipping[city]=VALUE'"),
        (orders.create({}), "a b; rm", "Add -d PARAM=VALUE"),
        (orders.create({}), None, "Add -d PARAM=VALUE"),
        (refunds.create({}), "items", "Add -d items=VALUE"),
    ],
)
def test_a_missing_parameter_names_its_option(call: Call, param: str | None, words: str) -> None:
    """A refusal of a parameter says which option of that command gives it."""
    body = {"message": "No.", "code": "parameter_missing", "param": param}
    assert raised(400, body, call).hint == words


def test_a_wrong_parameter_is_to_be_changed_or_left_out() -> None:
    """What is there but wrong is not to be added; a list takes no body."""
    wrong = {"message": "No.", "code": "parameter_invalid_integer", "param": "amount"}
    assert raised(400, wrong).hint == "Change --amount N (minor units)"
    unknown = wrong | {"code": "parameter_unknown"}
    assert (raised(400, unknown).hint or "").startswith("The documented fields")
    inside = unknown | {"param": "evidence[letter]"}
    told = raised(400, inside, disputes.update("dp_1", {})).hint or ""
    assert told.startswith("Inside evidence may stand tracking_number, shipping_carrier, ")
    assert raised(400, wrong, orders.list()).hint is None
    assert raised(400, wrong | {"code": "iban_invalid"}).hint is None


def test_a_401_says_where_to_see_the_key() -> None:
    """The next step shows which key is used and where it came from."""
    hint = raised(401, {"code": "api_key_invalid", "message": "No."}).hint
    assert hint == "svc whoami"


OTHER_USE = "The key was used with another request; use a new key for this one."
LOOK = "Nothing was repeated. Look at the request that used this key first."
EXPIRED = "The key was rolled and its old value no longer works: svc keys add"
SECRET = "Use a secret or restricted key; a publishable key cannot read or change data."


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (401, "api_key_expired", EXPIRED),
        (400, "https_required", "Use an https:// base URL."),
        (400, "version_invalid", "Leave --api-version out to use the account's own version."),
        (400, "idempotency_key_reused", OTHER_USE),
        (409, "idempotency_key_mismatch", OTHER_USE),
        (409, "something_new", LOOK),
        (403, "secret_key_required", SECRET),
    ],
)
def test_what_can_be_done_about_it_is_said(status: int, code: str, hint: str) -> None:
    """A code that has a remedy names it, whatever the class of its error."""
    assert raised(status, {"code": code, "message": "No."}).hint == hint


def test_no_code_is_no_problem() -> None:
    """An error body without a code is still one."""
    refusal = read(RawReply(400, (), b'{"message":"No."}'))
    assert (refusal.message, refusal.code, refusal.type) == ("No.", None, None)
    assert raised(400, {"message": "No."}).type == "api_error"
