"""Builds the run of a batch with its workers, which share a rate limit, a retry quota and a key.

`run` calls `build_run` once a person has confirmed the plan: the plan, the journal and the results
file in, a `svc.batch.run.Run` out. `Progress` is the line that a person watches.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from svc.batch.results import Results
from svc.batch.run import Run, RunDeps, make_should_stop
from svc.batch.tally import HeldError, Totals
from svc.batch.workers import Rate, SharedQuota, Workers
from svc.cli.batch.options import BatchOptions
from svc.cli.batch.rows import BatchInput
from svc.cli.framework.control import ServedClock
from svc.cli.framework.progress import LiveLine, bar
from svc.cli.framework.session import Session
from svc.client.call import Call
from svc.client.client import Client
from svc.client.request import check_version
from svc.client.retry import AttemptResult
from svc.delivery.journal.entry import Charge, KeyEquivalence
from svc.delivery.journal.journal import Journal
from svc.delivery.plan import BatchPlan
from svc.delivery.rows import RowJournal

_LIMITED: Final = 429
_BAR: Final = 24
_ROOM: Final = 60  # columns that the words need


def build_row_journal(
    session: Session,
    batch_input: BatchInput,
    journal: Journal,
    account: KeyEquivalence,
    charges: Mapping[int, Charge],
) -> RowJournal:
    """Builds the object that records and settles the rows of a batch in the journal."""
    settings, version = session.settings, session.settings.api_version
    return RowJournal(
        journal,
        batch_input.batch,
        base_url=settings.base_url,
        encoding=batch_input.operation.call("x", {}).encoding,
        api_version=None if version is None else check_version(version),
        account=account,
        served=ServedClock(session).now,
        charges=charges,
    )


def build_run(
    session: Session,
    options: BatchOptions,
    batch_input: BatchInput,
    todo: BatchPlan,
    recorded: RowJournal,
    results: Results,
    held_error: HeldError,
) -> Run:
    """Builds a run and starts its workers."""
    clock = session.clock
    rate, quota = Rate(clock, options.rate), SharedQuota(len(todo.tasks))
    size = max(1, min(options.size, len(todo.tasks)))
    halts = make_should_stop(quota)
    workers = Workers(size, _connector(session, rate, quota), halts, rate, clock)
    deps = RunDeps(recorded, workers, results, quota, clock)
    return Run(
        todo,
        batch_input.operation,
        deps,
        size=size,
        in_order=options.strict_order,
        progress=Progress(session.make_live_line()),
        held_error=held_error,
    )


def _connector(session: Session, rate: Rate, quota: SharedQuota) -> Callable[[], Client]:
    """Returns the function that creates a worker's client; the keyring is read here, once."""
    secret = session.key.secret

    def attempted(_call: Call, _attempt: int, result: AttemptResult, _took: float) -> None:
        if result.status == _LIMITED:
            rate.was_limited()
        elif result.status is not None:
            rate.note_success()

    def connect() -> Client:
        # By whose clock a summary is shown is no question.
        return session.client(
            secret=secret, quota=quota, on_attempt=attempted, on_reply=lambda _: None
        )

    return connect


class Progress:
    """The progress line of a batch."""

    def __init__(self, line: LiveLine) -> None:
        self._live = line
        self._skipped: int | None = None

    def tell(self, totals: Totals) -> None:
        """Shows the totals, at most ten times a second."""
        if not self._live.is_due():
            return
        if self._skipped is None:
            self._skipped = totals.skipped + totals.counts["invalid"]
        self._live.show(*self._parts(totals, self._live.seconds()))

    def clear(self) -> None:
        """Removes the progress line, so that other output can follow."""
        self._live.clear()

    def _parts(self, totals: Totals, seconds: float) -> Iterator[str]:
        ended, rows = totals.ended, max(1, totals.rows)
        speed = (ended - (self._skipped or 0)) / seconds
        drawn = bar(ended, rows, min(_BAR, self._live.width - _ROOM))
        yield f"{drawn}{ended:,} of {totals.rows:,} rows"
        failed = totals.counts["refused"] + totals.counts["invalid"]
        if failed:
            yield f"  {failed:,} failed"
        yield f"  {speed:,.0f}/s"
        if speed > 0 and ended < rows:
            yield f"  {_time((rows - ended) / speed)} left"


def _time(seconds: float) -> str:
    if seconds < 100:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"  # noqa: PLR2004
