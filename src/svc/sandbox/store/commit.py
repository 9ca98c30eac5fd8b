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
        self._writing = asyncio.Lock()
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
        try:
            async with self._writing:
                return self._call(mode, fn, now, alone=alone)
        finally:
            await self.wait_settled(alone=alone)

    async def read(self, mode: str, fn: Callable[[Transaction], T], now: int | None = None) -> T:
        """Runs `fn`, which changes nothing; waits only if a commit is under way."""
        try:
            return self.peek(mode, fn, now)
        finally:
            await self.wait_settled()

    def peek(self, mode: str, fn: Callable[[Transaction], T], now: int | None = None) -> T:
        """Runs `fn`, which changes nothing, at once, even on what is not on disk yet."""
        return fn(Transaction(self._shared, mode, self._clock.now() if now is None else now))

    @asynccontextmanager
    async def hold_writes(self) -> AsyncIterator[None]:
        """Has what changes something wait for the end of the block; what is only read does not."""
        async with self._writing:
            self.commit()
            yield

    async def save_clock(self) -> None:
        """Returns when the clock's present state is on disk."""
        await self.run("test", lambda _: self._save_state())

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
            if self._store.changes != self._changes:  # a group of mere refusals costs no write
                self._save_state()
            self._store.commit()
        except LocalError as error:
            self._abandon(error)
            return
        self._answer(None)
        if self._shared.scheduled:
            self._shared.scheduled = False
            self.on_job()

    def _call(
        self, mode: str, fn: Callable[[Transaction], T], now: int | None, *, alone: bool
    ) -> T:
        """Runs `fn` as a part of the open transaction; takes the part back if it raises."""
        ids, clock = self._shared.ids, self._clock.dump()
        position = ids.position
        if self._store.begin_part():
            self._changes = self._store.changes
            if not alone:
                asyncio.get_running_loop().call_soon(self._close, _WAITED)
        try:
            result = self.peek(mode, fn, now)
            self._store.keep_part()
        except BaseException:
            self._clock.load(clock)
            ids.rewind(position)
            self._shared.ids = ids
            self._shared.forget()
            try:
                self._store.undo_part()
            except LocalError as error:
                self._abandon(error)
            raise
        return result

    def _close(self, turns: int) -> None:
        """Commits now, or up to `turns` turns of the loop later if more may come.

        Half of those who could share a commit were too late for it otherwise.
        """
        if turns and len(self._waiters) < self._under_way():
            asyncio.get_running_loop().call_soon(self._close, turns - 1)
        else:
            self.commit()

    def _save_state(self) -> None:
        """Saves ids, clock and creation sequence with what changed."""
        state = {
            "ids": self._shared.ids.dump(),
            "clock": self._clock.dump(),
            "sequence": self._store.sequence,
        }
        self._store.set_meta(_STATE, json.dumps(state))

    def load_state(self) -> None:
        """Takes ids, clock and creation sequence up where the last commit left them.

        Raises:
            LocalError: what is stored is no state of a clock and of ids.
        """
        shown, self._store.sequence = self._store.meta(_STATE), None
        if shown is None:
            return
        try:
            state = json.loads(shown)
            ids = IdSource.load(state["ids"], self._random)
            self._clock.load(state["clock"])
            self._store.sequence = _read_sequence(state)
        except (KeyError, TypeError, ValueError) as error:
            raise LocalError(
                f"The sandbox file {self._store.path} holds an impossible state of its clock or "
                f"ids: {error}.",
                hint="Give another file with --db FILE; this one was left as it is",
            ) from error
        self._shared.ids = ids

    def _abandon(self, error: LocalError) -> None:
        """The group is lost: memory returns to what is on disk, and every call of it fails."""
        self._store.rollback()
        self._shared.forget()
        with suppress(LocalError):  # a disk that cannot be read either: every call fails anyway
            self.load_state()
        self._answer(error)

    def _answer(self, error: LocalError | None) -> None:
        """Lets go who waits for the group, each with an error of its own if there is one."""
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(LocalError(error.message, code=error.code, hint=error.hint))


def _read_sequence(state: Mapping[str, Any]) -> int | None:
    """The saved creation sequence; None where an older svc has saved none."""
    sequence = state.get("sequence")
    if sequence is not None and (type(sequence) is not int or not 0 <= sequence <= INTEGER_MAX):
        raise ValueError("the documents were counted to no number")
    return sequence
