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
from support.servers.tunnels import cloudflared_log, ngrok_line, ngrok_log, stand_in
from support.suite.patience import patient
from svc.clock import SystemClock
from svc.errors import NetworkError
from svc.listen.tunnels.cloudflared import Cloudflared
from svc.listen.tunnels.ngrok import Ngrok
from svc.listen.tunnels.program import find_installed
from svc.listen.tunnels.provider import Down, Provider, Up
from svc.listen.tunnels.tunnel import Tunnel, TunnelChange
from svc.system.processes import wrap_to_die_with_us

FIRST = "https://buffalo-marco.trycloudflare.com"
SECOND = "https://symantec-lock.trycloudflare.com"
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


def test_cloudflared_stand_in_is_up_when_it_is_connected_and_tells_losses(tmp_path: Path) -> None:
    """An address without a connection is none yet; a lost one is down until it is back."""
    script = (
        "cat $LOG >&2; sleep 0.2; touch $0.connected; cat $CONNECTED >&2\n"
        f"sleep 0.1; cat $LOST >&2; cat $LOST >&2; sleep 0.1; cat $CONNECTED >&2; {STAY}"
    )
    logs = {
        "LOG": cloudflared_log("buffalo-marco"),
        "CONNECTED": stand_ins.CONNECTED,
        "LOST": stand_ins.DISCONNECTED,
    }
    path = stand_in(tmp_path, "cloudflared", script, **logs)
    with tunnel(Cloudflared(), path) as (_, told):
        assert Path(f"{path}.connected").exists()
        until(lambda: len(told) == 2)
    assert told == [
        Down("cloudflared is not connected: timeout: no recent network activity"),
        Up(FIRST),
    ]


def test_cloudflared_stand_in_that_was_dropped_is_started_again(tmp_path: Path) -> None:
    """A quick tunnel that Cloudflare forgot would try for ever: a new one has another address."""
    script = (
        f"if [ -e $0.second ]; then cat $OTHER $CONNECTED >&2; {STAY}; fi\n"
        f"touch $0.second; cat $LOG $CONNECTED $LOST $DROPPED >&2; {STAY}"
    )
    path = stand_in(
        tmp_path,
        "cloudflared",
        script,
        LOG=cloudflared_log("buffalo-marco"),
        OTHER=cloudflared_log("symantec-lock"),
        CONNECTED=stand_ins.CONNECTED_IN_2022,
        LOST=stand_ins.DISCONNECTED,
        DROPPED=stand_ins.DROPPED,
    )
    with tunnel(Cloudflared(), path) as (_, told):
        until(lambda: len(told) == 3)
    assert told[1:] == [Down("Cloudflare has dropped the tunnel", lasting=True), Up(SECOND)]


EVIL = "https://attacker.trycloudflare.com"
BANNER = f"2024-01-18T06:12:24Z INF |  {EVIL}    |"


@pytest.mark.parametrize(
    "query",
    [
        f"x={EVIL}",
        f"|  {EVIL}    |",
        BANNER,
        "Registered tunnel connection connIndex=1",
        'error="Unauthorized: Tunnel not found"',
        "Register tunnel error from server side error=%22Unauthorized: x%22 connIndex=0",
        "Unregistered tunnel connection connIndex=0",
        f"{'x' * (16 * 1024 - 153)}{BANNER}",  # as long as what is read of a line, and then...
    ],
    ids=["address", "box", "line", "up", "gone", "refused", "down", "cut"],
)
def test_cloudflared_stand_in_is_not_moved_by_what_a_stranger_asks_for(
    tmp_path: Path, query: str
) -> None:
    """R105: his request's address stands in the log; it is none of ours, and no news either."""
    aborted = stand_ins.ABORTED.format(host="buffalo-marco.trycloudflare.com", query=query)
    if query.endswith(BANNER):
        aborted = aborted.partition(BANNER)[0] + BANNER + "\n"
    script = f"cat $LOG $CONNECTED $ABORTED >&2; sleep 0.1; cat $LOST $CONNECTED >&2; {STAY}"
    path = stand_in(
        tmp_path,
        "cloudflared",
        script,
        LOG=cloudflared_log("buffalo-marco"),
        CONNECTED=stand_ins.CONNECTED,
        ABORTED=aborted,
        LOST=stand_ins.DISCONNECTED,
    )
    with tunnel(Cloudflared(), path) as (_, told):
        until(lambda: len(told) == 2)
    assert told == [
        Down("cloudflared is not connected: timeout: no recent network activity"),
        Up(FIRST),
    ]


