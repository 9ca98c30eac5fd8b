"""SQLite's write-ahead log (WAL), synced to the disk by svc itself and not by SQLite.

`Database.sync_by_hand` creates a `SyncedLog` for the inbox of a listener (`listen.inbox.quick`). A
transaction of the inbox stores many events; the database syncs the log after its commit, and then
the senders get their answers. This is no log of messages.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from svc.errors import LocalError, system_words
from svc.system import files

_SPARE: Final = 16  # times what is set aside have to be free: others need the disk as well


class NotSynced(LocalError):  # noqa: N818  it says what is the matter
    """A sync of the log failed: the last commits and all later ones may not be on the disk."""


class SyncedLog:
    """The open WAL file of a database: reserves disk space for it and syncs it after commits."""

    def __init__(self, path: Path, sync: Callable[[int], None]) -> None:
        self._path = path
        self._sync = sync
        files.sync_folder(path.parent)  # SQLite leaves that to its own first sync of the log
        self._file = os.open(f"{path}-wal", os.O_RDWR)
        self._trouble = ""

    def reserve(self, room: int) -> None:
        """Allocates disk space for `room` bytes of log if the disk has plenty.

        The content stays. No other connection may write at the same time.
        """
        before = os.fstat(self._file).st_size
        posix: Any = os
        if not hasattr(os, "posix_fallocate"):  # macOS and Windows: it grows as it is written
            return
        try:
            free = posix.fstatvfs(self._file)
            if before < room and free.f_bavail * free.f_frsize >= _SPARE * room:
                posix.posix_fallocate(self._file, 0, room)
        except OSError:  # some systems keep what they could set aside of it
            os.ftruncate(self._file, before)

    def sync(self) -> None:
        """Syncs the log to the disk; after one failure every call raises.

        After a failed sync the system may have discarded the data, and a log with a gap is useless.
        """
        if not self._trouble:
            try:
                self._sync(self._file)
            except OSError as error:
                self._trouble = system_words(error)
        if self._trouble:
            raise NotSynced(
                f"The state database {self._path} did not reach the disk: {self._trouble}.",
                code="state_not_synced",
                hint="Check the disk before you run the command again.",
            )

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)
