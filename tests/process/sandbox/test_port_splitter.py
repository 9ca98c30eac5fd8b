"""One port for TLS and plain HTTP: who is let in, and who does no harm."""

import socket
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.suite.patience import patient
from svc.sandbox.process.certificate import issue

Start = Callable[..., Any]
ASK = b"GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture
def secured(stub: Start, tmp_path: Path) -> Any:
    """A stub sandbox that speaks TLS."""
    issued = issue(datetime.now(UTC))
    files = {"authority": issued.authority, "certificate": issued.certificate}
    files["private_key"] = issued.private_key
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    return stub(**{name: str(tmp_path / name) for name in files})


def said(connection: socket.socket) -> bytes:
    """Everything until the other side closes; nothing if it resets."""
    received = b""
    try:
        while part := connection.recv(65536):
            received += part
    except ConnectionError:
        pass
    return received


def plain(port: int, words: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(words)
        return said(connection)


def over_tls(secured: Any, words: bytes) -> bytes:
    record = secured.record
    context = ssl.create_default_context(cafile=record.certificate)
    with (
        socket.create_connection(("127.0.0.1", record.port), timeout=60) as connection,
        context.wrap_socket(connection, server_hostname="localhost") as line,
    ):
        line.sendall(words)
        return said(line)


def test_noise_is_turned_away(secured: Any) -> None:
    """Half a handshake, nonsense, or nothing at all: others are served as before."""
    port = secured.record.port
    plain(port, b"\x16\x03\x01\xff\xff" + b"x" * 400)
    assert not plain(port, b"\x00\x01\x02\r\n\r\n").startswith(b"HTTP/1.1 200")
    socket.create_connection(("127.0.0.1", port)).close()
    assert over_tls(secured, ASK).startswith(b"HTTP/1.1 200")


def test_silent_guests_do_not_hold_up_the_end(secured: Any) -> None:
    """R78: connections that say nothing, or half a handshake, are closed within a second."""
    port = secured.record.port
    silent = socket.create_connection(("127.0.0.1", port), timeout=60)
    half = socket.create_connection(("127.0.0.1", port), timeout=60)
    with silent, half:
        half.sendall(b"\x16\x03\x01")
        time.sleep(0.05)
        begun = time.monotonic()
        assert secured.end() == ""
        assert time.monotonic() - begun < patient(1)
        assert said(silent) == b""


def test_many_guests_at_once(secured: Any) -> None:
    """A hundred open connections of both kinds, each answered."""
    port = secured.record.port
    guests = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(100)]
    try:
        for guest in guests:
            guest.sendall(ASK)
        answers = [said(guest) for guest in guests]
    finally:
        for guest in guests:
            guest.close()
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
