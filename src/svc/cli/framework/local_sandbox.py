"""Finds the running sandbox of this machine that a command means, by port or by address.

It reads the records of running sandboxes. `session` uses it to refuse to send a key to another
program on a sandbox's port, `invocation` to tell that an address is a sandbox's and to trust its
certificate; `svc sandbox stop`, `status`, `env` and `logs` find their process.
"""

from pathlib import Path

from svc.base_url import BaseUrl
from svc.errors import CheckFailed, NetworkError, UsageError
from svc.sandbox.process.records import RunRecord, find_running, list_running
from svc.service.facts import SANDBOX_PORT
from svc.system.loopback import listens

_HINT = "svc sandbox start --detach"


def find_running_sandbox(folder: Path, port: int | None) -> RunRecord:
    """Returns the running sandbox, or the one on `port` where several run.

    Raises:
        CheckFailed: when none runs (there).
        UsageError: when several run and no port was given.
    """
    found = [each for each in list_running(folder) if port in (None, each.port)]
    if not found:
        where = "" if port is None else f" on port {port}"
        message = f"No sandbox is running{where}."
        raise CheckFailed(message, code="sandbox_not_running", hint=_HINT)
    if len(found) > 1:
        ports = ", ".join(str(each.port) for each in found)
        raise UsageError(
            f"{len(found)} sandboxes are running, on ports {ports}.",
            hint=f"Choose one: --port {found[0].port}",
        )
    return found[0]


def at(folder: Path, address: BaseUrl) -> RunRecord | None:
    """Returns the record of this user's sandbox that runs at an address, else None."""
    there = find_running(folder, address.port)
    return there if there and BaseUrl.parse(there.url).origin == address.origin else None


def runs_at(folder: Path, address: BaseUrl) -> bool:
    """Returns whether a sandbox of this user runs at an address."""
    return at(folder, address) is not None


def require_running(folder: Path, address: BaseUrl) -> None:
    """Checks that a sandbox of this user runs at an address.

    Raises:
        NetworkError: no such sandbox runs there; another process may have its port (R106).
    """
    if runs_at(folder, address):
        return
    message, hint = f"No sandbox runs at {address.origin}.", f"Start it: {_HINT}"
    if listens(address.host, address.port):
        message = f"No sandbox of yours runs at {address.origin}; what answers there gets no key."
        hint = f"Name it to use it all the same, --base-url {address}, or start yours: {_HINT}"
    elif address.port != SANDBOX_PORT:
        hint += f" --port {address.port}"
    raise NetworkError(message, code="sandbox_not_running", outcome="not_sent", hint=hint)


def log_of(folder: Path, port: int | None) -> Path:
    """Returns the log file of a running sandbox, else the one that was written last.

    Raises:
        CheckFailed: when there is no log.
        UsageError: when several run and no port was given.
    """
    if port is None and list_running(folder):
        return Path(find_running_sandbox(folder, None).log)
    logs = list(folder.glob("sandbox-*.log" if port is None else f"sandbox-{port}.log"))
    if not logs:
        raise CheckFailed("No sandbox has run here.", code="sandbox_not_running", hint=_HINT)
    return max(logs, key=lambda path: path.stat().st_mtime)