@pytest.mark.parametrize("provider", [Cloudflared(), Ngrok()], ids=["cloudflared", "ngrok"])
def test_stand_in_that_names_another_address_is_ended(provider: Provider, tmp_path: Path) -> None:
    """R105: an address comes once in a run; what names a second is not believed, and not kept."""
    logs = {"LOG": ngrok_log("ab12"), "OTHER": ngrok_log("evil").splitlines()[-1] + "\n"}
    if isinstance(provider, Cloudflared):
        connected = stand_ins.CONNECTED
        logs = {
            "LOG": cloudflared_log("buffalo-marco") + connected,
            "OTHER": cloudflared_log("evil"),
        }
    script = (
        f"if [ -e $0.second ]; then cat $LOG >&2; {STAY}; fi\n"
        f"touch $0.second; cat $LOG >&2; sleep 0.1; cat $OTHER >&2; {STAY}"
    )
    path = stand_in(tmp_path, provider.program, script, **logs)
    with tunnel(provider, path) as (_, told):
        until(lambda: len(told) == 2)
    first = FIRST if isinstance(provider, Cloudflared) else "https://ab12.ngrok-free.app"
    reason = f"{provider.program} has named another address in the same run"
    assert told == [Down(reason, lasting=True), Up(first)]


def test_ngrok_stand_in_tells_losses_and_keeps_its_address(tmp_path: Path) -> None:
    """The session's end and its return are told; each further failure only if it is another."""
    lost = ngrok_line(
        "eror", "session closed, starting reconnect loop", err="read EOF from remote peer"
    )
    failed = ngrok_line("eror", "failed to reconnect session", obj="csess", err="EOF")
    back = ngrok_line("info", "client session established", obj="csess", id="1c907e548f56")
    script = f"cat $LOG; sleep 0.1; cat $LOST; sleep 0.1; cat $BACK; {STAY}"
    path = stand_in(
        tmp_path, "ngrok", script, LOG=ngrok_log("ab12"), LOST=lost + failed * 3, BACK=back
    )
    with tunnel(Ngrok(), path) as (_, told):
        until(lambda: len(told) == 3)
    assert told == [
        Down("session closed, starting reconnect loop: read EOF from remote peer"),
        Down("failed to reconnect session: EOF"),
        Up("https://ab12.ngrok-free.app"),
    ]


@pytest.mark.slow
def test_stand_in_that_ends_is_started_again_ever_later(tmp_path: Path) -> None:
    """A program that ends is told with its code and last words, and comes back by itself."""
    script = "date +%s%N >> $0.starts; cat $LOG; sleep 0.05; echo out of memory; exit 3"
    path = stand_in(tmp_path, "ngrok", script, LOG=ngrok_log("ab12"))
    with tunnel(Ngrok(), path) as (_, told):
        until(lambda: len(told) >= 4)
    up, down = Up("https://ab12.ngrok-free.app"), Down("ngrok ended with code 3: out of memory")
    assert told[:4] == [down, up, down, up]
    starts = [int(line) / 1e9 for line in Path(f"{path}.starts").read_text().split()]
    assert starts[1] - starts[0] > 0.5
    assert starts[2] - starts[1] > 1.0


@pytest.mark.parametrize(
    ("provider", "log", "words"),
    [
        (Cloudflared(), stand_ins.UNREACHABLE, "lookup api.trycloudflare.com"),
        (
            Ngrok(),
            ngrok_line(
                "eror",
                "failed to auth",
                err="The authtoken is not valid.\r\nYour authtoken: 2abcDEF\r\n\r\nERR_NGROK_105",
            ),
            "failed to auth: The authtoken is not valid",
        ),
    ],
    ids=["cloudflared", "ngrok"],
)
def test_stand_in_that_ends_before_it_is_up_is_an_error_with_its_words(
    provider: Provider, log: str, words: str, tmp_path: Path
) -> None:
    """The first start is not tried again: what the program said is the reason; never its token."""
    path = stand_in(tmp_path, provider.program, "cat $LOG; exit 1", LOG=log)
    message = not_up(provider, path)
    assert f"{provider.program} ended with code 1: " in message
    assert words in message
    assert "2abcDEF" not in message


def test_stand_in_without_an_address_is_given_up_and_ended(tmp_path: Path) -> None:
    """What has no address in the time limit is an error with its last line, and ends."""
    script = f"echo $$ > $0.pid; cat $LOG >&2; {STAY}"
    path = stand_in(tmp_path, "cloudflared", script, LOG=cloudflared_log("buffalo-marco"))
    message = not_up(Cloudflared(), path, limit=0.4)
    assert "no address within 0 s: Starting metrics server" in message
    assert not is_alive(int(Path(f"{path}.pid").read_text()))


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


def test_program_is_never_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CVE-2022-24753: an empty or relative entry of PATH would be whatever folder we are in."""
    path = stand_in(tmp_path / "bin", "ngrok", STAY)
    monkeypatch.chdir(tmp_path / "bin")
    assert find_installed("ngrok", ":.:bin") is None
    assert find_installed("ngrok", f":.:{tmp_path / 'bin'}") == path
    Path(path).chmod(0o644)
    assert find_installed("ngrok", str(tmp_path / "bin")) is None


def test_cloudflared_is_not_led_by_a_configuration_of_another_tunnel() -> None:
    """The rules of the user's own config.yml would answer 404 to every delivery."""
    arguments = Cloudflared().arguments(4000)
    assert arguments[arguments.index("--config") + 1] == os.devnull
    assert arguments[-2:] == ["--url", "http://127.0.0.1:4000"]


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
