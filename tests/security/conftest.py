"""A service under an attacker's control, and a keyring that works."""

from collections.abc import Iterator

import pytest

from keys.conftest import gnome_keyring, session_bus
from misbehaving import Server

__all__ = ["gnome_keyring", "session_bus"]


@pytest.fixture
def hostile() -> Iterator[Server]:
    """A server that answers what the test says."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def elsewhere() -> Iterator[Server]:
    """A second server, which nobody should ever talk to."""
    server = Server()
    server.play(server.reply(200, {"object": "order"}))
    yield server
    server.stop()
