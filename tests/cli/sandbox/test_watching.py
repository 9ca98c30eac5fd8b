"""Watching a sandbox at work: requests on its terminal, and what `--follow` shows."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.on_terminal import OpenTerminal, Terminal
from support.running import Sandbox, Svc, ask
from support.suite.patience import patient

START = ("sandbox", "start", "--port", "0", "--db", ":memory:")
TIME = r"\d\d:\d\d:\d\d\.\d{3}"


def get(port: int, path: str) -> int:
    return ask(port, "GET", path)[0]


def port_of(terminal: Terminal) -> int:
    found = re.search(r"127\.0\.0\.1:(\d+)", terminal.read_until("Next:"))
    assert found
    return int(found[1])


def test_a_sandbox_on_a_terminal_shows_each_request(open_terminal: OpenTerminal, svc: Svc) -> None:
    """When, what, the status and how long it took; looks of svc's own are none."""
    with open_terminal(*START) as terminal:
        port = port_of(terminal)
        get(port, "/v1/orders")
        get(port, "/v1/orders/ord_none")
        get(port, "/_sandbox/health")
        get(port, "/checkout/ord_abc_secret_abcdefghijklmnop?key=pk_test_sandbox")
        seen = terminal.read_until("/checkout/")
        terminal.press_ctrl_c()
        terminal.end()
    lines = terminal.seen.partition("orders list\n")[2].splitlines()
    assert re.fullmatch(rf"{TIME}  GET   /v1/orders  200  \d+ ms", lines[0]), seen
    assert re.fullmatch(rf"{TIME}  GET   /v1/orders/ord_none  404  \d+ ms", lines[1])
    assert re.fullmatch(rf"{TIME}  GET   /checkout/ord_abc_secret_…mnop  404  \d+ ms", lines[2])


@pytest.mark.parametrize("how", ["quiet", "pipe"])
def test_whoever_wants_no_lines_gets_none(
    open_terminal: OpenTerminal, how: str, svc: Svc, tmp_path: Path
) -> None:
    """`-q` silences it; stdout of a program holds the one document (promise R72)."""
    argv = (*START, "--ready-file", str(tmp_path / "url"))
    if how == "quiet":
        with open_terminal(*argv, "-q") as terminal:
            get(port_of(terminal), "/v1/orders")
            terminal.press_ctrl_c()
            terminal.end()
        seen = terminal.seen
    else:
        process = subprocess.Popen(
            [sys.executable, "-m", "svc", *argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        url = written(tmp_path / "url")
        get(int(url.rpartition(":")[2]), "/v1/orders")
        process.send_signal(signal.SIGINT)
        seen = process.communicate()[0].decode()
        assert json.loads(seen)["url"] == url.strip()
    assert "GET" not in seen


def written(path: Path) -> str:
    end = time.monotonic() + patient(20)
    while not path.exists() or not path.read_text().endswith("\n"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return path.read_text()


@pytest.mark.effect_of("sandbox requests", "--follow")
def test_requests_are_followed_as_they_come(
    open_terminal: OpenTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """The latest of before are first, in the order in which they came; then each once."""
    for number in range(12):
        get(sandbox.port, f"/v1/orders/ord_{number:02d}")
    with open_terminal("sandbox", "requests", "--follow") as terminal:
        terminal.read_until("ord_11")
        get(sandbox.port, "/v1/payments")
        terminal.read_until("/v1/payments")
        sandbox.control("POST", "/reset")
        get(sandbox.port, "/v1/refunds/re_anew")
        terminal.read_until("re_anew")
        terminal.press_ctrl_c()
        assert terminal.end() == 130
    paths = re.findall(r"GET   (\S+)  \d+", terminal.seen)
    # On a busy machine a plain list of an earlier test came late.
    own = [path for path in paths if path != "/v1/orders"]
    before = [f"/v1/orders/ord_{number:02d}" for number in range(2, 12)]
    assert own == [*before, "/v1/payments", "/v1/refunds/re_anew"]
    assert re.search(r"/v1/orders/ord_11  404  resource_missing\n", terminal.seen)
    assert terminal.seen.endswith("^C\nStopped.\n")


class Following:
    """A `--follow` in a pipe."""

    def __init__(self, *argv: str) -> None:
        command = [sys.executable, "-m", "svc", "sandbox", *argv, "--follow"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def next(self) -> dict[str, object]:
        assert self.process.stdout is not None
        found: dict[str, object] = json.loads(self.process.stdout.readline())
        return found


@pytest.fixture
def following() -> Iterator[list[Following]]:
    begun: list[Following] = []
    yield begun
    for each in begun:
        each.process.terminate()
        each.process.communicate()


@pytest.mark.effect_of("sandbox requests", "--path")
def test_a_program_that_follows_reads_a_line_a_request(
    svc: Svc, sandbox: Sandbox, following: list[Following]
) -> None:
    get(sandbox.port, "/v1/orders")
    following.append(Following("requests", "--path", "/v1/*"))
    assert following[0].next()["path"] == "/v1/orders"
    get(sandbox.port, "/v1/payments")
    assert following[0].next()["path"] == "/v1/payments"


@pytest.mark.effect_of("sandbox logs", "--port")
def test_a_log_is_followed_line_by_line(
    svc: Svc, isolated: Path, following: list[Following]
) -> None:
    """Also over a new run that begins it anew."""
    started = svc.ok("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:")
    try:
        log = Path(started["log"])
        log.write_text("first\nsecond\n")
        following.append(Following("logs"))
        assert following[0].next()["line"] == "first"
        assert following[0].next()["line"] == "second"
        with log.open("a") as more:
            more.write("third\n")
        assert following[0].next()["line"] == "third"
        log.write_text("anew\n")
        assert following[0].next()["line"] == "anew"
    finally:
        svc.ok("sandbox", "stop")
