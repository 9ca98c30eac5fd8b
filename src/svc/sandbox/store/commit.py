"""Group commit: calls that are under way together share one fsync (promise R82).

The `engine` and the job runner pass each call as a function of a `Transaction`. The functions of a
group run one after the other in one transaction, and every caller gets its function's result when
that is on disk. Where a function fails after it has changed something, the transaction is taken
back, and each function is run again in one of its own.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from svc.errors import LocalError
from svc.sandbox.store.transaction import SharedState, Transaction

T = TypeVar("T")
_WAITED: Final = 2  # turns of the loop for those who are still on their way


class _WaitingCall(NamedTuple):
    """One call that is carried out with the next group."""

    mode: str
    fn: Callable[[Transaction], Any]
    now: int | None
    answer: asyncio.Future[Any]


class GroupCommit:
    """Runs calls on the loop's thread, one after the other, and commits them together.

    A transaction begins and ends in one turn of the loop, so that no caller learns of anything that
    is not on disk. `under_way` says how many requests and attempts have begun: a group waits for
    those of them that have not come yet, two turns of the loop at the most. `fails` says that the
    last commit could not be saved.
    """

    def __init__(self, shared: SharedState, under_way: Callable[[], int]) -> None:
        self._shared = shared
        self._store = shared.store
        self._under_way = under_way
        self._waiting: list[_WaitingCall] = []
        self._holders = 0
        self.fails = False
        self.on_job: Callable[[], object] = lambda: None

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
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._waiting.append(_WaitingCall(mode, fn, now, answer))
        if alone:
            self.commit()
        elif len(self._waiting) == 1:
            loop.call_soon(self._close, _WAITED)
        return await answer

    def read(self, mode: str, fn: Callable[[Transaction], T], now: int | None = None) -> T:
        """Runs `fn`, which changes nothing."""
        moment = self._shared.clock.now() if now is None else now
        return fn(Transaction(self._shared, mode, moment))

    @contextmanager
    def hold_writes(self) -> Iterator[None]:
        """Makes changes wait until the block ends; reads go on."""
        self.commit()
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            self.commit()

    async def save_clock(self) -> None:
        """Returns when the clock's present state is on disk."""
        await self.run("test", lambda _: self._shared.save())

    def return_clock(self) -> None:
        """Sets the clock back to where the last commit saved it."""
        self._shared.return_clock()

    def commit(self) -> None:
        """Carries out and commits what waits; its callers hear of it in turns that come."""
        if self._holders or not self._waiting:
            return
        calls, self._waiting = self._waiting, []
        for call, answer in zip(calls, self._carry_out(calls), strict=True):
            if not call.answer.done():  # else its caller has gone
                answer()
        if self._shared.scheduled:
            self._shared.scheduled = False
            self.on_job()

    def _carry_out(self, calls: list[_WaitingCall]) -> list[Callable[[], None]]:
        """Runs calls in one transaction, or each in one of its own; returns what answers them."""
        begun = self._shared.mark()
        try:
            answers, is_whole = self._run_together(calls)
        except LocalError as error:  # only what cannot be saved fails
            self.fails = True
            answers, is_whole = [partial(calls[0].answer.set_exception, error)], False
        if not is_whole:
            self._store.rollback()
            self._shared.return_to(begun)
        if is_whole or len(calls) == 1:
            return answers
        return [self._carry_out([call])[0] for call in calls]

    def _run_together(self, calls: list[_WaitingCall]) -> tuple[list[Callable[[], None]], bool]:
        """Runs and commits calls; returns what answers them, False if they must be taken back.

        A call that is refused has almost always changed nothing yet, and costs the others nothing.
        """
        answers: list[Callable[[], None]] = []
        unchanged = self._store.changes
        self._store.begin()
        for call in calls:
            before, changes = self._shared.mark(), self._store.changes
            try:
                result = self.read(call.mode, call.fn, call.now)
            except BaseException as error:  # noqa: BLE001  raised again where the caller waits
                answers.append(partial(call.answer.set_exception, error))
                if self._store.changes > changes:
                    return answers, False
                self._shared.return_to(before)
            else:
                answers.append(partial(call.answer.set_result, result))
            self._store.refuse_lost()
        if self._store.changes == unchanged:  # a group of mere refusals costs no write
            self._store.rollback()
        else:
            self._shared.save()
            self._store.commit()
            self.fails = False
        return answers, True

    def _close(self, turns: int) -> None:
        """Commits now, or up to `turns` turns of the loop later if more may come.

        Half of those who could share a commit were too late for it otherwise.
        """
        if turns and len(self._waiting) < self._under_way():
            asyncio.get_running_loop().call_soon(self._close, turns - 1)
        else:
            self.commit()
