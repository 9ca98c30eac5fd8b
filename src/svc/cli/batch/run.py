"""Checking a list, asking about it, and running it."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple

from svc.batch.operations import BatchOperation
from svc.batch.plan import BatchPlan, plan
from svc.batch.repeats import (
    TypedLine,
    other_lists_results,
    refuse_other_account,
    refuse_repeats,
    refuse_whole,
)
from svc.batch.results import Results
from svc.batch.run import Run
from svc.batch.tally import money_planned
from svc.cli.batch.options import BatchOptions
from svc.cli.batch.report import Report, in_words, left_out_note, report_check
from svc.cli.batch.rows import BatchInput, read_input, refuse_secrets_in
from svc.cli.batch.workers import build_run
from svc.cli.framework.control import idempotency_ages_here
from svc.cli.framework.delivering import accounts_of
from svc.cli.framework.errors import tell_stopped
from svc.cli.framework.prompts import confirm_real_money
from svc.cli.framework.session import Session
from svc.delivery.journal.entry import NOBODY_ELSE, Account, Intent
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.leases import Leases
from svc.delivery.journal.lists import Elsewhere, ImportTable
from svc.delivery.journal.stored import Scope
from svc.delivery.send import not_sent
from svc.errors import LocalError, SvcError
from svc.keys.resolve import VARIABLE
from svc.system.signals import Stopped


def confirm_rows(session: Session, operation: BatchOperation, todo: BatchPlan) -> None:
    """Asks at a terminal, with the totals; elsewhere `--yes` must stand on the command line.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given, or the answer is no; nothing
            was sent.
    """
    if not operation.moves or session.settings.mode != "live" or not todo.tasks:
        return
    sums = f" ({in_words(money_planned(todo))})" if operation.total else ""
    confirm_real_money(session, f"{operation.moves.format(len(todo.tasks))}{sums}")


class _RunTables(NamedTuple):
    journal: Journal
    imports: ImportTable


def check_list(session: Session, asked: BatchOptions) -> None:
    """Checks every row and says what a run would do; sends nothing and needs no key."""
    out, scope = session.out, session.scope()
    given = read_input(session, asked, scope)
    # Without a keyring being opened: that of a machine, such as CI, lies in the environment.
    refuse_secrets_in(given, session.env.get(VARIABLE) or "")
    path = None if asked.lacks_results else asked.results_path()
    with _tables(session) as tables:
        if path is not None:
            _check_results(session, asked, given, tables, Results(path, given.what.id))
        todo = _planned(session, asked, given, tables, tables.journal.list(batch=given.what.id))
        _tell_left_out(session, given)
        found = tables.imports.elsewhere(given.what, _identities(todo))
        # Whose key it will be is not known yet: other profiles are left to the run.
        others = frozenset(one.key_hint for one in found if one.profile != scope.profile)
        _judged(session, asked, given, todo, Account(other=others))(found)
    report_check(out, given, todo)


def run_list(session: Session, asked: BatchOptions) -> None:
    """Runs a list; what was carried out before is skipped.

    Raises:
        PartlyDone: some rows are not done.
        SvcError: nothing was done, for this reason.
    """
    path = asked.results_path()
    given = read_input(session, asked, session.scope(session.key.fingerprint))
    refuse_secrets_in(given, session.key.secret)
    with _summed_up_if_stopped(session) as due:
        report, failure = _run_through(session, asked, given, path, due)
        due.clear()
        report.show(session.out)
    error = report.error(failure, report.run.stopped_by)
    if error is not None:
        raise error


@contextmanager
def _summed_up_if_stopped(session: Session) -> Iterator[list[Report]]:
    """Shows the report that is due, if one is by then, where a signal ends the block (R78)."""
    due: list[Report] = []
    try:
        yield due
    except Stopped as stopped:
        if due:
            stopped.told = True
            tell_stopped(session)
            due[0].interrupted(session.out)
        raise


def _run_through(
    session: Session, asked: BatchOptions, given: BatchInput, path: Path, due: list[Report]
) -> tuple[Report, SvcError | None]:
    """Runs to the end; gives the error of the journal or the results file that ended it early."""
    ended = _End()
    failure: SvcError | None = None
    with _tables(session) as tables, Results(path, given.what.id) as results:
        _check_results(session, asked, given, tables, results)
        with _before_sending():
            tables.imports.begin(given.what)
        try:
            run = _put_together(session, asked, given, tables, results)
            due.append(Report(given, run, path, _line(session, asked)))
            try:
                run.go()
            except SvcError as error:
                failure = error
            ended = _End(whole=not run.totals.not_done, changed=run.totals.done > 0)
        finally:
            with suppress(LocalError):  # a full disk; the process's end gives it back as well
                tables.imports.end(given.what, whole=ended.whole, changed=ended.changed)
        with suppress(LocalError):  # there is a next time
            tables.imports.pack_an_old_one()
    return due[0], failure


def _check_results(
    session: Session, asked: BatchOptions, given: BatchInput, tables: _RunTables, results: Results
) -> None:
    """Makes sure that the results may be written; of another profile's it says whose they are.

    Raises:
        LocalError: they may not; nothing was sent.
    """
    try:
        results.check(force=asked.force)
    except LocalError as error:
        wrote = None
        if error.code == "results_exist":
            with suppress(OSError):  # gone meanwhile
                wrote = tables.imports.of_id(results.written_by())
        if wrote is None or wrote != replace(given.what, scope=wrote.scope):
            raise
        line = _line_toward(session, asked, wrote.scope)
        raise other_lists_results(results.path, given.what, wrote, line) from error


def _line_toward(session: Session, asked: BatchOptions, scope: Scope) -> str:
    """The command line that was typed, for another profile, mode and base URL."""
    from svc.cli.framework.inputs import without

    argv: Sequence[str] = [word for word in session.argv if word not in {"--live", "--test"}]
    for option in ("--profile", "--base-url"):
        argv = without(argv, option)
    toward = shlex.split(session.say(scope, "batch"))[2:]
    return _line(session, asked)._replace(words=tuple(argv)).but(*toward)


@contextmanager
def _before_sending() -> Iterator[None]:
    """Says of a state database that cannot be used that nothing was sent yet (promise R70)."""
    try:
        yield
    except LocalError as error:
        raise not_sent(error) from error


@_before_sending()
def _put_together(
    session: Session, asked: BatchOptions, given: BatchInput, tables: _RunTables, results: Results
) -> Run:
    todo, account = _reserved(session, asked, given, tables)
    confirm_rows(session, given.operation, todo)
    return build_run(session, asked, given, todo, tables.journal, results, account)


class _End(NamedTuple):
    """How a run left its list: every row done, and one of them just now."""

    whole: bool = False
    changed: bool = False


@contextmanager
def _tables(session: Session) -> Iterator[_RunTables]:
    with _before_sending():
        state = session.state()
    with closing(Leases(session.paths.state_dir / "senders")) as leases:
        journal = Journal(lambda: state, leases, session.clock, say=session.say)
        yield _RunTables(journal, ImportTable(state, leases, session.clock))


def _reserved(
    session: Session, asked: BatchOptions, given: BatchInput, tables: _RunTables
) -> tuple[BatchPlan, Account]:
    """Compares the file with the journal, and holds what is to be sent (promise R92).

    Raises:
        Conflict: something would be done twice, or skipped in silence; nothing was sent.
    """
    known = tables.journal.list(batch=given.what.id)
    todo = _planned(session, asked, given, tables, known)
    _tell_left_out(session, given)
    same = _identities(todo)
    begun = [one for one in known if one.state == "done" or one.is_unresolved]
    strangers = {one.scope.key_hint for one in begun}
    strangers |= {one.key_hint for one in tables.imports.elsewhere(given.what, same)}
    strangers -= {session.key.fingerprint}
    account = _account(session, tables.journal, strangers)
    own = {session.key.fingerprint, *account.same}
    others = [one for one in begun if one.scope.key_hint not in own]
    refuse_other_account(given.what, others, session.key.fingerprint, _line(session, asked))
    tables.imports.reserve(given.what, same, _judged(session, asked, given, todo, account))
    return todo, account


def _account(session: Session, journal: Journal, strangers: set[str]) -> Account:
    if not strangers:
        return NOBODY_ELSE
    with session.client() as client:
        return accounts_of(session, client, journal).compare(strangers)


def _identities(todo: BatchPlan) -> list[str]:
    return list(dict.fromkeys(task.row.identity for task in todo.tasks))


def _line(session: Session, asked: BatchOptions) -> TypedLine:
    folder = PurePath(asked.results or asked.file).parent
    return TypedLine(tuple(session.argv), session.clock.now(), folder)


def _judged(
    session: Session, asked: BatchOptions, given: BatchInput, todo: BatchPlan, account: Account
) -> Callable[[Sequence[Elsewhere]], None]:
    return lambda found: refuse_repeats(
        found,
        given.what,
        todo,
        account=account,
        doubles=given.operation.doubles,
        again=asked.again,
        line=_line(session, asked),
    )


def _planned(
    session: Session,
    asked: BatchOptions,
    given: BatchInput,
    tables: _RunTables,
    known: Sequence[Intent],
) -> BatchPlan:
    """Compares the file with what the journal knows of its list."""
    ages = idempotency_ages_here(session) if any(intent.is_unresolved for intent in known) else None
    now = session.clock.now()
    todo = plan(
        given.what.id,
        given.rows,
        known,
        now=now,
        refusal=None if ages is None else lambda intent: ages.refusal(intent, session.say),
        say=session.say,
    )
    if todo.done and not asked.goes_on:
        refuse_whole(given.what, tables.imports.whole_at(given.what), _line(session, asked))
    return todo


def _tell_left_out(session: Session, given: BatchInput) -> None:
    note = left_out_note(given)
    if note is not None and session.format == "human":
        session.out.note(note)
