"""`svc events listen --inspect` as a process against a real sandbox."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import pytest
from typer.main import get_command

from support.absence import importable
from support.listeners import Listen
from support.listening import TargetServer
from support.running import Sandbox, Svc
from support.serving import free_port
from support.suite.patience import until
from svc.cli.events.listen import app
from svc.cli.events.options import InspectAt
from svc.cli.framework.app import Verb
from svc.service.facts import INSPECTOR_PORT

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/[0-9a-f]{32}/")


def read(url: str) -> str:
    """One page, past any proxy."""
    with build_opener(ProxyHandler({})).open(url, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


@pytest.mark.effect_of("events listen", "--inspect")
def test_page_shows_what_the_sandbox_sends(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """The address is in the ready record and file and on stderr; the page has what came."""
    port, ready_file = free_port(), tmp_path / "ready.json"
    argv = ("--inspect", str(port), "--ready-file", str(ready_file))
    with (
        TargetServer() as target,
        listen(tmp_path, "--forward-to", str(target.port), *argv) as running,
    ):
        [ready] = running.wait("ready")
        match = ADDRESS.fullmatch(ready["inspector"])
        assert match is not None
        assert int(match[1]) == port
        assert json.loads(ready_file.read_text())["inspector"] == ready["inspector"]
        assert "Nothing was received yet." in read(ready["inspector"])
        svc.ok("sandbox", "trigger", "payout.paid")
        running.wait("forward")
        until(lambda: "200 OK" in read(ready["inspector"]))
        assert "payout.paid" in read(ready["inspector"])
        assert running.end() == 130
    [log] = tmp_path.glob("*.err")
    assert f"Inspector {ready['inspector']}\n" in log.read_text()


def test_taken_port_ends_the_command(sandbox: Sandbox, svc: Svc) -> None:
    """A port that was asked for is taken or it is not: exit 10, and no endpoint is registered."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = svc("events", "listen", f"--inspect={port}", "--timeout", "1")
    assert result.code == 10
    assert result.error["code"] == "port_unavailable"
    assert str(port) in result.error["message"]
    assert sandbox.control("GET", "/webhook_endpoints")["data"] == []


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], None),
        (["--inspect"], InspectAt(None)),
        (["--inspect", "--ordered"], InspectAt(None)),
        (["--inspect", "4300"], InspectAt(4300)),
        (["--inspect=4300", "--ordered"], InspectAt(4300)),
        (["--ordered", "--inspect"], InspectAt(None)),
    ],
)
def test_port_may_be_left_out(args: list[str], expected: InspectAt | None) -> None:
    """A bare --inspect takes no other option for its port."""
    command = get_command(app)
    assert isinstance(command, Verb)
    ctx = command.make_context("listen", list(args))
    assert InspectAt.parse(ctx.params["inspect"]) == expected
    assert ctx.params["ordered"] is ("--ordered" in args)


def test_inspector_costs_nothing_unless_wanted() -> None:
    """What draws the page is not loaded by `svc events listen` itself (performance: start-up)."""
    code = "import sys, svc.cli.events.listen; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "svc.cli.events.listen" in loaded
    assert importable(["svc.listen.inspector"])
    assert [name for name in loaded if name.startswith("svc.listen.inspector")] == []


def test_port_0_is_any_that_is_free(sandbox: Sandbox, tmp_path: Path, listen: Listen) -> None:
    """`--inspect 0`: two listeners have a page each, and `ready` says where."""
    with listen(tmp_path, "--inspect", "0") as running:
        [ready] = running.wait("ready")
        port = urlsplit(ready["inspector"]).port
        assert port not in (None, 0, INSPECTOR_PORT)
