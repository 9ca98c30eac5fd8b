"""Bodies in JSON and forms, and everything that is neither (assumptions: Requests and answers)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.sandbox_calls import AsgiSandbox
from support.suite.drawing import examples
from svc.sandbox.parameters.bodies import decode_body, decode_form
from svc.sandbox.parameters.problems import Problem

FORM = (
    "amount=12900&currency=EUR&shipping[country]=DE&shipping[postal_code]=10115"
    "&items[0][name]=Linen+jacket&items[0][hs_code]=6203.39"
    "&items[0][quantity]=1&items[0][unit_amount]=12900"
)

FORMS: list[tuple[str, Any]] = [
    ("", {}),
    ("a=1&b=2", {"a": "1", "b": "2"}),
    ("a", {"a": ""}),
    ("&&a=1&", {"a": "1"}),
    ("a=b=c", {"a": "b=c"}),
    ("a=x+y%20z%2B", {"a": "x y z+"}),
    ("a=%C3%A9&b=é", {"a": "é", "b": "é"}),
    ("a%5Bb%5D=1", {"a": {"b": "1"}}),
    ("a[b]=1&a[c]=2", {"a": {"b": "1", "c": "2"}}),
    ("a[b][c]=1", {"a": {"b": {"c": "1"}}}),
    ("a[]=1&a[]=2", {"a": ["1", "2"]}),
    ("a[7][b]=1&a[3][b]=2", {"a": {"7": {"b": "1"}, "3": {"b": "2"}}}),
    ("a[][b]=1&a[][c]=2&a[][b]=3", {"a": [{"b": "1", "c": "2"}, {"b": "3"}]}),
    ("a[b=1", {"a[b": "1"}),
    ("a]=1", {"a]": "1"}),
    ("[a]=1", {"[a]": "1"}),
    ("a[b]c=1", {"a[b]c": "1"}),
    ("=1", {"": "1"}),
]


@pytest.mark.parametrize(("text", "tree"), FORMS)
def test_form_is_read(text: str, tree: Any) -> None:
    """Form syntax: brackets, lists, repetition, escapes; stray brackets make a plain name."""
    assert decode_form(text.encode()) == tree


BROKEN_FORMS = [
    b"a=%",
    b"a=%4",
    b"a=%zz",
    b"%ff=1",
    b"a=\xff",
    b"a=%ed%a0%80",
    b"a=1&a[b]=2",
    b"a[b]=1&a=2",
    b"a[b]=1&a[]=2",
]
BROKEN_JSON = [
    b"{",
    b"[]",
    b'"x"',
    b"null",
    b"12",
    b'{"a":NaN}',
    b'{"a":1,"a":1}',
    b'{"shipping":{"country":"DE","country":"FR"}}',
    b'{"a":-Infinity}',
    b'{"a":' + b"1" * 5000 + b"}",
    b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"a":"\\ud800"}',
    b'{"\\udfff":1}',
    b'{"a":["\\ud83d"]}',
    b'{"a":"\xff"}',
    b'{"a":"\xed\xa0\x80"}',
    b"\xef\xbb\xbf{}",
    "{}".encode("utf-16"),
    b'{"a":1}{',
    b"{'a':1}",
    b'{"a":"line\nbreak"}',
]


def nested(levels: int, inmost: str) -> bytes:
    """Objects and lists in turn, as many as there are levels."""
    opened = [('{"a":', "}"), ("[", "]")]
    parts = [opened[number % 2] for number in range(levels)]
    return ("".join(a for a, _ in parts) + inmost + "".join(b for _, b in parts[::-1])).encode()


@pytest.mark.parametrize("inmost", ["1", '"\\u0041"'])
def test_bodies_are_nested_32_levels_deep_at_the_most(inmost: str) -> None:
    """In JSON, whatever is in the inmost object, and in a form."""
    assert _outcome(decode_body, "application/json", nested(32, inmost)) == "read"
    assert _outcome(decode_body, "application/json", nested(33, inmost)) == "body_invalid"
    assert _outcome(decode_form, b"a" + b"[b]" * 31 + b"=1") == "read"
    assert _outcome(decode_form, b"a" + b"[b]" * 32 + b"=1") == "body_invalid"


def test_name_that_comes_twice_is_shown_so_far_as_a_line_has_room() -> None:
    """40 characters of it."""
    with pytest.raises(Problem, match=f"names {'n' * 40} twice"):
        decode_form(b"&".join([b"n" * 41 + b"=1"] * 2))


@pytest.mark.parametrize("body", BROKEN_FORMS)
def test_broken_form_is_refused(shared: AsgiSandbox, body: bytes) -> None:
    """What cannot be read as a form is 400 body_invalid without a parameter, for ever."""
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = shared.call("POST", "/v1/orders", body=body, headers=kind)
    assert (answer.status, answer.code, answer.param) == (400, "body_invalid", None)


@pytest.mark.parametrize("body", BROKEN_JSON)
def test_broken_json_is_refused(shared: AsgiSandbox, body: bytes) -> None:
    """Bad JSON, NaN, monstrous numbers, deep nesting, half surrogates, other encodings: 400."""
    kind = {"content-type": "application/json"}
    answer = shared.call("POST", "/v1/orders", body=body, headers=kind)
    assert (answer.status, answer.code, answer.param) == (400, "body_invalid", None)


@pytest.mark.parametrize("query", ["limit=%", "limit=%zz", "a=%ff", "limit=1&limit[gte]=2"])
def test_broken_query_is_refused(shared: AsgiSandbox, query: str) -> None:
    """A query string that cannot be read is body_invalid too."""
    answer = shared.call("GET", "/v1/orders", query=query)
    assert (answer.status, answer.code) == (400, "body_invalid")


def test_duplicate_json_keys_are_refused(sandbox: AsgiSandbox) -> None:
    """JSON that names an amount twice could mean either: nothing is made of it."""
    body = json.dumps(sandbox.order_params)[:-1] + ',"amount":77}'
    kind = {"content-type": "application/json"}
    answer = sandbox.call("POST", "/v1/orders", body=body.encode(), headers=kind)
    assert (answer.status, answer.code) == (400, "body_invalid")
    assert "amount" in answer.json["message"]
    assert sandbox.get("/v1/orders").json["data"] == []


@pytest.mark.parametrize("name", ["amount", "shipping[country]", "items[0][unit_amount]"])
def test_duplicate_form_fields_are_refused(sandbox: AsgiSandbox, name: str) -> None:
    """R132: a form that names a field twice could mean either as well, equal values included."""
    answer = sandbox.form("/v1/orders", f"{FORM}&{name}=12900")
    assert (answer.status, answer.code) == (400, "body_invalid")
    assert name.rpartition("[")[2].strip("]") in answer.json["message"]
    assert sandbox.get("/v1/orders").json["data"] == []


EMPTY: list[Any] = [None, "", []]


@pytest.mark.parametrize("empty", EMPTY, ids=["null", "text", "list"])
def test_empty_amount_moves_nothing(sandbox: AsgiSandbox, empty: Any) -> None:
    """R132: of a refund and of a capture, as of an order; in a form too."""
    paid, held = sandbox.paid(), sandbox.paid(capture_method="manual")
    capture = f"/v1/orders/{held['order']}/capture"
    refused = [
        sandbox.post("/v1/refunds", {"payment": paid["id"], "amount": empty}),
        sandbox.form("/v1/refunds", f"payment={paid['id']}&amount="),
        sandbox.post(capture, {"amount": empty}),
        sandbox.form(capture, "amount="),
    ]
    codes = {(answer.status, answer.code, answer.param) for answer in refused}
    assert codes == {(400, "parameter_invalid_empty", "amount")}
    assert sandbox.again(paid)["amount_refunded"] == sandbox.again(held)["amount_captured"] == 0


@pytest.mark.parametrize("empty", EMPTY, ids=["null", "text", "list"])
def test_empty_capture_method_captures_nothing(sandbox: AsgiSandbox, empty: Any) -> None:
    """R132: it is not `automatic`, neither at the creation nor at an update."""
    order = sandbox.order(capture_method="manual")
    for path in ("/v1/orders", f"/v1/orders/{order['id']}"):
        body = {**sandbox.order_params, "capture_method": empty}
        answer = sandbox.post(path, body)
        assert (answer.code, answer.param) == ("parameter_invalid_empty", "capture_method")


@pytest.mark.parametrize("empty", EMPTY, ids=["null", "text", "list"])
def test_empty_source_currency_debits_no_balance(sandbox: AsgiSandbox, empty: Any) -> None:
    """R132: it is not the balance that is debited where none is named."""
    answer = sandbox.post("/v1/payouts", {**sandbox.payout_params, "source_currency": empty})
    assert (answer.code, answer.param) == ("parameter_invalid_empty", "source_currency")
    assert sandbox.get("/v1/payouts").json["data"] == []


def test_indexed_lists_start_anywhere_and_are_ordered(sandbox: AsgiSandbox) -> None:
    """`items[9]` and `items[2]` are two items, 2 first; errors count positions."""
    text = (
        "amount=3&currency=EUR&shipping[country]=DE"
        "&items[9][name]=b&items[9][quantity]=1&items[9][unit_amount]=2"
        "&items[2][name]=a&items[2][quantity]=1&items[2][unit_amount]=1"
    )
    order = sandbox.form("/v1/orders", text).json
    assert [item["name"] for item in order["items"]] == ["a", "b"]
    refused = sandbox.form("/v1/orders", text.replace("[9][quantity]=1", "[9][quantity]=0"))
    assert refused.param == "items[1][quantity]"


COERCED = [
    ("amount=012", 12),
    ("amount=%2B5", None),
    ("amount=5.0", None),
    ("amount=5e3", None),
    ("amount= 5", None),
    ("amount=\u0665", None),
    ("amount=" + "9" * 5000, None),
]


@pytest.mark.parametrize(("text", "amount"), COERCED)
def test_integers_in_forms_are_digits(sandbox: AsgiSandbox, text: str, amount: int | None) -> None:
    """Only `-?[0-9]+` is an integer in a form; anything else is parameter_invalid_integer."""
    answer = sandbox.form("/v1/orders", FORM.replace("amount=12900", text, 1))
    if amount is None:
        assert (answer.code, answer.param) == ("parameter_invalid_integer", "amount")
    else:
        assert answer.json["amount"] == amount


@pytest.mark.parametrize("text", ["1", "yes", "True", "TRUE", "on", " true"])
def test_booleans_in_forms_are_exact(sandbox: AsgiSandbox, text: str) -> None:
    """Only `true` and `false` are booleans: nothing else submits evidence."""
    dispute = sandbox.control("/disputes", {"payment": sandbox.paid()["id"]}).json
    path = f"/v1/disputes/{dispute['id']}"
    answer = sandbox.form(path, f"evidence[receipt]=r&submit={text.replace(' ', '+')}")
    assert (answer.code, answer.param) == ("parameter_invalid_boolean", "submit")
    assert sandbox.again(dispute)["evidence"] == {}
    assert sandbox.form(path, "evidence[receipt]=r&submit=false").json["evidence_status"] == "draft"
    assert sandbox.form(path, "submit=true").json["evidence_status"] == "submitted"


@pytest.mark.parametrize("value", ["true", 1, 0, "x", [True]])
def test_booleans_in_json_are_native(sandbox: AsgiSandbox, value: Any) -> None:
    dispute = sandbox.control("/disputes", {"payment": sandbox.paid()["id"]}).json
    answer = sandbox.post(f"/v1/disputes/{dispute['id']}", {"submit": value})
    assert (answer.code, answer.param) == ("parameter_invalid_boolean", "submit")


TYPES = [
    ("text/plain", b"{}", 415),
    ("multipart/form-data; boundary=x", b"--x--", 415),
    ("application/xml", b"", 415),
    (None, b"{}", 415),
    ("application/json;charset=utf-8", b"{}", 400),
    ("APPLICATION/JSON", b"{}", 400),
    ("application/json", b"", 400),
    ("application/x-www-form-urlencoded; charset=UTF-8", b"", 400),
    (None, b"", 400),
]


@pytest.mark.parametrize(("kind", "body", "status"), TYPES)
def test_content_types(shared: AsgiSandbox, kind: str | None, body: bytes, status: int) -> None:
    """JSON and forms are read, in any spelling; no body needs no type; the rest is 415."""
    headers = {} if kind is None else {"content-type": kind}
    answer = shared.call("POST", "/v1/orders", body=body, headers=headers)
    expected = {415: "unsupported_media_type", 400: "parameter_missing"}
    assert (answer.status, answer.code) == (status, expected[status])


def test_body_over_one_mebibyte_is_413(shared: AsgiSandbox) -> None:
    """1 MiB is taken, a byte more is not, and the connection is not kept."""
    kind = {"content-type": "application/x-www-form-urlencoded"}
    fits = shared.call("POST", "/v1/orders", body=b"a" * 1048576, headers=kind)
    assert fits.code == "parameter_unknown"
    large = shared.call("POST", "/v1/orders", body=b"a" * 1048577, headers=kind)
    assert (large.status, large.code) == (413, "request_too_large")
    assert large.headers["connection"] == "close"


def test_answers_are_utf8_json(sandbox: AsgiSandbox) -> None:
    """Answers are compact UTF-8 JSON with its content type; text comes back as it was sent."""
    name = 'Jacke “Ä” \u0001 \u202e \U0001f9e5 </script> "fx_rate":1e-05'
    item = {"name": name, "quantity": 1, "unit_amount": 1}
    answer = sandbox.post("/v1/orders", {**sandbox.order_params, "items": [item]})
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.json["items"][0]["name"] == name
    assert "Ä".encode() in answer.body


def test_a_body_on_a_get_is_ignored(shared: AsgiSandbox) -> None:
    """GET takes query parameters only."""
    answer = shared.call("GET", "/v1/orders", body=b"limit=1", query="limit=2")
    assert answer.status == 200


@given(st.binary(max_size=200))
@settings(max_examples=examples(3))
def test_any_form_is_read_or_refused(raw: bytes) -> None:
    """No bytes make the form decoder raise anything but a Problem."""
    assert _outcome(decode_form, raw) in ("read", "body_invalid")


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\ud8eE+-0123456789', max_size=60))
@settings(max_examples=examples(3))
def test_any_json_is_read_or_refused(raw: bytes | str) -> None:
    """No bytes make the JSON decoder raise anything but a Problem."""
    body = raw.encode() if isinstance(raw, str) else raw
    assert _outcome(decode_body, "application/json", body) in ("read", "body_invalid")


def _outcome(decode: Callable[..., object], *arguments: object) -> str:
    try:
        decode(*arguments)
    except Problem as problem:
        return problem.code
    return "read"
