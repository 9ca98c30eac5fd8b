"""The steps of `svc batch`: read, compare with what is known, ask, send, report.

The command calls `run_batch`, or `check_batch` for `--dry-run`: options in, a printed summary out.
It opens the journal, has the rows planned by `svc.delivery.planner`, asks a person where money
moves, and starts `svc.batch.run.Run`.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import chain
from pathlib import PurePath
from typing import Final, NamedTuple

from svc.batch.results import Results
from svc.batch.run import Run
from svc.cli.batch.facts import BatchTables, collect_facts, merge_duplicates
from svc.cli.batch.options import BatchOptions
from svc.cli.batch.report import Report, note_left_out, questions_of, report_check
from svc.cli.batch.rows import BatchInput, read_input, refuse_secrets_in
from svc.cli.batch.workers import build_row_journal, build_run
from svc.cli.framework.delivering import limit_rules
from svc.cli.framework.errors import tell_stopped
from svc.cli.framework.prompts import (
    NOTHING_SENT,
    confirm_real_money,
    go_over_limit,
    money_left,
    will_ask,
)
from svc.cli.framework.session import Session
from svc.client import find
from svc.client.call import Call
from svc.clock import utc
from svc.delivery.evidence import Evidence, Known
from svc.delivery.hints import (
    TypedLine,
    build_held_error,
    notes_of,
    stop_error,
)
from svc.delivery.journal.batches import AGAIN, BatchTable, Duplicate, next_again_label
from svc.delivery.journal.entry import Charge, Stored
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.limits import group_of, read_stated_charge
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.journal.transaction import RECENT_SECONDS
from svc.delivery.likeness import fields_of, is_making
from svc.delivery.plan import BatchFacts, BatchPlan, BatchRow, UnsentRow
from svc.delivery.planner import plan_batch
from svc.delivery.send import ChargeReader, not_sent
from svc.errors import Conflict, LocalError, NotFound, SvcError, UsageError, translate_errors
from svc.inputs import is_read_once
from svc.keys.resolve import VARIABLE
from svc.system.signals import Stopped
from svc.system.spool import Digests

_READ_MAX: Final = 100  # payments and orders before a question


class JudgedBatch(NamedTuple):
    """The plan of a batch, and the facts that it was made from."""

    plan: BatchPlan
    facts: BatchFacts

    def list_known_from_results(self) -> tuple[list[tuple[Evidence, BatchRow | None]], str]:
        """Lists requests that only the results file knows and this run does not send.

        Each comes with its row, or None where the row is gone from the file. The second value is
        the API path of such rows, empty unless the operation creates objects: other paths hold an
        id, so that requests of rows that are gone are then left out.
        """
        plan, evidence = self.plan, self.facts.evidence
        told = {one.key for one in evidence.select(Known, is_recorded=False)}
        if not told:
            return [], ""
        passed = chain(plan.done, plan.held)
        rows = {one.evidence.key: one.row for one in passed if one.evidence}
        paths = chain((row.path for row in rows.values()), (row.path for row in plan.tasks.rows()))
        path = next(filter(is_making, paths), "")
        told -= {task.key for task in plan.tasks}
        return [
            (one, rows.get(one.key))
            for one in evidence.select(Known, is_recorded=False)
            if one.key in told and (path or one.key in rows)
        ], path


def check_batch(session: Session, options: BatchOptions) -> None:
    """Checks every row and prints what a run would do; sends the API nothing and needs no key."""
    batch_input = read_input(session, options, session.scope())
    # Without a keyring being opened: that of a machine, such as CI, lies in the environment.
    refuse_secrets_in(batch_input, session.env.get(VARIABLE) or "")
    with _tables(session) as tables:
        batch_input = _add_label(session, options, batch_input, tables)
        results = None
        if not options.lacks_results:
            path, line = options.results_path(batch_input.batch.label), _line(session, options)
            results = Results(path, batch_input.batch, line)
            results.check(force=options.force)
        judged = _judge(session, options, batch_input, tables, results, is_check=True)
        _refuse_stopped(session, options, judged)
        _refuse_beyond(session, batch_input, tables.journal, judged.plan, is_check=True)
        _tell_notes(session, batch_input, judged)
    report_check(session.out, batch_input, judged.plan)


def run_batch(session: Session, options: BatchOptions) -> None:
    """Runs a batch; rows that were carried out before are skipped.

    Raises:
        PartlyDone: some rows are not done.
        SvcError: nothing was done, for this reason.
    """
    options.results_path()  # whether it can be said at all
    go_over_limit(session, asked=options.over_limit)
    batch_input = read_input(session, options, session.scope(session.key.fingerprint))
    refuse_secrets_in(batch_input, session.key.secret)
    with _sum_up_if_stopped(session) as due:
        report, failure = _run_through(session, options, batch_input, due)
        due.clear()
        report.show(session.out)
    error = report.error(failure, report.run.stopped_by)
    if error is not None:
        raise error


def _refuse_nameless(session: Session, options: BatchOptions, journal: Journal) -> None:
    """Refuses a live batch whose rows another run could not tell from these (promise R114)."""
    if options.name or session.settings.mode != "live":
        return
    if not is_read_once(options.file) and journal.list(limit=1):
        return
    why = (
        "Rows from a pipe have no name"
        if is_read_once(options.file)
        else "This machine has no record of earlier runs"
    )
    raise UsageError(
        f"{why}, so that a second run would pay them again. Nothing was sent.",
        code="batch_nameless",
        param="--import",
        hint=_line(session, options).but("--import", "NAME"),
    )


def _add_label(
    session: Session, options: BatchOptions, batch_input: BatchInput, tables: BatchTables
) -> BatchInput:
    """Gives the batch the label of its occasion, a new one with --again.

    Raises:
        UsageError: the batch is named by its id, which has a label already.
        Conflict: in live mode --again has done it all a moment ago, and the command was repeated.
    """
    label, now = options.run or "", session.clock.now()
    if not label and options.again:
        labels = tables.batches.labels_of(batch_input.batch)
        label = next_again_label(labels, now)
        done = [(one, at) for one, at in labels if one.startswith(AGAIN) and at is not None]
        if session.settings.mode == "live" and done and now - done[-1][1] < RECENT_SECONDS:
            raise Conflict(
                f"All of it was done once more a moment ago, at {utc(done[-1][1])}, under the "
                f"label {done[-1][0]}. Nothing was sent.",
                code="list_done",
                outcome="not_sent",
                param="--again",
                hint=f"To do it yet another time: {_line(session, options).but('--run', label)}",
            )
    if label and batch_input.batch.name == batch_input.batch.id:
        raise UsageError(
            f"--import {batch_input.batch.id} names a batch with its label. Nothing was sent.",
            param="--run",
            hint="For another occasion give the batch's own name, or leave --import out",
        )
    return replace(batch_input, batch=replace(batch_input.batch, label=label))


@contextmanager
def _sum_up_if_stopped(session: Session) -> Iterator[list[Report]]:
    """Shows the report that is due, if one is by then, where a signal ends the block (R78)."""
    due: list[Report] = []
    try:
        yield due
    except Stopped as stopped:
        if due:
            stopped.told = True
            tell_stopped(session)
            due[0].show_interrupted(session.out)
        raise


def _run_through(
    session: Session, options: BatchOptions, batch_input: BatchInput, due: list[Report]
) -> tuple[Report, SvcError | None]:
    """Runs to the end; gives the error of the journal or the results file that ended it early."""
    whole = False
    failure: SvcError | None = None
    with _tables(session) as tables:
        _refuse_nameless(session, options, tables.journal)
        batch_input = _add_label(session, options, batch_input, tables)
        path = options.results_path(batch_input.batch.label)
        with Results(path, batch_input.batch, _line(session, options)) as results:
            results.check(force=options.force)
            with translate_errors(LocalError, not_sent):
                tables.batches.begin(batch_input.batch)
            try:
                run = _put_together(session, options, batch_input, tables, results)
                due.append(Report(batch_input, run, path, _line(session, options)))
                try:
                    run.go()
                except SvcError as error:
                    failure = error
                whole = not run.totals.not_done
            finally:
                with suppress(LocalError):  # a full disk; the process's end gives it back as well
                    tables.batches.end(batch_input.batch, whole=whole)
        with suppress(LocalError):  # there is a next time
            tables.batches.compact_expired_batch()
    return due[0], failure


@translate_errors(LocalError, not_sent)
def _put_together(
    session: Session,
    options: BatchOptions,
    batch_input: BatchInput,
    tables: BatchTables,
    results: Results,
) -> Run:
    judged = _judge(session, options, batch_input, tables, results)
    _refuse_stopped(session, options, judged)
    _tell_notes(session, batch_input, judged)
    judged = _reserve(session, options, batch_input, tables, judged)
    if judged.plan.adopted:
        taken = [str(one.duplicate.request) for one in judged.plan.adopted if one.duplicate]
        tables.batches.adopt(batch_input.batch, taken)
    charges = _refuse_beyond(session, batch_input, tables.journal, judged.plan)
    recorded = build_row_journal(
        session, batch_input, tables.journal, judged.facts.account, charges
    )
    recorded.keep_known_from_results(*judged.list_known_from_results())
    confirm_rows(session, batch_input, judged.plan)

    def explain(passed: UnsentRow) -> SvcError:
        return build_held_error(passed, judged.facts.times, session.format_command)

    return build_run(session, options, batch_input, judged.plan, recorded, results, explain)


def _refuse_beyond(
    session: Session,
    batch_input: BatchInput,
    journal: Journal,
    plan: BatchPlan,
    *,
    is_check: bool = False,
) -> dict[int, Charge]:
    """Checks all that is to be sent against the limits; gives what rows move, by their numbers.

    What may have been sent counts already. A check asks the service nothing: of rows whose bytes
    do not say it all it tells nothing.

    Raises:
        LimitReachedError: it is more than is left; nothing was sent.
        NotFound: the payment or order of a row does not exist; nothing was sent.
    """
    scope, charges = batch_input.batch.scope, {}
    path = next((row.path for row in plan.tasks.rows()), "")
    if not journal.is_limited(scope, path):
        return {}
    rows = [task.row for task in plan.tasks if task.intent is None]
    if not rows:
        return {}
    with nullcontext() if is_check else session.client() as client:
        reader = None if client is None else ChargeReader(client)
        for row in rows:
            call = _call_of(batch_input, row)
            said = read_stated_charge(Stored(row.path, call.encoding, row.body, row.digest, None))
            said = said._replace(currency=said.currency or row.compared_currency)
            try:
                charges[row.number] = said if reader is None else reader.complete_charge(call, said)
            except NotFound as error:
                error.message = f"line {row.line}: {error.message} {NOTHING_SENT}"
                raise
    told = [one for one in charges.values() if not is_check or None not in one]
    journal.limits().check(scope, group_of(rows[0].path), told)
    return charges


def confirm_rows(session: Session, batch_input: BatchInput, todo: BatchPlan) -> None:
    """Asks at a terminal, with the totals; elsewhere `--yes` must stand on the command line.

    Raises:
        UsageError: without a terminal and without `--yes`, or the answer is no; nothing
            was sent.
    """
    moves = batch_input.operation.action.rows
    if not moves or session.settings.mode != "live" or not todo.tasks:
        return
    rows = _with_money_left(session, batch_input, todo) if will_ask(session) else None
    what, *more = questions_of(batch_input, todo, rows)
    confirm_real_money(session, f"{moves.format(len(todo.tasks))}{what}", *more)


def _with_money_left(session: Session, batch_input: BatchInput, todo: BatchPlan) -> list[BatchRow]:
    """The rows that are to be sent, with the currency and what is left where the file says neither.

    Of the first objects alone, for a person waits; rows of others stay as they are. What the file
    takes of an object is not left for a row that takes the rest of it.
    """
    rows = [task.row for task in todo.tasks]
    calls = {row.number: find.money_of(_call_of(batch_input, row)) for row in rows}
    known: dict[str, dict[str, object]] = {}
    with session.client() as client, suppress(SvcError):  # what cannot be read is not known
        for row in rows:
            reading = calls[row.number]
            is_open = reading is not None and None in (row.amount, row.currency)
            if reading is None or not is_open or reading.path in known or len(known) >= _READ_MAX:
                continue
            known[reading.path] = {}
            with suppress(NotFound):
                known[reading.path] = money_left(client, _call_of(batch_input, row))
    found: dict[int, BatchRow] = {}
    for row in sorted(rows, key=lambda one: one.amount is None):
        reading = calls[row.number]
        money = known.get(reading.path, {}) if reading is not None else {}
        left, currency = money.get("amount"), money.get("currency")
        amount = left if row.amount is None and isinstance(left, int) else row.amount
        if isinstance(left, int) and amount is not None:
            money["amount"] = max(0, left - amount)
        said = currency if isinstance(currency, str) else row.currency  # what is left is in its own
        found[row.number] = row._replace(amount=amount, currency=said)
    return [found[row.number] for row in rows]


def _call_of(batch_input: BatchInput, row: BatchRow) -> Call:
    encoding = batch_input.operation.call("x", {}).encoding
    return find.post(row.path, fields_of(encoding, row.body), encoding=encoding)


@contextmanager
def _tables(session: Session) -> Iterator[BatchTables]:
    with translate_errors(LocalError, not_sent):
        state = session.state()
    with closing(SenderLocks(session.paths.state_dir / "senders")) as sender_locks:
        journal = Journal(
            lambda: state,
            sender_locks,
            session.clock,
            format_command=session.format_command,
            rules=limit_rules(session),
        )
        with translate_errors(LocalError, not_sent):
            batches = BatchTable(state, sender_locks, session.clock)
        yield BatchTables(journal, batches)


def _judge(
    session: Session,
    options: BatchOptions,
    batch_input: BatchInput,
    tables: BatchTables,
    results: Results | None,
    *,
    is_check: bool = False,
) -> JudgedBatch:
    """Compares the file with all evidence of its batch."""
    facts = collect_facts(session, options, batch_input, tables, results, is_check=is_check)
    return JudgedBatch(plan_batch(batch_input.rows, facts), facts)


def _reserve(
    session: Session,
    options: BatchOptions,
    batch_input: BatchInput,
    tables: BatchTables,
    judged: JudgedBatch,
) -> JudgedBatch:
    """Holds what is to be sent, and looks once more for duplicates, in one transaction (R92).

    Raises:
        Conflict: something would be done twice, or skipped in silence; nothing was sent.
    """
    kept = [judged]
    likenesses = Digests(row.alike for row in judged.plan.tasks.rows())
    known = {one.likeness for one in judged.facts.duplicates}
    sent = {row.alike for row in judged.plan.tasks.rows() if row.alike in known} if known else ()
    seen = {one for one in judged.facts.duplicates if one.likeness in sent}

    def check(found: Sequence[Duplicate]) -> None:
        if set(found) != seen:
            facts = judged.facts._replace(duplicates=merge_duplicates(judged.facts, found))
            kept[0] = JudgedBatch(plan_batch(batch_input.rows, facts), facts)
            _refuse_stopped(session, options, kept[0])

    tables.batches.reserve(batch_input.batch, likenesses, check)
    return kept[0]


def _refuse_stopped(session: Session, options: BatchOptions, judged: JudgedBatch) -> None:
    error = stop_error(judged.plan, judged.facts, _line(session, options), session.format_command)
    if error is not None:
        raise error


def _line(session: Session, options: BatchOptions) -> TypedLine:
    folder = PurePath(options.results or options.file).parent
    return TypedLine(tuple(session.argv), session.clock.now(), folder)


def _tell_notes(session: Session, batch_input: BatchInput, judged: JudgedBatch) -> None:
    if session.format != "human":
        return
    label = batch_input.batch.label
    notes = [f"The label of this run: {label}"] if label else []
    left_out = note_left_out(batch_input)
    notes += [left_out] if left_out else []
    for note in (*notes, *notes_of(judged.plan)):
        session.out.note(note)
