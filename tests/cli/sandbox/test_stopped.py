"""A sandbox that has ended leaves a profile behind, and its port to whoever comes next."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer
from svc.sandbox.process.records import RunRecord, hold

KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
TO_BANK = (
    *("--country", "DE", "--account-holder-name", "Muster GmbH"),
    *("--iban", "DE89370400440532013000"),
)
ROW = '{"payment": "pay_1", "amount": 1}\n'
ITEM = "name=J,hs_code=6203.39,quantity=1,unit_amount=12900"
CREATE = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR", "--country", "DE"),
    *("--item", ITEM),
)

COMMANDS = (
    ("orders", "list"),
    ("get", "/v1/orders"),
    CREATE,
    ("post", "/v1/payouts", "-d", "amount:=1"),
    ("batch", "refunds.create", "-", "--yes", "--results", "results.ndjson"),
    ("events", "listen", "--timeout", "1"),
    ("sandbox", "pay", "ord_1"),
    ("sandbox", "keys", "list"),
    ("whoami",),
    ("doctor",),
)


@pytest.fixture
def stranger(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """Somebody who listens where the sandbox of the active profile listened until it ended."""
    port = svc.ok("sandbox", "start", "--detach", "--port", "0")["port"]
    assert svc.ok("orders", "list")["data"] == []
    assert [each["result"] for each in svc.ok("sandbox", "stop")] == ["stopped"]
    server = ScriptedServer(port)
    server.play(server.reply(200, {"object": "sandbox", "id": "ord_1", "data": []}))
    yield server
    server.stop()


@pytest.mark.parametrize("key", [KEY, None], ids=["own key", "the sandbox's key"])
def test_a_stranger_on_its_port_gets_no_key(
    svc: Svc,
    stranger: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    key: str | None,
) -> None:
    """R106: not the one of SVC_API_KEY, and none of the sandbox's own."""
    monkeypatch.chdir(tmp_path)
    if key is not None:
        monkeypatch.setenv("SVC_API_KEY", key)
    for argv in COMMANDS:
        result = svc(*argv, stdin=ROW)
        assert "No sandbox of yours runs at" in result.out + result.err, argv
    assert stranger.requests == []
    assert svc.ok("requests", "list", "--unresolved") == []


def test_the_way_out_is_named(svc: Svc, stranger: ScriptedServer) -> None:
    """The exit code is that of a service that is not there; nothing was sent."""
    result = svc("orders", "list")
    assert result.code == 8
    assert (result.error["code"], result.error["outcome"]) == ("sandbox_not_running", "not_sent")
    assert "svc sandbox start --detach" in result.error["message"]
    assert f"--base-url {stranger.url}" in result.error["message"]


def test_a_sandbox_that_was_stopped_is_started_by_what_is_suggested(svc: Svc) -> None:
    """In the morning after: nothing listens there, and the next step is one line."""
    port = svc.ok("sandbox", "start", "--detach", "--port", "0")["port"]
    svc.ok("sandbox", "stop")
    said = svc("orders", "list", "-o", "human")
    assert (said.code, said.err.splitlines()) == (
        8,
        [
            f"Error: No sandbox runs at http://127.0.0.1:{port}.",
            f"  Next: Start it: svc sandbox start --detach --port {port}",
        ],
    )
    svc.ok("sandbox", "start", "--detach", "--port", str(port))
    assert svc.ok("orders", "list")["data"] == []
    svc.ok("sandbox", "stop")


def test_nothing_stays_of_a_sandbox_that_was_in_memory(svc: Svc, isolated: Path) -> None:
    """As the recipe for CI starts one: neither ids to complete nor a secret to be replaced."""
    svc.ok("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:")
    svc("events", "listen", "--timeout", "150", "--exec", "true")
    svc.ok(*CREATE)
    recent = isolated / "cache" / "recent"
    assert (len(svc.ok("keys", "remind")), len(list(recent.iterdir()))) == (1, 1)
    svc.ok("sandbox", "stop")
    assert (svc.ok("keys", "remind"), list(recent.iterdir())) == ([], [])


