"""Standing in for standard streams that whoever started us had closed (promise R77)."""

import errno
import io
import os
import sys

_STREAMS = 3


class ClosedOutput(io.StringIO):
    """Says on every write what a closed stdout cannot: that nobody will read it."""

    def write(self, text: str) -> int:  # noqa: ARG002  the stream's signature
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def fill_missing() -> None:
    """Fills the three first descriptors and streams.

    A free descriptor 1 would go to the next file that is opened, the state database perhaps, and
    what some library then prints would land in it.
    """
    for number in range(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    # The types say that they are never None; a closed descriptor makes them so.
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    sys.stdout = sys.stdout or ClosedOutput()
    sys.stderr = sys.stderr or io.StringIO()
