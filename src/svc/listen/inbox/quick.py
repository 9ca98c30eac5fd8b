"""The inbox for disks that sync fast: it commits groups in the event loop, without a thread.

Handing a group to a thread and back costs more than writing it: the interpreter's lock changes
hands a few times an event. On a disk that syncs within two milliseconds the loop does it all by
itself; on a slower one, where another process writes, or with much to write, the thread does as on
any other system.

`svc events listen` opens its inbox by `open_inbox`, which chooses this or `SqliteInbox`.
"""

import sys
from collections.abc import Callable
from typing import Final

from svc.clock import Clock
from svc.errors import LocalError
from svc.listen.inbox.event_ids import LISTED_AT_ONCE
from svc.listen.inbox.interfaces import Batch, StoreResult
from svc.listen.inbox.sqlite import SqliteInbox
from svc.state import Database
from svc.system import files

_SYNC_SECONDS_MAX: Final = 0.002
_UNTRIED: Final = 1.05 * _SYNC_SECONDS_MAX
_WEIGHT: Final = 1 / 8  # of the latest sync in the mean
# One that took long is enough to leave the next ones to the thread, but not for long: on a machine
# with much to do it is not the disk that was slow.
_OUTLIER_SECONDS: Final = _SYNC_SECONDS_MAX / _WEIGHT
_BODIES_MAX: Final = 1024 * 1024  # bytes that are written while the loop waits
_COPIED_BYTES: Final = 8 * 1024 * 1024
_COMMIT_BYTES: Final = 24 * 1024  # pages of indexes that each group writes anew
_ROW_BYTES: Final = 1024


class QuickInbox(SqliteInbox):
    """An inbox whose SQLite log svc syncs itself; implements `interfaces.AtOnce`."""

    def __init__(
        self,
        open_state: Callable[[], Database],
        scope: str,
        clock: Clock,
        *,
        retake_failed: bool = False,
        listed_at_once: int = LISTED_AT_ONCE,
        sync: Callable[[int], None] | None = None,
    ) -> None:
        """Opens the database twice: to write, and to copy its log meanwhile."""
        state = open_state()
        super().__init__(state, scope, retake_failed=retake_failed, listed_at_once=listed_at_once)
        self._writing = state
        self._copying = open_state()
        self._clock = clock
        self._sync = sync or files.sync_data
        self._mean = _UNTRIED  # the first group finds out how quick the disk is, on a thread
        self._logged = 0
        state.sync_by_hand(self._measure_sync, room=_COPIED_BYTES)

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        stored = super().store(batch)
        self._logged += _size_of(batch)
        return stored

    def store_at_once(self, batch: Batch) -> list[StoreResult | LocalError] | None:
        if self._ids.are_many:
            return None
        if self._mean > _SYNC_SECONDS_MAX or _count_bytes(batch) > _BODIES_MAX:
            return None
        stored = self._writing.write_at_once(lambda tx: self._write(tx, batch, whole=True))
        if stored is not None:
            self.check_in_place()
            self._logged += _size_of(batch)
        return stored

    @property
    def log_is_long(self) -> bool:
        return self._logged > _COPIED_BYTES

    def copy_log(self) -> None:
        self._logged = 0
        self._copying.copy_log()

    def _measure_sync(self, log: int) -> None:
        started = self._clock.monotonic()
        self._sync(log)
        seconds = min(self._clock.monotonic() - started, _OUTLIER_SECONDS)
        self._mean += (seconds - self._mean) * _WEIGHT


def open_inbox(
    open_state: Callable[[], Database],
    scope: str,
    clock: Clock,
    *,
    retake_failed: bool = False,
    platform: str = sys.platform,
) -> SqliteInbox:
    """Returns the inbox that fits this system.

    On macOS a plain sync leaves what was written in the disk's own memory, and Windows has none
    that a program may call: SQLite knows what to do there.
    """
    if platform == "linux":
        return QuickInbox(open_state, scope, clock, retake_failed=retake_failed)
    return SqliteInbox(open_state(), scope, retake_failed=retake_failed)


def _size_of(batch: Batch) -> int:
    """About how many bytes of log a group makes."""
    rows = 2 * len(batch.inbound_events) + len(batch.attempts)
    return _COMMIT_BYTES + _count_bytes(batch) + rows * _ROW_BYTES


def _count_bytes(batch: Batch) -> int:
    return sum([len(one.delivery.body) for one in batch.inbound_events])
