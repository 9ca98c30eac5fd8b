"""Group commit: calls that are under way together share one fsync (promise R82).

The `engine` and the job runner pass each call as a function of a `Transaction`. The functions of a
group run one after the other, each as a part that can be undone alone, and every caller gets its
function's result when the group is on disk.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from svc.errors import LocalError
from svc.sandbox.clock import VirtualClock
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

    def _carry_out(self, calls: list[_WaitingCall]) -> list[Callable[[], None]]:
        """Runs and commits calls, and returns what answers them.

        Those of a group that is lost are run again one by one: only what cannot be saved fails.
        """
        try:
            return self._commit_parts(calls)
        except LocalError as error:  # memory returns to what is on disk
            self._store.rollback()
            self._shared.forget()
            with suppress(LocalError):  # a disk that cannot be read either: every call fails anyway
                self.load_state()
            if len(calls) == 1:
                return [partial(calls[0].answer.set_exception, error)]
            return [answer for call in calls for answer in self._carry_out([call])]

    def _commit_parts(self, calls: list[_WaitingCall]) -> list[Callable[[], None]]:
        """Runs calls, each as a part of its own, and commits them together.

        Raises:
            LocalError: nothing of them is on disk.
        """
        answers: list[Callable[[], None]] = []
        changed = False
        for call in calls:
            ids, changes = self._shared.ids, self._store.changes
            drawn, moment = ids.position, self._clock.position
            self._store.begin_part()
            try:
                result = self.read(call.mode, call.fn, call.now)
            except BaseException as error:  # noqa: BLE001  raised again where the caller waits
                answers.append(partial(call.answer.set_exception, error))
                self._clock.rewind(moment)
                ids.rewind(drawn)
                self._shared.ids = ids
                self._shared.forget()
                self._store.end_part(undo=True)
            else:
                answers.append(partial(call.answer.set_result, result))
                changed = changed or self._store.changes > changes
                self._store.end_part(undo=False)
        if changed:  # a group of mere refusals costs no write
            self._save_state()
            self._store.commit()
        else:
            self._store.rollback()
        return answers

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
