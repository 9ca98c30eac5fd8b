"""Keys, modes, permissions, and web pages kept out."""

import base64
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox, SandboxAnswer
from svc.sandbox.openapi import document

pytestmark = pytest.mark.smoke


RESOURCES = (
    "orders payments refunds payouts landed_cost disputes webhook_endpoints events"
).split()
# Every operation, and the permission that it asks for; what that is stands in `operations.txt`.
OPERATIONS = [
    (one.method, one.path.replace(":id", "none"), str(one.permission), str(one.level))
    for one in document.OPERATIONS
]
LEVELS = ("none", "read", "write")


def basic(user: str, password: str = "") -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def with_header(sandbox: AsgiSandbox, value: str | None, path: str = "/v1/orders") -> SandboxAnswer:
    headers = {} if value is None else {"authorization": value}
    return sandbox.call("GET", path, key=None, headers=headers)


GOOD = [
    basic("sk_test_sandbox"),
    basic("sk_test_sandbox", "any password"),
    "Bearer sk_test_sandbox",
    "bearer  sk_test_sandbox ",
    "BASIC " + basic("sk_test_sandbox")[6:],
]
BAD = [
    (None, "api_key_missing"),
    ("", "api_key_missing"),
    ("Bearer", "api_key_missing"),
    ("Bearer ", "api_key_missing"),
    ("Basic", "api_key_missing"),
    (basic("", "sk_test_sandbox"), "api_key_missing"),
    ("Bearer sk_test_nobody", "api_key_invalid"),
    ("Bearer SK_TEST_SANDBOX", "api_key_invalid"),
    ("Bearer sk_test_sandbox sk_test_sandbox", "api_key_invalid"),
    ("Bearer é", "api_key_invalid"),
    ("Bearer " + "x" * 300, "api_key_invalid"),
    ("Digest sk_test_sandbox", "api_key_invalid"),
    ("Basic sk_test_sandbox", "api_key_invalid"),
    ("Basic " + base64.b64encode(b"\xff\xfe:").decode(), "api_key_invalid"),
    ("Basic é", "api_key_invalid"),
    ("sk_test_sandbox", "api_key_invalid"),
]


@pytest.mark.parametrize("value", GOOD)
def test_key_is_taken_by_basic_and_bearer(shared: AsgiSandbox, value: str) -> None:
    """Basic with the key as the user name and any password, or Bearer (spec: Authentication)."""
    assert with_header(shared, value).status == 200


@pytest.mark.parametrize(("value", "code"), BAD)
def test_no_or_wrong_key_is_401(shared: AsgiSandbox, value: str | None, code: str) -> None:
    """Without a known key the answer is 401 with a challenge (R86)."""
    answer = with_header(shared, value)
    assert (answer.status, answer.code) == (401, code)
    assert answer.json["type"] == "authentication_error"
    assert answer.headers["www-authenticate"] == 'Basic realm="svc"'
    assert answer.headers["request-id"] == answer.json["request_id"]
    assert answer.headers["svc-version"] == "2026-09-01"


@pytest.mark.parametrize("kind", ["sk", "rk", "pk"])
def test_live_key_of_the_service_is_no_key_here(shared: AsgiSandbox, kind: str) -> None:
    """R89: who has a live key in the environment by mistake does not go on with it unnoticed."""
    answer = with_header(shared, f"Bearer {kind}_live_4eC39HqLyjWDarjtT1zdp7dc")
    assert (answer.status, answer.code) == (401, "api_key_invalid")


def test_plain_http_is_refused_where_the_setting_says_so(sandbox: AsgiSandbox) -> None:
    """`insecure_http=reject` answers 401 https_required, before the key is looked at (R86)."""
    sandbox.settings(insecure_http="reject")
    for key in ("sk_test_sandbox", None):
        answer = sandbox.call("GET", "/v1/orders", key=key)
        assert (answer.status, answer.code) == (401, "https_required")
        assert "www-authenticate" in answer.headers
    assert sandbox.call("GET", "/v1/orders", scheme="https").status == 200


