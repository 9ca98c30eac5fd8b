"""Waiting for a database that another process holds, without being deaf meanwhile.

SQLite's own wait is one call into C, and Python looks for signals only between two of those. So it
waits in short slices, and Ctrl-C is answered within one (promises R68, R78).
"""

import sqlite3
from collections.abc import Callable
from typing import Final, TypeVar

from svc.clock import Clock
from svc.journal.faults import code_of

Found = TypeVar("Found")

SLICE_SECONDS: Final = 0.1  # what one statement waits by itself
PATIENCE_SECONDS: Final = 10.0  # promise R68
_PAUSE_SECONDS: Final = 0.01  # some locks are refused without any wait


class Patience:
    """Runs statements again until the database is free, for ten seconds at most."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds = PATIENCE_SECONDS

    def hurry(self, seconds: float) -> None:
        """Waits no longer than this from now on: the process is about to end."""
        self._seconds = min(self._seconds, seconds)

    def run(self, step: Callable[[], Found]) -> Found:
        """Runs a step that is safe to run again after SQLITE_BUSY.

        Raises:
            sqlite3.Error: whatever the step raises; SQLITE_BUSY when the time is up.
        """
        until = self._clock.monotonic() + self._seconds
        while True:
            try:
                return step()
            except sqlite3.OperationalError as error:
                busy = code_of(error) == sqlite3.SQLITE_BUSY
                if not busy or self._clock.monotonic() >= until:
                    raise
            self._clock.sleep(_PAUSE_SECONDS)
