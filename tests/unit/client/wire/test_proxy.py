"""Which way a request goes: through a proxy, or straight."""

import pytest

from svc.base_url import BaseUrl
from svc.client.wire.proxy import choose_proxy, proxy_for
from svc.errors import ConfigError

HTTPS = "https://api.example.com"
LOCAL = "http://127.0.0.1:4242"


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
    assert choose_proxy(BaseUrl.parse(url), option, environment) == expected


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