def test_strict_https_holds_whatever_the_setting(make_sandbox: Any) -> None:
    """A sandbox started strictly refuses plain HTTP on /v1 and serves its controls."""
    strict = make_sandbox(strict_https=True)
    strict.settings(insecure_http="allow")
    assert strict.get("/v1/orders").code == "https_required"


@pytest.mark.parametrize(("method", "path", "resource", "level"), OPERATIONS)
def test_publishable_key_can_do_nothing(
    shared: AsgiSandbox, method: str, path: str, resource: str, level: str
) -> None:
    """A publishable key gets 403 secret_key_required on every operation (R86)."""
    answer = shared.call(method, path, key=shared.publishable)
    assert (answer.status, answer.code) == (403, "secret_key_required")
    assert answer.json["type"] == "permission_error"


@pytest.fixture(scope="module")
def restricted(shared: AsgiSandbox) -> dict[tuple[str, str], str]:
    """A restricted key for each resource and level."""
    keys = {}
    for resource in RESOURCES:
        for level in LEVELS:
            body = {"type": "restricted", "permissions": {resource: level}}
            keys[resource, level] = shared.control("/keys", body).json["secret"]
    return keys


@pytest.mark.parametrize(("method", "path", "resource", "level"), OPERATIONS)
def test_restricted_key_needs_just_this_permission(
    shared: AsgiSandbox,
    restricted: dict[tuple[str, str], str],
    method: str,
    path: str,
    resource: str,
    level: str,
) -> None:
    """Each operation is open to keys with its resource at its level or above, and no others."""
    for (granted, at), key in restricted.items():
        answer = shared.call(method, path, key=key)
        if granted == resource and LEVELS.index(at) >= LEVELS.index(level):
            assert answer.status in (200, 400, 404)
        else:
            assert (answer.status, answer.code) == (403, "permission_denied")
            assert f"needs {resource}:{level}" in answer.json["message"]


def test_event_is_shown_to_keys_that_may_read_what_it_shows(sandbox: AsgiSandbox) -> None:
    """`events:read` alone does not show a payment; with `payments:read` it does."""
    sandbox.paid()
    captured, paid = sandbox.events()

    def ask(event: dict[str, Any], **permissions: str) -> SandboxAnswer:
        body = {"type": "restricted", "permissions": permissions}
        key = sandbox.control("/keys", body).json["secret"]
        return sandbox.call("GET", f"/v1/events/{event['id']}", key=key)

    refused = ask(captured, events="read")
    assert (refused.status, refused.code) == (403, "permission_denied")
    assert "needs payments:read" in refused.json["message"]
    assert "data" not in refused.json
    assert ask(captured, events="read", orders="read").status == 403
    assert ask(captured, events="read", payments="read").json == captured
    assert ask(paid, events="read", orders="write").json == paid


def test_a_403_does_not_reveal_whether_an_object_exists(sandbox: AsgiSandbox) -> None:
    """The permission is checked before the object is looked up (assumptions: Authentication)."""
    order = sandbox.order()
    body = {"type": "restricted", "permissions": {"payouts": "write"}}
    key = sandbox.control("/keys", body).json["secret"]
    there = sandbox.call("GET", f"/v1/orders/{order['id']}", key=key).json
    absent = sandbox.call("GET", "/v1/orders/ord_none", key=key).json
    del there["request_id"], absent["request_id"]
    assert there == absent


def test_the_fixed_restricted_key_reads_everything_and_writes_nothing(shared: AsgiSandbox) -> None:
    """`rk_test_readonly` has read on every resource."""
    for method, path, _, level in OPERATIONS:
        status = shared.call(method, path, key="rk_test_readonly").status
        assert status in ((200, 404) if level == "read" else (403,))


