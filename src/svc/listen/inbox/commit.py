"""Group commit: what has arrived goes into one transaction while the next group gathers."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from svc.errors import LocalError
from svc.listen.inbox.inbox import Arrival, Batch, ForwardAttempt, Inbox, Kept, Outcome

OnKept = Callable[[Kept | LocalError], None]
T = TypeVar("T")

_GROUP_MAX: Final = 256
# Results of forwards ride along with the next arrivals; a crash before means sending again.
_RESULTS_WAIT_SECONDS: Final = 0.01


class InboxWriter:
    """Feeds the inbox from the event loop through one thread; made inside a running loop.

    No timer holds a group back: while one is being synced to the disk, the next one gathers. A
    lone delivery is committed at once. `broken` ends with an error that no one expected.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._thread = ThreadPoolExecutor(1, "inbox")
        self._batch = Batch()
        self._told: list[OnKept] = []
        self._running: asyncio.Future[list[Kept | LocalError]] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closing = False
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def keep(self, arrival: Arrival, told: OnKept) -> None:
        """Keeps a delivery and tells where, or why that failed, once it is on the disk."""
        self._batch.arrivals.append(arrival)
        self._told.append(told)
        if len(self._told) == 1 and self._running is None:
            # After everything that has arrived by now, so that it goes into one group.
            asyncio.get_running_loop().call_soon(self._commit)

    def record(self, attempt: ForwardAttempt) -> None:
        """Notes a forward; it is on the disk a moment later."""
        self._batch.attempts.append(attempt)
        self._commit_soon()

    def settle(self, seq: int, outcome: Outcome) -> None:
        """Notes that all forwards of an event have ended; it is on the disk a moment later."""
        self._batch.settled.append((seq, outcome))
        self._commit_soon()

    async def read(self, call: Callable[[], T], *, after_results: bool = False) -> T:
        """Runs a read of the inbox on its thread.

        With `after_results` it sees everything that was recorded and settled before.
        """
        if after_results and (self._batch.attempts or self._batch.settled):
            if self._running is not None:
                await asyncio.wait([self._running])
            self._commit()
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def close(self) -> None:
        """Commits what is left and ends the thread."""
        self._closing = True
        while self._running is not None or self._has_work():
            self._commit()
            if self._running is not None:
                await asyncio.wait([self._running])
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown()

    @property
    def idle(self) -> bool:
        """True when no delivery waits to be kept."""
        return not self._told and self._running is None

    def _has_work(self) -> bool:
        return bool(self._batch.arrivals or self._batch.attempts or self._batch.settled)

    def _commit_soon(self) -> None:
        if self._running is None and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_RESULTS_WAIT_SECONDS, self._commit)

    def _commit(self) -> None:
        if self._running is not None or not self._has_work():
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, told = self._take()
        loop = asyncio.get_running_loop()
        self._running = loop.run_in_executor(self._thread, self._inbox.store, batch)
        self._running.add_done_callback(lambda done: self._committed(done, batch, told))

    def _take(self) -> tuple[Batch, list[OnKept]]:
        whole = self._batch
        batch = Batch(whole.arrivals[:_GROUP_MAX], whole.attempts, whole.settled)
        told, self._told = self._told[:_GROUP_MAX], self._told[_GROUP_MAX:]
        self._batch = Batch(whole.arrivals[_GROUP_MAX:])
        return batch, told

    def _committed(
        self, done: "asyncio.Future[list[Kept | LocalError]]", batch: Batch, told: list[OnKept]
    ) -> None:
        self._running = None
        error = done.exception()
        if error is not None:
            self._failed(error, batch)
        # Before anybody is told: the thread works while this one answers and forwards.
        if self._batch.arrivals:
            self._commit()
        elif self._has_work():
            self._commit_soon()
        if error is None:
            for tell, kept in zip(told, done.result(), strict=True):
                _tell(tell, kept)
        elif isinstance(error, LocalError):
            for tell in told:
                _tell(tell, error)

    def _failed(self, error: BaseException, batch: Batch) -> None:
        if not isinstance(error, LocalError):
            self.broken.set_exception(error)
        elif not self._closing:  # without its outcome an event would only be forwarded once more
            self._batch.settled += batch.settled


def _tell(told: OnKept, kept: Kept | LocalError) -> None:
    """Tells one; what it raises is the loop's, and keeps no other of its group from being told."""
    try:
        told(kept)
    except Exception as error:  # noqa: BLE001  whatever it is, the others are on the disk
        asyncio.get_running_loop().call_exception_handler(
            {"message": "A delivery that was kept could not be answered.", "exception": error}
        )
