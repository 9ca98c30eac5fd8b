"""Asking a person before something is thrown away; a program is not asked."""

from svc.cli.session import Session
from svc.errors import UsageError
from svc.render.text import one_line


def ask_person(session: Session, what: str) -> None:
    """Asks y/N where somebody is at the terminal; `--yes` and `--no-input` go on without.

    Raises:
        UsageError: the answer was not yes; nothing was changed.
    """
    asked = session.given.everywhere
    if asked.yes or asked.no_input or not session.streams.person_answers:
        return
    stderr = session.streams.stderr
    stderr.write(f"{one_line(what)}\nGo ahead? [y/N] ")
    stderr.flush()
    if session.streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Stopped: the answer was not yes.", code="not_confirmed")