def test_modes_never_mix(sandbox: AsgiSandbox) -> None:
    """Objects of one mode are invisible to the other: reading, listing, naming, paging (R86)."""
    order = sandbox.order()
    payment = sandbox.paid()
    for path in (f"/v1/orders/{order['id']}", f"/v1/payments/{payment['id']}"):
        assert sandbox.call("GET", path, key=sandbox.live).status == 404
    assert sandbox.call("GET", "/v1/orders", key=sandbox.live).json["data"] == []
    refused = sandbox.post("/v1/refunds", {"payment": payment["id"]}, key=sandbox.live)
    assert (refused.status, refused.code, refused.param) == (404, "resource_missing", "payment")
    after = sandbox.call("GET", f"/v1/orders?starting_after={order['id']}", key=sandbox.live)
    assert (after.status, after.code) == (400, "resource_missing")
    live = sandbox.post("/v1/orders", sandbox.order_params, key=sandbox.live).json
    assert live["livemode"] is True
    assert sandbox.get(f"/v1/orders/{live['id']}").status == 404
    assert sandbox.pay(live).status == 404
    evt = sandbox.events()[-1]["id"]
    assert sandbox.call("GET", f"/v1/events/{evt}", key=sandbox.live).status == 404


def test_rolled_key_works_for_its_grace_and_then_says_so(sandbox: AsgiSandbox) -> None:
    """Roll gives a key of the same kind; the old one ends after its grace (spec: up to 7 days)."""
    keys = sandbox.control("/keys", method="GET").json["data"]
    old = next(key for key in keys if key["type"] == "secret")
    rolled = sandbox.control(f"/keys/{old['id']}/roll", {"expires_in": 604800})
    fresh = rolled.json["secret"]
    assert fresh.startswith("sk_test_")
    assert sandbox.call("GET", "/v1/orders", key=fresh).status == 200
    sandbox.advance(604800 - 1)
    assert sandbox.get("/v1/orders").status == 200
    sandbox.advance(1)
    expired = sandbox.get("/v1/orders")
    assert (expired.status, expired.code) == (401, "api_key_expired")
    assert expired.headers["www-authenticate"]
    again = sandbox.control(f"/keys/{old['id']}/roll", {})
    assert (again.status, again.code) == (400, "key_rolled")


def test_rolling_without_grace_ends_a_key_at_once(sandbox: AsgiSandbox) -> None:
    """The default grace is none; a restricted key keeps its permissions; limits are checked."""
    body = {"type": "restricted", "permissions": {"orders": "read"}}
    made = sandbox.control("/keys", body).json
    refused = sandbox.control(f"/keys/{made['id']}/roll", {"expires_in": 604801})
    assert (refused.code, refused.param) == ("parameter_invalid_integer", "expires_in")
    fresh = sandbox.control(f"/keys/{made['id']}/roll").json
    assert sandbox.call("GET", "/v1/orders", key=made["secret"]).code == "api_key_expired"
    assert sandbox.call("GET", "/v1/orders", key=fresh["secret"]).status == 200
    assert sandbox.call("GET", "/v1/payouts", key=fresh["secret"]).status == 403
    assert fresh["permissions"] == {"orders": "read"}


def test_keys_are_listed_masked(sandbox: AsgiSandbox) -> None:
    """The list shows prefixes and last four characters only; the whole key is shown once."""
    made = sandbox.control("/keys", {"type": "secret"}).json
    listed = sandbox.control("/keys", method="GET")
    assert made["secret"].encode() not in listed.body
    assert b"sk_test_sandbox" not in listed.body
    assert listed.json["data"][-1]["key"] == f"sk_test_…{made['secret'][-4:]}"
    live = sandbox.control("/keys", {"type": "publishable", "mode": "live"}).json
    assert live["secret"].startswith("pk_live_")
    assert live["livemode"] is True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sk_test_sandbox", "sk_test_…dbox"),
        ("rk_live_abcdefghijkl", "rk_live_…ijkl"),
        ("somebody_elses_key", "…_key"),
        ("x", "…x"),
    ],
)
def test_the_log_shows_a_key_by_its_ends(sandbox: AsgiSandbox, text: str, shown: str) -> None:
    """Whatever was sent as a key: its prefix and last four characters, never more."""
    sandbox.call("GET", "/v1/orders", key=text)
    assert sandbox.control("/requests", method="GET").json["data"][0]["key"] == shown


