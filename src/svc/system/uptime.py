"""How long this machine runs: a clock that setting the time does not move."""

import time
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

_TIME: Final[Any] = time  # with what is not on every system
_BOOT: Path = Path("/proc/sys/kernel/random/boot_id")


class Uptime(NamedTuple):
    """Seconds since a start of the machine, time asleep included; `boot` names the start."""

    boot: str
    seconds: float


def read_uptime() -> Uptime | None:
    """How long the machine runs; None where the system does not name its starts (not Linux)."""
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
