"""Running a plan: one loop that feeds the workers, keeps what comes back, and knows when to stop.

The loop alone touches the journal and the results file. It records rows a little ahead of the
workers, so that they never wait for the disk, and collects for a moment what they bring back, so
that one transaction serves many rows.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, Protocol

from svc.batch.journal import BatchJournal
from svc.batch.operations import BatchOperation
from svc.batch.outcome import (
    OPEN_ENDS,
    Moved,
    RowVerdict,
    Totals,
    advised_fields,
    bad_line,
    stop_of,
    taken,
    verdict,
)
from svc.batch.plan import BatchPlan, Task
from svc.batch.results import ResultLine, Results, failure
from svc.batch.rows import BatchRow
from svc.batch.workers import JobEnd, RowJob, SharedQuota, Workers
from svc.client.journal.entry import Intent, Settled
from svc.clock import Clock
from svc.errors import LocalError, SvcError
from svc.state import LOST

_NONE: Final[Mapping[int, RowVerdict]] = {}
_AHEAD: Final = 4  # rows in hand for each worker
_LOOK_SECONDS: Final = 0.2
_GATHER_SECONDS: Final = 0.01
# What a signal leaves to the requests that are under way (promise R78: stopped within a second).
_FAREWELL_SECONDS: Final = 0.5
_JOURNAL_SECONDS: Final = 0.1
_BEFORE_FORGETTING: Final = "if it was carried out, take the row out of the file before that"


class RunWatcher(Protocol):
    """Shows a person how far a run is."""

    def tell(self, totals: Totals) -> None:
        """Says where the run stands; called often."""

    def clear(self) -> None:
        """Takes away what was shown."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """What a run works with."""

    journal: BatchJournal
    workers: Workers
    results: Results
    quota: SharedQuota
    clock: Clock


class _Told(NamedTuple):
    """How a row ended; `moved` is what that moved, if it counts."""

    line: ResultLine
    moved: Moved | None


class Run:
    """One run of a plan.

    A signal may come at any step. What is known of a row is noted in one of them; what follows from
    it, the totals and the file, is made anew at the end.

    `in_order` sends a row only when the one before it has ended. `progress` is told after every
    group of rows.

    Attributes:
        totals: what became of the rows so far.
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
    ) -> None:
        self._plan = plan
        self._operation = operation
        self._deps = deps
        self._in_hand_max = 1 if in_order else size * _AHEAD
        self._in_order = in_order
        self._progress = progress
        self._waiting = iter(plan.tasks)
        self._in_hand: dict[str, RowJob] = {}
        self._known = _known(plan)  # of none of the tasks, which get theirs as they end
        self._told: dict[int, _Told] = {}
        self.totals = self._counted()
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
            self._deps.results.begin(self._known)
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
            self._deps.journal.hurry(_JOURNAL_SECONDS)
            with suppress(SvcError):
                self._say_farewell()
            self._end()
            raise
        if self.stopped_by is not None and not isinstance(self.stopped_by, SvcError):
            raise self.stopped_by
        if self._deps.results.failure is not None:
            raise self._deps.results.failure

    def _begin_after(self, reason: BaseException) -> None:
        """Has a file for what a signal has left, nothing sent; else raises why there is none."""
        if isinstance(reason, SvcError):
            raise reason
        with suppress(SvcError):
            self._deps.results.begin(self._known)

    def _feed(self) -> bool:
        """Records more rows and hands them out; false when nothing is left to wait for."""
        while self.stopped_by is None:
            room = self._in_hand_max - len(self._in_hand)
            # Half of what is in hand at once: a group is worth its transaction.
            tasks = list(islice(self._waiting, room)) if room * 2 > self._in_hand_max else []
            if not tasks:
                break
            self._hand_out(tasks)
        return bool(self._in_hand)

    def _hand_out(self, tasks: list[Task]) -> None:
        jobs, lines = self._deps.journal.record(tasks)
        self._in_hand.update((job.intent.id, job) for job in jobs)
        self._deps.workers.put(jobs)
        self._note(lines)

    def _collect(self) -> None:
        """Waits for rows to end, and a moment longer, so that one transaction serves many."""
        ended = self._deps.workers.take(_LOOK_SECONDS)
        if ended and len(ended) < len(self._in_hand):
            self._deps.clock.sleep(_GATHER_SECONDS)

    def _keep(self, seconds: float = 0.0) -> None:
        """Keeps what has ended by now; what a signal interrupts is kept when this is done again."""
        ended = self._deps.workers.take(seconds)
        verdicts = [verdict(each, self._operation) for each in ended]
        for each in verdicts:
            self._watch(each)
        try:
            foreign = self._settled(verdicts)
            verdicts = [taken(one) if one.job.intent.id in foreign else one for one in verdicts]
            for each in verdicts:
                self._watch(each)
        finally:
            # Also where the journal cannot: this file tells what was done.
            self._note(self._lines(verdicts), {one.line.row: one for one in verdicts})
        self._let_go(verdicts)
        self._progress.tell(self.totals)

    def _settled(self, verdicts: list[RowVerdict]) -> frozenset[str]:
        """Settles what has ended; once the run says farewell, the results must do without it."""
        try:
            return self._deps.journal.settle(verdicts)
        except LocalError as error:
            self._is_lost = self._is_lost or error.code in LOST
            if not self._is_leaving:
                raise
            return frozenset()

    def _lines(self, verdicts: list[RowVerdict]) -> list[ResultLine]:
        """The lines of rows that have ended; no id of a journal that is gone (promise R102)."""
        lines = [each.line for each in verdicts]
        return [line._replace(request=None) for line in lines] if self._is_lost else lines

    def _let_go(self, verdicts: list[RowVerdict]) -> None:
        for each in verdicts:
            self._in_hand.pop(each.job.intent.id, None)
        self._deps.workers.drop(len(verdicts))

    def _note(self, lines: list[ResultLine], ends: Mapping[int, RowVerdict] = _NONE) -> None:
        fresh = {
            line.row: _Told(line, self._moved(line, ends))
            for line in lines
            if line.row not in self._told
        }
        self._told.update(fresh)
        if fresh:
            self._deps.results.add([each.line for each in fresh.values()])
        for each in fresh.values():
            self.totals.add(each.line, each.moved)
        failure = self._deps.results.failure
        if failure is not None:
            self._stop(failure)

    def _moved(self, line: ResultLine, ends: Mapping[int, RowVerdict]) -> Moved | None:
        if line.outcome != "done" or line.row not in ends or not self._operation.total:
            return None
        return Moved(ends[line.row].total)

    def _counted(self) -> Totals:
        """Counts all rows that are known of by now."""
        totals = Totals(self._plan.rows, too_old=len(self._plan.stale))
        for line in self._known:
            if line.outcome == "done":
                totals.skip(line)
            else:
                totals.add(line)
        for each in self._told.values():
            totals.add(each.line, each.moved)
        return totals

    def _watch(self, each: RowVerdict) -> None:
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
        under_way = {job.row: job for job in self._in_hand.values()}
        lines = [
            _left(task, under_way.get(task.row.number), is_lost=self._is_lost)
            for task in self._plan.tasks
            if task.row.number not in self._told
        ]
        try:
            self._note(lines)
            self._deps.results.add((*self._known, *(each.line for each in self._told.values())))
            self.totals = self._counted()
            self._deps.results.finish()
        finally:
            self._progress.clear()
            self._deps.workers.close(0 if under_way else _FAREWELL_SECONDS)


