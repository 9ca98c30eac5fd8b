"""The workers of a batch and what they share: pace, retry allowance, settings, key."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from svc.batch.journal import BatchJournal
from svc.batch.plan import BatchPlan
from svc.batch.results import Results
from svc.batch.run import Run, RunDeps, halting
from svc.batch.workers import Rate, SharedQuota, Workers
from svc.cli.batch.report import Progress
from svc.cli.batch.rows import BatchInput, BatchOptions
from svc.cli.framework.progress import LiveLine
from svc.cli.framework.service_clock import ServedClock
from svc.cli.framework.session import Session
from svc.client.client import AttemptRecord, Client
from svc.client.journal.entry import Account
from svc.client.journal.journal import Journal
from svc.client.request import checked_version
from svc.client.wire.proxy import chosen
from svc.redaction import redact

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
    return Progress(LiveLine.of(session))


def _connector(session: Session, pace: Rate, quota: SharedQuota) -> Callable[[], Client]:
    """Makes the function that makes a worker's client; keyring and settings are read here."""
    settings, secret = session.settings, session.key.secret
    proxy = chosen(settings.base_url, settings.proxy, session.env)
    stderr = session.streams.stderr if session.given.everywhere.verbose else None

    def attempted(record: AttemptRecord) -> None:
        if record.status == _LIMITED:
            pace.was_limited()
        elif record.status is not None:
            pace.went_through()
        if stderr is not None:
            with suppress(OSError):  # nobody reads any more; the row goes on
                stderr.write(_line(record))

    def connect() -> Client:
        session.refuse_stranger()
        return Client(
            settings.base_url,
            secret,
            mode=settings.mode,
            api_version=settings.api_version,
            deadline_seconds=settings.max_time,
            clock=session.clock,
            auth=settings.auth,
            on_attempt=attempted,
            proxy=proxy,
            ca_bundle=settings.ca_bundle,
            quota=quota,
            expected=session.expected,
        )

    return connect


def _line(record: AttemptRecord) -> str:
    what = str(record.status) if record.status is not None else record.error
    line = f"{record.method} {record.path}  attempt {record.attempt}  {what}"
    line += f"  {record.milliseconds:.0f} ms  {record.request_id or ''}"
    return redact(line.rstrip()) + "\n"
