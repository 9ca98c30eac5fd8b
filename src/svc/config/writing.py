"""Writing the file so that a reader sees the old or the new one, never half (promise R66)."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from svc.clock import Clock
from svc.config.reading import refuse_strangers
from svc.errors import LocalError, system_words
from svc.system import files, locks

_LOCK_SECONDS: Final = 10.0
_LOCK: Final = ".config.lock"


@contextmanager
def one_writer(folder: Path, clock: Clock) -> Iterator[None]:
    """Makes the folder if it is missing and holds it for one process at a time.

    The system frees it when the process dies.

    Raises:
        LocalError: another process held it for over ten seconds.
        LocalError: the folder cannot be made, is a symbolic link, is another user's, or others may
            write to it.
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


def write_atomically(path: Path, content: str | Callable[[BinaryIO], None]) -> None:
    """Replaces the file at once and for good; call it inside `one_writer`.

    The content is a text, or what writes it.

    Raises:
        LocalError: it cannot be written; the old file is as it was.
    """
    try:
        data = content.encode() if isinstance(content, str) else content
        files.replace_file(path, data, fresh=path.with_name(f"{path.name}.new"))
    except OSError as error:
        raise _local_error(f"{path} cannot be written, the old one is kept", error) from error


def _check_folder(folder: Path) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        raise LocalError(
            f"{folder} is no folder of its own; nothing was written through it.",
            hint="Point SVC_CONFIG_DIR at a folder",
        )
    refuse_strangers(folder, facts, "700")


def _local_error(what: str, error: OSError) -> LocalError:
    return LocalError(f"{what}: {system_words(error)}.")
