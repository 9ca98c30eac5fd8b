"""The ready file: a script may wait for it, and reads it whole or not at all (promise R66)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from svc.errors import LocalError
from svc.listen.records import Ready
from svc.system.files import write_whole


@contextmanager
def ready_file(path: Path | None, ready: Ready) -> Iterator[None]:
    """Keeps the ready record in a file as long as the block runs; None writes nothing.

    Raises:
        LocalError: the file cannot be written.
    """
    if path is None:
        yield
        return
    try:
        write_whole(path, json.dumps(ready.to_dict()) + "\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LocalError(f"The ready file {path} cannot be written: {reason}.") from error
    try:
        yield
    finally:
        remove(path)


def remove(path: Path) -> None:
    """Removes the file, also that of an earlier run, so that nobody takes it for ours."""
    with suppress(OSError):
        path.unlink()
