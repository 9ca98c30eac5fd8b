"""Group commit: calls that are on their way together share one fsync (promise R82)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from svc.errors import LocalError
from svc.sandbox.clock import VirtualClock
from svc.sandbox.store import INTEGER_MAX
from svc.sandbox.store.ids import IdSource, Random
from svc.sandbox.store.sqlite import DISK_FULL
from svc.sandbox.store.transaction import SharedState, Transaction

T = TypeVar("T")
_STATE = "state"
_WAITED: Final = 2  # turns of the loop for those who are still on their way


class GroupCommit:
    """Runs calls on the loop's thread, one after the other, and commits them together.

    No caller learns of anything that is not on disk: a call, its error and a read that saw an open
    transaction all wait for its commit. `under_way` says how many requests have begun: a group
    waits for those of them that have not come yet, two turns of the loop at the most.
    """

    def __init__(
        self,
        shared: SharedState,
        clock: VirtualClock,
        random: Random,
        under_way: Callable[[], int] = lambda: 0,
    ) -> None:
        self._shared = shared
        self._store = shared.store
        self._clock = clock
        self._random = random
        self._under_way = under_way
        self._waiters: list[asyncio.Future[None]] = []
        self._changes = 0
        self._moved = False
        self._held: asyncio.Event | None = None
        self.on_job: Callable[[], object] = lambda: None
        self.load_state()

    async def run(
        self,
        mode: str,
        fn: Callable[[Transaction], T],
        now: int | None = None,
        *,
        alone: bool = False,
    ) -> T:
        """Runs `fn` and returns when its effects are on disk; `now` is in microseconds.

        What `fn` raises is raised again, after its own effects were taken back. `alone` says that
        no other caller is expected: the commit then waits for no turn of the loop.
        """
        while self._held is not None:
            await self._held.wait()
        try:
            result = self._call(mode, fn, now, alone=alone)
        finally:
            await self.wait_settled(alone=alone)
        return result

    async def read(self, mode: str, fn: Callable[[Transaction], T], now: int | None = None) -> T:
        """Runs `fn`, which changes nothing; waits only if a commit is under way."""
        try:
            return fn(Transaction(self._shared, mode, self._clock.now() if now is None else now))
        finally:
            await self.wait_settled()

    def peek(self, mode: str, fn: Callable[[Transaction], T]) -> T:
        """Runs `fn`, which changes nothing, at once, even on what is not on disk yet."""
        return fn(Transaction(self._shared, mode, self._clock.now()))

    @asynccontextmanager
    async def hold_writes(self) -> AsyncIterator[None]:
        """Has what changes something wait for the end of the block; what is only read does not.

        Raises:
            LocalError: what was open could not be saved.
        """
        while self._held is not None:
            await self._held.wait()
        self._held = held = asyncio.Event()
        try:
            self.commit()
            yield
        finally:
            self._held = None
            held.set()

    async def save_clock(self) -> None:
        """Returns when the clock's present state is on disk."""
        while self._held is not None:
            await self._held.wait()
        self._open(alone=False)
        self._moved = True
        await self.wait_settled()

    async def wait_settled(self, *, alone: bool = False) -> None:
        """Returns when no transaction is open: at once, or after its commit."""
        if self._store.in_transaction:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            if alone:
                self.commit()
            await waiter

    def commit(self) -> None:
        """Commits what is open, if anything is; its callers hear of it in turns that come.

        A caller that does not yield to the event loop is alone in its group: to wait until nothing
        is open would be to wait for ever where others always come first.
        """
        if not self._store.in_transaction:
            return
        try:
            self._save_state()
            self._store.commit()
        except LocalError as error:
            self._abandon(error)
            return
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        if self._shared.scheduled:
            self._shared.scheduled = False
            self.on_job()

    def _call(
        self, mode: str, fn: Callable[[Transaction], T], now: int | None, *, alone: bool
    ) -> T:
        own = alone and not self._store.in_transaction
        self._open(alone=alone)
        counted = self._shared.ids.position, self._store.sequence
        if not own:
            self._store.mark()
        try:
            result = fn(Transaction(self._shared, mode, self._clock.now() if now is None else now))
            self._refuse_lost()
        except BaseException:
            self._undo(counted, own=own)
            raise
        return result

    def _open(self, *, alone: bool) -> None:
        if not self._store.in_transaction:
            self._store.begin(whole=alone)
            self._changes = self._store.changes
            if not alone:
                self._close_soon(_WAITED)

    def _close_soon(self, turns: int) -> None:
        """Commits at the next turn of the loop, or up to `turns` later if more may come.

        Half of those who could share a commit were too late for it otherwise.
        """

        def close() -> None:
            if turns and len(self._waiters) < self._under_way():
                self._close_soon(turns - 1)
            else:
                self.commit()

        asyncio.get_running_loop().call_soon(close)

    def _refuse_lost(self) -> None:
        """Raises LocalError if SQLite has given up the transaction, and the call went on."""
        if not self._store.in_transaction:
            raise _build_lost()

    def _undo(self, counted: tuple[int, int | None], *, own: bool) -> None:
        """Takes a call back: its part of the transaction, or all of one that was its `own`."""
        position, self._store.sequence = counted
        self._shared.ids.rewind(position)
        self._shared.forget()
        if own:
            self._store.rollback()
            return
        try:
            self._store.undo()
        finally:
            if not self._store.in_transaction:  # SQLite gave the whole transaction up: disk full
                self._abandon(_build_lost())

    def _save_state(self) -> None:
        """Saves ids and clock with what changed; a group of mere refusals costs no write."""
        if self._moved or self._store.changes != self._changes:
            state = {
                "ids": self._shared.ids.dump(),
                "clock": self._clock.dump(),
                "sequence": self._store.sequence,
            }
            self._store.set_meta(_STATE, json.dumps(state))
            self._moved = False

    def load_state(self) -> None:
        """Takes ids, clock and creation sequence up where the last commit left them.

        Raises:
            LocalError: what is stored is no state of a clock and of ids.
        """
        shown, self._store.sequence = self._store.meta(_STATE), None
        if shown is not None:
            try:
                state = json.loads(shown)
                ids = IdSource.load(state["ids"], self._random)
                self._clock.load(state["clock"])
                self._store.sequence = _read_sequence(state)
            except (KeyError, TypeError, ValueError) as error:
                raise _impossible(self._store.path, error) from error
            self._shared.ids = ids

    def _abandon(self, error: LocalError) -> None:
        """The group is lost: memory returns to what is on disk, and every call of it fails."""
        self._store.rollback()
        self._shared.forget()
        with suppress(LocalError):  # a disk that cannot be read either: every call fails anyway
            self.load_state()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(LocalError(error.message, code=error.code, hint=error.hint))


def _read_sequence(state: Mapping[str, Any]) -> int | None:
    """The saved creation sequence; None where an older svc has saved none."""
    sequence = state.get("sequence")
    if sequence is not None and (type(sequence) is not int or not 0 <= sequence <= INTEGER_MAX):
        raise ValueError("the documents were counted to no number")
    return sequence


def _build_lost() -> LocalError:
    message = "The sandbox could not save: its transaction was lost."
    return LocalError(message, code=DISK_FULL)  # else SQLite keeps what it was given


def _impossible(path: str, error: Exception) -> LocalError:
    return LocalError(
        f"The sandbox file {path} holds an impossible state of its clock or ids: {error}.",
        hint="Give another file with --db FILE; this one was left as it is",
    )
