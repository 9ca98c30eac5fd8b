"""What the log of a tunnel program says, and how its tunnel is kept up, with programs in memory."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from support.clocks import ManualClock
from support.servers import tunnels as stand_ins
from support.servers.tunnels import cloudflared_log, ngrok_line, ngrok_log, stand_in
from support.suite.patience import until
from svc.errors import NetworkError, UsageError
from svc.listen.tunnels import tunnel as module
from svc.listen.tunnels.cloudflared import Cloudflared
from svc.listen.tunnels.ngrok import Ngrok
from svc.listen.tunnels.program import environment, find_installed
from svc.listen.tunnels.provider import Down, Provider, TunnelSign, Up
from svc.listen.tunnels.ssh import Ssh, SshDestination
from svc.listen.tunnels.tunnel import Tunnel, TunnelChange

FIRST, SECOND = (f"https://{name}.trycloudflare.com" for name in ("buffalo-marco", "symantec-lock"))
NGROK = "https://ab12.ngrok-free.app"
EVIL = "https://attacker.trycloudflare.com"
BANNER = f"2024-01-18T06:12:24Z INF |  {EVIL}    |\n"
LOST = Down("cloudflared is not connected: timeout: no recent network activity")
CLOUDFLARED = cloudflared_log("buffalo-marco") + stand_ins.CONNECTED
SSH = Ssh(SshDestination("me", "shop.example", 9000), "https://hooks.example")


def read(provider: Provider, log: str) -> tuple[list[TunnelSign], str]:
    """What the lines of a log report, and what was said last."""
    reader = provider.reader()
    signs = [sign for line in log.splitlines() if (sign := reader.read(line)) is not None]
    return signs, reader.said


@pytest.mark.parametrize(
    ("provider", "log", "signs", "said"),
    [
        (Cloudflared(), cloudflared_log("buffalo-marco"), [], "Starting metrics server on"),
        (Cloudflared(), CLOUDFLARED + stand_ins.DISCONNECTED, [Up(FIRST), LOST], "Connection term"),
        (Cloudflared(), CLOUDFLARED + stand_ins.CONNECTED, [Up(FIRST)], "Registered tunnel"),
        (
            Cloudflared(),
            stand_ins.CONNECTED_IN_2022 + cloudflared_log("symantec-lock") * 2,
            [Up(SECOND)],
            "Starting metrics server",
        ),
        (
            Cloudflared(),
            CLOUDFLARED
            + stand_ins.CONNECTED.replace("connIndex=0", "connIndex=1")
            + stand_ins.DISCONNECTED
            + stand_ins.DISCONNECTED.replace("connIndex=0", "connIndex=1"),
            [Up(FIRST), LOST],
            "Connection terminated",
        ),
        (
            Cloudflared(),
            CLOUDFLARED + stand_ins.DROPPED,
            [Up(FIRST), Down("Cloudflare has dropped the tunnel", lasting=True)],
            "Register tunnel error",
        ),
        (Cloudflared(), stand_ins.UNREACHABLE + "\n", [], "failed to request quick Tunnel: Post"),
        (
            Cloudflared(),
            (
                f"{CLOUDFLARED}2024-01-18T06:12:24Z DBG odd\n"
                "2024-01-18T06:12:24Z WRN Lost connection with the edge connIndex=0\n"
            ),
            [Up(FIRST), Down("cloudflared is not connected")],
            "Lost connection with the edge connIndex=0",
        ),
        (Ngrok(), ngrok_log("ab12"), [Up(NGROK)], "started tunnel"),
        (
            Ngrok(),
            ngrok_log("ab12")
            + ngrok_line("eror", "session closed, starting reconnect loop", err="read EOF\nmore")
            + ngrok_line("warn", "failed to reconnect session", err="nil")
            + ngrok_line("crit", "heartbeat timeout, terminating session")
            + ngrok_line("info", "client session established", obj="csess"),
            [
                Up(NGROK),
                Down("session closed, starting reconnect loop: read EOF"),
                Down("failed to reconnect session"),
                Down("heartbeat timeout, terminating session"),
                Up(NGROK),
            ],
            "heartbeat timeout",
        ),
        (
            Ngrok(),
            ngrok_line("eror", "session closed, starting reconnect loop")
            + ngrok_line("info", "started tunnel", url="tcp://0.tcp.ngrok.io:1"),
            [],
            "session closed",
        ),
        (Ngrok(), ngrok_line("info", "a") + "[1]\n  broken  \n \n", [], "broken"),
        (
            SSH,
            "OpenSSH_9.2\nWarning: known\ndebug1: no\nAuthenticated to x\n",
            [],
            "Warning: known",
        ),
        (
            SSH,
            (
                "debug1: remote forward success for: listen 127.0.0.1:9000, connect\n"
                "remote forward success for: listeners\n"
                "Transferred: sent 1\nBytes per second: 1\n"
            ),
            [Up("https://hooks.example")],
            "remote forward success for: listeners",
        ),
    ],
)
def test_a_log_says_when_a_tunnel_is_up_and_when_it_is_lost(
    provider: Provider, log: str, signs: list[TunnelSign], said: str
) -> None:
    """An address without a connection is none yet; the last error explains a loss, else the news."""
    found, last = read(provider, log)
    assert found == signs
    assert last.startswith(said)


@pytest.mark.parametrize(
    "query",
    [
        *(f"x={EVIL}", f"|  {EVIL}    |", BANNER.strip()),
        "Registered tunnel connection connIndex=1",
        'error="Unauthorized: Tunnel not found"',
        "Register tunnel error from server side error=%22Unauthorized: x%22 connIndex=0",
        "Unregistered tunnel connection connIndex=0",
    ],
)
def test_no_tunnel_is_moved_by_what_a_stranger_asks_for(query: str) -> None:
    """R105: his request's address stands in the log; it is none of ours, and no news either."""
    aborted = stand_ins.ABORTED.format(host="buffalo-marco.trycloudflare.com", query=query)
    log = CLOUDFLARED + aborted + stand_ins.DISCONNECTED + stand_ins.CONNECTED
    assert read(Cloudflared(), log)[0] == [Up(FIRST), LOST, Up(FIRST)]


