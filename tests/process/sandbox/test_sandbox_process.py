"""Real sandbox processes in the background: starting, finding and stopping them."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.kills.killing import kill_sandboxes
from support.launching import launch_options
from support.orders import ORDER
from support.running import api
from svc.clock import SystemClock
from svc.errors import LocalError
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord, health, list_running

Start = Callable[..., RunRecord]


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Starts sandboxes on ports that the system chooses and kills them with the test."""
    started: list[RunRecord] = []

    def begin(**changes: Any) -> RunRecord:
        options = launch_options(folder, db=str(folder / "sandbox.db"))
        record = launch.start(replace(options, **changes), os.environ, SystemClock())
        started.append(record)
        return record

    yield begin
    kill_sandboxes(folder)
    for record in started:
        reap(record.pid)


def reap(pid: int) -> None:
    """Takes the exit status of a child of ours, if it is one."""
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def test_started_sandbox_answers_and_is_found(start: Start, folder: Path) -> None:
    """`start` returns when requests are answered; the process leads its own session."""
    record = start()
    assert health(record) is not None
    assert list_running(folder) == [record]
    assert os.getsid(record.pid) == record.pid
    assert record.url == f"http://127.0.0.1:{record.port}"
    assert Path(record.log).stat().st_mode & 0o777 == 0o600
    assert api(record.port, "POST", "/v1/orders", ORDER)["object"] == "order"


def test_kill_loses_nothing(start: Start, folder: Path) -> None:
    """R82: what was acknowledged before a kill -9 is there, and the dead one is not listed."""
    first = start()
    order = api(first.port, "POST", "/v1/orders", ORDER)
    os.kill(first.pid, signal.SIGKILL)
    reap(first.pid)
    assert list_running(folder) == []
    assert api(start().port, "GET", f"/v1/orders/{order['id']}")["id"] == order["id"]


@pytest.mark.usefixtures("quick_sandboxes")
def test_stop_of_one_that_is_gone_signals_nobody(start: Start, folder: Path) -> None:
    """A record whose process has ended is `gone`; its pid may be a stranger's by now."""
    record = start()
    launch.stop(folder, record, SystemClock())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        stale = record._replace(pid=stranger.pid)
        assert launch.stop(folder, stale, SystemClock()) == "gone"
        assert stranger.poll() is None
        stranger.communicate(b"\n")


@pytest.mark.usefixtures("quick_sandboxes")
def test_sandbox_that_hangs_is_killed(start: Start, folder: Path) -> None:
    """A process that does not react to SIGTERM is killed after the time given."""
    record = start()
    os.kill(record.pid, signal.SIGSTOP)
    assert launch.stop(folder, record, SystemClock(), timeout=0.2) == "killed"
    assert list_running(folder) == []


def test_secrets_are_not_handed_on(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """R43: the environment of the process holds no API key and no webhook secret."""
    monkeypatch.setenv("SVC_API_KEY", "sk_test_canary")
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", "whsec_canary")
    monkeypatch.setenv("HARMLESS", "kept")
    environment = Path(f"/proc/{start(db=':memory:').pid}/environ").read_bytes()
    assert b"canary" not in environment
    assert b"HARMLESS=kept" in environment


def test_program_in_the_working_directory_does_not_run(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted folder named svc is not imported."""
    (tmp_path / "svc").mkdir()
    (tmp_path / "svc" / "__init__.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    assert health(start(db=":memory:")) is not None


def test_process_that_cannot_run_says_why(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    broken = {"PYTHONPATH": str(folder), "PATH": os.environ["PATH"]}
    (folder / "sitecustomize.py").write_text("raise SystemExit('no start today')")
    options = launch_options(folder)
    with pytest.raises(LocalError, match="no start today"):
        launch.start(options, broken, SystemClock())


HALF = (
    "POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk_test_sandbox\r\n"
    "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
)


@pytest.mark.usefixtures("quick_sandboxes")
def test_stop_with_half_a_request_leaves_no_traceback(start: Start, folder: Path) -> None:
    """The log says that it was cut off, and nothing of where in the program; the caller is told."""
    record = start(db=":memory:")
    with socket.create_connection(("127.0.0.1", record.port), timeout=60) as caller:
        caller.sendall(HALF.encode())
        api(record.port, "GET", "/v1/orders")  # the half has come before this
        launch.stop(folder, record, SystemClock())
        answer = b"".join(iter(lambda: caller.recv(65536), b"")).decode()
    assert answer.startswith("HTTP/1.1 503 ")
    assert '"code":"service_unavailable"' in answer
    log = Path(record.log).read_text()
    assert "Cancel 1 running task" in log
    assert "Traceback" not in log
