"""A sandbox that still runs from another svc."""

import os
from pathlib import Path

import pytest

from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer
from svc import __version__
from svc.sandbox.process.records import RunRecord, hold

OLD = "0.0.7+12.g1234567"


@pytest.fixture
def old_sandbox(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """What answers the health check as an older svc does, and every control with less."""
    monkeypatch.setenv("SVC_BASE_URL", server.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    return server


@pytest.mark.parametrize(
    ("argv", "status", "code"),
    [
        pytest.param(("pay", "ord_1"), 200, 10, id="less than it should"),
        pytest.param(("pay", "ord_1"), 404, 5, id="no such control"),
        pytest.param(("keys", "list"), 404, 5, id="no such list"),
        pytest.param(("pay", "ord_1"), 500, 8, id="a bug of its own"),
        pytest.param(("keys", "list"), 500, 8, id="a list of no use"),
    ],
)
def test_it_is_told_in_one_line_with_both_versions(
    svc: Svc, old_sandbox: ScriptedServer, argv: tuple[str, ...], status: int, code: int
) -> None:
    """No bug of ours, and the way out can be typed."""
    health = {"object": "sandbox", "version": OLD, "now": "2030-01-01T00:00:00Z"}
    said = {"object": "x"} if status == 200 else {"error": {"type": "invalid_request_error"}}
    old_sandbox.play(old_sandbox.reply(200, health), old_sandbox.reply(status, said))
    result = svc("sandbox", *argv, "-o", "human")
    text = " ".join(result.err.split())
    assert result.code == code
    assert f"The sandbox is svc {OLD} and this is svc {__version__}: svc sandbox stop" in text
    assert "bug" not in text


def test_import_says_that_one_of_the_same_name_is_older(
    svc: Svc, old_sandbox: ScriptedServer, tmp_path: Path
) -> None:
    """It takes no state in pieces, and refuses a parameter of which its user knows nothing."""
    state = tmp_path / "state.json"
    state.write_text('{"object":"sandbox_state","format":1,"tables":{"docs":[]}}')
    health = {"object": "sandbox", "version": __version__}
    unknown = {"type": "sandbox_error", "code": "parameter_unknown", "message": "Unknown: rows."}
    old_sandbox.play(old_sandbox.reply(200, health), old_sandbox.reply(400, unknown))
    refused = svc("sandbox", "import", str(state), "-o", "human")
    assert refused.code == 3
    text = " ".join(refused.err.split())
    assert "The running sandbox is older than this svc. Nothing was imported." in text
    assert "svc sandbox stop, then svc sandbox start" in text


def test_a_start_beside_it_tells_the_two_apart(
    svc: Svc, old_sandbox: ScriptedServer, isolated: Path
) -> None:
    """Who starts one after an upgrade learns that what runs is the old one."""
    old_sandbox.play(old_sandbox.reply(200, {"object": "sandbox", "version": OLD}))
    port = int(old_sandbox.url.rsplit(":", 1)[1])
    there = RunRecord(os.getpid(), port, old_sandbox.url, ":memory:", "", "")
    with hold(isolated / "state" / "sandbox", there):
        refused = svc("sandbox", "start", "--port", str(port), "--db", ":memory:")
    assert refused.code == 10
    assert f"it is svc {OLD} and this is svc {__version__}" in refused.error["message"]


def test_one_that_left_no_note_is_not_said_to_have_ended(svc: Svc, sandbox: Sandbox) -> None:
    """As in a home that nobody may write to: it runs, and cannot be stopped from here."""
    result = svc("sandbox", "stop", "--port", str(sandbox.port))
    assert (result.code, result.error["code"]) == (11, "sandbox_not_recorded")
    assert f"A sandbox runs on port {sandbox.port}" in result.error["message"]
    assert sandbox.control("GET", "/health")["object"] == "sandbox"
