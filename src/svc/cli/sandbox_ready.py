"""What is said and written once a sandbox answers."""

from dataclasses import asdict
from pathlib import Path

from svc.cli.naming import show_named
from svc.cli.sandbox_profile import NAME, remember
from svc.cli.session import Session
from svc.errors import LocalError
from svc.sandbox.launch_options import MEMORY
from svc.sandbox.records import RunRecord
from svc.system.files import write_whole
from svc.system.supervisor import tell_ready


def announce(
    session: Session, record: RunRecord, ready_file: Path | None, *, detached: bool
) -> None:
    """Writes the profile and the ready file, then prints how to go on.

    Raises:
        LocalError: the ready file cannot be written.
    """
    profile = remember(session, record)
    if ready_file is not None:
        _write(ready_file, record.url + "\n")
    if not detached:
        tell_ready(session.env)
    if session.format != "human":
        shown = {"object": "sandbox_process", **asdict(record)}
        shown["profile"] = None if profile is None else NAME
        show_named(session, session.out, shown, "url")
        return
    end = f"pid {record.pid}; svc sandbox stop ends it" if detached else "Ctrl-C to stop"
    session.out.line(f"Sandbox ready at {record.url}  ({end})")
    memory = "in memory, gone when it stops"
    session.out.line(f"Data: {memory if record.db == MEMORY else record.db}")
    if profile is not None:
        words = " ".join(filter(None, ("svc", profile, "orders list")))
        session.out.line(f"Next: {words}")
    else:
        session.out.line(f'Next: eval "$(svc sandbox env --port {record.port})"; svc orders list')


def forget(ready_file: Path | None) -> None:
    """Takes away the ready file of an earlier run, so that nobody believes it.

    Raises:
        LocalError: it cannot be removed.
    """
    if ready_file is not None:
        try:
            ready_file.unlink(missing_ok=True)
        except OSError as error:
            raise LocalError(f"{ready_file} cannot be written: {error.strerror}.") from error


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise LocalError(f"{path} cannot be written: {error.strerror}.") from error
