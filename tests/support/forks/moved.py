"""A run of the program whose time a test moves: an entry of the fork server.

What has passed in the test is added to both clocks of the process, the time of day and the one of
the event loop, which looks whenever it wakes: a listener twice a second.
"""

import mmap
import os
import struct
import time
from importlib import import_module
from pathlib import Path
from typing import Final, Self

VARIABLE: Final = "TEST_MOVED_CLOCK"
_SECONDS: Final = struct.Struct("d")


class MovedClock:
    """The time of a test and of the runs that it starts with `env`; only ever moved on."""

    def __init__(self, folder: Path) -> None:
        path = folder / "moved"
        path.write_bytes(_SECONDS.pack(0.0))
        self.env = {VARIABLE: str(path)}
        self._file = path.open("r+b")
        self._there = mmap.mmap(self._file.fileno(), _SECONDS.size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._there.close()
        self._file.close()

    def now(self) -> float:
        return time.time() + self._moved

    def move(self, seconds: float) -> None:
        """Has so much time pass."""
        self._there[:] = _SECONDS.pack(self._moved + seconds)

    @property
    def _moved(self) -> float:
        [moved] = _SECONDS.unpack(self._there[:])
        return float(moved)


def main() -> None:
    """Runs `svc` by the moved clock."""
    with Path(os.environ.pop(VARIABLE)).open("rb") as file:
        there = mmap.mmap(file.fileno(), _SECONDS.size, access=mmap.ACCESS_READ)
    day, steady = time.time, time.monotonic
    time.time = lambda: day() + _SECONDS.unpack(there[:])[0]
    time.monotonic = lambda: steady() + _SECONDS.unpack(there[:])[0]
    import_module("svc.__main__").main()
