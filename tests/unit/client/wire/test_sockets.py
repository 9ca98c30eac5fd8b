"""Connections that cannot be had: names, addresses, servers that do not listen."""

import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from support.clocks import ManualClock
from support.serving import free_port
from support.suite.patience import patient
from svc.client.client import Client
from svc.client.exchange import Deadline
from svc.client.wire import sockets
from svc.client.wire.sockets import addresses
from svc.clock import SystemClock
from svc.errors import NetworkError
from unit.client.wire.sending import POST, ended

pytestmark = pytest.mark.smoke

if TYPE_CHECKING:
    from support.servers.misbehaving import ScriptedServer

    Connect = Callable[..., Client]


def test_a_refused_connection_sends_nothing(connect: "Connect") -> None:
    """Four attempts, exit 8, not sent."""
    error = ended(connect(f"http://127.0.0.1:{free_port()}"), POST)
    assert isinstance(error, NetworkError)
    assert error.outcome == "not_sent"
    assert "refused" in error.message
    assert "4 attempts" in error.message


def test_a_full_backlog_hangs_no_longer_than_its_share(
    stopwatch: Callable[[], float], connect: "Connect"
) -> None:
    """R9: a host that does not take connections costs the deadline and no more."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        try:
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
            client = connect(f"http://127.0.0.1:{port}", SystemClock(), deadline_seconds=1.0)
            error = ended(client, POST)
        finally:
            for filler in fillers:
                filler.close()
    assert isinstance(error, NetworkError)
    assert error.outcome == "not_sent"
    assert stopwatch() < patient(2)


def test_a_name_that_is_not_found(connect: "Connect", monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS fails, four attempts, exit 8, not sent."""

    def fail(*args: Any, **options: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    error = ended(connect("https://api.invalid"), POST)
    assert isinstance(error, NetworkError)
    assert error.outcome == "not_sent"
    assert "name or service not known" in error.message


def test_a_look_up_that_hangs_is_given_up(
    connect: "Connect", monkeypatch: pytest.MonkeyPatch, stopwatch: Callable[[], float]
) -> None:
    """R9: the deadline covers the resolver, which nothing else can interrupt."""
    release = threading.Event()

    def hang(*args: Any, **options: Any) -> list[Any]:
        release.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    client = connect("https://api.invalid", SystemClock(), deadline_seconds=0.6)
    error = ended(client, POST)
    assert stopwatch() < patient(1.6)
    assert error.outcome == "not_sent"
    release.set()


def test_this_machine_is_never_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """R21: `localhost` is loopback whatever a resolver or a hosts file says."""

    def fail(*args: Any, **options: Any) -> None:
        raise AssertionError("looked up")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    limit = Deadline(ManualClock(), 1.0)
    assert [place[0] for _, place in addresses("localhost", 1, limit)] == ["127.0.0.1", "::1"]
    assert addresses("::1", 1, limit) == [(socket.AF_INET6, ("::1", 1))]
    assert addresses("10.0.0.1", 1, limit) == [(socket.AF_INET, ("10.0.0.1", 1))]


def test_the_next_address_is_tried(
    server: "ScriptedServer", monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host with two addresses of which one is dead is reached by the other."""
    ports = [free_port(), server.port]

    def two(*args: Any, **options: Any) -> list[Any]:
        kind = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
        return [(*kind, ("127.0.0.1", port)) for port in ports]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    with sockets.connect("api.invalid", 443, Deadline(ManualClock(), 1.0)) as reached:
        assert reached.getpeername() == ("127.0.0.1", server.port)
