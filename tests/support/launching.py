"""Sandboxes in processes of their own: what they are told, and one that is there for a while."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from svc.clock import SystemClock
from svc.sandbox.process.launch import LaunchOptions, start, stop
from svc.sandbox.process.records import RunRecord

PLAIN: Final = LaunchOptions(
    db=":memory:",
    port=0,
    state_dir="",
    seed=None,
    fixture=None,
    certificate=None,
    private_key=None,
    authority=None,
    strict_https=False,
)


def launch_options(folder: Path, **told: Any) -> LaunchOptions:
    """Options of a sandbox whose run records lie in a folder; in memory unless told otherwise."""
    return replace(PLAIN, state_dir=str(folder), **told)


@contextmanager
def launched(folder: Path, **told: Any) -> Iterator[RunRecord]:
    """A sandbox process for as long as the block takes."""
    record = start(launch_options(folder, **told), os.environ, SystemClock())
    try:
        yield record
    finally:
        stop(folder, record, SystemClock())
