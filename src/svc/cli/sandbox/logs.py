"""`svc sandbox logs`: what a sandbox's process has warned of, shown or followed."""

from collections.abc import Iterator
from pathlib import Path

import typer

from svc.cli.framework.app import new_app, verb
from svc.cli.framework.local_sandbox import log_of
from svc.cli.framework.session import Session
from svc.cli.sandbox.shared import FOLLOW_SECONDS, Follow, Port, refuse_whole
from svc.errors import LocalError, system_words

app = new_app()


@verb(app)
def logs(ctx: typer.Context, port: Port = None, follow: Follow = False) -> None:
    """Show a sandbox's warnings and errors; with --follow further ones as they come.

    $ svc sandbox logs
    $ svc sandbox logs --follow
    """
    session = Session.of(ctx)
    if follow:
        refuse_whole(session)
    path = log_of(session.paths.sandbox_dir, port)
    lines = _read(path, 0).decode("utf-8", "replace").splitlines()
    if follow:
        _follow(session, path)
    elif session.format != "human":
        session.out.value({"object": "log", "file": str(path), "lines": lines})
    else:
        for line in lines or [f"Nothing is written in {path}."]:
            session.out.line(line)


def _follow(session: Session, path: Path) -> None:
    session.is_long_running()
    if session.format == "human" and not path.stat().st_size:
        session.out.note(f"Nothing is written in {path} yet.")
    for line in _as_they_come(session, path):
        if session.format == "human":
            session.out.line(line)
        else:
            session.out.record({"object": "log_line", "file": str(path), "line": line})


def _as_they_come(session: Session, path: Path) -> Iterator[str]:
    """Gives each whole line that is there or is written later; never ends by itself."""
    read, rest = 0, b""
    while True:
        if path.stat().st_size < read:  # a new run of the sandbox begins a long log anew
            read, rest = 0, b""
        part = _read(path, read)
        read += len(part)
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
        session.clock.sleep(FOLLOW_SECONDS)


def _read(path: Path, start: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read()
    except OSError as error:
        raise LocalError(f"The log {path} cannot be read: {system_words(error)}.") from error
