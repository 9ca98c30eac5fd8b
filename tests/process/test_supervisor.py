"""A supervisor is told when svc is ready, and SIGTERM is how it ends it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.running import Sandbox
from support.suite.patience import WAIT_SECONDS


@pytest.fixture
def notices(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket that systemd names in NOTIFY_SOCKET; a short name, as the system wants."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0svc-test-{os.getpid()}-{tmp_path.name}"[:100])
        listening.settimeout(WAIT_SECONDS)
        yield listening


def name_of(notices: socket.socket) -> str:
    return f"@{notices.getsockname()[1:].decode()}"


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(
            ("sandbox", "start", "--db", ":memory:", "--port", "0", "-o", "ndjson"),
            marks=pytest.mark.slow,
        ),
        ("events", "listen", "--forward-to", "http://127.0.0.1:9/x", "-o", "ndjson"),
    ],
)
def test_service_is_ready_and_ends_as_its_unit_expects(
    argv: tuple[str, ...], notices: socket.socket, sandbox: Sandbox
) -> None:
    """READY=1 once it answers; 143 after SIGTERM, which the shown unit counts as success."""
    with subprocess.Popen(
        [sys.executable, "-m", "svc", *argv],
        env={**os.environ, "NOTIFY_SOCKET": name_of(notices)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert notices.recv(100) == b"READY=1"
            process.send_signal(signal.SIGTERM)
            process.communicate()
        finally:
            process.kill()
    assert process.returncode in (143, -signal.SIGTERM)
