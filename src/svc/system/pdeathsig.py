"""Runs a program that is killed when its parent process ends, even by kill -9.

It is a script: `pdeathsig.py PARENT PROGRAM ARGUMENT...`.

`processes.wrap_to_die_with_us` puts it before the command line of a child on Linux.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def main(argv: Sequence[str]) -> None:
    """Ties this process to the life of its parent, on Linux, and executes the program."""
    parent, program, *arguments = argv
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):  # it died before we were tied to it
            return
    if sys.platform != "win32":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # what Python ignores would stay ignored
    try:
        os.execv(program, [program, *arguments])  # noqa: S606  an absolute path from PATH
    except OSError as error:
        sys.exit(f"{program} cannot be run: {(error.strerror or str(error)).lower()}")


if __name__ == "__main__":
    main(sys.argv[1:])
