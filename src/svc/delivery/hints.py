"""Builds the errors and hints for a batch, or a row of one, that is not sent.

A hint never contains an invented amount, recipient or account, and never repeats a POST that was
carried out (promise R120).

`cli.batch.run` calls it with a plan: the error that stops the run, the notes about it, and the
error of each row that is held back.
"""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from svc.client.retry import KEY_SAFE_SECONDS
from svc.clock import utc
from svc.delivery.evidence import DONE_BY_HAND, Evidence, Known
from svc.delivery.journal.batches import DUPLICATE_SECONDS, BatchName, Duplicate
from svc.delivery.journal.entry import KEY_REUSED
from svc.delivery.journal.refusals import (
    OVERTAKEN,
    ROW_KNOWN_OTHERWISE,
    FormatCommand,
    build_not_again,
    resume_command,
    resume_of,
    suggest_lookup,
)
from svc.delivery.plan import (
    BatchFacts,
    BatchPlan,
    BatchRow,
    BatchTimes,
    RowSelection,
    UnsentRow,
)
from svc.delivery.policy import RowDecision
from svc.errors import Conflict, OutcomeUnknown, SvcError
from svc.service.facts import IDEMPOTENCY_RETENTION_SECONDS

ROW_CHANGED: Final = "row_changed"
ROW_EDITED: Final = "row_edited"
ROW_OVERTAKEN: Final = "row_overtaken"
_HOUR_SECONDS: Final = 3600
_SHOWN: Final = 10
_NAMED: Final = 3
_PUT_BACK: Final = "Put the row back as it was, and run this again"
_BEFORE_FORGETTING: Final = "if it was carried out, take the row out of the file before that"


class TypedLine(NamedTuple):
    """The command line of a run, which hints repeat completely.

    Attributes:
        now: when it was typed (Unix seconds).
        folder: the folder of its results file.
    """

    words: tuple[str, ...]
    now: float
    folder: PurePath

    def __str__(self) -> str:
        return shlex.join(["svc", *self.words])

    def but(self, *more: str) -> str:
        """Returns the command line with more options; the last of a repeated option counts."""
        words = without_options(self.words, [one for one in more if one.startswith("--")])
        place = words.index("--") if "--" in words else len(words)
        words[place:place] = more
        return shlex.join(["svc", *words])


