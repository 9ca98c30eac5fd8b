"""Runs the plan of a batch: feeds the workers, records what they return, and decides when to stop.

`svc batch` (`cli.batch.run`) makes a `Run` of a plan and calls `go`. Its loop alone touches the
journal and the results file. It records rows a little ahead of the workers, so that they never wait
for the disk, and collects for a moment what they bring back, so that one transaction serves many
rows.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from svc.batch.operations import BatchOperation
from svc.batch.results import ResultLine, Results
from svc.batch.tally import (
    NOTHING_MOVED,
    HeldError,
    Movements,
    Tally,
    Totals,
    build_job_line,
    build_row_line,
    line_of,
)
from svc.batch.workers import SharedQuota, Workers
from svc.client.amounts import read_answered_amount
from svc.clock import Clock, utc
from svc.delivery.journal.entry import KEY_REUSED
from svc.delivery.journal.limits import LimitReachedError
from svc.delivery.journal.refusals import DONE_BY_OTHER_KEY, KEY_SPENT
from svc.delivery.plan import BatchPlan, Task
from svc.delivery.rows import (
    RowEnd,
    RowJob,
    RowJournal,
    classify_claimed_by_other,
    stop_of,
)
from svc.errors import LocalError, SvcError
from svc.state import LOST

# Codes of a row whose own idempotency key another request has used.
KEY_TAKEN: Final = frozenset((KEY_REUSED, KEY_SPENT.code, DONE_BY_OTHER_KEY.code))
_AHEAD: Final = 4  # rows in hand for each worker
_PIECE: Final = 1_000  # lines that are written at once
_LOOK_SECONDS: Final = 0.2
_GATHER_SECONDS: Final = 0.01
# What a signal leaves to the requests that are under way (promise R78: stopped within a second).
_ENDING_SECONDS: Final = 0.5
_JOURNAL_SECONDS: Final = 0.1


class RunWatcher(Protocol):
    """Shows the progress of a run."""

    def tell(self, totals: Totals) -> None:
        """Shows the totals; called after every group of rows."""

    def clear(self) -> None:
        """Removes the progress from the screen."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """The dependencies of a run."""

    journal: RowJournal
    workers: Workers
    results: Results
    quota: SharedQuota
    clock: Clock


class Run:
    """One run of a plan.

    A signal may come at any step. At the end each row of the tally is in the results file and in
    the counts.

    Args:
        in_order: a row is sent only after the row before it has ended.
        progress: is called after every group of rows.

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
        self._is_ending = False

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
                self._begin_results_again(reason)
            # A full disk or a signal: what can still be kept is kept, the first reason is raised.
            self._is_lost |= isinstance(reason, LocalError) and reason.code in LOST
            self._deps.journal.journal.shorten_timeout(_JOURNAL_SECONDS)
            with suppress(SvcError):
                self._await_under_way()
            self._end()
            raise
        if self.stopped_by is not None and not isinstance(self.stopped_by, SvcError):
            raise self.stopped_by
        if self._deps.results.failure is not None:
            raise self._deps.results.failure

    @property
    def totals(self) -> Totals:
        """The counts and amounts of the rows so far, by outcome."""
        return self._tally.totals

    def _begin_results_again(self, reason: BaseException) -> None:
        """Creates the results file again after a signal stopped its creation; nothing was sent.

        Raises:
            SvcError: `reason` itself, if an error and no signal stopped the creation.
        """
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
            # A row with a key of its own, which another request has used, was never sent either.
            is_taken = bool(task.row.given_key) and error.code in KEY_TAKEN
            is_unsent = is_beyond or (is_taken and error.outcome == "not_sent")
            outcome = "not_sent" if is_unsent else "unknown"
            self._note([build_row_line(task.row, task.key, outcome, error)])

    def _collect(self) -> None:
        """Waits for rows to end, and a moment longer, so that one transaction serves many."""
        ended = self._deps.workers.take(_LOOK_SECONDS)
        if ended and len(ended) < len(self._in_hand):
            self._deps.clock.sleep(_GATHER_SECONDS)

    def _keep(self, seconds: float = 0.0) -> None:
        """Writes the rows that have ended to the journal and the results file.

        If a signal interrupts it, the next call writes the same rows.
        """
        ends = self._deps.workers.take(seconds)
        for each in ends:
            self._watch(each)
        # What a signal or a full disk cuts off here is noted when this is done again, at the end.
        foreign = self._settle(ends)
        ends = [
            classify_claimed_by_other(one) if one.job.intent.id in foreign else one for one in ends
        ]
        for each in ends:
            self._watch(each)
        final = [one for one in ends if not self._needs_next_key(one)]
        self._note(self._lines(final), self._sum_moved(final))
        self._again.extendleft(self._next_task(one) for one in ends if one not in final)
        self._release_in_hand(ends)
        self._progress.tell(self.totals)

    def _needs_next_key(self, end: RowEnd) -> bool:
        """Whether the row is sent with its next key: the service repeated an old refusal (R113)."""
        return end.is_spent and self.stopped_by is None and not self._is_ending

    def _next_task(self, end: RowEnd) -> Task:
        row = end.job.row
        return Task(row, self._plan.keys.after(row, end.job.intent.stored.idempotency_key), None)

    def _settle(self, ends: list[RowEnd]) -> frozenset[str]:
        """Settles rows in the journal and returns the ids whose answer is another request's.

        While the run is ending, a journal that cannot be written does not stop the results file.
        """
        try:
            return self._deps.journal.settle(ends)
        except LocalError as error:
            self._is_lost = self._is_lost or error.code in LOST
            if not self._is_ending:
                raise
            return self._deps.journal.find_claimed_by_others(ends)

    def _lines(self, ends: list[RowEnd]) -> list[ResultLine]:
        """The result lines of rows that have ended; without ids if the journal is lost (R102)."""
        lines = [line_of(each) for each in ends]
        return [line._replace(request=None) for line in lines] if self._is_lost else lines

    def _sum_moved(self, ends: list[RowEnd]) -> Movements:
        field = self._operation.action.total
        if not field:
            return {}
        # An answer that contradicts its request has moved what it says, and is told by itself.
        return {each.job.row.number: total_of(each, field) for each in ends if each.reply}

    def _release_in_hand(self, ends: list[RowEnd]) -> None:
        for each in ends:
            self._in_hand.pop(each.job.intent.id, None)
        self._deps.workers.drop(len(ends))

    def _note(self, lines: list[ResultLine], moved: Movements = NOTHING_MOVED) -> None:
        fresh = self._tally.note(lines, moved)
        if fresh:
            self._deps.results.add(fresh)
        failure = self._deps.results.failure
        if failure is not None:
            self._stop(failure)

    def _watch(self, each: RowEnd) -> None:
        """Stops the run if the outcome of a row concerns all other rows, such as a wrong key."""
        stop = stop_of(each, strained=self._deps.quota.exhausted or self._in_order)
        if stop is not None:
            self._stop(stop)

    def _stop(self, why: BaseException) -> None:
        """Begins no further rows; requests that are under way continue."""
        if self.stopped_by is None:
            self.stopped_by = why
            self._deps.workers.stop()

    def _await_under_way(self) -> None:
        """Waits a moment for requests under way; the next run resumes those that do not end."""
        self._is_ending = True
        self._deps.workers.stop()
        until = self._deps.clock.monotonic() + _ENDING_SECONDS
        while self._in_hand and (left := until - self._deps.clock.monotonic()) > 0:
            self._keep(left)

    def _end(self) -> None:
        """Writes a line for every row that has none, and finishes the results file."""
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
            self._deps.workers.close(0 if under_way else _ENDING_SECONDS)


