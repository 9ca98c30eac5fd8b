"""Reads an API key from a command of the user, such as that of a vault (`--key-command`).

`resolve` calls it when the profile in use names such a command: the command's first line of output
is the key of this svc command, and it is stored nowhere.
"""

import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from svc.errors import AuthError, system_words
from svc.keys.keyrings.backend import within
from svc.redaction import redact
from svc.system.processes import find_program

SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 1.0  # without a word
_BYTES_MAX: Final = 64 * 1024
_LINE_MAX: Final = 300


def read_key_from(
    command: str, env: Mapping[str, str], tell: Callable[[str], object], seconds: float = SECONDS
) -> str:
    """Runs a command without a shell; returns the first line that it prints, without storing it.

    `tell` gets a sentence once the command has taken a second: a vault may wait for a finger.

    Raises:
        AuthError: the command is not found, fails, prints nothing, or takes more than `seconds`.
        Stopped: a signal came.
    """
    argv = shlex.split(command)
    program = find_program(argv[0], env)
    if program is None:
        if "/" in argv[0] and not Path(argv[0]).is_absolute():
            where = "Change it: svc config set profiles.NAME.key_command COMMAND"
            raise _build_error(command, "its path is to be whole, from /", where)
        raise _build_error(command, f"there is no program {argv[0]} on PATH")
    try:
        process = subprocess.Popen(  # noqa: S603  the user's own command, from a private file
            [program, *argv[1:]],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise _build_error(command, system_words(error)) from None
    waits = f"Waits up to {seconds:g} s for the key command {argv[0]!r}"
    out, err = _outputs(process, command, seconds, lambda: tell(waits))
    if process.returncode:
        said = _first_line(err)
        raise _build_error(command, said or f"it ended with {process.returncode}")
    key = _first_line(out)
    if not key:
        raise _build_error(command, "its first line is empty")
    return key


def _outputs(
    process: "subprocess.Popen[bytes]", command: str, seconds: float, tell: Callable[[], object]
) -> tuple[bytes, bytes]:
    first = min(_SILENT_SECONDS, seconds / 2)

    def wait_on() -> float:
        tell()
        return seconds - first

    try:
        return within(first, process.communicate, wait_on)
    except TimeoutError:
        raise _build_error(command, f"it takes more than {seconds:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()


def _first_line(data: bytes) -> str:
    text = data[:_BYTES_MAX].decode("utf-8", "replace").strip()
    return text.splitlines()[0].strip() if text else ""


def _build_error(
    command: str, why: str, hint: str = "Run it by itself to see what it prints"
) -> AuthError:
    return AuthError(
        f"The key command {shlex.split(command)[0]!r} gave no key: {redact(why)[:_LINE_MAX]}.",
        code="key_command_failed",
        outcome="not_sent",
        hint=hint,
    )
