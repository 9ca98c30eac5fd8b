"""Replaces a file atomically: a reader sees the old or the new content (promise R66).

The configuration file is written so, and the files of `svc sandbox export`.

`editing` calls `write_atomically` inside `lock_folder`, which keeps two commands from writing at
once.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from svc.clock import Clock
from svc.config.reading import refuse_other_writers
from svc.errors import LocalError, system_words
from svc.system import files, locks

_LOCK_SECONDS: Final = 10.0
_LOCK: Final = ".config.lock"


@contextmanager
def lock_folder(folder: Path, clock: Clock) -> Iterator[None]:
    """Creates a folder if it is missing, and locks it while the block runs.

    The system releases the lock when the process dies.

    Raises:
        LocalError: another process held the lock for over ten seconds; or the folder cannot be
            created, is a symbolic link, belongs to another user, or others may write to it.
    """
    try:
        files.make_private(folder)
        _check_folder(folder)
        handle = locks.open_folder(folder, _LOCK)
    except OSError as error:
        raise _local_error(f"The folder {folder} cannot be used", error) from error
    try:
        if not locks.take_within(handle, _LOCK_SECONDS, now=clock.monotonic, sleep=clock.sleep):
            raise LocalError(f"Another svc process holds {folder} for too long.", hint="Try again")
        yield
    finally:
        os.close(handle)


def write_atomically(
    path: Path, content: str | Callable[[BinaryIO], None], *, fresh: Path | None = None
) -> None:
    """Replaces a file atomically and durably.

    `content` is a text, or a function that writes it. It takes no lock: a caller that reads the
    file and changes it needs `lock_folder` around both. The new content is first written to
    `fresh`, which that lock protects, or else to an unused name.

    Raises:
        LocalError: the file cannot be written; the old one is unchanged.
    """
    try:
        data = content.encode() if isinstance(content, str) else content
        files.replace_file(path, data, fresh=fresh)
    except OSError as error:
        raise _local_error(f"{path} cannot be written, the old one is kept", error) from error


def _check_folder(folder: Path) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        raise LocalError(
            f"{folder} is a symbolic link; nothing was written through it.",
            hint="Point SVC_CONFIG_DIR at a folder",
        )
    refuse_other_writers(folder, facts, "700")


def _local_error(what: str, error: OSError) -> LocalError:
    return LocalError(f"{what}: {system_words(error)}.")
