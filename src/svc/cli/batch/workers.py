"""The workers of a batch and what they share: pace, retry allowance, settings, key."""

from collections.abc import Callable
from typing import Final

from svc.batch.journal import BatchJournal
from svc.batch.plan import BatchPlan
from svc.batch.results import Results
from svc.batch.run import Run, RunDeps, halting
from svc.batch.workers import Rate, SharedQuota, Workers
from svc.cli.batch.report import Progress
from svc.cli.batch.rows import BatchInput, BatchOptions
from svc.cli.framework.control import ServedClock
from svc.cli.framework.session import Session
from svc.client.client import AttemptRecord, Client
from svc.client.journal.entry import Account
from svc.client.journal.journal import Journal
from svc.client.request import checked_version

_LIMITED: Final = 429


def build_run(
    session: Session,
    asked: BatchOptions,
    given: BatchInput,
    todo: BatchPlan,
    journal: Journal,
    results: Results,
    account: Account,
) -> Run:
    """Puts a run together; its workers start with it."""
    settings, clock = session.settings, session.clock
    version = settings.api_version
    desk = BatchJournal(
        journal,
        import_id=given.what.id,
        scope=given.what.scope,
        base_url=settings.base_url,
        encoding=given.operation.call("x", {}).encoding,
        api_version=None if version is None else checked_version(version),
        account=account,
        served=ServedClock(session).now,
    )
    pace, quota = Rate(clock, asked.rate), SharedQuota(len(todo.tasks))
    size = max(1, min(asked.size, len(todo.tasks)))
    halts = halting(given.operation, quota)
    fleet = Workers(size, _connector(session, pace, quota), halts, pace, clock)
    crew = RunDeps(desk, fleet, results, quota, clock)
    return Run(
        todo,
        given.operation,
        crew,
        size=size,
        in_order=asked.in_order,
        progress=_progress(session),
    )


def _progress(session: Session) -> Progress:
    """A bar where a person watches stderr, else nothing."""
    return Progress(session.live_line())


def _connector(session: Session, pace: Rate, quota: SharedQuota) -> Callable[[], Client]:
    """Makes the function that makes a worker's client; the keyring is read here, once."""
    secret = session.key.secret

    def attempted(record: AttemptRecord) -> None:
        if record.status == _LIMITED:
            pace.was_limited()
        elif record.status is not None:
            pace.went_through()

    def connect() -> Client:
        # By whose clock a summary is shown is no question.
        return session.client(
            secret=secret, quota=quota, on_attempt=attempted, on_reply=lambda _: None
        )

    return connect
