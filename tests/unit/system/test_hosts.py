"""The hosts of this machine."""

import pytest

from svc.system.hosts import is_loopback


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("127.0.0.1", True),
        ("127.255.0.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("", False),
        ("127.1", False),
        ("127.0.0.01", False),
        ("127.0.0.1.example.com", False),
        ("localhost.example.com", False),
        ("::ffff:10.0.0.1", False),
        ("::2", False),
        ("::1]", False),
    ],
)
def test_only_literal_addresses_and_localhost_are_loopback(host: str, *, loopback: bool) -> None:
    """A host that only resembles one may lead to another machine (R21, R89)."""
    assert is_loopback(host) is loopback
