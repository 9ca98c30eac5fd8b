"""The `Clock` that code is passed to read the time and to wait; tests pass their own.

The room `cli` makes one `SystemClock` for each command and passes it on to `client`, `delivery`,
`batch`, `listen` and `state`; the sandbox has a virtual one (`sandbox.clock`). `utc` and
`seconds_of` convert between Unix seconds and the service's timestamps.
"""

import time
from functools import lru_cache
from typing import Protocol

from svc.system import signals


def utc(seconds: float) -> str:
    """Unix seconds as RFC 3339 in UTC, whole seconds, as the service writes them."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@lru_cache(maxsize=256)  # the lines of a file tell few different seconds, one after the other
def seconds_of(text: str) -> float | None:
    """Unix seconds of what `utc` writes; None where a text is no such time."""
    from datetime import UTC, datetime

    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


class Clock(Protocol):
    """The interface of a clock; all figures are in seconds."""

    def now(self) -> float:
        """Wall-clock time since 1970, in seconds."""

    def monotonic(self) -> float:
        """A clock that never jumps, for deadlines, in seconds."""

    def sleep(self, seconds: float) -> None:
        """Waits; a signal that ends the program ends it (`system.signals`)."""


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        signals.sleep(seconds)
