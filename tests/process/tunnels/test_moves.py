"""A listener behind a tunnel whose address changes: real program, real sandbox, stand-in tunnel."""

import os
import signal
import time
from pathlib import Path

import pytest

from process.tunnels.server import children, until
from support.listeners import Listen, Running
from support.listening import SECRET, TargetServer, event, status, talk
from support.running import Sandbox, Svc, inside
from support.servers import tunnels as stand_ins
from support.servers.tunnels import cloudflared_log, on_path, stand_in
from support.suite.patience import patient
from svc.signature import header_value

FIRST = "buffalo-marco.trycloudflare.com"
SECOND = "symantec-lock.trycloudflare.com"
ARGV = ("--tunnel", "cloudflared")
SCRIPT = """
echo "$@" > $0.argv
if [ -e $0.second ]; then cat $OTHER $CONNECTED >&2; else cat $LOG $CONNECTED >&2; fi
touch $0.second
exec sleep 60
"""


@pytest.fixture(autouse=True)
def cloudflared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that has one address at its first start and another at its second."""
    logs = {"LOG": cloudflared_log("buffalo-marco"), "OTHER": cloudflared_log("symantec-lock")}
    folder = tmp_path / "bin"
    path = stand_in(folder, "cloudflared", SCRIPT, CONNECTED=stand_ins.CONNECTED, **logs)
    monkeypatch.setenv("PATH", on_path(folder))
    return Path(path)


def kill_program(running: Running) -> None:
    """Ends the tunnel program as the system would when memory is short."""
    [program] = children(running.process.pid)
    os.kill(program, signal.SIGKILL)


def deliver(port: int, url: str, secret: str, number: int, host: str) -> int:
    """Sends an event as the tunnel program would hand it on; gives the status of the answer."""
    body = event(number)
    path = "/" + url.split("/", 3)[3]
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        f"Svc-Signature: {header_value(body, [secret], int(time.time()))}",
        f"Content-Length: {len(body)}",
    ]
    return status(talk(port, ("\r\n".join(lines) + "\r\n\r\n").encode() + body))


def test_cloudflared_stand_in_that_moves_gets_another_endpoint(
    sandbox: Sandbox, cloudflared: Path, tmp_path: Path, listen: Listen
) -> None:
    """A new address means a new endpoint, which the service knows before `tunnel up` is told."""
    with listen(tmp_path, *ARGV) as running:
        [ready] = running.wait("ready")
        kill_program(running)
        assert until(lambda: len(running.wait("tunnel")) == 2) < patient(1)
        up, down, moved = running.wait("tunnel", 3)
        listed = sandbox.control("GET", "/webhook_endpoints")["data"]
        running.end()
    assert ready["url"].startswith(f"https://{FIRST}/hook/")
    assert (up["url"], up["endpoint"]) == (f"https://{FIRST}", ready["endpoint"])
    assert down["url"] == up["url"]
    assert down["reason"].startswith("cloudflared ended by signal 9")
    assert moved["url"] == f"https://{SECOND}"
    assert moved["endpoint"] != ready["endpoint"]
    path = ready["url"].removeprefix(up["url"])
    assert (moved["endpoint"], f"https://{SECOND}{path}") in {
        (one["id"], one["url"]) for one in listed
    }
    said = next(tmp_path.glob("listen-*.err")).read_text()
    assert f"Starting cloudflared as the tunnel: {cloudflared}" in said
    assert "Deliveries have a new signing secret, whsec_" in said


def test_deliveries_go_on_after_a_cloudflared_stand_in_has_moved(
    sandbox: Sandbox, cloudflared: Path, tmp_path: Path, listen: Listen
) -> None:
    """R55: the tunnel's host is let in, and no other; after a move the new one, newly signed."""
    with (
        TargetServer() as target,
        listen(tmp_path, *ARGV, "--forward-to", f"{target.port}") as running,
    ):
        url = running.wait("ready")[0]["url"]
        port = int(Path(f"{cloudflared}.argv").read_text().rsplit(":", 1)[1])
        old = inside("events", "listen", *ARGV, "--print-secret").out.strip()
        assert deliver(port, url, old, 1, FIRST) == 200
        assert deliver(port, url, old, 2, SECOND) == 421
        kill_program(running)
        running.wait("tunnel", 3)
        new = inside("events", "listen", *ARGV, "--print-secret").out.strip()
        assert new != old
        assert deliver(port, url, new, 3, SECOND) == 200
        running.wait("forward", 2)
        running.end()
    assert sorted(target.ids) == ["evt_1", "evt_3"]


