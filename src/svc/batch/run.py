"""Running a plan: one loop that feeds the workers, keeps what comes back, and knows when to stop.

The loop alone touches the journal and the results file. It records rows a little ahead of the
workers, so that they never wait for the disk, and collects for a moment what they bring back, so
that one transaction serves many rows.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from svc.batch.operations import BatchOperation
from svc.batch.results import ResultLine, Results
from svc.batch.tally import HeldError, Movements, Tally, Totals, job_line, line_of, row_line
from svc.batch.workers import SharedQuota, Workers
from svc.clock import Clock, utc
from svc.delivery.journal.limits import LimitReachedError
from svc.delivery.plan import BatchPlan, Task
from svc.delivery.rows import (
    JobEnd,
    RowEnd,
    RowJob,
    RowJournal,
    judge,
    judge_taken,
    stop_of,
)
from svc.errors import LocalError, SvcError
from svc.state import LOST

_NOTHING: Final[Movements] = {}
_UNSENT: Final = ("unknown", "not_sent")  # beyond a limit a row was never sent
_AHEAD: Final = 4  # rows in hand for each worker
_PIECE: Final = 1_000  # lines that are written at once
_LOOK_SECONDS: Final = 0.2
_GATHER_SECONDS: Final = 0.01
# What a signal leaves to the requests that are under way (promise R78: stopped within a second).
_FAREWELL_SECONDS: Final = 0.5
_JOURNAL_SECONDS: Final = 0.1


class RunWatcher(Protocol):
    """Shows a person how far a run is."""

    def tell(self, totals: Totals) -> None:
        """Says where the run stands; called often."""

    def clear(self) -> None:
        """Takes away what was shown."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """What a run works with."""

    journal: RowJournal
    workers: Workers
    results: Results
    quota: SharedQuota
    clock: Clock


class Run:
    """One run of a plan.

    A signal may come at any step: what the tally holds is in the file and in its counts at the end.

    `in_order` sends a row only when the one before it has ended. `progress` is told after every
    group of rows.

    Attributes:
        stopped_by: why the run began no further rows, or None.
    """

    def __init__(
        self,
        plan: BatchPlan,
        operation: BatchOperation,
        deps: RunDeps,
        *,
        size: int,
        in_order: bool,
        progress: RunWatcher,
        held_error: HeldError,
    ) -> None:
        self._plan = plan
        self._operation = operation
        self._deps = deps
        self._in_hand_max = 1 if in_order else size * _AHEAD
        self._in_order = in_order
        self._progress = progress
        self._tasks = iter(plan.tasks)
        self._again: deque[Task] = deque()  # with their next keys, before all others
        self._in_hand: dict[str, RowJob] = {}
        self._tally = Tally(plan, held_error)
        self.stopped_by: BaseException | None = None
        self._is_lost = False  # whether the journal is gone, with all ids that it gave
        self._is_leaving = False

    def go(self) -> None:
        """Sends every row that is to be sent, unless something stops the run.

        However it ends, every row has its line in the results file afterwards.

        Raises:
            LocalError: the journal or the results file cannot be written.
        """
        begun = False
        try:
            self._deps.results.begin(self._tally.known())
            begun = True
            while self._feed():
                self._collect()
                self._keep()
            self._end()
        except BaseException as reason:
            if not begun:
                self._begin_after(reason)
            # A full disk or a signal: what can still be kept is kept, the first reason is raised.
            self._is_lost |= isinstance(reason, LocalError) and reason.code in LOST
            self._deps.journal.shorten_timeout(_JOURNAL_SECONDS)
            with suppress(SvcError):
                self._say_farewell()
            self._end()
            raise
        if self.stopped_by is not None and not isinstance(self.stopped_by, SvcError):
            raise self.stopped_by
        if self._deps.results.failure is not None:
            raise self._deps.results.failure

    @property
    def totals(self) -> Totals:
        """What became of the rows so far."""
        return self._tally.totals

    def _begin_after(self, reason: BaseException) -> None:
        """Has a file for what a signal has left, nothing sent; else raises why there is none."""
        if isinstance(reason, SvcError):
            raise reason
        with suppress(SvcError):
            self._deps.results.begin(self._tally.known())

    def _feed(self) -> bool:
        """Records more rows and hands them out; false when nothing is left to wait for."""
        while self.stopped_by is None:
            room = self._in_hand_max - len(self._in_hand)
            # Half of what is in hand at once: a group is worth its transaction.
            is_worth_it = room * 2 > self._in_hand_max
            tasks = [*islice(self._next_tasks(), room)] if is_worth_it else []
            if not tasks:
                break
            self._hand_out(tasks)
        return bool(self._in_hand)

    def _next_tasks(self) -> Iterator[Task]:
        while self._again:
            yield self._again.popleft()
        yield from self._tasks

    def _hand_out(self, tasks: list[Task]) -> None:
        jobs, refused = self._deps.journal.record(tasks)
        self._in_hand.update((job.intent.id, job) for job in jobs)
        self._deps.workers.put(jobs)
        for task, error in refused:
            is_beyond = isinstance(error, LimitReachedError)
            if is_beyond:
                self._stop(error)
            self._note([row_line(task.row, task.key, _UNSENT[is_beyond], error)])

    def _collect(self) -> None:
        """Waits for rows to end, and a moment longer, so that one transaction serves many."""
        ended = self._deps.workers.take(_LOOK_SECONDS)
        if ended and len(ended) < len(self._in_hand):
            self._deps.clock.sleep(_GATHER_SECONDS)

    def _keep(self, seconds: float = 0.0) -> None:
        """Keeps what has ended by now; what a signal interrupts is kept when this is done again."""
        ended = self._deps.workers.take(seconds)
        ends = [judge(each) for each in ended]
        for each in ends:
            self._watch(each)
        # What a signal or a full disk cuts off here is noted when this is done again, at the end.
        foreign = self._settle(ends)
        ends = [judge_taken(one) if one.job.intent.id in foreign else one for one in ends]
        for each in ends:
            self._watch(each)
        final = [one for one in ends if not self._walks_on(one)]
        self._note(self._lines(final), self._sum_moved(final))
        self._again.extendleft(self._next_task(one) for one in ends if one not in final)
        self._let_go(ends)
        self._progress.tell(self.totals)

    def _walks_on(self, end: RowEnd) -> bool:
        """Whether the row is sent with its next key: the service repeated an old refusal (R113)."""
        return end.is_spent and self.stopped_by is None and not self._is_leaving

    def _next_task(self, end: RowEnd) -> Task:
        row = end.job.row
        return Task(row, self._plan.keys.after(row, end.job.intent.stored.idempotency_key), None)

    def _settle(self, ends: list[RowEnd]) -> frozenset[str]:
        """Settles what has ended; once the run says farewell, the results must do without it."""
        try:
            return self._deps.journal.settle(ends)
        except LocalError as error:
            self._is_lost = self._is_lost or error.code in LOST
            if not self._is_leaving:
                raise
            return self._deps.journal.find_taken(ends)

    def _lines(self, ends: list[RowEnd]) -> list[ResultLine]:
        """The lines of rows that have ended; no id of a journal that is gone (promise R102)."""
        lines = [line_of(each) for each in ends]
        return [line._replace(request=None) for line in lines] if self._is_lost else lines

    def _sum_moved(self, ends: list[RowEnd]) -> Movements:
        field = self._operation.total
        if not field:
            return {}
        # An answer that contradicts its request has moved what it says, and is told by itself.
        return {each.job.row.number: total_of(each, field) for each in ends if each.reply}

    def _let_go(self, ends: list[RowEnd]) -> None:
        for each in ends:
            self._in_hand.pop(each.job.intent.id, None)
        self._deps.workers.drop(len(ends))

    def _note(self, lines: list[ResultLine], moved: Movements = _NOTHING) -> None:
        fresh = self._tally.note(lines, moved)
        if fresh:
            self._deps.results.add(fresh)
        failure = self._deps.results.failure
        if failure is not None:
            self._stop(failure)

    def _watch(self, each: RowEnd) -> None:
        """Remembers why the run ends, where what happened to a row concerns all others."""
        stop = stop_of(each, strained=self._deps.quota.exhausted or self._in_order)
        if stop is not None:
            self._stop(stop)

    def _stop(self, why: BaseException) -> None:
        """Begins no further row; those under way go on."""
        if self.stopped_by is None:
            self.stopped_by = why
            self._deps.workers.stop()

    def _say_farewell(self) -> None:
        """Gives requests under way a moment to end; what does not is resumed by the next run."""
        self._is_leaving = True
        self._deps.workers.stop()
        until = self._deps.clock.monotonic() + _FAREWELL_SECONDS
        while self._in_hand and (left := until - self._deps.clock.monotonic()) > 0:
            self._keep(left)

    def _end(self) -> None:
        """Gives every row that has none its line, and puts the results in their place."""
        under_way = {job.row.number: job for job in self._in_hand.values()}
        left = (
            _build_unfinished(task, under_way.get(task.row.number), is_lost=self._is_lost)
            for task in self._plan.tasks
            if task.row.number not in self._tally
        )
        try:
            while piece := [*islice(left, _PIECE)]:
                self._note(piece)
            self._deps.results.finish()
        finally:
            self._progress.clear()
            self._deps.workers.close(0 if under_way else _FAREWELL_SECONDS)


def make_should_stop(quota: SharedQuota) -> Callable[[JobEnd], bool]:
    """What a worker asks after each job: whether no other one may begin."""

    def halts(ended: JobEnd) -> bool:
        if ended.reply is not None:
            quota.row_ended(answered=True)
            return False
        each = judge(ended)
        if each.error is not None:
            quota.row_ended(answered=not each.is_open)
        return stop_of(each, strained=quota.exhausted) is not None

    return halts


def _build_unfinished(task: Task, job: RowJob | None, *, is_lost: bool) -> ResultLine:
    """The line of a row that has not ended: begun or not, it is for the next run."""
    if job is not None:
        line = job_line(job, "unknown")
    else:
        line = row_line(task.row, task.key, "not_sent")
        if task.sent_at is not None:
            request = task.intent.id if task.intent is not None else None
            line = line._replace(outcome="unknown", request=request, first_sent=utc(task.sent_at))
    return line._replace(request=None) if is_lost else line


def total_of(end: RowEnd, field: str) -> tuple[str, int] | None:
    """What a row has moved, as its answer says."""
    data = end.reply.data if end.reply is not None else None
    if not isinstance(data, dict):
        return None
    amount, currency = data.get(field), data.get("currency")
    if not isinstance(amount, int) or not isinstance(currency, str):
        return None
    return currency, amount
