"""How long what promises to be quick may take here and now.

A promise in seconds is made for a machine that has them to give. Where others want its processors
as well, the same work takes longer by as much.
"""

import os
from pathlib import Path
from typing import Final

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
