"""The server process: ready, stopping, failing (with a tiny app in place of the service)."""

import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.running import api, ask
from support.suite.patience import patient, until
from svc.sandbox.process.records import health, list_running

pytestmark = pytest.mark.smoke

FAILS_AT_START = 1
Start = Callable[..., Any]


def ends(process: Any, number: signal.Signals) -> float:
    """Sends a signal and gives the seconds until the process has ended."""
    begun = time.monotonic()
    process.send_signal(number)
    process.wait()
    return time.monotonic() - begun


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_signal_ends_it_gracefully(stub: Start, folder: Path, number: signal.Signals) -> None:
    """R78: within a second, after the app has closed, and the signal still is what ended it."""
    sandbox = stub()
    assert list(folder.glob("run-*"))
    assert ends(sandbox.process, number) < patient(1)
    assert sandbox.process.returncode == -number
    assert (folder / "diary").read_text() == "down"
    assert list_running(folder) == []
    assert not list(folder.glob("run-*"))


def test_idle_connection_does_not_hold_it_up(stub: Start) -> None:
    """A client that keeps its connection open does not delay the end."""
    sandbox = stub()
    with socket.create_connection(("127.0.0.1", sandbox.record.port)) as idle:
        idle.sendall(b"GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(65536).startswith(b"HTTP/1.1 200")
        assert ends(sandbox.process, signal.SIGTERM) < patient(1)


def test_short_request_in_flight_is_answered(stub: Start, folder: Path) -> None:
    """A request that is being worked on gets its answer before the end."""
    sandbox = stub()
    with socket.create_connection(("127.0.0.1", sandbox.record.port), timeout=60) as client:
        client.sendall(b"GET /slow?seconds=0.2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: (folder / "diary").read_text() == "asked")
        sandbox.process.send_signal(signal.SIGTERM)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
    sandbox.process.wait()


def test_long_request_in_flight_is_cut(stub: Start, folder: Path) -> None:
    """R78: a request that would take a minute does not keep the process beyond a second."""
    sandbox = stub()
    with socket.create_connection(("127.0.0.1", sandbox.record.port), timeout=60) as client:
        client.sendall(b"GET /slow?seconds=60 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: (folder / "diary").read_text() == "asked")
        assert ends(sandbox.process, signal.SIGTERM) < patient(1)
    assert (folder / "diary").read_text() == "down"


def test_bug_in_the_app_goes_to_the_log(stub: Start) -> None:
    """A traceback is for the log, never for the terminal."""
    sandbox = stub()
    assert ask(sandbox.record.port, "GET", "/broken")[0] == 500
    assert sandbox.end() == ""
    assert "a bug in the app" in Path(sandbox.record.log).read_text()


def test_app_that_fails_to_start_is_one_line(stub: Start, folder: Path) -> None:
    """The app's own error comes out, without a traceback, and no record stays."""
    sandbox = stub(seed=FAILS_AT_START)
    assert sandbox.said == {"error": "The engine would not start.", "hint": "Try again"}
    assert sandbox.process.wait() == 10
    assert sandbox.end() == ""
    assert not list(folder.glob("run-*"))


def test_forwarding_headers_are_not_believed(stub: Start) -> None:
    """Plain HTTP stays plain HTTP, whatever X-Forwarded-Proto says."""
    sandbox = stub()
    claim = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    assert api(sandbox.record.port, "GET", "/_sandbox/health", **claim)["scheme"] == "http"


def test_only_loopback_is_bound(stub: Start) -> None:
    """R89: the process listens on one socket, and that is on 127.0.0.1."""
    sandbox = stub()
    own = {str(fd.readlink()) for fd in Path(f"/proc/{sandbox.process.pid}/fd").iterdir()}
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                listening.append(fields[1])
    assert listening == [f"0100007F:{sandbox.record.port:04X}"]


def test_log_begins_anew_when_it_is_long(stub: Start) -> None:
    first = stub()
    log = Path(first.record.log)
    ends(first.process, signal.SIGTERM)
    log.write_text("x" * (1024 * 1024 + 1))
    stub(port=first.record.port)
    assert log.stat().st_size == 0


def test_health_of_something_else_is_none(stub: Start) -> None:
    sandbox = stub()
    ends(sandbox.process, signal.SIGTERM)
    assert health(sandbox.record, timeout=1) is None
    with socket.create_server(("127.0.0.1", sandbox.record.port)):
        assert health(sandbox.record, timeout=0.1) is None
