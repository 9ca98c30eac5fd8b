"""One run of a batch: compared with what is known, asked about, sent, reported."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from svc.batch.results import Results
from svc.batch.run import Run
from svc.cli.batch.facts import BatchTables, facts_for, with_duplicates
from svc.cli.batch.options import BatchOptions
from svc.cli.batch.report import Report, left_out_note, questions_of, report_check
from svc.cli.batch.rows import BatchInput, read_input, refuse_secrets_in
from svc.cli.batch.workers import build_run
from svc.cli.framework.errors import tell_stopped
from svc.cli.framework.prompts import confirm_real_money
from svc.cli.framework.session import Session
from svc.delivery.hints import TypedLine, held_error, next_again_label, notes_of, stop_error
from svc.delivery.journal.batches import BatchTable, Duplicate
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.leases import Leases
from svc.delivery.plan import BatchFacts, BatchPlan, Passed, plan_batch
from svc.delivery.send import not_sent
from svc.errors import LocalError, SvcError, UsageError, translate_errors
from svc.inputs import is_read_once
from svc.keys.resolve import VARIABLE
from svc.system.signals import Stopped


class JudgedBatch(NamedTuple):
    """What a run has to do, and what that stands on."""

    plan: BatchPlan
    facts: BatchFacts


def check_batch(session: Session, asked: BatchOptions) -> None:
    """Checks every row and says what a run would do; sends nothing and needs no key."""
    given = read_input(session, asked, session.scope())
    # Without a keyring being opened: that of a machine, such as CI, lies in the environment.
    refuse_secrets_in(given, session.env.get(VARIABLE) or "")
    with _tables(session) as tables:
        given = _add_label(session, asked, given, tables)
        results = None
        if not asked.lacks_results:
            results = Results(asked.results_path(given.batch.label), given.batch)
            results.check(force=asked.force)
        judged = _judge(session, asked, given, tables, results, is_check=True)
        _refuse_stopped(session, asked, judged)
        _tell_notes(session, given, judged)
    report_check(session.out, given, judged.plan)


def run_batch(session: Session, asked: BatchOptions) -> None:
    """Runs a batch; what was carried out before is skipped.

    Raises:
        PartlyDone: some rows are not done.
        SvcError: nothing was done, for this reason.
    """
    had_journal = session.paths.has_state
    asked.results_path()  # whether it can be said at all
    given = read_input(session, asked, session.scope(session.key.fingerprint))
    _refuse_nameless(session, asked, had_journal=had_journal)
    refuse_secrets_in(given, session.key.secret)
    with _summed_up_if_stopped(session) as due:
        report, failure = _run_through(session, asked, given, due)
        due.clear()
        report.show(session.out)
    error = report.error(failure, report.run.stopped_by)
    if error is not None:
        raise error


def _refuse_nameless(session: Session, asked: BatchOptions, *, had_journal: bool) -> None:
    """Refuses a live batch whose rows another run could not tell from these (promise R114)."""
    if (
        asked.name
        or session.settings.mode != "live"
        or (had_journal and not is_read_once(asked.file))
    ):
        return
    why = (
        "Rows from a pipe have no name"
        if is_read_once(asked.file)
        else "This machine has no record of earlier runs"
    )
    raise UsageError(
        f"{why}, so that a second run would pay them again. Nothing was sent.",
        code="batch_nameless",
        param="--import",
        hint=_line(session, asked).but("--import", "NAME"),
    )


def _add_label(
    session: Session, asked: BatchOptions, given: BatchInput, tables: BatchTables
) -> BatchInput:
    """Gives the batch the label of its occasion, a new one with --again."""
    label = asked.run or ""
    if not label and asked.again:
        label = next_again_label(tables.batches.labels_of(given.batch), session.clock.now())
    return replace(given, batch=replace(given.batch, label=label))


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
    session: Session, asked: BatchOptions, given: BatchInput, due: list[Report]
) -> tuple[Report, SvcError | None]:
    """Runs to the end; gives the error of the journal or the results file that ended it early."""
    ended = _End()
    failure: SvcError | None = None
    with _tables(session) as tables:
        given = _add_label(session, asked, given, tables)
        path = asked.results_path(given.batch.label)
        with Results(path, given.batch) as results:
            results.check(force=asked.force)
            with translate_errors(LocalError, not_sent):
                tables.batches.begin(given.batch)
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
                    tables.batches.end(given.batch, whole=ended.whole, changed=ended.changed)
        with suppress(LocalError):  # there is a next time
            tables.batches.compact_expired_batch()
    return due[0], failure


@translate_errors(LocalError, not_sent)
def _put_together(
    session: Session, asked: BatchOptions, given: BatchInput, tables: BatchTables, results: Results
) -> Run:
    judged = _judge(session, asked, given, tables, results)
    _refuse_stopped(session, asked, judged)
    _tell_notes(session, given, judged)
    judged = _reserve(session, asked, given, tables, judged)
    if judged.plan.adopted:
        taken = [str(one.duplicate.request) for one in judged.plan.adopted if one.duplicate]
        tables.batches.adopt(given.batch, taken)
    confirm_rows(session, given, judged.plan)

    def explain(passed: Passed) -> SvcError:
        request = passed.evidence.request if passed.evidence else None
        expired = judged.facts.expired.get(request or "")
        return expired or held_error(passed, session.clock.now(), session.say)

    return build_run(
        session, asked, given, judged.plan, tables.journal, results, judged.facts.account, explain
    )


def confirm_rows(session: Session, given: BatchInput, todo: BatchPlan) -> None:
    """Asks at a terminal, with the totals; elsewhere `--yes` must stand on the command line.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given, or the answer is no; nothing
            was sent.
    """
    moves = given.operation.moves
    if not moves or session.settings.mode != "live" or not todo.tasks:
        return
    what, *more = questions_of(given, todo)
    confirm_real_money(session, f"{moves.format(len(todo.tasks))}{what}", *more)


class _End(NamedTuple):
    """How a run left its batch: every row done, and one of them just now."""

    whole: bool = False
    changed: bool = False


@contextmanager
def _tables(session: Session) -> Iterator[BatchTables]:
    with translate_errors(LocalError, not_sent):
        state = session.state()
    with closing(Leases(session.paths.state_dir / "senders")) as leases:
        journal = Journal(lambda: state, leases, session.clock, say=session.say)
        with translate_errors(LocalError, not_sent):
            batches = BatchTable(state, leases, session.clock)
        yield BatchTables(journal, batches)


def _judge(
    session: Session,
    asked: BatchOptions,
    given: BatchInput,
    tables: BatchTables,
    results: Results | None,
    *,
    is_check: bool = False,
) -> JudgedBatch:
    """Compares the file with all evidence of its batch."""
    facts = facts_for(session, asked, given, tables, results, is_check=is_check)
    return JudgedBatch(plan_batch(given.rows, facts), facts)


def _reserve(
    session: Session,
    asked: BatchOptions,
    given: BatchInput,
    tables: BatchTables,
    judged: JudgedBatch,
) -> JudgedBatch:
    """Holds what is to be sent, and looks once more for duplicates, in one transaction (R92).

    Raises:
        Conflict: something would be done twice, or skipped in silence; nothing was sent.
    """
    kept = [judged]
    likenesses = list(dict.fromkeys(one.row.alike for one in judged.plan.tasks))
    seen = {one for one in judged.facts.duplicates if one.likeness in set(likenesses)}

    def check(found: Sequence[Duplicate]) -> None:
        if set(found) != seen:
            facts = judged.facts._replace(duplicates=with_duplicates(judged.facts, found))
            kept[0] = JudgedBatch(plan_batch(given.rows, facts), facts)
            _refuse_stopped(session, asked, kept[0])

    tables.batches.reserve(given.batch, likenesses, check)
    return kept[0]


def _refuse_stopped(session: Session, asked: BatchOptions, judged: JudgedBatch) -> None:
    error = stop_error(judged.plan, judged.facts, _line(session, asked), session.say)
    if error is not None:
        raise error


def _line(session: Session, asked: BatchOptions) -> TypedLine:
    folder = PurePath(asked.results or asked.file).parent
    return TypedLine(tuple(session.argv), session.clock.now(), folder)


def _tell_notes(session: Session, given: BatchInput, judged: JudgedBatch) -> None:
    if session.format != "human":
        return
    label = given.batch.label
    notes = [f"The label of this run: {label}"] if label else []
    left_out = left_out_note(given)
    notes += [left_out] if left_out else []
    for note in (*notes, *notes_of(judged.plan)):
        session.out.note(note)
