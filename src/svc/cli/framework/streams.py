"""The three standard streams as one value: whether a person reads and types, colours, width.

`cli.main` takes those of the process, tests pass others; `Session` and its output work with them.
"""

import errno
import io
import os
import sys
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TextIO

from svc.inputs import ClosedInput
from svc.system.consoles import set_encoding, takes_color

FORCING: Final = ("CLICOLOR_FORCE", "FORCE_COLOR")


class Streams(NamedTuple):
    """Where results go (stdout), where everything else goes (stderr), where answers come from."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO

    @classmethod
    def of_process(cls) -> "Streams":
        if None in (sys.stdin, sys.stdout, sys.stderr):
            replace_closed_streams()
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            set_encoding(stream)
        return cls(sys.stdin, sys.stdout, sys.stderr)

    @property
    def person_reads(self) -> bool:
        return _is_terminal(self.stdout)

    @property
    def person_watches(self) -> bool:
        return _is_terminal(self.stderr)

    @property
    def person_types(self) -> bool:
        return _is_terminal(self.stdin)

    @property
    def person_answers(self) -> bool:
        return self.person_types and self.person_watches

    def wants_color(
        self,
        env: Mapping[str, str],
        choice: str,
        stream: TextIO,
        takes_color: Callable[[TextIO], bool] = takes_color,
    ) -> bool:
        """Applies --color, NO_COLOR and TERM=dumb (promise R75), then what other programs heed.

        NO_COLOR wins. FORCE_COLOR and CLICOLOR_FORCE, unless they are 0, colour a pipe too;
        CLICOLOR=0 is no colour. A terminal is asked by `takes_color` where it is to show any.
        """
        if choice == "auto" and not env.get("NO_COLOR"):
            if any(env.get(name, "0") not in ("", "0") for name in FORCING):
                choice = "always"
            elif env.get("TERM") == "dumb" or env.get("CLICOLOR") == "0":
                return False
            else:
                return _is_terminal(stream) and takes_color(stream)
        if choice == "always" and _is_terminal(stream):
            takes_color(stream)
        return choice == "always"

    def width(self, env: Mapping[str, str]) -> int:
        """Returns the terminal's width in columns; 80 where it is unknown."""
        if env.get("COLUMNS", "").isdigit():
            return max(int(env["COLUMNS"]), 20)
        try:
            columns = os.get_terminal_size(self.stdout.fileno()).columns
        except (OSError, ValueError):
            return 80
        return max(columns, 20) if columns else 80  # a terminal without a size says 0


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # closed, or None when the shell closed it
        return False


_STREAMS = 3


class ClosedOutput(io.StringIO):
    """Stands for a stdout that was closed before the start: every write raises OSError."""

    def write(self, text: str) -> int:  # noqa: ARG002  the stream's signature
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def replace_closed_streams() -> None:
    """Opens the standard streams and descriptors that were closed before the start.

    A free descriptor 1 would go to the next file that is opened, the state database perhaps, and
    what some library then prints would land in it.
    """
    for number in range(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    # The types say that they are never None; a closed descriptor makes them so.
    sys.stdin = sys.stdin or io.TextIOWrapper(ClosedInput())
    sys.stdout = sys.stdout or ClosedOutput()
    sys.stderr = sys.stderr or io.StringIO()
