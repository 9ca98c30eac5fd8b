"""Parses `--run TYPE=COMMAND`: a target that is a command, started without a shell for each event.

`routes` makes a `CommandTarget` of the option; `running` starts it for each event.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from svc.api_keys import without_secrets
from svc.errors import UsageError
from svc.redaction import redact
from svc.system.processes import find_program, split_command

RUN_SECONDS: Final = 60.0
PREFIX: Final = "run:"
_OPTION: Final = "--run"


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A program with its arguments; the inbox's ledger of forwards stores its text form.

    A program that is given with its folder is kept by its absolute path, others are looked for on
    PATH at each run. `env` is the environment of its runs, which holds no key and no signing
    secret (R43); `seconds` is the limit for one run.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    seconds: float = field(default=RUN_SECONDS, compare=False)

    @classmethod
    def parse(
        cls, text: str, env: Mapping[str, str] | None = None, seconds: float = RUN_SECONDS
    ) -> "CommandTarget":
        """Reads a command line, with or without the prefix of its text form.

        Quotes work as in a POSIX shell, on Windows too, where a backslash is only a backslash.
        Nothing is expanded.

        Raises:
            UsageError: it is empty, has an open quote, or holds a key or a signing secret.
        """
        text = text.removeprefix(PREFIX)
        if redact(text) != text:  # R39: it is kept in the ledger, and every process list shows it
            raise UsageError(
                "A command of --run must not hold a key or a secret.",
                param=_OPTION,
                hint="Have the command read it from a file of its own",
            )
        try:
            argv = split_command(text)
        except ValueError as error:
            why = str(error).lower()
            raise UsageError(f"Cannot run {text!r}: {why}.", param=_OPTION) from None
        if not argv or not argv[0] or not text.isprintable():
            raise UsageError(
                f"Cannot run {text!r}: it names no program.",
                param=_OPTION,
                hint="Write it as 'order.paid=./fulfil.sh'",
            )
        program = os.path.abspath(argv[0]) if _has_folder(argv[0]) else argv[0]  # noqa: PTH100  resolves no link
        return cls((program, *argv[1:]), without_secrets(env or {}), seconds)

    def find(self) -> tuple[str | None, str]:
        """Returns the path of the program, or None and why it cannot be run."""
        name = self.argv[0]
        if not _has_folder(name):
            found = find_program(name, self.env)
            return found, "" if found else f"there is no program {name} on PATH"
        if not Path(name).exists():
            return None, f"there is no file {name}"
        if not Path(name).is_file():
            return None, f"{name} is not a file"
        if not os.access(name, os.X_OK):
            return None, f"{name} is not executable"
        return name, ""

    def check(self) -> None:
        """Refuses a command that cannot be run now.

        Raises:
            UsageError: there is no such program, or it is not executable.
        """
        found, why = self.find()
        if found is not None:
            return
        hint = None
        if len(self.argv) > 1:  # it may be one path
            hint = "Put a path that has blanks in quotes: \"order.paid='/srv/my shop/fulfil.sh'\""
        if "executable" in why:
            hint = f"chmod +x {shlex.quote(self.argv[0])}"
        raise UsageError(f"Cannot run {shlex.join(self.argv)}: {why}.", param=_OPTION, hint=hint)

    def __str__(self) -> str:
        return PREFIX + shlex.join(self.argv)


def _has_folder(program: str) -> bool:
    return os.path.dirname(program) != ""  # noqa: PTH120  "./x" has one, which Path drops
