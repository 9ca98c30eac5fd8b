"""The records of the sandboxes that run on this machine: port, process, address, log.

A record is a file that its process holds locked for as long as it lives. The kernel lets go of
the lock when the process ends, however it ends: a record without a lock is stale, and the pid in a
locked record is that of the sandbox itself and never of a stranger who got the same number. `serve`
binds its port by `listen_on` and holds a record while it runs; `svc sandbox status`, `stop` and
`env`, and every command that means a local sandbox, find it by `list_running` or `find_running`.
"""

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from svc.errors import LocalError, name_failure, system_words
from svc.sandbox.options import LOOPBACK
from svc.service.facts import SANDBOX_HEADER, SANDBOX_ROOT
from svc.system import PORT_MAX, files, locks
from svc.system.loopback import claim

EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  only where `--bind` says so


def listen_on(port: int, bind: str = LOOPBACK) -> list[socket.socket]:
    """Binds a port on loopback, where svc looks for it, and on `bind`; 0 lets the system choose.

    Raises LocalError when the port is taken, not allowed or no port at all.
    """
    if not 0 <= port <= PORT_MAX:
        raise LocalError(f"{port} is not a port.", hint=f"Choose 1 to {PORT_MAX}, or 0 for any")
    if bind in (LOOPBACK, *EVERYWHERE):
        return [_listen(bind, port)]
    here = _listen(LOOPBACK, port)
    try:
        return [here, _listen(bind, here.getsockname()[1])]
    except LocalError:
        here.close()
        raise


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay off only on sockets that name their protocol.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        claim(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # `::` is loopback too
        sock.bind((host, port))
        # Listening decides who has the port: two sockets may have bound it.
        sock.listen()
    except OSError as error:
        sock.close()
        raise _refusal(host, port, error) from error
    return sock


def _refusal(host: str, port: int, error: OSError) -> LocalError:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < PORT_MAX else 0
        return LocalError(
            f"Port {port} on {host} is taken.",
            code="port_taken",
            # No sandbox of this home: that one is known before the port is asked for.
            hint=f"Another program has it; choose another: svc sandbox start --port {other}",
        )
    return LocalError(
        f"Port {port} on {host} cannot be used: {system_words(error)}.",
        code="port_refused",
        hint="Choose another: svc sandbox start --port 4242"
        if host == LOOPBACK
        else "--bind takes an address of this machine, such as 0.0.0.0 for all",
    )


_PATTERN: Final = "run-*.json"


class RunRecord(NamedTuple):
    """A running sandbox: its process, address, database and log; `started` is ISO 8601 in UTC.

    `log` is empty where there is none. `certificate` is the PEM file that clients trust, where it
    speaks https. `bind` is the address that it listens on beside loopback, where there is one.
    """

    pid: int
    port: int
    url: str
    db: str
    started: str
    log: str
    certificate: str | None = None
    bind: str | None = None


@contextmanager
def hold(folder: Path, record: RunRecord) -> Iterator[None]:
    """Holds this process's record; raises LocalError: the folder cannot be written."""
    path = _path(folder, record.port)
    hint = "Check the folder's owner and mode"
    with name_failure(f"The run record {path} cannot be written", hint=hint):
        files.make_private(folder)
        # The port is ours already.
        handle = locks.hold(path)
    try:
        # Without what is not set: an svc before this one knows no `bind`.
        kept = {name: value for name, value in record._asdict().items() if value is not None}
        os.write(handle, json.dumps(kept).encode())
        files.sync(handle)
        yield
    finally:
        locks.close_and_remove(handle, path)


def list_running(folder: Path) -> list[RunRecord]:
    """Lists the sandboxes that run now, by port; removes the records of those that died."""
    found = [_read(path) for path in folder.glob(_PATTERN)]
    return sorted((record for record in found if record is not None), key=lambda r: r.port)


def find_running(folder: Path, port: int) -> RunRecord | None:
    """Returns the sandbox of this user that runs on a port now."""
    return _read(_path(folder, port))


def is_running(folder: Path, record: RunRecord) -> bool:
    """Returns whether the very process of a record still runs."""
    return any(r.pid == record.pid and r.started == record.started for r in list_running(folder))


def _path(folder: Path, port: int) -> Path:
    return folder / f"run-{port}.json"


def _read(path: Path) -> RunRecord | None:
    with suppress(OSError):
        handle = locks.open_if_alive(path)
        if handle is not None:
            with os.fdopen(handle, "rb") as file:
                return _parse(file.read())
    return None


def _parse(data: bytes) -> RunRecord | None:
    # Between its lock and its first byte a record is empty; a reader finds none then.
    with suppress(ValueError, TypeError):
        noted = json.loads(data)
        # A newer svc may note more, and its sandbox is to be stopped from here all the same.
        return RunRecord(**{name: noted[name] for name in RunRecord._fields if name in noted})
    return None


_BODY_MAX: Final = 65536


def health(record: RunRecord, timeout: float = 2.0) -> dict[str, Any] | None:
    """Returns the health answer of a running sandbox, or None when none comes in `timeout` seconds.

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
