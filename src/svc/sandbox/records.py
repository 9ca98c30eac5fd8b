"""Run records: how `stop` and `status` find the sandboxes that run on this machine.

A record is a file that its process holds locked for as long as it lives. The kernel lets go of
the lock when the process ends, however it ends: a record without a lock is stale, and the pid in a
locked record is that of the sandbox itself and never of a stranger who got the same number.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from svc.errors import LocalError
from svc.system import files, locks

_PATTERN: Final = "run-*.json"
_TRIES: Final = 50


@dataclass(frozen=True, slots=True)
class RunRecord:
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
        handle = _claim(path)
    except OSError as error:
        raise LocalError(
            f"The run record {path} cannot be written: {error.strerror}.",
            hint="Check the folder's owner and mode, or set SVC_STATE_DIR",
        ) from error
    try:
        os.write(handle, json.dumps(asdict(record)).encode())
        os.fsync(handle)
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


def _claim(path: Path) -> int:
    # The port is ours already, so whoever holds the file is a reader about to find it stale.
    for _ in range(_TRIES):
        handle = files.open_private(path, os.O_RDWR | os.O_CREAT)
        try:
            locks.wait_for(handle)
            if _is_at(handle, path):
                os.ftruncate(handle, 0)
                files.keep_private(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # a reader removed it between our opening and our locking
    raise OSError(0, "it is removed again and again")


def _read(path: Path) -> RunRecord | None:
    try:
        handle = files.open_private(path, os.O_RDONLY)
    except OSError:
        return None
    stale = False
    try:
        if not files.is_mine(os.fstat(handle)):
            return None  # anybody can write one, and hold it
        # Only looked at: a second reader at the same moment must not look like a living sandbox.
        if not locks.is_free(handle):
            return _parse(os.read(handle, 65536))
        stale = _is_at(handle, path)
        return None
    finally:
        if stale:
            locks.close_and_remove(handle, path)
        else:
            os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


def _parse(data: bytes) -> RunRecord | None:
    # Between its lock and its first byte a record is empty; whoever reads then finds none yet.
    with suppress(ValueError, TypeError):
        return RunRecord(**json.loads(data))
    return None
