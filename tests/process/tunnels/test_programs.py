"""Keeping a tunnel program up, with stand-ins that print what the real ones print."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from process.tunnels.server import is_alive, until
from support.servers import tunnels as stand_ins
from support.servers.tunnels import cloudflared_log, ngrok_log, stand_in
from support.suite.patience import patient
from svc.clock import SystemClock
from svc.errors import NetworkError
from svc.listen.tunnels.cloudflared import Cloudflared
from svc.listen.tunnels.ngrok import Ngrok
from svc.listen.tunnels.provider import Down, Provider, Up
from svc.listen.tunnels.tunnel import Tunnel, TunnelChange
from svc.system.processes import wrap_to_die_with_us

FIRST = "https://buffalo-marco.trycloudflare.com"
STAY = "exec sleep 60"


@contextmanager
def tunnel(
    provider: Provider, path: str, *, limit: float = 30.0
) -> Iterator[tuple[Tunnel, list[TunnelChange]]]:
    """A tunnel that is up, and what it tells."""
    told: list[TunnelChange] = []
    with Tunnel(provider, path, os.environ, SystemClock(), limit=limit) as running:
        running.start(4000)
        running.follow(told.append)
        yield running, told


def not_up(provider: Provider, path: str, *, limit: float = 30.0) -> str:
    """What is said of a tunnel that does not come up."""
    with (
        Tunnel(provider, path, os.environ, SystemClock(), limit=limit) as running,
        pytest.raises(NetworkError) as caught,
    ):
        running.start(4000)
    return caught.value.message


BANNER = "2024-01-18T06:12:24Z INF |  https://attacker.trycloudflare.com    |"


def test_cloudflared_stand_in_is_not_moved_by_a_long_line_of_a_stranger(tmp_path: Path) -> None:
    """R105: what follows where a line is cut may be of his choice; it begins no line."""
    query = f"{'x' * (16 * 1024 - 153)}{BANNER}"  # as long as what is read of a line, and then...
    aborted = stand_ins.ABORTED.format(host="buffalo-marco.trycloudflare.com", query=query)
    script = f"cat $LOG $CONNECTED $ABORTED >&2; sleep 0.1; cat $LOST $CONNECTED >&2; {STAY}"
    path = stand_in(
        tmp_path,
        "cloudflared",
        script,
        LOG=cloudflared_log("buffalo-marco"),
        CONNECTED=stand_ins.CONNECTED,
        ABORTED=aborted.partition(BANNER)[0] + BANNER + "\n",
        LOST=stand_ins.DISCONNECTED,
    )
    with tunnel(Cloudflared(), path) as (_, told):
        until(lambda: len(told) == 2)
    assert told == [
        Down("cloudflared is not connected: timeout: no recent network activity"),
        Up(FIRST),
    ]


def test_stubborn_stand_in_and_its_helper_end_with_us(tmp_path: Path) -> None:
    """A program that ignores SIGTERM, and what it has started, are gone within a second (R78)."""
    script = (
        "trap '' TERM; sleep 60 & echo $$ $! > $0.pids; cat $LOG\n"
        "while :; do sleep 0.05 || exit; done"
    )
    path = stand_in(tmp_path, "ngrok", script, LOG=ngrok_log("ab12"))
    with tunnel(Ngrok(), path):
        pids = [int(word) for word in Path(f"{path}.pids").read_text().split()]
        assert all(is_alive(pid) for pid in pids)
        begun = time.monotonic()
    assert time.monotonic() - begun < patient(1)
    until(lambda: not any(is_alive(pid) for pid in pids), 1)


def test_stand_in_gets_an_environment_without_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R43: neither the API key nor a signing secret; the user's own variables stay."""
    monkeypatch.setenv("SVC_API_KEY", "sk_test_abcdefghijkl")
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", "whsec_test_abcdefghijkl")
    monkeypatch.setenv("NGROK_AUTHTOKEN", "2abcDEF")
    script = f'env > $0.env; echo "$@" > $0.argv; cat $LOG; {STAY}'
    path = stand_in(tmp_path, "ngrok", script, LOG=ngrok_log("ab12"))
    with tunnel(Ngrok("https://mine.example"), path):
        seen = Path(f"{path}.env").read_text()
        argv = Path(f"{path}.argv").read_text()
    assert "SVC_" not in seen
    assert "NGROK_AUTHTOKEN=2abcDEF\n" in seen
    assert argv.startswith("http 127.0.0.1:4000 --log stdout --log-format json")
    assert argv.endswith("--url https://mine.example\n")


def test_nothing_is_started_for_a_parent_that_has_died(tmp_path: Path) -> None:
    """Between our fork and its tie to us we may be killed: then the program is not started."""
    path = stand_in(tmp_path, "ngrok", "touch $0.started")
    ours = wrap_to_die_with_us([path])
    of_a_stranger = ["1" if word == str(os.getpid()) else word for word in ours]
    assert of_a_stranger != ours
    subprocess.run(of_a_stranger, check=True)
    assert not Path(f"{path}.started").exists()
    subprocess.run(ours, check=True)
    assert Path(f"{path}.started").exists()


def test_stand_in_that_cannot_be_run_is_an_error(tmp_path: Path) -> None:
    """A file that is no program is named, with the system's reason."""
    path = stand_in(tmp_path, "ngrok", STAY)
    Path(path).write_text("neither a script nor a binary")
    assert f"{path} cannot be run: exec format error" in not_up(Ngrok(), path)
