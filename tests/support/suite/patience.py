"""How long what promises to be quick may take here and now.

A promise in seconds is made for a machine that has them to give. Where others want its processors
as well, the same work takes longer by as much, and that is seen from here only in part: what others
wanted a moment ago, or what the machine's own host gave to others. So beside other tests a promise
is given three times as long again. It holds as it stands with SVC_TEST_AT_REST=1, by which the gate
runs the tests of such promises once more, alone, one for each core; with 0 they are left to that.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

# For what happens in a moment, unless it never does; a test's own limit is longer.
WAIT_SECONDS: Final = 150.0
_UNSEEN: Final = 3.0
_RUNNABLE: Final = "procs_running"
_AT_REST: Final = "SVC_TEST_AT_REST"


def patient(seconds: float) -> float:
    """What a promise of so many seconds comes to while others are busy; itself at rest."""
    if is_at_rest():
        return seconds
    return slowed(seconds) * (_UNSEEN if _workers() > 1 else 1.0)


def is_at_rest() -> bool:
    """Whether this run has the machine for itself, and for tests of promises in seconds alone."""
    return os.environ.get(_AT_REST) == "1"


def leaves_to_rest() -> bool:
    """Whether tests of promises in seconds have a run of their own, and are left out of this."""
    return os.environ.get(_AT_REST) == "0"


def slowed(seconds: float) -> float:
    """How long that takes here and now what takes so many seconds where nobody else is busy."""
    return seconds * max(1.0, max(_workers(), _wanting()) / (os.cpu_count() or 1))


def _workers() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


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