class Programs:
    """Stands in for what a tunnel runs: each run has its lines, and ends with a code or stays.

    `seconds` pass on the clock in each.
    """

    def __init__(self, clock: ManualClock, *runs: tuple[str, int | None], seconds: float) -> None:
        self.argv: list[str] = []
        self.ended = 0
        self._clock = clock
        self._runs = [*runs]
        self._seconds = seconds
        self.news: SimpleQueue[str | None] = SimpleQueue()
        self.code: int | None = None

    def __call__(self, argv: Sequence[str], env: Mapping[str, str]) -> "Programs":
        assert env["HOME"] == "/home/anna"
        self.argv = [*argv]
        self.news = SimpleQueue()
        log, self.code = self._runs.pop(0)
        for line in log.splitlines():
            self.news.put(line)
        if self.code is not None:
            self.news.put(None)
        self._clock.advance(self._seconds)
        return self

    def end(self) -> None:
        self.ended += 1
        self.news.put(None)


Play = Callable[..., tuple[str, list[TunnelChange], list[float]]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Runs programs until `count` changes were told: the address, the changes, and the pauses."""

    def played(
        provider: Provider,
        *runs: tuple[str, int | None],
        count: int,
        seconds: float = 0.0,
        limit: float = 30.0,
    ) -> tuple[str, list[TunnelChange], list[float]]:
        clock, told, pauses = ManualClock(), list[TunnelChange](), list[float]()
        programs = Programs(clock, *runs, ("", None), seconds=seconds)
        monkeypatch.setattr(module, "Program", programs)
        env = {"HOME": "/home/anna"}
        with Tunnel(provider, "/bin/it", env, clock, limit=limit) as running:
            running._closing.wait = pauses.append  # type: ignore[method-assign, assignment]
            address = running.start(4000)
            running.follow(told.append)
            until(lambda: len(told) >= count)
        assert programs.argv == ["/bin/it", *provider.arguments(4000)]
        assert programs.ended > len(pauses)
        return address, told, pauses

    return played


def test_a_program_that_ends_is_started_again_ever_later(play: Play) -> None:
    """It is told with its code and last words; a link that held for a minute begins anew."""
    run = (ngrok_log("ab12") + "out of memory.\n", 3)
    down, up = Down("ngrok ended with code 3: out of memory"), Up(NGROK)
    address, told, pauses = play(Ngrok(), *[run] * 9, count=17)
    assert (address, told[:17]) == (NGROK, [down, up] * 8 + [down])
    assert pauses[:8] == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0]
    assert play(Ngrok(), *[run] * 3, count=5, seconds=60.0)[2][:2] == [0.5, 1.0]
    assert play(Ngrok(), *[run] * 3, count=5, seconds=60.1)[2][:2] == [0.5, 0.5]


def test_a_loss_is_told_once_and_another_reason_again(play: Play) -> None:
    lost = ngrok_line("eror", "session closed, starting reconnect loop", err="read EOF")
    failed = ngrok_line("eror", "failed to reconnect session", err="EOF")
    back = ngrok_line("info", "client session established")
    log = ngrok_log("ab12") + lost + failed * 3 + back + lost
    told = play(Ngrok(), (log, None), count=4)[1]
    first = Down("session closed, starting reconnect loop: read EOF")
    assert told[:4] == [first, Down("failed to reconnect session: EOF"), Up(NGROK), first]


def test_a_tunnel_that_was_dropped_has_another_address(play: Play) -> None:
    """A quick tunnel that Cloudflare forgot would try for ever."""
    second = cloudflared_log("symantec-lock") + stand_ins.CONNECTED
    log = CLOUDFLARED + stand_ins.DISCONNECTED + stand_ins.DROPPED
    address, told, _ = play(Cloudflared(), (log, None), (second, None), count=3)
    dropped = Down("Cloudflare has dropped the tunnel", lasting=True)
    assert (address, told[:3]) == (FIRST, [LOST, dropped, Up(SECOND)])


@pytest.mark.parametrize(
    ("provider", "log", "evil"),
    [
        (Cloudflared(), CLOUDFLARED, BANNER),
        (Ngrok(), ngrok_log("ab12"), ngrok_log("evil").splitlines()[-1]),
    ],
)
def test_a_program_that_names_another_address_is_ended(
    provider: Provider, log: str, evil: str, play: Play
) -> None:
    """R105: an address comes once in a run; what names a second is not believed, and not kept."""
    address, told, _ = play(provider, (log + evil, None), (log, None), count=2)
    reason = f"{provider.program} has named another address in the same run"
    assert told[:2] == [Down(reason, lasting=True), Up(address)]


TOKEN = "The authtoken is not valid.\r\nYour authtoken: 2abcDEF\r\n\r\nERR_NGROK_105"


@pytest.mark.parametrize(
    ("provider", "log", "code", "message"),
    [
        (
            Cloudflared(),
            stand_ins.UNREACHABLE,
            1,
            f"cloudflared ended with code 1: {stand_ins.UNREACHABLE.strip()}.",
        ),
        (
            Ngrok(),
            ngrok_line("eror", "failed to auth", err=TOKEN),
            0,
            "ngrok ended with code 0: failed to auth: The authtoken is not valid.",
        ),
        (SSH, "", -9, "ssh ended by signal 9."),
        (SSH, "x" * 400, 255, f"ssh ended with code 255: {'x' * 300}."),
        (SSH, "debug1: no", None, "no address within 0 s."),
    ],
)
def test_a_program_that_does_not_come_up_is_an_error_with_its_words(
    provider: Provider, log: str, code: int | None, message: str, play: Play
) -> None:
    """The first start is not tried again: what the program said is the reason; never its token."""
    with pytest.raises(NetworkError) as caught:
        play(provider, (log, code), count=0, limit=0.01)
    assert caught.value.message == f"The tunnel did not come up, {message}"
    assert (caught.value.code, caught.value.hint) == (
        "tunnel_failed",
        (
            f"Run {provider.program} by hand to see more, or run any tunnel and name it: "
            "--public-url URL"
        ),
    )


def test_a_tunnel_that_cannot_be_run_is_an_error_first_and_a_change_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = RuntimeError("no such program")

    def refuse(*_: Any) -> None:
        raise broken

    monkeypatch.setattr(module, "Program", refuse)
    running = Tunnel(Ngrok(), "/bin/it", {}, ManualClock())
    with running, pytest.raises(NetworkError, match="no such program"):
        running.start(4000)
    programs = Programs(ManualClock(), (ngrok_log("ab12"), 1), seconds=0)
    runs: list[Callable[..., Any]] = [refuse, programs]

    def begin(argv: Sequence[str], env: Mapping[str, str]) -> Any:
        return runs.pop()(argv, env)

    monkeypatch.setattr(module, "Program", begin)
    told: list[TunnelChange] = []
    with Tunnel(Ngrok(), "/bin/it", {"HOME": "/home/anna"}, ManualClock()) as running:
        running._closing.wait = lambda _=None: False  # type: ignore[method-assign, assignment]
        running.start(4000)
        running.follow(told.append)
        until(lambda: len(told) == 2)
    assert told == [Down("ngrok ended with code 1: started tunnel"), broken]


def test_programs_are_given_what_leads_to_our_port_alone() -> None:
    """No user's configuration of another tunnel; nothing that ssh could take for an option."""
    assert Cloudflared().arguments(4000) == [
        *("tunnel", "--config", os.devnull, "--no-autoupdate", "--loglevel", "info"),
        *("--url", "http://127.0.0.1:4000"),
    ]
    usual = ["http", "127.0.0.1:4000", "--log", "stdout", "--log-format", "json", "--log-level"]
    assert Ngrok().arguments(4000) == [*usual, "info"]
    assert Ngrok("https://mine.example").arguments(4000)[-2:] == ["--url", "https://mine.example"]
    options = ["ExitOnForwardFailure=yes", "ServerAliveInterval=15", "ServerAliveCountMax=3"]
    options += ["ConnectTimeout=10", "BatchMode=yes", "ControlPath=none", "RemoteCommand=none"]
    options.append("PermitLocalCommand=no")
    assert SSH.arguments(4000) == [
        *("-N", "-T", "-a", "-x", "-v"),
        *(word for option in options for word in ("-o", option)),
        *("-R", "127.0.0.1:9000:127.0.0.1:4000", "--", "me@shop.example"),
    ]
    names = [(one.name, one.program) for one in (Cloudflared(), Ngrok(), SSH)]
    assert names == [("cloudflared",) * 2, ("ngrok",) * 2, ("ssh to shop.example", "ssh")]
    kept = environment({"SVC_API_KEY": "a", "svc_key": "b", "NGROK_AUTHTOKEN": "c"})
    assert kept == {"svc_key": "b", "NGROK_AUTHTOKEN": "c"}


@pytest.mark.parametrize(
    ("text", "login", "port", "url"),
    [
        ("shop.example", "shop.example", 4243, "https://shop.example"),
        ("me.x-y@shop.example:65535", "me.x-y@shop.example", 65535, "https://shop.example"),
        ("front:1", "front", 1, None),
        ("[2001:db8::1]", "2001:db8::1", 4243, None),
        ("10.0.0.7", "10.0.0.7", 4243, None),
    ],
)
def test_a_destination_of_ssh_is_a_server_and_a_port_there(
    text: str, login: str, port: int, url: str | None
) -> None:
    found = SshDestination.parse(text)
    assert (found.login, found.port, found.public_url) == (login, port, url)
    for wrong in (f"{text}:0", "host:65536", "host:0", "-oProxyCommand=x", "a@-b", "host name", ""):
        with pytest.raises(UsageError, match="--tunnel cannot lead to") as caught:
            SshDestination.parse(wrong)
        assert (caught.value.param, caught.value.hint) == (
            "--tunnel",
            "Write it as ssh:[USER@]HOST[:REMOTE_PORT]",
        )


def test_program_is_never_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CVE-2022-24753: an empty or relative entry of PATH would be whatever folder we are in."""
    path = stand_in(tmp_path / "bin", "ngrok", "exec sleep 60")
    monkeypatch.chdir(tmp_path / "bin")
    assert find_installed("ngrok", ":.:bin") is None
    assert find_installed("ngrok", f":.:{tmp_path / 'bin'}") == path
    Path(path).chmod(0o644)
    assert find_installed("ngrok", str(tmp_path / "bin")) is None
    assert find_installed("bin", str(tmp_path)) is None
