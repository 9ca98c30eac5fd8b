"""Sandboxes in processes of their own: what they are told, and one that is there for a while."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from svc.clock import SystemClock
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.launch import start, stop
from svc.sandbox.process.records import RunRecord


def launch_options(folder: Path, **told: Any) -> LaunchOptions:
    """Options of a sandbox whose run records lie in a folder; in memory unless told otherwise."""
    return LaunchOptions(state_dir=str(folder), **told)


@contextmanager
def launched(folder: Path, **told: Any) -> Iterator[RunRecord]:
    """A sandbox process for as long as the block takes."""
    record = start(launch_options(folder, **told), os.environ, SystemClock())
    try:
        yield record
    finally:
        stop(folder, record, SystemClock())
