"""Taking a secret from a person or a pipe, never from the command line (promises R31, R44)."""

from typing import TextIO

from svc.cli.session import Session
from svc.errors import UsageError
from svc.keys.kinds import from_stdin

_BYTES_MAX = 65_536


def read_secret(session: Session, prompt: str, *, stdin: bool) -> str:
    """Reads one secret: piped in with `--stdin`, else typed at the terminal without echo.

    Raises:
        UsageError: nobody is at a terminal, and `--stdin` is not given (promise R76).
    """
    if stdin:
        return from_stdin(_piped(session.streams.stdin))
    if session.given.everywhere.no_input or not session.streams.person_answers:
        raise UsageError(
            "There is nobody to type the key.",
            code="input_required",
            param="--stdin",
            hint="Pipe it in: svc keys add --stdin < FILE",
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