KEY_ROWS = [
    ({"type": "restricted"}, "parameter_missing", "permissions"),
    ({"type": "secret", "permissions": {"orders": "read"}}, "parameter_unknown", "permissions"),
]


@pytest.mark.parametrize(("body", "code", "param"), KEY_ROWS)
def test_key_creation_is_checked(shared: AsgiSandbox, body: Any, code: str, param: str) -> None:
    """A key's type and permissions must be known ones."""
    answer = shared.control("/keys", body)
    assert (answer.status, answer.code, answer.param) == (400, code, param)
    assert answer.json["type"] == "sandbox_error"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "",
                                  "10.0.0.1", "0.0.0.0", "[::1", "localhost:x", "127.1"])  # fmt: skip
def test_only_loopback_hosts_are_served(shared: AsgiSandbox, host: str) -> None:
    """A Host that is no loopback name or address is refused everywhere (R89)."""
    for path in ("/v1/orders", "/_sandbox/health", "/_sandbox/keys", "/checkout/x", "/"):
        headers = {"host": host, "svc-sandbox": "1"}
        answer = shared.call("GET", path, headers=headers)
        assert (answer.status, answer.code) == (403, "host_not_allowed")
        assert answer.json["type"] == "sandbox_error"


def test_hosts_that_were_allowed_are_served_and_no_others() -> None:
    """R89: `--allow-host svc` adds that one name, for whatever is asked."""
    own = AsgiSandbox(hosts=["svc", "10.0.0.5"])
    served = {
        host: own.call("GET", "/v1/orders", headers={"host": host}).status
        for host in ("svc", "SVC:4242", "10.0.0.5:1", "localhost", "svc.evil", "evil", "10.0.0.6")
    }
    page = own.call("GET", "/v1/orders", headers={"host": "svc", "origin": "http://svc"})
    own.close()
    assert list(served.values()) == [200, 200, 200, 200, 403, 403, 403]
    assert page.code == "page_not_allowed"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:4242", "127.0.0.1:1", "[::1]:80", "[::1]",
                                  "127.0.0.2"])  # fmt: skip
def test_loopback_hosts_are_served(shared: AsgiSandbox, host: str) -> None:
    """Every loopback name and address is fine, with any port."""
    assert shared.call("GET", "/v1/orders", headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "told",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:4242"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none", "origin": "https://evil.example"},
    ],
)
def test_no_web_page_is_answered(shared: AsgiSandbox, told: dict[str, str]) -> None:
    """R103: not with a key that works, not with one that does not, and so for the controls."""
    for key in ("sk_test_sandbox", "sk_test_wrong", None):
        for method, path in (("GET", "/v1/orders"), ("POST", "/v1/payouts"), ("GET", "/v1/x")):
            answer = shared.call(method, path, key=key, headers=told)
            assert (answer.status, answer.code) == (403, "page_not_allowed")
            assert "www-authenticate" not in answer.headers
    for path in ("/_sandbox/health", "/_sandbox/keys"):
        answer = shared.call("GET", path, headers={**told, "svc-sandbox": "1"})
        assert (answer.status, answer.code) == (403, "page_not_allowed")


def test_a_body_has_one_length(shared: AsgiSandbox) -> None:
    """R89: a proxy before the sandbox could read another request than it does."""
    headers = {"content-length": "2", "transfer-encoding": "chunked"}
    for path in ("/v1/orders", "/_sandbox/keys", "/checkout/x"):
        answer = shared.call("POST", path, headers=headers)
        assert (answer.status, answer.code) == (400, "http_invalid")


def test_no_browser_is_asked_for_a_password(shared: AsgiSandbox) -> None:
    """R103: an address that a person typed in is answered, but not with a challenge."""
    typed = {"sec-fetch-site": "none"}
    for key in (None, "sk_test_wrong"):
        answer = shared.call("GET", "/v1/orders", key=key, headers=typed)
        assert answer.status == 401
        assert "www-authenticate" not in answer.headers
        program = shared.call("GET", "/v1/orders", key=key)
        assert program.headers["www-authenticate"] == 'Basic realm="svc"'
    assert shared.call("GET", "/v1/orders", headers=typed).status == 200
