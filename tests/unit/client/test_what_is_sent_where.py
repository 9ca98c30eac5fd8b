"""What is refused before any connection is made, and where a key goes."""

from typing import Any

import pytest

from support.calls import orders
from svc import api_keys
from svc.base_url import BaseUrl
from svc.client.exchange import RawReply, WireRequest
from svc.client.wire.proxy import Proxy, choose_proxy
from svc.errors import AuthError, SvcError, UsageError
from unit.client.bench import Bench

HTTPS = "https://api.example.com"
LOCAL = "http://127.0.0.1:4242"
DONE = RawReply(200, (), b'{"object":"list","data":[],"has_more":false}')


@pytest.mark.parametrize(
    ("url", "key", "mode"),
    [
        (HTTPS, "sk_test_x", "test"),
        (HTTPS, "rk_test_x", "test"),
        (HTTPS, "sk_live_x", "live"),
        (HTTPS, "rk_live_x", "live"),
        (LOCAL, "sk_test_x", "test"),
        ("http://localhost:1", "sk_test_x", "test"),
        ("http://[::1]:1", "rk_test_readonly", "test"),
        (LOCAL, "sk_live_sandbox", "live"),
        ("https://127.0.0.1:1", "sk_live_sandbox", "live"),
    ],
)
def test_a_key_in_its_place_is_taken(url: str, key: str, mode: Any) -> None:
    """R21: test keys anywhere safe, live keys to the service, the sandbox's own keys to it."""
    api_keys.refuse_out_of_place(api_keys.parse(key, "This"), "This", mode, BaseUrl.parse(url))


@pytest.mark.parametrize(
    ("url", "key", "mode", "kind", "code"),
    [
        (HTTPS, "pk_test_x", "test", AuthError, 4),
        (LOCAL, "pk_test_sandbox", "test", AuthError, 4),
        (HTTPS, "sk_live_x", "test", AuthError, 4),
        (HTTPS, "sk_test_x", "live", AuthError, 4),
        (LOCAL, "sk_live_real", "live", AuthError, 4),
        ("https://localhost:1", "sk_live_real", "live", AuthError, 4),
        ("http://api.example.com", "sk_test_x", "test", UsageError, 2),
        ("http://10.0.0.1", "sk_test_x", "test", UsageError, 2),
        ("http://svc:4242", "sk_test_x", "test", UsageError, 2),
        ("http://svc:4242", "sk_live_real", "live", UsageError, 2),
        ("http://svc:4242", "sk_test_sandboxes", "test", UsageError, 2),
        ("http://svc:4242", "pk_test_sandbox", "test", AuthError, 4),
        ("http://svc:4242", "sk_live_sandbox", "test", AuthError, 4),
        (HTTPS, "", "test", AuthError, 4),
        (HTTPS, "sk_test_", "test", AuthError, 4),
        (HTTPS, "whsec_x", "test", AuthError, 4),
        (HTTPS, "sk_test_a b", "test", AuthError, 4),
        (HTTPS, "sk_test_a\r\nX: y", "test", AuthError, 4),
        (HTTPS, "sk_test_é", "test", AuthError, 4),
    ],
)
def test_a_key_out_of_place_sends_nothing(
    url: str, key: str, mode: str, kind: type[SvcError], code: int, bench: "type[Bench]"
) -> None:
    """R21, R30: refused before a connection, and the key is not in the error."""
    with pytest.raises(kind) as caught:
        bench(DONE, url=url, key=key, mode=mode)
    assert caught.value.exit_code == code
    assert caught.value.outcome == "not_sent"
    assert len(key) < 9 or key not in f"{caught.value.message}{caught.value.hint}"


@pytest.mark.parametrize(
    ("key", "mode"),
    [("sk_test_sandbox", "test"), ("sk_live_sandbox", "live"), ("rk_test_readonly", "test")],
)
def test_what_everybody_knows_goes_by_plain_http(key: str, mode: Any, bench: "type[Bench]") -> None:
    """R21: a sandbox in another container gets its own public keys, and no proxy sees them."""
    there = bench(DONE, url="http://svc:4242", key=key, mode=mode)
    assert there.client.send(orders.list()).data["object"] == "list"
    proxies = {"HTTP_PROXY": "http://p:1", "HTTPS_PROXY": "http://p:1", "ALL_PROXY": "http://p:1"}
    assert choose_proxy(BaseUrl.parse("http://svc:4242"), None, proxies) is None


def test_the_key_is_sent_as_bearer_or_as_basic() -> None:
    """Spec, Authentication: bearer, or the user name with an empty password."""
    assert api_keys.authorization("sk_test_x", "bearer") == "Bearer sk_test_x"
    assert api_keys.authorization("sk_test_x", "basic") == "Basic c2tfdGVzdF94Og=="


def test_the_key_is_in_no_repr() -> None:
    """R39: a request that ends up in a traceback does not show its headers."""
    request = WireRequest("GET", "/v1/orders", (("Authorization", "Bearer sk_test_x"),))
    assert "sk_test" not in repr(request)
    assert "cGFzcw" not in repr(Proxy("p", 1, "Basic cGFzcw=="))
