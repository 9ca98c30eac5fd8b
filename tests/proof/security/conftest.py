"""A service under an attacker's control."""

from collections.abc import Iterator

import pytest

from support.servers.misbehaving import ScriptedServer


@pytest.fixture
def hostile(server: ScriptedServer) -> ScriptedServer:
    """A server that answers what the test says."""
    return server


@pytest.fixture
def elsewhere() -> Iterator[ScriptedServer]:
    """A second server, which nobody should ever talk to."""
    server = ScriptedServer()
    server.play(server.reply(200, {"object": "order"}))
    yield server
    server.stop()
