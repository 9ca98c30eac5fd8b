"""Group commit: stores deliveries and results in one transaction while the next group gathers.

`ingest` stores deliveries by `InboxWriter.store` and answers each sender once its delivery is on
the disk; `dispatcher` records attempts by the same writer. The writer calls the `Inbox` on a
thread, so that the event loop does not wait for the disk, unless the inbox is quick (`AtOnce`).
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from svc.errors import LocalError
from svc.listen.inbox.interfaces import (
    AtOnce,
    Batch,
    EndedEvent,
    ForwardAttempt,
    InboundEvent,
    Inbox,
    InPlace,
    StoreResult,
    TargetRest,
)
from svc.listen.owners import own, report
from svc.state import LOST, NotSynced

OnStored = Callable[[StoreResult | LocalError], None]
OnResults = Callable[[Sequence[EndedEvent], Collection[str]], None]
OnTrouble = Callable[[LocalError | None], None]
T = TypeVar("T")

_GROUP_MAX: Final = 256
_PASSES_MAX: Final = 2
# Results of forwards are written so much later, or with a group once there are so many of them: to
# touch their pages for each group costs a lone delivery a third of its time. A crash before means
# sending again.
_RESULTS_WAIT_SECONDS: Final = 0.01
_RESULTS_MIN: Final = 32
_AGAIN_SECONDS: Final = 0.25  # between tries to write them on a disk that is full
_LOOK_SECONDS: Final = 0.4  # between looks whether the file is where it was
_OPEN_MAX: Final = 256  # as many as a target may get at a time, and half of what its queue holds
_WAIT_SECONDS: Final = 0.1
_ENDED_MIN: Final = 64  # in that time, of a target that is worth the wait


class Backpressure:
    """Counts the events that are to be forwarded, and holds groups of deliveries back if many are.

    Memory has no room for many of them. The others are read back from the inbox when their turn
    comes, which costs a quarter of all that an event costs; a sender that gets its 200 some
    milliseconds later costs nothing. A group waits 0.1 s, and on while 64 events end in each such
    time: a target that is slow or away is not waited for. After that in vain, none is held back
    before as many have ended, or few are left.
    """

    def __init__(self, go: Callable[[], None]) -> None:
        """`go` is called, from the loop, when what was held back may go."""
        self._go = go
        self._open = 0
        self._ended = 0  # since the last wait began
        self._timer: asyncio.TimerHandle | None = None
        self._in_vain = False

    @property
    def holding(self) -> bool:
        """True while a group waits."""
        return self._timer is not None

    def holds(self) -> bool:
        """Returns whether a group that is about to be stored has to wait."""
        if self._timer is None and self._open > _OPEN_MAX and not self._in_vain:
            self._wait()
        return self.holding

    def note_stored(self, stored: Sequence[StoreResult | LocalError]) -> None:
        """Counts what of a group is to be forwarded."""
        for one in stored:
            if not isinstance(one, LocalError) and one.open and not one.duplicate:
                self._open += 1
        if stored and self._ended >= _ENDED_MIN:
            self._in_vain = False

    def note_ended(self, count: int) -> None:
        """Counts events that have ended; what an earlier run had left open was never counted."""
        self._open = max(self._open - count, 0)
        self._ended += count
        if count and self._open <= _OPEN_MAX:
            self._in_vain = False
            self.release()

    def release(self) -> None:
        """Lets the groups continue that wait, if there are any."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            asyncio.get_running_loop().call_soon(own(self._go))

    def _wait(self) -> None:
        self._ended = 0
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_WAIT_SECONDS, own(self._handle_timer))

    def _handle_timer(self) -> None:
        if self._ended >= _ENDED_MIN:
            self._wait()
        else:
            self._in_vain = True
            self.release()


