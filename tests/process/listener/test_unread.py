"""Whoever reads the screen may stop: the listener receives, forwards and ends all the same."""

import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.listening import PATH, SECRET, TargetServer, delivery, event, read_answer, status
from support.suite.patience import patient, until

EVENTS = 150


@contextmanager
def unread(form: str, out: int, target: int, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs a listener whose stdout is `out`."""
    argv = ("events", "listen", "--base-url", "http://127.0.0.1:1", "--forward-to", str(target))
    ready = folder / "ready"
    process = subprocess.Popen(
        [sys.executable, "-m", "svc", *argv, "-o", form, "--ready-file", str(ready)],
        stdout=out,
        stderr=subprocess.PIPE,
        env={**os.environ, "SVC_WEBHOOK_SECRET": SECRET},
    )
    try:
        until(lambda: ready.exists() and ready.read_text().endswith("\n"))
        yield process
    finally:
        process.kill()
        process.communicate()


def deliver_all(folder: Path) -> None:
    """Delivers the events, each large enough that few of their lines fill a pipe."""
    url = json.loads((folder / "ready").read_text())["url"]
    port, path = url.rpartition(":")[2].split("/", 1)
    now = int(time.time())
    with socket.create_connection(("127.0.0.1", int(port)), 60) as peer:
        for number in range(1, EVENTS + 1):
            sent = delivery(event(number, note="x" * 2000), now=now)
            peer.sendall(sent.replace(PATH.encode(), f"/{path}".encode(), 1))
            assert status(read_answer(peer)) == 200


def wait_for(target: TargetServer) -> None:
    until(lambda: len(target.received) >= EVENTS, lambda: len(target.received))


@pytest.mark.parametrize("read_late", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_pipe_that_is_not_read_stops_nothing(read_late: bool, tmp_path: Path) -> None:
    """R122: all is forwarded; a signal ends it within a second; data read late is whole."""
    reading, writing = os.pipe()
    with TargetServer() as target, unread("ndjson", writing, target.port, tmp_path) as process:
        os.close(writing)
        deliver_all(tmp_path)
        wait_for(target)
        data = b""
        while read_late and data.count(b'"record":"event"') < EVENTS:
            data += os.read(reading, 1 << 16)
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
        assert time.monotonic() - started < patient(1)
    os.set_blocking(reading, True)
    while more := os.read(reading, 1 << 16):
        data += more
    os.close(reading)
    if read_late:
        records = [json.loads(line) for line in data.splitlines()]
        ids = [one["id"] for one in records if one["record"] == "event"]
        assert ids == [f"evt_{number}" for number in range(1, EVENTS + 1)]
        assert records[-1]["record"] == "summary"


def test_a_stopped_terminal_stops_nothing(tmp_path: Path) -> None:
    """R122: Ctrl-S; all is forwarded, a signal ends it; other programs write to it as before."""
    ours, theirs = pty.openpty()
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_NONBLOCK)
    with TargetServer() as target, unread("human", theirs, target.port, tmp_path) as process:
        termios.tcflow(theirs, termios.TCOOFF)
        deliver_all(tmp_path)
        wait_for(target)
        assert not fcntl.fcntl(theirs, fcntl.F_GETFL) & os.O_NONBLOCK
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
        assert time.monotonic() - started < patient(1)
    os.close(theirs)
    os.close(ours)
