"""The address of the service (promise R23)."""

import ipaddress
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.base_url import BaseUrl
from svc.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "origin", "prefix", "loopback"),
    [
        ("https://api.example.com", "https://api.example.com", "", False),
        ("https://API.example.com:443/", "https://api.example.com", "", False),
        ("https://api.example.com/eu/shop/", "https://api.example.com", "/eu/shop", False),
        ("http://127.0.0.1:4242", "http://127.0.0.1:4242", "", True),
        ("http://localhost:4242", "http://localhost:4242", "", True),
        ("http://[::1]:4242", "http://[::1]:4242", "", True),
        ("http://10.0.0.1", "http://10.0.0.1", "", False),
        ("https://localhost.evil.example", "https://localhost.evil.example", "", False),
    ],
)
def test_base_url_is_read_once_and_normalised(
    text: str, origin: str, prefix: str, loopback: bool
) -> None:
    """The same origin has one spelling, so that a key bound to it is found again (R22)."""
    base = BaseUrl.parse(text)
    assert (base.origin, base.prefix, base.is_loopback) == (origin, prefix, loopback)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.255.0.9", True), ("[::ffff:127.0.0.1]", True), ("[::ffff:10.0.0.1]", False)],
)
def test_this_machine_is_known_however_it_is_written(host: str, loopback: bool) -> None:
    """R21: a live key does not go there, and plain http may; the same on every Python."""
    assert BaseUrl.parse(f"https://{host}").is_loopback is loopback


@pytest.mark.parametrize(
    "text",
    [
        *("https://user:pass@api.example.com", "https://api.example.com\\@evil.example/"),
        *("https://api.example.com/?x=1", "https://api.example.com#x"),
        *("https://api.exa\nmple.com", "https://api.example.com\r", "https://éxample.com"),
        *("https://api%2fexample.com", "https://api.example.com/a%2e"),
        *("https://api.example.com/../x", "https://[::1", "https://[::1]evil.example"),
        *("https://a..b", "https://api.example.com:99999", "https://api.example.com:0"),
        *("http://127.1", "http://2130706433", "http://0x7f000001", "ftp://api.example.com"),
        *("//api.example.com", "api.example.com", ""),
    ],
)
def test_base_url_refuses_what_two_parsers_could_read_differently(text: str) -> None:
    """R23: CVE-2020-5260, CVE-2024-47081, CVE-2022-27780, CVE-2024-11168."""
    with pytest.raises(ConfigError) as caught:
        BaseUrl.parse(text)
    assert "pass" not in caught.value.message


_PARTS = st.sampled_from(["0", "1", "00", "010", "127", "255", "256", "99999999999", "a", ""])


@given(parts=st.lists(_PARTS | st.integers(0, 300).map(str), min_size=1, max_size=6))
@example(parts=["127", "0", "0", "1"])
@example(parts=["127", "255", "255", "255"])
@example(parts=["128", "0", "0", "1"])
@example(parts=["0127", "0", "0", "1"])
@example(parts=["256", "0", "0", "1"])
@example(parts=["127", "1"])
def test_an_address_of_four_numbers_is_what_the_library_takes_for_one(parts: list[str]) -> None:
    """R23: to be quick it is read without `ipaddress`, and no other way."""
    host = ".".join(parts)
    expected: bool | None = None
    with suppress(ValueError):
        expected = ipaddress.IPv4Address(host).is_loopback
    try:
        found = BaseUrl.parse(f"https://{host}")
    except ConfigError:
        assert expected is None
        return
    assert found.host == host
    assert found.is_loopback is (expected or False)
    assert expected is not None or not host.replace(".", "").isdigit()
