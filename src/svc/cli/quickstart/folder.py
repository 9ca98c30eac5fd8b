"""A temporary folder for one quickstart; the folder of a quickstart that was killed is removed.

`svc quickstart` keeps the configuration, state and logs of its processes there.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from svc.system import locks
from svc.system.files import is_mine

_PREFIX: Final = "svc-quickstart-"
_LOCK: Final = "lock"


@contextmanager
def hold_folder() -> Iterator[Path]:
    """Yields a new temporary folder, locked while it is in use and removed after the block."""
    _remove_left()
    folder, handle = _make_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _make_folder() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        handle = locks.open_folder(folder, _LOCK)
        locks.wait_for(handle)
        if folder.exists():
            return folder, handle
        os.close(handle)  # another quickstart took it for one that was left


def _remove_left() -> None:
    """Removes the folders whose lock is not held: their quickstart was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove_free(folder)


def _remove_free(folder: Path) -> None:
    if folder.is_symlink() or not is_mine(folder.lstat()):
        return
    handle = locks.open_folder(folder, _LOCK)
    try:
        if locks.take(handle):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)