def without_options(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Removes options with their values from the words of a command line."""
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if word in options and word not in _FLAGS:
            next(left, None)
        elif not any(word.startswith(f"{one}=") for one in options) and word not in options:
            kept.append(word)
    return kept


_FLAGS: Final = ("--again", "--continue", "--edited", "--skip-done", "--retry-failed", "--force")


class StoppedRun(NamedTuple):
    """A run that stops before a request is sent, and the rows that are the reason."""

    rows: RowSelection[UnsentRow]
    plan: BatchPlan
    facts: BatchFacts
    line: TypedLine


def stop_error(
    plan: BatchPlan, facts: BatchFacts, line: TypedLine, format_command: FormatCommand
) -> Conflict | None:
    """Builds the error that stops a run before a request is sent; None if rows may be sent."""
    if plan.orphans:
        return _stop_orphans(plan.orphans, facts, format_command)
    if plan.stop is None:
        return None
    return _STOPS[plan.stop.decision](StoppedRun(plan.stop.rows, plan, facts, line))


def _stop(
    message: str, code: str, hint: str, *, param: str | None = None, request: str | None = None
) -> Conflict:
    return Conflict(
        f"{message} Nothing was sent.",
        code=code,
        outcome="not_sent",
        hint=hint,
        param=param,
        request=request,
    )


def _stop_account(run: StoppedRun) -> Conflict:
    facts = run.facts
    first = run.rows[0].evidence
    assert first is not None
    intent = first.intent
    if intent is None:
        return _stop(
            f"The results file says that rows of the batch {facts.batch.name} are done, and "
            f"nothing shows that the key {facts.own_key} is of the account that did them.",
            "other_account",
            "Use a key of that account; for another account, as another batch: "
            f"{_other_name(facts, run.line)}",
        )
    way = (
        f"{resume_command(intent)} --yes"
        if intent.is_unresolved
        else "use a key of the first account"
    )
    return _stop(
        f"Rows of the batch {facts.batch.name} were sent with the key "
        f"{intent.scope.key_fingerprint}; this is {facts.own_key}, and nothing shows that both are "
        "of one account. No row was skipped.",
        "other_account",
        f"If both are: {way}; for another account, as another batch: "
        f"{_other_name(facts, run.line)}",
        request=intent.id if intent.is_unresolved else None,
    )


def _stop_old(run: StoppedRun) -> Conflict:
    plan, facts = run.plan, run.facts
    newest = plan.newest or 0.0
    when = _ago(int(newest // _HOUR_SECONDS)) if newest >= 0 else "after now, by this clock"
    label = f" under the label {facts.batch.label}" if facts.batch.label else ""
    done = len(run.rows)
    return _stop(
        f"{_rows_are(done)} done in the batch {facts.batch.name}{label}, the newest {when}.",
        "list_done",
        f"To skip what is done and send the rest: {run.line.but('--continue')}; to do it all as a "
        f"new occasion: {format_repeat(facts, plan, run.line)}",
        param="--continue",
    )


def format_repeat(facts: BatchFacts, plan: BatchPlan, line: TypedLine) -> str:
    """Formats the command line that runs a batch again under a new label."""
    label = _day(line.now)
    if label == facts.batch.label:
        label = f"{label}-2"
    is_recent = (plan.newest or 0.0) <= DUPLICATE_SECONDS
    repeat = ("--again",) if is_recent else ()
    return line.but(*repeat, "--run", label)


def _other_name(facts: BatchFacts, line: TypedLine) -> str:
    name = f"{PurePath(facts.batch.name).stem}-{_day(line.now)}"
    results = line.folder / f"{name}.results.ndjson"
    return line.but("--import", name, "--results", str(results))


def _stop_running(run: StoppedRun) -> Conflict:
    return _stop(
        f"A row is like one of the batch {_name(run.rows[0].duplicate)}, which another process is "
        "running now.",
        "rows_in_flight",
        "Wait until that batch has ended; then run this again",
    )


def _stop_unresolved(run: StoppedRun) -> Conflict:
    rows = run.rows
    first = rows[0].duplicate
    assert first is not None
    count = f"Line {rows[0].row.line} is" if len(rows) == 1 else f"{len(rows)} rows are"
    where = "a single command" if first.batch is None else f"the batch {_name(first)}"
    return _stop(
        f"{count} like a request of {where} whose outcome is not known.",
        "request_unresolved",
        f"Settle it first: {_settle(first, run)}",
        request=first.request,
    )


def _settle(open_: Duplicate, run: StoppedRun) -> str:
    """The command line that settles a request; the journal may not have one of a results file."""
    other = open_.batch
    if other is not None and other.name == other.id:
        return run.line.but("--import", other.id)
    return resume_of(str(open_.request), run.facts.batch.scope.mode)


def _stop_repeated(run: StoppedRun) -> Conflict:
    rows, plan, facts, line = run
    names = Counter(_name(one.duplicate) for one in rows)
    name = names.most_common(1)[0][0]
    last = max((one.duplicate.settled_at or 0.0) for one in rows if one.duplicate is not None)
    told = _lines([one.row for one in rows])
    is_begun = plan.is_begun or len(names) > 1
    other = next(one.duplicate for one in rows if one.duplicate and _name(one.duplicate) == name)
    where = f"in the batch {name}" if other.batch else "by a single command"
    way = f"Take {told} out of the file" if is_begun else _continue_other(other, facts, line)
    more = "put them in a file of their own, and run that with --again"
    again = more if is_begun else line.but("--again")
    return _stop(
        f"{_rows_are(len(rows))} not done in {_here(facts.batch)}, but carried out {where} "
        f"({_day(last)}).",
        "rows_repeated",
        f"{way}; if they are meant once more: {again}",
    )


def _continue_other(other: Duplicate, facts: BatchFacts, line: TypedLine) -> str:
    batch = other.batch
    if batch is None:
        return "Take them out of the file"
    label = ("--run", batch.label) if batch.label else ()
    if batch.name == facts.batch.name:
        without = shlex.join(["svc", *without_options(line.words, ["--run"])])
        same = line.but(*label) if label else without
        return f"If it is the same occasion, done rows are skipped: {same}"
    same = line.but("--import", batch.name, *label)
    return f"If it is the same batch, done rows are skipped: {same}"


def _stop_edited(run: StoppedRun) -> Conflict:
    """Stops at a row that seems to be a row that is gone, or one of another batch."""
    rows, plan, facts, line = run
    first, before, other = rows[0].row, rows[0].before, rows[0].duplicate
    about = first.subject.partition(":")[2]
    both = f"both are about {_end(about)}" if about else "both stand in one place"
    more = f", and so for {len(rows) - 1} more" if len(rows) > 1 else ""
    again = format_repeat(facts, plan, line)
    if before is None:
        assert other is not None
        again = line.but("--run", _day(line.now))
        what = f"be row {other.row} of the batch {_name(other)} in other words: both move the same"
        ended = f"was done on {_day(other.settled_at or 0.0)} ({other.object_id})"
        told = f"amount, {both}, and that row {ended if other.done else 'may have been done'}"
        look = f"svc get {other.object_id}" if other.done else f"svc requests show {other.request}"
        same = f"See it: {look}; if it is the same payment, take the line out of the file"
    elif before.known is Known.DONE:
        what = f"be a row that was done and has been changed since: {both}, and the row"
        told = f"that made {before.object_id} is no longer in the file"
        look = f"See what is done: svc get {before.object_id}"
        same = f"{look}; if that is this row, put it back as it was"
    else:
        what = "be a row that was refused, though not by the service itself, and has been changed"
        told = f"since: {both}, and row {before.row} as it was is no longer in the file"
        same = _PUT_BACK
    return _stop(
        f"Line {first.line} seems to {what} {told}{more}.",
        ROW_EDITED,
        f"{same}; to send it as well: {line.but('--edited')}; for another occasion: {again}",
        param="--edited",
        request=other.request if other and before is None else None,
    )


_STOPS: Final[dict[RowDecision, Callable[[StoppedRun], Conflict]]] = {
    RowDecision.STOP_ACCOUNT: _stop_account,
    RowDecision.STOP_OLD: _stop_old,
    RowDecision.STOP_RUNNING: _stop_running,
    RowDecision.STOP_UNRESOLVED: _stop_unresolved,
    RowDecision.STOP_REPEATED: _stop_repeated,
    RowDecision.STOP_EDITED: _stop_edited,
}


def build_held_error(
    passed: UnsentRow, times: BatchTimes, format_command: FormatCommand
) -> SvcError:
    """Builds the error of a row that is left out, with the next step."""
    evidence, duplicate = passed.evidence, passed.duplicate
    by_hand = (RowDecision.STOP_ROW_BY_HAND, RowDecision.STOP_ROW_REWORDED)
    if passed.decision in by_hand and duplicate is not None:
        return _explain_by_hand(passed, duplicate)
    assert evidence is not None
    if passed.decision is RowDecision.STOP_ROW_FAILED:
        return Conflict(
            f"It was carried out, and {evidence.object_id} has failed.",
            code="object_failed",
            outcome="done",
            request=evidence.request,
            hint=f"See why: svc get {evidence.object_id}; to send it once more: --retry-failed",
        )
    if passed.decision is RowDecision.STOP_ROW_OVERTAKEN:
        assert duplicate is not None
        return _explain_overtaken(evidence, duplicate, passed.row, format_command)
    if passed.decision is RowDecision.STOP_ROW_CHANGED:
        return _explain_changed(evidence, passed.row)
    if passed.decision is RowDecision.STOP_ROW_KEY_TAKEN:
        return _explain_key_taken(evidence, format_command)
    error = _explain_too_old(evidence, times, format_command)
    error.hint = f"{error.hint}; {_BEFORE_FORGETTING}"
    return error


def _explain_by_hand(passed: UnsentRow, duplicate: Duplicate) -> SvcError:
    code, message = (
        DONE_BY_HAND,
        f"A single command has carried out the same ({duplicate.object_id}).",
    )
    hint = (
        "If that is this row, add --skip-done; if the whole file is another occasion, --again "
        "--run LABEL"
    )
    if passed.decision is RowDecision.STOP_ROW_REWORDED:
        has = f"has ({duplicate.object_id})" if duplicate.done else "may have"
        whom = _end(passed.row.subject.partition(":")[2])
        code = ROW_EDITED
        message = f"A single command {has} moved the same amount for {whom}, in other words."
        hint = (
            f"See it: svc requests show {duplicate.request}; if it is this payment, take the row "
            "out of the file; to send it as well: --edited"
        )
    return Conflict(message, code=code, outcome="not_sent", request=duplicate.request, hint=hint)


def _explain_changed(evidence: Evidence, row: BatchRow) -> SvcError:
    anew = "give it another key" if row.given_key else "send it as well with --edited"
    if evidence.known is Known.DONE:
        made, look = "", "Put"
        if evidence.object_id:
            made = f" ({evidence.object_id})"
            look = f"See what was done: svc get {evidence.object_id}; then put"
        return Conflict(
            f"It was done with other values{made}. The row as it is now was not sent.",
            code=ROW_CHANGED,
            outcome="done",
            request=evidence.request,
            hint=f"{look} the row back as it was, or {anew}",
        )
    settle = f"; or settle that first: {resume_command(evidence.intent)}" if evidence.intent else ""
    return OutcomeUnknown(
        "It was sent with other values, and may have been carried out so. The row as it is now was "
        "not sent.",
        code=ROW_CHANGED,
        outcome="unknown",
        request=evidence.request,
        idempotency_key=evidence.key,
        hint=f"{_PUT_BACK}{settle}",
    )


def _explain_overtaken(
    evidence: Evidence, later: Duplicate, row: BatchRow, format_command: FormatCommand
) -> SvcError:
    if evidence.known is Known.DONE:
        anew = "set these again by a single command" if row.given_key else "--edited sends it again"
        has = "has" if later.done else "may have"
        return Conflict(
            f"It was done, and a later request {has} given {evidence.object_id} other values.",
            code=ROW_OVERTAKEN,
            outcome="done",
            request=later.request,
            hint=f"See that: svc requests show {later.request}; if those are to stay, add "
            f"--skip-done; if not, {anew}",
        )
    name, at = str(later.request), utc(later.created_at)
    if evidence.intent is not None:
        return OVERTAKEN.about(evidence.intent, format_command, other=name, at=at)
    return _build_unrecorded(
        evidence, ROW_OVERTAKEN, f"Its outcome is not known, and {name} said otherwise at {at}."
    )


def _explain_key_taken(evidence: Evidence, format_command: FormatCommand) -> SvcError:
    if evidence.intent is not None:
        return ROW_KNOWN_OTHERWISE.about(evidence.intent, format_command)
    why = "The service knows this row with other values, and may have carried it out so."
    return _build_unrecorded(evidence, KEY_REUSED, why)


def _explain_too_old(
    evidence: Evidence, times: BatchTimes, format_command: FormatCommand
) -> SvcError:
    if evidence.intent is not None:
        return build_not_again(evidence.intent, times.now, format_command, times.served)
    why = (
        "It was sent by a run that is known from the results file only. Its outcome is not known, "
        f"and the service keeps a key for {IDEMPOTENCY_RETENTION_SECONDS // _HOUR_SECONDS} hours "
        "only."
    )
    return _build_unrecorded(evidence, "idempotency_key_too_old", why)


def _build_unrecorded(evidence: Evidence, code: str, why: str) -> SvcError:
    """Builds the error of a row whose outcome is not known, and which the journal does not have."""
    return OutcomeUnknown(
        why,
        code=code,
        outcome="unknown",
        idempotency_key=evidence.key,
        hint="Look at the service for what it did",
    )


def _stop_orphans(
    orphans: Sequence[Evidence], facts: BatchFacts, format_command: FormatCommand
) -> Conflict:
    """Builds the error for unresolved requests that match no row of the file (promise R16)."""
    told = [one for one in orphans if one.intent is not None]
    names = ", ".join(str(one.request or one.key) for one in orphans[:_NAMED])
    more = f" and {len(orphans) - _NAMED} more" if len(orphans) > _NAMED else ""
    first = next((one.intent for one in told), None)
    step = "Run the file once more as it was"
    if first is not None:
        is_old = all(facts.times.now - one.at >= KEY_SAFE_SECONDS for one in orphans)
        settle = suggest_lookup(first, format_command) if is_old else resume_command(first)
        step = settle if is_old else f"{step}, or settle them: {settle}"
    else:
        step = f"{step}; where their outcome is settled, name another file with --results"
    return Conflict(
        f"{_rows_are(len(orphans))} not in the file any more, and may have been carried out by an "
        f"earlier run ({names}{more}). Nothing was sent.",
        code="rows_unresolved",
        outcome="not_sent",
        request=orphans[0].request,
        idempotency_key=orphans[0].key,
        hint=f"{step}; to see all: svc requests list --unresolved",
    )


def notes_of(plan: BatchPlan) -> list[str]:
    """Formats the notes about a plan that is carried out."""
    notes = []
    if plan.gone and not plan.done and plan.tasks:
        notes.append(
            f"{_rows_are(len(plan.gone))} done in this batch and no longer in the file: it is "
            "taken for a new file under an old name"
        )
    if plan.noted:
        last = max((one.duplicate.settled_at or 0) for one in plan.noted if one.duplicate)
        notes.append(
            f"{_rows_are(len(plan.noted))} like one that was carried out before, on {_day(last)}"
        )
    return notes


def _here(batch: BatchName) -> str:
    return f"{batch.name} under the label {batch.label}" if batch.label else batch.name


def _name(one: Duplicate | None) -> str:
    return _here(one.batch) if one is not None and one.batch is not None else "of a single command"


def _rows_are(count: int) -> str:
    return "One row is" if count == 1 else f"{count:,} rows are"


def _lines(rows: Sequence[BatchRow]) -> str:
    """Formats the line numbers of rows in the file, such as `the lines 4-6, 9`."""
    runs: list[list[int]] = []
    for at in (row.line for row in rows):
        if runs and at == runs[-1][-1] + 1:
            runs[-1][1:] = [at]
        else:
            runs.append([at])
    told = ", ".join("-".join(map(str, run)) for run in runs[:_SHOWN])
    more = f" and {len(runs) - _SHOWN} more places" if len(runs) > _SHOWN else ""
    return f"the line{'' if len(rows) == 1 else 's'} {told}{more}"


def _end(about: str) -> str:
    """Returns an id unchanged, or the last characters of an account number."""
    return about if "_" in about else f"the account that ends in {about[-4:]}"


def _ago(hours: int) -> str:
    return f"{hours} hours ago" if hours < 48 else f"{hours // 24} days ago"  # noqa: PLR2004


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(moment))
