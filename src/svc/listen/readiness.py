"""The ready file: a script may wait for it, and reads it whole or not at all (promise R66)."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from svc.errors import LocalError
from svc.listen.records import Ready


@contextmanager
def ready_file(path: Path | None, ready: Ready) -> Iterator[None]:
    """Keeps the ready record in a file as long as the block runs; None writes nothing.

    Raises:
        LocalError: the file cannot be written.
    """
    if path is None:
        yield
        return
    _write(path, json.dumps(ready.to_dict()) + "\n")
    try:
        yield
    finally:
        remove(path)


def remove(path: Path) -> None:
    """Removes the file, also that of an earlier run, so that nobody takes it for ours."""
    with suppress(OSError):
        path.unlink()


def _write(path: Path, text: str) -> None:
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _failure(path, error) from error
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        Path(name).replace(path)
    except OSError as error:
        remove(Path(name))
        raise _failure(path, error) from error


def _failure(path: Path, error: OSError) -> LocalError:
    reason = (error.strerror or str(error)).lower()
    return LocalError(f"The ready file {path} cannot be written: {reason}.")
