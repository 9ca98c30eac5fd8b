"""Counts the outcomes of a run and the money that it moves, and builds the result lines.

`run` passes each row that has ended to a `Tally`; `cli.batch.report` prints its totals.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from svc.batch.results import ResultLine, failure
from svc.client.contradiction import CONTRADICTED
from svc.client.operations import find_undocumented_status
from svc.client.reply import Reply
from svc.clock import utc
from svc.delivery.evidence import Known
from svc.delivery.hints import ROW_CHANGED, ROW_OVERTAKEN
from svc.delivery.likeness import about_of
from svc.delivery.plan import BatchPlan, BatchRow, InvalidRow, UnsentRow
from svc.delivery.policy import RowDecision
from svc.delivery.rows import RowEnd, RowJob
from svc.errors import SvcError
from svc.redaction import redact

# Why a row that is in doubt is left out.
HeldError = Callable[[UnsentRow], SvcError]
# What rows move: a currency and minor units, None where an answer does not say.
Movements = Mapping[int, tuple[str, int] | None]

NOTHING_MOVED: Final[Movements] = {}

PROBLEMS_MAX: Final = 20


@dataclass(slots=True)
class Money:
    """Amounts in minor units by currency.

    Attributes:
        unstated: the number of rows without amount or currency, such as full refunds.
        without_amount: how many of them have no amount.
        without_currency: how many of them have an amount without a currency.
    """

    amounts: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    unstated: int = 0
    without_amount: int = 0
    without_currency: int = 0

    def add(self, total: tuple[str, int] | None) -> None:
        if total is None:
            self.unstated += 1
            return
        currency, amount = total
        self.amounts[currency] += amount
        self.rows[currency] += 1

    def as_data(self) -> list[dict[str, object]]:
        """Returns the amounts as a list for JSON, ordered by currency."""
        return [
            {"currency": currency, "amount": self.amounts[currency], "rows": self.rows[currency]}
            for currency in sorted(self.rows)
        ]


@dataclass(slots=True)
class Totals:
    """The numbers of rows of one run by outcome, and the money that they move.

    Attributes:
        rows: all rows of the file.
        held: rows that no run sends before a person has decided (promise R115).
        skipped: rows that an earlier run has carried out.
        replayed: rows sent in this run whose answer says that they were carried out before.
        contradicted: those of `skipped` whose answer contradicts the row.
        changed: rows that an earlier run has carried out with other values; not in `skipped`.
        counts: the remaining rows by outcome; rows that have not ended are missing.
        money: the money that was moved in this run.
        money_before: the money of rows that were carried out before.
        wrong: rows that ended with an error.
        problems: the first of these, in the order of the file.
        warned: rows whose answer has a different name or an undocumented status.
        warnings: the first of these.
    """

    rows: int
    held: int = 0
    skipped: int = 0
    replayed: int = 0
    contradicted: int = 0
    changed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    money: Money = field(default_factory=Money)
    money_before: Money = field(default_factory=Money)
    wrong: int = 0
    problems: list[ResultLine] = field(default_factory=list)
    warned: int = 0
    warnings: list[ResultLine] = field(default_factory=list)

    def skip(self, line: ResultLine) -> None:
        """Counts a row that an earlier run has carried out."""
        code = line.error["code"] if line.error is not None else None
        is_changed = code in (ROW_CHANGED, ROW_OVERTAKEN)
        self.changed += is_changed
        self.skipped += not is_changed
        self.contradicted += code == CONTRADICTED
        self._remember(line)

    def add(self, line: ResultLine, moved: Movements = NOTHING_MOVED) -> None:
        """Counts a row of this run and the money that it has moved."""
        self.counts[line.outcome] += 1
        self.replayed += line.replayed
        if line.outcome == "done" and line.row in moved:
            (self.money_before if line.replayed else self.money).add(moved[line.row])
        if line.warnings:
            self.warned += 1
            insort(self.warnings, line, key=lambda each: each.line)
            del self.warnings[PROBLEMS_MAX:]
        self._remember(line)

    def _remember(self, line: ResultLine) -> None:
        if line.error is not None:
            self.wrong += 1
            insort(self.problems, line, key=lambda each: each.line)
            del self.problems[PROBLEMS_MAX:]

    @property
    def done(self) -> int:
        return self.counts["done"]

    @property
    def not_done(self) -> int:
        """The number of rows that neither this nor an earlier run has carried out."""
        return self.rows - self.skipped - self.done

    @property
    def ended(self) -> int:
        """The number of rows that have ended in this run or before."""
        return self.skipped + self.changed + self.counts.total()


def money_of(rows: Iterable[BatchRow]) -> Money:
    """Sums the amounts of rows by the file."""
    money = Money()
    for row in rows:
        if row.amount is not None and row.currency is not None:
            money.add((row.currency, row.amount))
            continue
        money.add(None)
        money.without_amount += row.amount is None
        money.without_currency += row.amount is not None
    return money


class Tally:
    """Counts the outcomes of the rows of a plan, each row once.

    Attributes:
        totals: the counts so far.
    """

    def __init__(self, plan: BatchPlan, held_error: HeldError) -> None:
        self._plan = plan
        self._held_error = held_error
        self._ended = bytearray(plan.rows + 1)  # 1 at the number of each row that has
        self.totals = Totals(plan.rows, held=len(plan.held))
        self.totals.skipped += len(plan.done)
        for line in self._list_unsent():
            (self.totals.skip if line.outcome == "done" else self.totals.add)(line)

    def __contains__(self, row: int) -> bool:
        return bool(self._ended[row])

    def known(self) -> Iterator[ResultLine]:
        """Yields the lines of rows that this run does not send."""
        for one in self._plan.done:
            yield _build_passed_line(one, "done", None)
        yield from self._list_unsent()

    def _list_unsent(self) -> Iterator[ResultLine]:
        """Yields the lines of rows that are not done and that no run sends as they are."""
        for one in self._plan.held:
            yield _build_held_line(one, self._held_error)
        yield from map(build_bad_line, self._plan.bad)

    def note(self, lines: Iterable[ResultLine], moved: Movements) -> list[ResultLine]:
        """Counts rows that have ended, each once, and returns the lines of the new ones.

        `moved` has the currency and minor units of rows that move money.
        """
        fresh = [line for line in lines if line.row not in self]
        for line in fresh:
            self._ended[line.row] = 1
            self.totals.add(line, moved)
        return fresh


def line_of(end: RowEnd) -> ResultLine:
    """Builds the line of a row whose job has ended."""
    reply, settled, job = end.reply, end.settled, end.job
    replayed = reply is not None and reply.replayed_earlier
    data = reply.data if reply is not None and isinstance(reply.data, dict) else {}
    error = None if end.error is None else error_fields(end.error)
    return build_job_line(job, end.outcome)._replace(
        id=None if settled is None else settled.object_id,
        status=None if settled is None else settled.object_status,
        failure_reason=_text(data.get("failure_reason")),
        replayed=replayed,
        created=_text(data.get("created")) if replayed else None,
        error=error,
        world=None if settled is None else settled.world,
        warnings=() if reply is None else _warnings_of(job, reply),
    )


def _warnings_of(job: RowJob, reply: Reply) -> tuple[str, ...]:
    """The warnings of an answer, as for a single command (promise R119)."""
    status = find_undocumented_status(job.call, reply.data)
    told = () if status is None else (f"the status {status!r} is not documented",)
    return tuple(map(redact, (*reply.warnings, *told)))


def build_job_line(job: RowJob, outcome: str) -> ResultLine:
    """Builds the line of a row whose request is on record; the caller adds the result."""
    intent = job.intent
    return _line(job.row, outcome)._replace(
        idempotency_key=intent.stored.idempotency_key,
        request=intent.id,
        key_fingerprint=intent.scope.key_fingerprint,
        first_sent=utc(intent.first_sent_at),
    )


def build_row_line(
    row: BatchRow, key: str, outcome: str, error: SvcError | None = None
) -> ResultLine:
    """Builds the line of a row that was not begun in this run."""
    return _line(row, outcome)._replace(
        error=None if error is None else extract_advice(error),
        idempotency_key=key,
        request=None if error is None else error.request,
    )


def _line(row: BatchRow, outcome: str, **more: Any) -> ResultLine:
    """Builds a line with the fields of the row itself, and `more`."""
    about = about_of(row.subject) or None
    return ResultLine(
        row.number,
        row.line,
        outcome,
        **{"likeness": row.alike, "row_id": row.row_id, "about": about, "amount": row.amount}
        | more,
    )


def _text(value: object) -> str | None:
    return redact(value) if isinstance(value, str) else None


def error_fields(error: SvcError) -> dict[str, object]:
    """The fields of an error that a result line has."""
    code, message = error.code or error.type, redact(error.message)
    return failure(code, message, error.param, error.status, error.request_id)


def extract_advice(error: SvcError) -> dict[str, object]:
    """The fields of an error, with its hint at the end of the message."""
    advice = redact(f"{error.message} {error.hint or ''}".rstrip())
    return {**error_fields(error), "message": advice}


def build_bad_line(bad: InvalidRow) -> ResultLine:
    """Builds the line of an invalid row."""
    error = failure(bad.code, redact(bad.message), bad.param)
    return ResultLine(bad.number, bad.line, "invalid", error=error)


def _build_held_line(one: UnsentRow, held_error: HeldError) -> ResultLine:
    if one.decision is RowDecision.STOP_ROW_CONTRADICTED:
        # A difference between row and answer (promise R15) is nothing that a second run settles.
        intent = one.evidence.intent if one.evidence else None
        settled = intent.settled if intent else None
        message = settled.error_message if settled else None
        status = settled.status if settled else None
        request_id = settled.request_id if settled else None
        fields = failure(CONTRADICTED, message, None, status, request_id)
        return _build_passed_line(one, "done", fields)
    outcome = _HELD.get(one.decision)
    if outcome is None:  # with other values, done or not known to be
        is_done = one.evidence is not None and one.evidence.known is Known.DONE
        outcome = "done" if is_done else "unknown"
    return _build_passed_line(one, outcome, extract_advice(held_error(one)))


_HELD: Final = {
    RowDecision.STOP_ROW_TOO_OLD: "unknown",
    RowDecision.STOP_ROW_FAILED: "failed",
    RowDecision.STOP_ROW_BY_HAND: "not_sent",
    RowDecision.STOP_ROW_REWORDED: "not_sent",
    RowDecision.STOP_ROW_KEY_TAKEN: "unknown",
}


def _build_passed_line(
    one: UnsentRow, outcome: str, error: Mapping[str, object] | None
) -> ResultLine:
    """Builds the line of a valid row that is not sent, with the facts about its request."""
    evidence, duplicate = one.evidence, one.duplicate
    # What a single command has done, whatever the row itself came to.
    if duplicate is not None and one.decision is not RowDecision.STOP_ROW_OVERTAKEN:
        return _line(
            one.row,
            outcome,
            error=error,
            id=duplicate.object_id,
            idempotency_key=duplicate.key,
            request=duplicate.request,
            world=duplicate.world,
            key_fingerprint=duplicate.key_fingerprint,
            first_sent=utc(duplicate.settled_at or 0.0),
        )
    assert evidence is not None
    settled = evidence.intent.settled if evidence.intent else None
    return _line(
        one.row,
        outcome,
        error=error,
        id=evidence.object_id,
        status=settled.object_status if settled else None,
        idempotency_key=evidence.key,
        request=evidence.request if evidence.intent else None,
        world=evidence.world,
        key_fingerprint=evidence.key_fingerprint or None,
        likeness=evidence.alike or one.row.alike,
        first_sent=utc(evidence.at),
    )
