"""Checking a list, and running it: what `svc batch` puts together."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from svc.batch.ledger import Ledger
from svc.batch.plan import Plan, plan
from svc.batch.repeats import refuse_repeats
from svc.batch.results import Results
from svc.batch.rows import Row
from svc.batch.run import Run
from svc.cli.batch_asked import Asked, Given, understood
from svc.cli.batch_confirm import confirm_rows
from svc.cli.batch_crew import put_together
from svc.cli.batch_report import Report, left_out_note, report_check
from svc.cli.journalled import scope_of
from svc.cli.journalled_ages import ages_here
from svc.cli.session import Session
from svc.cli.signals import Stopped
from svc.client.guards import refuse_secrets
from svc.client.journal.entry import Scope
from svc.client.journal.journal import Journal
from svc.client.journal.leases import Leases
from svc.errors import AuthError, LocalError, SvcError
from svc.keys.resolve import VARIABLE


class _Books(NamedTuple):
    intents: Journal
    ledger: Ledger


def check_list(session: Session, asked: Asked) -> None:
    """Checks every row and says what a run would do; sends nothing and needs no key."""
    settings = session.settings
    out = session.out  # made first: a wrong --query is a mistake like any other
    scope = Scope(settings.profile, settings.mode, str(settings.base_url))
    given = understood(session, asked, scope)
    # Without a keyring being opened: that of a machine, such as CI, lies in the environment.
    _refuse_secrets(session.env.get(VARIABLE) or "", given)
    with _books(session) as books:
        todo = _planned(session, asked, given, books, will_send=False)
    report_check(out, given, todo)


def run_list(session: Session, asked: Asked) -> None:
    """Runs a list; what was carried out before is skipped.

    Raises:
        PartlyDone: some rows are not done.
        SvcError: nothing was done, for this reason.
    """
    path = asked.results_path()
    out = session.out  # made first: a wrong --query must be refused before anything is sent
    given = understood(session, asked, scope_of(session))
    _refuse_secrets(session.key.secret, given)
    with _books(session) as books, Results(path, given.what.id) as results:
        results.check(force=asked.force)
        books.ledger.begin(given.what)
        try:
            todo = _planned(session, asked, given, books, will_send=True)
            confirm_rows(session, given.operation, todo)
            run = put_together(session, asked, given, todo, books.intents, results)
            report = Report(given, run.tally, path)
            failure = _carried_through(run, lambda: report.show(out))
        finally:
            with suppress(LocalError):  # a full disk; the process's end gives it back as well
                books.ledger.end(given.what)
        with suppress(LocalError):  # there is a next time
            books.ledger.pack_an_old_one()
    report.show(out)
    error = report.error(failure, run.stopped_by)
    if error is not None:
        raise error


@contextmanager
def _books(session: Session) -> Iterator[_Books]:
    state = session.state()
    with closing(Leases(session.paths.state_dir / "senders")) as leases:
        intents = Journal(lambda: state, leases, session.clock)
        yield _Books(intents, Ledger(state, leases, session.clock))


def _planned(
    session: Session, asked: Asked, given: Given, books: _Books, *, will_send: bool
) -> Plan:
    """Compares the file with the journal; refuses what would be done twice."""
    known = books.intents.list(batch=given.what.id)
    open_ones = will_send and any(intent.is_unresolved for intent in known)
    ages = ages_here(session) if open_ones else None
    todo = plan(
        given.what.id,
        given.rows,
        known,
        now=session.clock.now(),
        refusal=None if ages is None else ages.refusal,
    )
    if given.operation.doubles:
        refuse_repeats(books.ledger, given.what, todo.fresh, again=asked.again)
    note = left_out_note(given)
    if note is not None and session.format == "human":
        session.out.note(note)
    return todo


def _carried_through(run: Run, on_stop: Callable[[], None]) -> SvcError | None:
    """Runs to the end; gives the error of the journal or the results file that ended it early."""
    try:
        run.go()
    except SvcError as error:
        return error
    except Stopped:
        on_stop()
        raise
    return None


def _refuse_secrets(key: str, given: Given) -> None:
    """Keeps secrets out of every row, before any is recorded or sent (R28, R45, R100)."""
    for row in given.rows:
        if isinstance(row, Row):
            try:
                refuse_secrets(key, row.body, row.path)
            except AuthError as error:
                error.message = f"Line {row.line} holds a secret."
                raise