def test_a_sandbox_that_was_reset_behind_a_tunnel_gets_its_endpoint_again(
    sandbox: Sandbox, cloudflared: Path, tmp_path: Path, listen: Listen
) -> None:
    """The new endpoint has the tunnel's address, and its deliveries are taken; so after a move."""
    with (
        TargetServer() as target,
        listen(tmp_path, *ARGV, "--forward-to", f"{target.port}") as running,
    ):
        url = running.wait("ready")[0]["url"]
        port = int(Path(f"{cloudflared}.argv").read_text().rsplit(":", 1)[1])

        def forgotten_and_registered(host: str, times: int) -> str:
            """Resets the sandbox; gives today's secret once the listener knows that it did."""
            sandbox.control("POST", "/reset")
            [log] = tmp_path.glob("listen-*.err")
            until(lambda: log.read_text().count("Registered the webhook endpoint") == times)
            listed = sandbox.control("GET", "/webhook_endpoints")["data"]
            assert [one["url"].split("/")[2] for one in listed] == [host]
            return inside("events", "listen", *ARGV, "--print-secret").out.strip()

        secret = forgotten_and_registered(FIRST, 2)
        until(lambda: deliver(port, url, secret, 1, FIRST) == 200)
        kill_program(running)
        running.wait("tunnel", 3)
        again = forgotten_and_registered(SECOND, 4)
        until(lambda: deliver(port, url, again, 2, SECOND) == 200)
        running.wait("forward", 2)
        running.end()
    assert sorted(target.ids) == ["evt_1", "evt_2"]


def test_an_endpoint_of_ones_own_says_what_is_not_seen(
    sandbox: Sandbox, cloudflared: Path, tmp_path: Path, listen: Listen
) -> None:
    """Nobody knows which endpoint it is, so that nobody can look whether it is still there."""
    with listen(tmp_path, *ARGV, env={"SVC_WEBHOOK_SECRET": SECRET}) as running:
        running.wait("ready")
        running.end()
    said = next(tmp_path.glob("listen-*.err")).read_text()
    assert "whether the sandbox is reset and forgets it is not seen here" in said


def test_a_stranger_does_not_move_the_endpoint_of_a_cloudflared_stand_in(
    sandbox: Sandbox, cloudflared: Path, tmp_path: Path, listen: Listen
) -> None:
    """R105: his aborted request is in the log, and the link is lost and found: all as before."""
    log = tmp_path / "bin" / "cloudflared.more"
    query = "|  https://attacker.trycloudflare.com    |"  # as an address is announced
    log.write_text(
        stand_ins.ABORTED.format(host=FIRST, query=query)
        + stand_ins.DISCONNECTED
        + stand_ins.CONNECTED
    )
    script = cloudflared.read_text().replace("exec sleep 60", f"cat {log} >&2; exec sleep 60")
    cloudflared.write_text(script)
    with listen(tmp_path, *ARGV) as running:
        [ready] = running.wait("ready")
        changes = running.wait("tunnel", 3)
        listed = sandbox.control("GET", "/webhook_endpoints")["data"]
        running.end()
    assert [one["state"] for one in changes] == ["up", "down", "up"]
    assert {one["url"] for one in changes} == {f"https://{FIRST}"}
    assert [one["url"] for one in listed] == [ready["url"]]


def test_secret_of_a_tunnel_that_has_no_address_yet_is_not_made_up(sandbox: Sandbox) -> None:
    """Before the first run there is no address, so no endpoint and no secret to print."""
    result = inside("events", "listen", "-o", "json", *ARGV, "--print-secret")
    assert (result.code, result.error["code"]) == (5, "no_endpoint_yet")
    assert sandbox.control("GET", "/webhook_endpoints")["data"] == []


@pytest.mark.effect_of("events listen", "--tunnel")
def test_people_see_the_stand_in_tunnel_on_stderr(sandbox: Sandbox, svc: Svc) -> None:
    """For people the link's changes are lines on stderr; ready is said after the first (R72)."""
    result = svc("events", "listen", "-o", "human", *ARGV, "--timeout", "0.1")
    assert result.code == 0
    assert f"tunnel up  https://{FIRST}" in result.err
    assert "--tunnel" in result.out
    assert "tunnel" not in result.out.replace("--tunnel", "")
    assert result.out.startswith("Ready. ")
    quiet = inside("events", "listen", "-o", "human", "-q", *ARGV, "--timeout", "0.1")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
