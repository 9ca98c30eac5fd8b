"""Group commit: calls that are under way together share one fsync (promise R82).

The `engine` and the job runner pass each call as a function of a `Transaction`. The functions of a
group run one after the other in one transaction, and every caller gets its function's result when
that is on disk. Where a function fails after it has changed something, the transaction is taken
back and the others are run again without it.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from svc.errors import LocalError
from svc.sandbox.clock import ClockMode, VirtualClock
from svc.sandbox.store import INTEGER_MAX
from svc.sandbox.store.ids import IdSource, Random
from svc.sandbox.store.transaction import SharedState, Transaction

T = TypeVar("T")
_STATE = "state"
_WAITED: Final = 2  # turns of the loop for those who are still on their way


class _WaitingCall(NamedTuple):
    """One call that is carried out with the next group."""

    mode: str
    fn: Callable[[Transaction], Any]
    now: int | None
    answer: asyncio.Future[Any]


# Where ids, clock and creation sequence stand.
_Mark: TypeAlias = tuple[IdSource, int, tuple[ClockMode, int, int], int | None]
_Answers: TypeAlias = Sequence[Callable[[], None]]  # what answers each of several calls


class GroupCommit:
    """Runs calls on the loop's thread, one after the other, and commits them together.

    A transaction begins and ends in one turn of the loop, so that no caller learns of anything that
    is not on disk. `under_way` says how many requests and attempts have begun: a group waits for
    those of them that have not come yet, two turns of the loop at the most.
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
        self._waiting: list[_WaitingCall] = []
        self._holders = 0
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
        return fn(Transaction(self._shared, mode, self._clock.now() if now is None else now))

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
        await self.run("test", lambda _: self._save_state())

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

    def _carry_out(self, calls: list[_WaitingCall]) -> _Answers:
        """Runs calls in one transaction, and returns what answers them.

        A call that is refused has almost always changed nothing yet, and costs the others nothing.
        """
        answers: list[Callable[[], None]] = []
        begun, unchanged = self._mark(), self._store.changes
        try:
            self._store.begin()
            for place, call in enumerate(calls):
                before, changes = self._mark(), self._store.changes
                try:
                    result = self.read(call.mode, call.fn, call.now)
                except BaseException as error:  # noqa: BLE001  raised again where the caller waits
                    answers.append(partial(call.answer.set_exception, error))
                    if self._store.changes > changes:
                        parts = (calls[:place], [call], calls[place + 1 :])
                        return self._carry_out_apart(begun, answers, *parts)
                    self._return_to(before)
                else:
                    answers.append(partial(call.answer.set_result, result))
                self._store.refuse_lost()
            if self._store.changes == unchanged:  # a group of mere refusals costs no write
                self._store.rollback()
            else:
                self._save_state()
                self._store.commit()
        except LocalError as error:  # only what cannot be saved fails
            refused = [partial(calls[0].answer.set_exception, error)]
            return self._carry_out_apart(begun, refused, *([call] for call in calls))
        return answers

    def _carry_out_apart(
        self, begun: _Mark, answers: _Answers, *parts: list[_WaitingCall]
    ) -> _Answers:
        """Takes a transaction back and runs its parts again, each in one of its own.

        A transaction of a single call is not run again: `answers` has what answers it.
        """
        self._store.rollback()
        self._return_to(begun)
        if sum(map(len, parts)) == 1:
            return answers
        return [answer for part in parts if part for answer in self._carry_out(part)]

    def _mark(self) -> _Mark:
        ids = self._shared.ids
        return ids, ids.position, self._clock.position, self._store.sequence

    def _return_to(self, mark: _Mark) -> None:
        """Takes back what calls have changed in memory since a mark."""
        self._shared.ids, drawn, moment, self._store.sequence = mark
        self._shared.ids.rewind(drawn)
        self._clock.rewind(moment)
        self._shared.forget()

    def _close(self, turns: int) -> None:
        """Commits now, or up to `turns` turns of the loop later if more may come.

        Half of those who could share a commit were too late for it otherwise.
        """
        if turns and len(self._waiting) < self._under_way():
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
        """Loads ids, clock and creation sequence as of the last commit.

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
                f"The sandbox file {self._store.path} has an invalid state of its clock or "
                f"ids: {error}.",
                hint="Give another file with --db FILE; this one was left as it is",
            ) from error
        self._shared.ids = ids


def _read_sequence(state: Mapping[str, Any]) -> int | None:
    """The saved creation sequence; None where an older svc has saved none."""
    sequence = state.get("sequence")
    if sequence is not None and (type(sequence) is not int or not 0 <= sequence <= INTEGER_MAX):
        raise ValueError("the documents were counted to no number")
    return sequence
