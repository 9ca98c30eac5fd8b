"""The end of sandboxes that a test has started, as a power cut brings it."""

import os
import signal
from pathlib import Path

from svc.sandbox.process.records import list_running


def kill_sandboxes(folder: Path) -> None:
    """Kills those that say in a folder of run records that they run."""
    for record in list_running(folder):
        os.kill(record.pid, signal.SIGKILL)
