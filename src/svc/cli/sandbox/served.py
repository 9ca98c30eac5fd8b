"""A request that a sandbox has answered, as a line for people."""

from typing import Final

from svc.cli.framework.session import Session
from svc.redaction import redact
from svc.render.text import one_line

_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500
_METHOD: Final = 4  # columns


class RequestLines:
    """Writes requests: when, what, its status and what else is known, a line each."""

    def __init__(self, session: Session) -> None:
        self._stdout = session.streams.stdout
        self._layout = session.layout(self._stdout)

    def show(self, at: float, method: str, path: str, status: int | None, more: str) -> None:
        """Prints one; `at` is in unix seconds, `status` None where no answer left.

        Raises:
            OSError: nobody reads any more.
        """
        layout = self._layout
        row = (
            (layout.brief(at) if layout.narrow else layout.clock(at), "quiet"),
            (f"{method:<{_METHOD}}", ""),
            # A shopper's address has the client secret in it.
            (one_line(redact(path)), ""),
            ("no answer" if status is None else str(status), _style(status)),
            (one_line(more), "quiet"),
        )
        self._stdout.write(layout.row([cell for cell in row if cell[0]]))
        self._stdout.flush()


def _style(status: int | None) -> str:
    if status is None or status >= _SERVER_ERROR:
        return "bad"
    return "attention" if status >= _CLIENT_ERROR else "good"