def make_should_stop(quota: SharedQuota) -> Callable[[RowEnd], bool]:
    """Builds the function by which a worker decides, after each job, whether to stop."""

    def halts(end: RowEnd) -> bool:
        if end.reply is not None or end.error is not None:
            quota.row_ended(answered=not end.is_open)
        return stop_of(end, strained=quota.exhausted) is not None

    return halts


def _build_unfinished(task: Task, job: RowJob | None, *, is_lost: bool) -> ResultLine:
    """The result line of a row that has not ended; the next run sends or resumes the row."""
    if job is not None:
        line = build_job_line(job, "unknown")
    else:
        line = build_row_line(task.row, task.key, "not_sent")
        if task.sent_at is not None:
            request = task.intent.id if task.intent is not None else None
            line = line._replace(outcome="unknown", request=request, first_sent=utc(task.sent_at))
    return line._replace(request=None) if is_lost else line


def total_of(end: RowEnd, field: str) -> tuple[str, int] | None:
    """The currency and amount that a row has moved according to its answer, or None."""
    data = end.reply.data if end.reply is not None else None
    if not isinstance(data, dict):
        return None
    amount, currency = read_answered_amount(data.get(field)), data.get("currency")
    if amount is None or not isinstance(currency, str):
        return None
    return currency, amount
