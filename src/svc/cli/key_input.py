"""Taking a secret from a person or a pipe, never from the command line (promises R31, R44)."""

from typing import TextIO

from svc.cli.session import Session
from svc.errors import UsageError
from svc.keys.kinds import without_line_end
from svc.system.memory import keep_unread

_BYTES_MAX = 65_536
_ADD = "svc keys add"


def may_ask(session: Session) -> bool:
    """Says whether somebody is at the terminal and wants to be asked (promise R76)."""
    return session.streams.person_answers and not session.given.everywhere.no_input


def read_secret(session: Session, prompt: str, *, stdin: bool, command: str = _ADD) -> str:
    """Reads one secret: piped in with `--stdin`, else typed at the terminal without echo.

    With `--stdin` and no pipe it is typed as well: reading a terminal would show it.

    `command` is what is being run, such as `svc keys add`, for the error.

    Raises:
        UsageError: nobody is at a terminal, and `--stdin` is not given (promise R76).
    """
    keep_unread()
    if stdin and not may_ask(session):
        return without_line_end(_piped(session.streams.stdin))
    if not may_ask(session):
        raise UsageError(
            "There is nobody to type the key.",
            code="input_required",
            param="--stdin",
            hint=f"Pipe it in: {command} --stdin < FILE",
        )
    from getpass import getpass

    try:
        return getpass(prompt)
    except EOFError:
        raise UsageError("Nothing was typed.", code="input_required") from None


def _piped(stream: TextIO) -> str:
    """Reads the bytes as they are: a text stream would hide a carriage return."""
    raw = getattr(stream, "buffer", None)
    if raw is None:
        return stream.read(_BYTES_MAX)
    data: bytes = raw.read(_BYTES_MAX)
    return data.decode("utf-8", errors="surrogateescape")
