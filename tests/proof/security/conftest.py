"""A service under an attacker's control."""

from collections.abc import Iterator

import pytest

from support.servers.misbehaving import Server


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
