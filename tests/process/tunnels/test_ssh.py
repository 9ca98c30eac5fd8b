"""`--tunnel ssh:`: the real OpenSSH on both ends, and nginx with TLS as the public front."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from process.tunnels.server import (
    KEYGEN,
    NGINX,
    SSH,
    SSHD,
    TunnelServer,
    children,
    is_alive,
    serving,
    until,
)
from support.launching import launch_options
from support.listeners import Listen, Pay, Running
from support.listening import TargetServer
from support.running import Sandbox, Svc
from support.serving import answers
from support.suite.patience import patient
from svc.clock import SystemClock
from svc.sandbox.process.launch import start, stop

pytestmark = pytest.mark.skipif(
    not (SSH and SSHD and KEYGEN and NGINX),
    reason="needs Debian's openssh-client, openssh-server and nginx-light",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TunnelServer]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def trusting(server: TunnelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox that delivers to the server's address: it trusts the authority of its certificate."""
    folder = tmp_path_factory.mktemp("trusting")
    options = launch_options(folder)
    env = {**os.environ, "SSL_CERT_FILE": str(server.authority)}
    record = start(options, env, SystemClock())
    yield Sandbox(record.url, record.port)
    stop(folder, record, SystemClock())


@pytest.fixture
def sandbox(trusting: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    trusting.control("POST", "/reset", {})
    monkeypatch.setenv("SVC_BASE_URL", trusting.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    return trusting


@pytest.fixture
def argv(server: TunnelServer) -> tuple[str, ...]:
    """What leads to the server; `front` is its name in the user's ssh configuration."""
    return ("--tunnel", f"ssh:front:{server.remote}", "--public-url", server.url)


@pytest.fixture(autouse=True)
def at_home(server: TunnelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", server.path)


def links(running: Running) -> list[str]:
    """What was told of the tunnel so far."""
    return [one["state"] for one in running.records if one["record"] == "tunnel"]


def test_events_come_through_ssh_and_again_after_the_connection_was_cut(
    pay: Pay, server: TunnelServer, argv: tuple[str, ...], tmp_path: Path, listen: Listen
) -> None:
    """Events arrive verified over TLS, nginx and ssh; a cut is told at once and mended alone."""
    with (
        TargetServer() as target,
        listen(tmp_path, *argv, "--forward-to", f"{target.port}") as running,
    ):
        [ready] = running.wait("ready")
        pay()
        running.wait("event", 2)
        server.drop()
        assert until(lambda: links(running) == ["up", "down"]) < patient(1)
        running.wait("tunnel", 3)
        order = pay()
        events = running.wait("event", 4)
        running.wait("forward", 4)
        assert running.end() == 130
        records = running.records
    assert ready["url"].startswith(f"{server.url}/hook/")
    assert [one["record"] for one in records[:2]] == ["tunnel", "ready"]
    up, down, again = (one for one in records if one["record"] == "tunnel")
    assert (up["url"], up["endpoint"]) == (server.url, ready["endpoint"])
    assert down["reason"].startswith("ssh ended with code 255: ")
    assert (again["url"], again["endpoint"]) == (server.url, ready["endpoint"])
    assert all(one["verified"] for one in events)
    assert any(order.encode() in one.body for one in target.received)
    assert until(lambda: not answers(server.remote)) < patient(1)  # nothing leads here any more


def test_ssh_has_no_key_of_ours_and_dies_with_a_listener_that_is_killed(
    sandbox: Sandbox, argv: tuple[str, ...], tmp_path: Path, listen: Listen
) -> None:
    """R43: ssh is given nothing of ours; a kill -9 of the listener leaves no ssh behind."""
    with listen(tmp_path, *argv) as running:
        [ssh] = children(running.process.pid)
        environment = Path(f"/proc/{ssh}/environ").read_bytes()
        running.end(signal.SIGKILL)
        assert until(lambda: not is_alive(ssh)) < patient(1)
    assert b"SVC_" not in environment
    assert b"HOME=" in environment


def test_login_that_is_refused_ends_the_listener(
    sandbox: Sandbox, server: TunnelServer, svc: Svc
) -> None:
    """A server that does not let us in is named with ssh's own words, before anything is ready."""
    result = svc(
        *("events", "listen", "-o", "ndjson", "--tunnel", f"ssh:nobody@front:{server.remote}"),
        *("--public-url", server.url),
    )
    assert (result.code, result.out, result.error["code"]) == (8, "", "tunnel_failed")
    assert "ssh ended with code 255: " in result.error["message"]
    assert "Permission denied" in result.error["message"]
    assert sandbox.control("GET", "/webhook_endpoints")["data"] == []


def test_port_that_is_taken_on_the_server_ends_the_listener(
    sandbox: Sandbox, server: TunnelServer, argv: tuple[str, ...], svc: Svc
) -> None:
    """A port of the server that leads elsewhere is no way in: ssh's own words say so."""
    with socket.create_server(("127.0.0.1", server.remote)):
        result = svc("events", "listen", "-o", "ndjson", *argv)
    assert (result.code, result.error["code"]) == (8, "tunnel_failed")
    assert f"port forwarding failed for listen port {server.remote}" in result.error["message"]