@pytest.mark.effect_of("svc", "--base-url")
def test_whoever_names_the_address_himself_reaches_it(
    svc: Svc, stranger: ScriptedServer, sandbox: Sandbox
) -> None:
    """An option or SVC_BASE_URL is no profile, though it be the address of one."""
    stranger.play(stranger.reply(200, {"object": "list", "data": [], "has_more": False}))
    assert svc.ok("orders", "list", "--base-url", stranger.url)["data"] == []
    assert svc.ok("orders", "list", env={"SVC_BASE_URL": stranger.url})["data"] == []
    assert len(stranger.requests) == 2


def test_a_record_that_somebody_else_wrote_vouches_for_nobody(
    svc: Svc, stranger: ScriptedServer, isolated: Path
) -> None:
    """R106: he can write one and hold its lock, where he may write at all."""
    folder = isolated / "state" / "sandbox"
    record = RunRecord(os.getpid(), stranger.port, stranger.url, ":memory:", "", "")
    with hold(folder, record):
        shown = svc("orders", "list", "--max-time", "0.5")
        assert shown.error["code"] != "sandbox_not_running"
        if os.geteuid() != 0:
            pytest.skip("only root may give files away")
        os.chown(folder / f"run-{stranger.port}.json", 47_110, 47_110)
        assert svc("orders", "list").error["code"] == "sandbox_not_running"


@pytest.mark.effect_of("payouts create", "--wait")
def test_a_command_that_is_under_way_sends_a_stranger_no_key(svc: Svc) -> None:
    """R106: a wait is long, and the sandbox may end meanwhile: each new connection is looked at."""
    port = svc.ok("sandbox", "start", "--detach", "--port", "0")["port"]
    payout = ("payouts", "create", "--amount", "1000", "--currency", "EUR", *TO_BANK)
    argv = (*payout, "--source-currency", "EUR", "--wait", "--max-time", "8", "-v")
    program = [sys.executable, "-m", "svc", *argv]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
        assert waiting.stderr is not None
        for line in waiting.stderr:
            if line.startswith(b"GET "):
                break
        assert svc("sandbox", "stop").code == 0
        server = ScriptedServer(port)
        server.play(server.reply(200, {"object": "payout", "id": "po_1", "status": "paid"}))
        said = waiting.stderr.read().decode()
    server.stop()
    assert waiting.returncode != 0
    assert server.connections > 0
    assert server.requests == []
    assert "what answers there gets no key" in said


def test_a_batch_that_is_under_way_sends_a_stranger_no_key(svc: Svc, tmp_path: Path) -> None:
    """R106: each of its connections is looked at; what was not sent is done by the next run."""
    port = svc.ok("sandbox", "start", "--detach", "--port", "0")["port"]
    list_of = tmp_path / "orders.ndjson"
    row = {"amount": 100, "currency": "EUR", "shipping": {"country": "DE"}}
    row["items"] = [{"name": "J", "quantity": 1, "unit_amount": 100}]
    list_of.write_text("".join(json.dumps(row | {"amount": n}) + "\n" for n in range(1, 401)))
    argv = ("batch", "orders.create", str(list_of), "--yes")
    program = [sys.executable, "-m", "svc", *argv, "-v", "--max-time", "1", "--rate", "80"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as batch:
        assert batch.stderr is not None
        for _ in range(20):
            assert batch.stderr.readline().startswith(b"POST /v1/orders")
        assert svc("sandbox", "stop").code == 0
        server = ScriptedServer(port)
        server.play(server.reply(200, {"object": "order", "id": "ord_1", "livemode": False}))
        said = batch.communicate()[1].decode()
    server.stop()
    assert batch.returncode != 0, said
    assert server.connections > 0
    assert server.requests == []
    svc.ok("sandbox", "start", "--detach", "--port", str(port))
    again = svc(*argv)
    assert again.code == 0, again.err
    made = svc.ok("orders", "list", "--all")
    svc.ok("sandbox", "stop")
    assert sorted(order["amount"] for order in made) == list(range(1, 401))