def halting(operation: BatchOperation, quota: SharedQuota) -> Callable[[JobEnd], bool]:
    """What a worker asks after each job: whether no other one may begin."""

    def halts(ended: JobEnd) -> bool:
        if ended.reply is not None:
            quota.row_ended(answered=True)
            return False
        each = verdict(ended, operation)
        if each.error is not None:
            quota.row_ended(answered=each.line.outcome not in OPEN_ENDS)
        return stop_of(each, strained=quota.exhausted) is not None

    return halts


def _left(task: Task, job: RowJob | None, *, is_lost: bool) -> ResultLine:
    """The line of a row that has not ended: begun or not, it is for the next run."""
    outcome, request = ("not_sent", None) if job is None else ("unknown", job.intent.id)
    if task.intent is not None and task.intent.is_unresolved:
        outcome, request = "unknown", task.intent.id
    request = None if is_lost else request
    return ResultLine(task.row.number, task.row.line, outcome, None, None, task.key, request)


def _done_before(row: BatchRow, intent: Intent) -> ResultLine:
    """The line of a row that an earlier run has carried out; what was wrong with it is said again.

    A difference between row and answer (promise R15) is nothing that a second run settles.
    """
    settled = intent.settled or Settled("done")
    error: dict[str, object] | None = None
    if intent.is_contradicted:
        code, message = settled.error_code, settled.error_message
        error = failure(code, message, None, settled.status, settled.request_id)
    key = intent.stored.idempotency_key
    return ResultLine(row.number, row.line, "done", settled.object_id, error, key, intent.id)


def _known(plan: BatchPlan) -> list[ResultLine]:
    """The lines of rows about which nothing will be done in this run."""
    lines = [_done_before(row, intent) for row, intent in plan.done]
    for row, intent, error in plan.stale:
        fields = advised_fields(error)
        fields["message"] = f"{fields['message']}; {_BEFORE_FORGETTING}"
        key = intent.stored.idempotency_key
        lines.append(ResultLine(row.number, row.line, "unknown", None, fields, key, intent.id))
    lines += map(bad_line, plan.bad)
    return lines