class InboxWriter:
    """Feeds the inbox from the event loop through one thread; made inside a running loop.

    No timer holds a group back: while one is being synced to the disk, the next one gathers. A
    lone delivery is committed at once; where several have come, the loop turns once or twice for
    more. Only while many events are still to be forwarded are deliveries held back a little
    (`Backpressure`). `broken` gets the error after which nothing can be stored any more.
    """

    def __init__(self, inbox: Inbox, *, results_first: bool = False) -> None:
        """`results_first`: what a sender is told depends on how its event ended a moment ago."""
        self._inbox = inbox
        self._results_first = results_first
        self._results_wait = 0.0 if results_first else _RESULTS_WAIT_SECONDS
        self._on_results: OnResults = lambda _, __: None
        self._on_trouble: OnTrouble = lambda _: None
        self._thread = ThreadPoolExecutor(1, "inbox")
        self._batch = Batch()
        self._callbacks: list[OnStored] = []
        self._pressure = Backpressure(self._commit)
        self._at_once = inbox if isinstance(inbox, AtOnce) else None
        self._quick = False  # whether the last group needed no thread
        self._passes = 0
        self._with_results = 0  # groups that had results in them
        self._is_unstored = False  # results that are to be stored once more
        self._is_unread = False  # what they are to be read with failed
        self._running: asyncio.Future[Any] | None = None
        self._copying: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closing = False
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._looking: asyncio.TimerHandle | None = None
        if isinstance(inbox, InPlace):
            self._look(inbox)

    def store(self, inbound: InboundEvent, on_stored: OnStored) -> None:
        """Stores a delivery; calls `on_stored` with the result or error once it is on the disk."""
        self._batch.inbound_events.append(inbound)
        self._callbacks.append(on_stored)
        if len(self._callbacks) == 1 and self._running is None:
            # After everything that has arrived by now, so that it goes into one group.
            self._passes = 0
            asyncio.get_running_loop().call_soon(own(self._gather))

    def on_results(self, callback: OnResults) -> None:
        """Calls `callback` with the events that ended, and the targets where some got a turn."""
        self._on_results = callback

    def on_trouble(self, callback: OnTrouble) -> None:
        """Calls `callback` with the error if results cannot be stored or read, then None."""
        self._on_trouble = callback

    def record(self, attempt: ForwardAttempt) -> None:
        """Records an attempt; it is on the disk a moment later."""
        self._batch.attempts.append(attempt)
        self._commit_soon()

    def well(self, target: str) -> None:
        """Records that a target succeeds again: events that wait for a retry there are due now."""
        self._batch.well.append(target)
        self._commit_soon()

    def rest(self, rest: TargetRest) -> None:
        """Records that a target is left alone, or no longer."""
        self._batch.rests.append(rest)
        self._commit_soon()

    def end_run(self, targets: Sequence[str]) -> None:
        """Records, after all earlier entries, that these targets get no more events in this run."""
        self._batch.closing += targets
        self._commit_soon()

    async def read(self, call: Callable[[], T]) -> T:
        """Runs a read of the inbox on its thread.

        Raises:
            LocalError: as the call, or what was committed did not reach the disk.
        """
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except LocalError as error:
            self._break_if_lost(error)
            raise
        if self.broken.done():  # what is seen may be gone with the next power cut
            raise LocalError("The state database is not safe to read from any more.")
        return found

    async def read_all(self, call: Callable[[], T]) -> T:
        """Runs a read that sees everything which was recorded before.

        Raises:
            LocalError: as `read`, or some results could not be stored yet, which was reported.
        """
        await self._results_on_their_way()
        try:
            found = await self.read(call)
        except LocalError as error:
            if not self.broken.done():  # that ends the listener, and is told with its end
                self._is_unread = True
                self._on_trouble(error)
            raise
        if self._is_unstored:
            raise LocalError("What was forwarded last could not be noted yet.")
        if self._is_unread:
            self._is_unread = False
            self._on_trouble(None)
        return found

    @property
    def in_trouble(self) -> bool:
        """True while the results of forwards cannot be stored, or cannot be read."""
        return self._is_unstored or self._is_unread

    async def close(self) -> None:
        """Commits the remaining entries and ends the thread."""
        self._closing = True
        self._pressure.release()
        while self._running is not None or self._has_work():
            self._commit(results=True)
            if self._running is not None:
                await asyncio.wait([self._running])
        for timer in (self._timer, self._looking):
            if timer is not None:
                timer.cancel()
        self._thread.shutdown()

    @property
    def idle(self) -> bool:
        """True when no delivery waits to be kept, and no result to be noted."""
        return not (self._callbacks or self._batch.has_results) and self._running is None

    def _has_work(self) -> bool:
        return bool(self._batch.inbound_events) or self._batch.has_results

    async def _results_on_their_way(self) -> None:
        """Commits the results of now; what the thread is asked next sees them, if all goes well."""
        groups = self._with_results
        while self._batch.has_results and self._with_results == groups:
            # Behind one group another may have begun by now, or a copy of the log.
            if self._running is None:
                self._commit(results=True)
            else:
                await asyncio.wait([self._running])

    def _commit_soon(self) -> None:
        if self._running is None and self._timer is None:
            loop = asyncio.get_running_loop()
            wait = _AGAIN_SECONDS if self._is_unstored else self._results_wait
            self._timer = loop.call_later(wait, own(self._waited))

    def _waited(self) -> None:
        self._timer = None
        self._commit(results=True)

    def _gather(self) -> None:
        if len(self._callbacks) > 1 and self._passes < _PASSES_MAX and self._running is None:
            self._passes += 1
            asyncio.get_running_loop().call_soon(own(self._gather))
        elif not self._is_held_back():
            self._commit()

    def _is_held_back(self) -> bool:
        return not self._closing and self._pressure.holds()

    def _commit(self, *, results: bool = False) -> None:
        """Commits what has gathered; with `results` those of all forwards too, however few."""
        if self._running is not None or not self._has_work():
            return
        if results or self._results_are_due():
            batch, callbacks = self._take()
        else:
            batch, callbacks = self._take_inbound()
        self._quick = self._at_once is not None and self._commit_at_once(batch, callbacks)
        if not self._quick:
            loop = asyncio.get_running_loop()
            self._running = loop.run_in_executor(self._thread, self._inbox.store, batch)
            self._running.add_done_callback(
                own(lambda done: self._handle_stored(done, batch, callbacks))
            )

    def _results_are_due(self) -> bool:
        # On a slow disk a group of their own would only be one more that deliveries wait for.
        if not self._quick or self._results_first or not self._batch.inbound_events:
            return True
        return len(self._batch.attempts) >= _RESULTS_MIN

    def _commit_at_once(self, batch: Batch, callbacks: list[OnStored]) -> bool:
        """Commits a group here and now, if that is quick."""
        assert self._at_once is not None
        try:
            stored = self._at_once.store_at_once(batch)
        except Exception as error:  # noqa: BLE001  as a thread would hand it on
            self._handle_commit(error, [], batch, callbacks)
            return True
        if stored is None:
            return False
        self._handle_commit(None, stored, batch, callbacks)
        return True

    def _take(self) -> tuple[Batch, list[OnStored]]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._with_results += 1
        inbound_events, callbacks = self._take_inbound()
        batch = self._batch.take_results()
        batch.inbound_events = inbound_events.inbound_events
        return batch, callbacks

    def _take_inbound(self) -> tuple[Batch, list[OnStored]]:
        if self._pressure.holding:
            return Batch(), []
        inbound_events, callbacks = self._batch.inbound_events, self._callbacks
        self._batch.inbound_events, self._callbacks = (
            inbound_events[_GROUP_MAX:],
            callbacks[_GROUP_MAX:],
        )
        return Batch(inbound_events[:_GROUP_MAX]), callbacks[:_GROUP_MAX]

    def _handle_stored(
        self,
        done: "asyncio.Future[list[StoreResult | LocalError]]",
        batch: Batch,
        callbacks: list[OnStored],
    ) -> None:
        self._running = None
        error = done.exception()
        self._handle_commit(error, done.result() if error is None else [], batch, callbacks)

    def _handle_commit(
        self,
        error: BaseException | None,
        stored: Sequence[StoreResult | LocalError],
        batch: Batch,
        callbacks: Sequence[OnStored],
    ) -> None:
        if error is not None:
            self._handle_failure(error, batch)
        elif batch.has_results:
            self._handle_results(batch)
        self._pressure.note_stored(stored)
        self._pressure.note_ended(len(batch.ended) if error is None else 0)
        self._go_on()
        if error is None:
            if batch.ended or batch.freed:  # whatever that meets, others are told
                own(self._on_results)(batch.ended, batch.freed)
            for on_stored, one in zip(callbacks, stored, strict=True):
                _notify(on_stored, one)
        elif isinstance(error, LocalError):
            for on_stored in callbacks:
                _notify(on_stored, error)

    def _handle_results(self, batch: Batch) -> None:
        if self._is_unstored:
            self._is_unstored = False
            if not self._is_unread:
                self._on_trouble(None)
        if not self._closing:  # the next run has all of them due at once
            self._batch.well += batch.hastening

    def _go_on(self) -> None:
        if self._batch.inbound_events and self._at_once is None:
            # Before anybody is told: the thread works while this one answers and forwards.
            if not self._is_held_back():
                self._commit()
        elif self._batch.inbound_events:
            self._passes = 0
            asyncio.get_running_loop().call_soon(own(self._gather))
        if self._batch.has_results:
            self._commit_soon()
        if self._at_once is not None and self._at_once.log_is_long and not self._closing:
            self._copy_log(self._at_once)

    def _copy_log(self, inbox: AtOnce) -> None:
        """Copies the log beside what is being stored, then, with groups held back, the rest of it.

        A log that is never caught up with is not begun anew and grows.
        """
        if self._copying is None:
            loop = asyncio.get_running_loop()
            self._copying = loop.run_in_executor(self._thread, inbox.copy_log)
            self._copying.add_done_callback(own(lambda done: self._handle_copied(done, inbox)))

    def _handle_copied(self, done: "asyncio.Future[None]", inbox: AtOnce) -> None:
        self._copying = None
        self._break_if_lost(done.exception())
        if done.exception() is None and self._running is None and not self._closing:
            loop = asyncio.get_running_loop()
            self._running = loop.run_in_executor(self._thread, inbox.copy_log)
            self._running.add_done_callback(own(self._handle_caught_up))

    def _handle_caught_up(self, done: "asyncio.Future[None]") -> None:
        self._running = None
        self._break_if_lost(done.exception())  # what was not copied is copied with what follows
        self._go_on()

    def _handle_failure(self, error: BaseException, batch: Batch) -> None:
        if not isinstance(error, LocalError) or isinstance(error, NotSynced):
            self._break(error)
        elif error.code in LOST:
            self._break_if_lost(error)
        elif not self._closing:  # without them an event would only be forwarded once more
            self._batch.put_back(batch)
            # The ledger has what was taken as open: a later run would send it again.
            self._is_unstored |= batch.has_results
            if batch.has_results:  # without a delivery there is no sender who would be told
                self._on_trouble(error)

    def _look(self, inbox: InPlace) -> None:
        """Looks every so often whether the file is in its place, also while nothing comes."""
        try:
            inbox.check_in_place()
        except LocalError as error:
            self._break(error)
            return
        loop = asyncio.get_running_loop()
        self._looking = loop.call_later(_LOOK_SECONDS, own(lambda: self._look(inbox)))

    def _break_if_lost(self, error: BaseException | None) -> None:
        """Ends the listener where nothing that is stored from now on would be found again."""
        if isinstance(error, LocalError) and error.code in LOST:
            self._break(error)

    def _break(self, error: BaseException) -> None:
        if not self.broken.done():
            self.broken.set_exception(error)


def _notify(on_stored: OnStored, stored: StoreResult | LocalError) -> None:
    """Calls a callback and reports what it raises; the rest of the group is notified as well."""
    try:
        on_stored(stored)
    except Exception as error:  # noqa: BLE001  whatever it is, the others are on the disk
        report(error)
