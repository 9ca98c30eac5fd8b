"""Sandboxes that run on this machine: the port they listen on, their records, their health.

A record is a file that its process holds locked for as long as it lives. The kernel lets go of
the lock when the process ends, however it ends: a record without a lock is stale, and the pid in a
locked record is that of the sandbox itself and never of a stranger who got the same number.
"""

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from svc.errors import LocalError, system_words
from svc.service.facts import SANDBOX_HEADER, SANDBOX_ROOT
from svc.system import PORT_MAX, files, locks
from svc.system.loopback import claim

LOOPBACK: Final = "127.0.0.1"


def listen_on(port: int) -> socket.socket:
    """Binds a loopback port; 0 lets the system choose one.

    Raises LocalError when the port is taken, not allowed or no port at all.
    """
    if not 0 <= port <= PORT_MAX:
        raise LocalError(f"{port} is no port.", hint=f"Choose 1 to {PORT_MAX}, or 0 for any")
    # asyncio switches Nagle's delay off only on sockets that name their protocol.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        claim(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind((LOOPBACK, port))
        # Listening decides who has the port: two sockets may have bound it.
        sock.listen()
    except OSError as error:
        sock.close()
        raise _refusal(port, error) from error
    return sock


def _refusal(port: int, error: OSError) -> LocalError:
    if error.errno == errno.EADDRINUSE:
        return LocalError(
            f"Port {port} on {LOOPBACK} is taken.",
            code="port_taken",
            # No sandbox of this home: that one is known before the port is asked for.
            hint=f"Another program has it; choose another: svc sandbox start --port {_other(port)}",
        )
    return LocalError(
        f"Port {port} on {LOOPBACK} cannot be used: {system_words(error)}.",
        code="port_refused",
        hint="Choose another: svc sandbox start --port 4242",
    )


def _other(port: int) -> int:
    return port + 1 if port < PORT_MAX else 0


_PATTERN: Final = "run-*.json"
_RECORD_MAX: Final = 65536


class RunRecord(NamedTuple):
    """A running sandbox: its process, address, database and log; `started` is ISO 8601 in UTC.

    `log` is empty where there is none. `certificate` is the PEM file that clients trust, where it
    speaks https.
    """

    pid: int
    port: int
    url: str
    db: str
    started: str
    log: str
    certificate: str | None = None


@contextmanager
def holding(folder: Path, record: RunRecord) -> Iterator[None]:
    """Writes the record of this process and holds it until the block ends.

    Raises LocalError when the folder cannot be written.
    """
    path = _path(folder, record.port)
    try:
        files.make_private(folder)
        # The port is ours already.
        handle = locks.hold(path)
    except OSError as error:
        raise LocalError(
            f"The run record {path} cannot be written: {system_words(error)}.",
            hint="Check the folder's owner and mode",
        ) from error
    try:
        os.write(handle, json.dumps(record._asdict()).encode())
        files.sync(handle)
        yield
    finally:
        locks.close_and_remove(handle, path)


def running(folder: Path) -> list[RunRecord]:
    """Lists the sandboxes that run now, by port; removes the records of those that died."""
    found = [_read(path) for path in folder.glob(_PATTERN)]
    return sorted((record for record in found if record is not None), key=lambda r: r.port)


def running_at(folder: Path, port: int) -> RunRecord | None:
    """Gives the sandbox of this user that runs on a port now."""
    return _read(_path(folder, port))


def is_running(folder: Path, record: RunRecord) -> bool:
    """Says whether the very process of a record still runs."""
    return any(r.pid == record.pid and r.started == record.started for r in running(folder))


def _path(folder: Path, port: int) -> Path:
    return folder / f"run-{port}.json"


def _read(path: Path) -> RunRecord | None:
    with suppress(OSError):
        handle = locks.look(path)
        if handle is not None:
            with os.fdopen(handle, "rb") as file:
                return _parse(file.read(_RECORD_MAX))
    return None


def _parse(data: bytes) -> RunRecord | None:
    # Between its lock and its first byte a record is empty; whoever reads then finds none yet.
    with suppress(ValueError, TypeError):
        return RunRecord(**json.loads(data))
    return None


_BODY_MAX: Final = 65536


def health(record: RunRecord, timeout: float = 2.0) -> dict[str, Any] | None:
    """Gives the health answer of a running sandbox, or None when none comes in `timeout` seconds.

    A TLS sandbox must show a certificate that its record vouches for.
    """
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    if record.certificate is None:
        connection = HTTPConnection(LOOPBACK, record.port, timeout=timeout)
    else:
        from ssl import create_default_context

        context = create_default_context(cafile=record.certificate)
        connection = HTTPSConnection(LOOPBACK, record.port, timeout=timeout, context=context)
    try:
        connection.request("GET", f"{SANDBOX_ROOT}/health", headers={SANDBOX_HEADER: "1"})
        answer = json.loads(connection.getresponse().read(_BODY_MAX))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) and answer.get("object") == "sandbox" else None
