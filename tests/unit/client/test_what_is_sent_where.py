"""What is refused before any connection is made, and which way a request goes."""

from typing import Any

import pytest

from svc import api_keys
from svc.base_url import BaseUrl
from svc.client.exchange import RawReply, WireRequest
from svc.client.wire.proxy import Proxy, chosen, proxy_for
from svc.errors import AuthError, ConfigError, SvcError, UsageError
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


def test_the_key_is_sent_as_bearer_or_as_basic() -> None:
    """Spec, Authentication: bearer, or the user name with an empty password."""
    assert api_keys.authorization("sk_test_x", "bearer") == "Bearer sk_test_x"
    assert api_keys.authorization("sk_test_x", "basic") == "Basic c2tfdGVzdF94Og=="


def test_the_key_is_in_no_repr() -> None:
    """R39: a request that ends up in a traceback does not show its headers."""
    request = WireRequest("GET", "/v1/orders", (("Authorization", "Bearer sk_test_x"),))
    assert "sk_test" not in repr(request)
    assert "cGFzcw" not in repr(Proxy("p", 1, "Basic cGFzcw=="))


@pytest.mark.parametrize(
    ("url", "option", "environment", "expected"),
    [
        (HTTPS, None, {}, None),
        (HTTPS, "http://p:1", {"HTTPS_PROXY": "http://q:2"}, "http://p:1"),
        (HTTPS, None, {"HTTPS_PROXY": "http://q:2"}, "http://q:2"),
        (HTTPS, None, {"https_proxy": "http://r:3", "HTTPS_PROXY": "http://q:2"}, "http://r:3"),
        (HTTPS, None, {"HTTP_PROXY": "http://q:2", "ALL_PROXY": "http://q:2"}, None),
        (HTTPS, None, {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "*"}, None),
        (HTTPS, None, {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "x.org, .example.com"}, None),
        (HTTPS, None, {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "api.example.com:443"}, None),
        (HTTPS, None, {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "ample.com,,"}, "http://q:2"),
        ("https://127.0.0.1:1", "http://p:1", {"HTTPS_PROXY": "http://q:2"}, None),
        ("https://localhost:1", "http://p:1", {}, None),
        (LOCAL, "http://p:1", {"HTTPS_PROXY": "http://q:2", "HTTP_PROXY": "http://q:2"}, None),
    ],
)
def test_a_proxy_is_for_https_to_other_machines_only(
    url: str, option: str | None, environment: dict[str, str], expected: str | None
) -> None:
    """R26: HTTP_PROXY and ALL_PROXY never count, this machine is never proxied."""
    assert chosen(BaseUrl.parse(url), option, environment) == expected


def test_a_proxys_login_is_read() -> None:
    """A proxy may want a user name and password, which may be percent-encoded."""
    proxy = proxy_for(BaseUrl.parse(HTTPS), "http://us%40er:pa:ss@proxy.example:3128")
    assert proxy is not None
    assert (proxy.host, proxy.port) == ("proxy.example", 3128)
    assert proxy.authorization == "Basic dXNAZXI6cGE6c3M="
    bare = proxy_for(BaseUrl.parse(HTTPS), "proxy.example:3128")
    assert bare is not None
    assert bare.authorization is None


@pytest.mark.parametrize("address", ["https://p:1", "socks5://p:1", "http://p p:1", "http://", ""])
def test_a_malformed_proxy_is_refused(address: str) -> None:
    """An address that cannot be used is wrong use, and its login is not shown."""
    with pytest.raises(ConfigError):
        proxy_for(BaseUrl.parse(HTTPS), address)


@pytest.mark.parametrize("url", [LOCAL, "https://localhost:1"])
def test_the_wire_ignores_a_proxy_for_this_machine(url: str) -> None:
    """R26: even one that was passed in by mistake."""
    assert proxy_for(BaseUrl.parse(url), "http://p:1") is None
