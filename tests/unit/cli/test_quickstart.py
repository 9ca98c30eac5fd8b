"""The parts of a quickstart, as processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from svc.cli.quickstart import SvcProcesses
from svc.clock import SystemClock
from svc.errors import LocalError


def test_what_a_part_said_when_it_ended_is_told(tmp_path: Path) -> None:
    """Not that it took too long, which it did not."""
    log = tmp_path / "log"
    parts = SvcProcesses({}, SystemClock())
    with log.open("wb") as out:
        said = r"sys.stdout.buffer.write(b'no room \xf0\x9f\n')"  # cut off within a character
        argv = [sys.executable, "-c", f"import sys; {said}; sys.exit(3)"]
        process = subprocess.Popen(argv, stdout=out)
    with pytest.raises(LocalError, match=r"ended with 3 after \d+\.\d s: no room \ufffd"):
        parts.wait_for(tmp_path / "never", process, log, 30)
