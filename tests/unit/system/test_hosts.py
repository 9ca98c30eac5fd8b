"""The hosts of this machine."""

import pytest

from svc.system.hosts import host_of, is_loopback


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *(("localhost", True), ("LOCALHOST", True), ("127.0.0.1", True), ("127.255.0.9", True)),
        *(("::1", True), ("::ffff:127.0.0.1", True), ("", False), ("127.1", False)),
        *(("127.0.0.01", False), ("127.0.0.1.example.com", False)),
        *(("localhost.example.com", False), ("::ffff:10.0.0.1", False), ("::2", False)),
        *(("::1]", False), ("127.0.0.256", False)),
        *(("127.0.0.1.1", False), ("127.0.0.0001", False)),
    ],
)
def test_only_literal_addresses_and_localhost_are_loopback(host: str, *, loopback: bool) -> None:
    """A host that only resembles one may lead to another machine (R21, R89)."""
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("header", "host"),
    [
        *(("a.example", "a.example"), ("a.example:80", "a.example"), ("a.example:", "a.example")),
        *(("[::1]", "::1"), ("[::1]:80", "::1"), ("[::1]:", "::1"), ("", "")),
        *(("a.example:x", ""), ("a.example:\u0663", ""), ("a:80:81", ""), ("[::1", "")),
        *(("[::1]80", ""), ("[::1]:x", ""), ("[::1]x:80", "")),
    ],
)
def test_a_host_header_is_its_host_or_nothing(header: str, host: str) -> None:
    """R89: what is malformed is nobody's host."""
    assert host_of(header) == host
