"""Prints each request that a sandbox has answered as a line: `svc sandbox start` and `requests`.

`start` uses `RequestsShown`, whose thread writes, so that a slow terminal does not slow the
sandbox.
"""

import queue
import threading
from contextlib import suppress
from typing import Final

from svc.cli.framework.session import Session
from svc.render.text import one_line

_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500
_METHOD: Final = 4  # columns
_WAITING_MAX: Final = 1000
_LAST_SECONDS: Final = 0.5


class RequestLines:
    """Writes requests: when, what, its status and what else is known, a line each."""

    def __init__(self, session: Session) -> None:
        self._stdout = session.stdout
        self._layout = session.layout(session.streams.stdout)

    def show(self, at: float, method: str, path: str, status: int | None, more: str) -> None:
        """Prints a request; `at` in Unix seconds, `status` None if unanswered; raises OSError."""
        layout = self._layout
        row = (
            (layout.format_brief(at) if layout.narrow else layout.clock(at), "quiet"),
            (f"{method:<{_METHOD}}", ""),
            # A shopper's address has the client secret in it.
            (one_line(path), ""),
            ("no answer" if status is None else str(status), _style(status)),
            (one_line(more), "quiet"),
        )
        self._stdout.write_masked(layout.row([cell for cell in row if cell[0]]))
        self._stdout.flush()

    def note_left_out(self, count: int) -> None:
        """Prints how many requests were not shown; raises OSError if stdout is closed."""
        self._stdout.write(self._layout.row([(f"... {count} more, not shown", "quiet")]))
        self._stdout.flush()


class RequestsShown:
    """Prints requests from a thread, so that a slow terminal does not slow the sandbox.

    Beyond a thousand queued requests, further ones are only counted.
    """

    def __init__(self, lines: RequestLines) -> None:
        self._lines = lines
        self._waiting: queue.Queue[tuple[float, str, str, int | None, str] | None] = queue.Queue(
            _WAITING_MAX
        )
        self._missed = 0
        self._thread = threading.Thread(target=self._write, name="requests shown", daemon=True)
        self._thread.start()

    def show(self, at: float, method: str, path: str, status: int | None, more: str) -> None:
        """Queues a request for the thread, which prints it as `RequestLines.show` does."""
        try:
            self._waiting.put_nowait((at, method, path, status, more))
        except queue.Full:
            self._missed += 1

    def close(self) -> None:
        """Waits briefly until the queued requests are printed."""
        with suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._thread.join(_LAST_SECONDS)

    def _write(self) -> None:
        while (one := self._waiting.get()) is not None:
            with suppress(OSError):  # stdout is closed: the sandbox goes on
                self._lines.show(*one)
                missed, self._missed = self._missed, 0
                if missed:
                    self._lines.note_left_out(missed)


def _style(status: int | None) -> str:
    if status is None or status >= _SERVER_ERROR:
        return "bad"
    return "attention" if status >= _CLIENT_ERROR else "good"
