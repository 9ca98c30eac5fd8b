"""A page that is longer than the screen, through the pager of whoever reads it."""

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from svc.cli.framework.prompts import HELD_BACK
from svc.cli.framework.session import Session

_USUAL: Final = "less"
# As git has it: colours shown, the page left on the screen, no stop where it fits after all.
_LESS: Final = "FRX"


def print_page(session: Session, text: str) -> None:
    """Prints a page; on a terminal that it is too long for through `$PAGER`, else `less`.

    An empty `PAGER` and `cat` mean none, and so does a terminal that knows no movements.
    """
    command = _pager(session, text)
    if not command or not _paged(session, command, text):
        session.streams.stdout.write(text)


def _pager(session: Session, text: str) -> list[str]:
    """The command of a pager with its whole path, or nothing where there is none to be used."""
    streams, env = session.streams, session.env
    if not (streams.person_reads and streams.person_answers) or env.get("TERM") == "dumb":
        return []
    if text.count("\n") < _rows(session):
        return []
    try:
        words = shlex.split(env.get("PAGER", _USUAL))
    except ValueError:  # a quote that nothing closes
        return []
    program = shutil.which(words[0], path=env.get("PATH")) if words else None
    # Never one of the folder in which svc was called, where anybody may have put it.
    if program is None or words == ["cat"] or not Path(program).is_absolute():
        return []
    return [program, *words[1:]]


def _rows(session: Session) -> int:
    """How many lines a person sees at a time; more than any page has where nobody can tell."""
    given = session.env.get("LINES", "")
    if given.isdigit() and int(given):
        return int(given)
    with suppress(OSError, ValueError):
        lines = os.get_terminal_size(session.streams.stdout.fileno()).lines
        if lines:
            return lines
    return 1_000_000


def _paged(session: Session, command: list[str], text: str) -> bool:
    """Has a pager show a text; says whether it could be started."""
    env = {"LESS": _LESS, **session.env}
    for name in HELD_BACK:
        env.pop(name, None)
    session.streams.stdout.flush()
    # Ctrl-C is the pager's: it must be the one that gives the terminal back.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with (
            subprocess.Popen(command, stdin=subprocess.PIPE, env=env) as pager,  # noqa: S603  theirs
            suppress(BrokenPipeError),  # whoever reads has had enough
        ):
            pager.communicate(text.encode(session.streams.stdout.encoding or "utf-8", "replace"))
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True
