"""How long what promises to be quick may take here and now.

A promise in seconds is made for a machine that has them to give. Where others want its processors
as well, the same work takes longer by as much.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

# For what happens in a moment, unless it never does; a test's own limit is longer.
WAIT_SECONDS: Final = 50.0
_RUNNABLE: Final = "procs_running"


def patient(seconds: float) -> float:
    """What a promise of so many seconds comes to while others are busy; itself when nobody is."""
    return seconds * max(1.0, _wanting() / (os.cpu_count() or 1))


def _wanting() -> float:
    """How many want a processor: now, or of late."""
    stat = Path("/proc/stat")
    now = 0
    if stat.exists():
        found = [line for line in stat.read_text().splitlines() if line.startswith(_RUNNABLE)]
        now = int(found[0].split()[1]) if found else 0
    return max(float(now), os.getloadavg()[0])


def until(true: Callable[[], object], words: Callable[[], object] = lambda: "") -> None:
    """Waits until something is so; `words` gives what is told if it never is."""
    end = time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < end, f"it did not come to that: {words()}"[:3000]
        time.sleep(0.005)
