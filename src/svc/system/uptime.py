"""The uptime of this machine: a clock that a change of the system time does not affect.

`cli.framework.delivering` passes it to `delivery.journal.limits`, which measures by it how long ago
money was moved.
"""

import time
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

_TIME: Final[Any] = time  # with what is not on every system
_BOOT: Path = Path("/proc/sys/kernel/random/boot_id")


class Uptime(NamedTuple):
    """Seconds since the machine was started, with time asleep; `boot` identifies the start."""

    boot: str
    seconds: float


def read_uptime() -> Uptime | None:
    """Reads the uptime; None if the system has no id of its starts (other than Linux)."""
    boot = _read_boot()
    if not boot or not hasattr(_TIME, "CLOCK_BOOTTIME"):
        return None
    return Uptime(boot, _TIME.clock_gettime(_TIME.CLOCK_BOOTTIME))


@cache
def _read_boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
