"""Tells whether the process that is sending a request still lives (promise R69).

Each sender holds a locked file of its own name, which the system unlocks when the process dies. The
journal stores that name with a request as its lease; a lease of a dead sender is free. `journal`
and `batches` ask, `cli` makes one `SenderLocks` for each command.
"""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

from svc.errors import LocalError, system_words
from svc.system import files, locks


def make_token() -> str:
    """A new name for a sender (128 random bits)."""
    return os.urandom(16).hex()


class SenderLocks:
    """The lock of this sender, and a test of the locks of others.

    A sender holds the lock of a file of its own for as long as it lives; a request's row names its
    sender. The system takes the locks of a dead process away, so that kill -9 leaves nothing behind
    that stops anybody. May be used from any thread.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = ""
        self._handle = -1
        self._lock = Lock()

    @property
    def token(self) -> str:
        """The name of this sender, alive from the first time that it is asked for.

        Raises:
            LocalError: its file cannot be made.
        """
        with self._lock:
            if not self._token:
                self._begin(make_token())
            return self._token

    def is_alive(self, token: str | None) -> bool:
        """Whether the sender of that name still lives; removes the file of a dead one.

        Raises:
            LocalError: its file cannot be looked at.
        """
        if not token:
            return False
        try:
            handle = locks.open_if_alive(self._file(token))
        except OSError as error:
            raise self._build_unusable(error) from error
        if handle is not None:
            os.close(handle)
        return handle is not None

    def close(self) -> None:
        """Ends this sender."""
        with self._lock:
            if self._token:
                locks.close_and_remove(self._handle, self._file(self._token))
                self._token = ""

    def _begin(self, token: str) -> None:
        try:
            files.make_private(self._folder)
            self._handle = locks.hold(self._file(token))  # no process knows the name yet
        except OSError as error:
            raise self._build_unusable(error) from error
        except BaseException:  # a signal: the file would stay without an owner
            with suppress(OSError):
                self._file(token).unlink()
            raise
        self._token = token

    def _file(self, token: str) -> Path:
        return self._folder / token

    def _build_unusable(self, error: OSError) -> LocalError:
        words = system_words(error)
        return LocalError(
            f"The folder {self._folder} cannot be used: {words}.",
            hint=files.advice(error) or "It tells which requests are being sent",
        )
