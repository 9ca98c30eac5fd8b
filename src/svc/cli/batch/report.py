"""What `svc batch` prints: its check, its questions, its summary, and the error that it ends with.

`run` asks a person the questions before it sends, and prints a `Report` at the end of a run, or
`report_check` at the end of a `--dry-run`. Counts and sums come from `svc.batch.tally`.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from svc.batch.columns import AMOUNT_IN_DECIMALS
from svc.batch.results import ResultLine
from svc.batch.run import KEY_TAKEN, Run
from svc.batch.tally import PROBLEMS_MAX, Money, Totals, build_bad_line, money_of
from svc.batch.workers import CURRENCY_MISMATCH
from svc.cli.batch.rows import BatchInput
from svc.client.contradiction import CONTRADICTED
from svc.delivery.hints import TypedLine
from svc.delivery.journal.entry import KEY_REUSED
from svc.delivery.plan import BatchPlan, BatchRow
from svc.delivery.policy import RowDecision
from svc.delivery.rows import NOT_BY_SERVICE
from svc.errors import (
    ExitCode,
    Forbidden,
    LocalError,
    Outcome,
    PartlyDone,
    ReplyContradiction,
    SvcError,
    Unauthorized,
    system_words,
)
from svc.money import format_amount

if TYPE_CHECKING:
    from svc.render.output import Output


_OUTCOMES: Final = ("failed", "refused", "invalid", "unknown", "not_sent")
_NOT_DONE: Final = (*_OUTCOMES, "changed")
_CARRIED_OUT: Final = ("done", "failed", "unknown")
# Nothing is moved by a cancellation or a change.
_DONE_WORDS: Final = {"orders.cancel": "Cancelled now", "orders.update": "Updated now"}
_WORDS: Final = {"not_sent": "not sent"}
_NEW_KEY: Final = "Give svc the new key, then run the same command again: done rows are skipped"
_SINCE: Final = "; whether one has failed since, a run with --retry-failed looks"
_FORBIDDEN: Final = "Ask why key or account may not do it (svc whoami), then run the same again"
_AGAIN: Final = (
    "Run the same command again: the row is sent again under its own key. If the answer stays the "
    "same, ask the service, naming the request id"
)
_DECIMALS: Final = "Correct them; to read amounts with decimals: --decimals, with a column currency"
_PAYMENTS: Final = (
    "Give each row its payment; those of all orders: svc payments list --all -o csv --query "
    "'[].{order: order, payment: id}'"
)
_BY_GATEWAY: Final = (
    "What answered may not be the service itself; with the rows as they are, before you correct "
    "any: {}"
)
# What keeps a row from being sent that its file has to be corrected for.
_IN_THE_ROW: Final = {
    *(("not_sent", code) for code in (CURRENCY_MISMATCH, *KEY_TAKEN)),
    ("unknown", KEY_REUSED),
}
_LIST: Final = ". To see all: svc requests list --unresolved"
_HELD: Final = "Another run would not send them; settle each as its line says"
_SETTLE: Final = (
    "Retrieve it and ask the service, naming the request id; once that is settled, take the row "
    "out of the file"
)


class Report(NamedTuple):
    """Prints how a run ended; `line` is the command line that continues it."""

    batch_input: BatchInput
    run: Run
    results: Path
    line: TypedLine

    @property
    def totals(self) -> Totals:
        """The counts and sums of the rows by outcome, so far."""
        return self.run.totals

    def show(self, out: "Output") -> None:
        """Prints the summary: on stderr for people, else one JSON document on stdout.

        Raises:
            LocalError: stdout cannot be written; the error has the counts (promise R77).
        """
        if out.format == "human":
            self._tell(out)
            return
        try:
            out.value(self._data())
        except OSError as error:
            raise self._build_lost(error) from error
        except LocalError as error:  # a query that does not fit says nothing of the rows
            error.message = f"{error.message} {self._tell_rows()}."
            error.outcome = self._outcome
            error.hint = f"How each row ended is in {self.results}"
            raise

    def show_interrupted(self, out: "Output") -> None:
        """Shows the summary of a run that the user stopped, and the command that continues it."""
        self.show(out)
        if self.totals.not_done and out.format == "human":
            out.hint(f"To go on, done rows are skipped: {self.line}")

    def error(self, failure: SvcError | None, stop: BaseException | None) -> SvcError | None:
        """The error that the command ends with; None when every row is done."""
        if failure is not None:
            return failure
        if isinstance(stop, ReplyContradiction):
            stop.hint = _AGAIN if stop.outcome == "unknown" else stop.hint
            return stop
        totals, reason = self.totals, stop if isinstance(stop, SvcError) else None
        if not totals.not_done:
            return _build_contradicted(totals) if totals.contradicted else None
        if reason is not None and not self._may_have_moved:
            return reason
        return self._partly(reason)

    @property
    def _may_have_moved(self) -> bool:
        """Whether a row was, or may have been, carried out by this or an earlier run."""
        totals, counts = self.totals, self.totals.counts
        return any((totals.skipped, totals.changed, *map(counts.get, _CARRIED_OUT)))

    def _partly(self, stop: SvcError | None) -> PartlyDone:
        totals = self.totals
        why = f" The batch was stopped: {stop.message}" if stop is not None else ""
        counts = _tell_counts(totals, _NOT_DONE)
        return PartlyDone(
            f"{_of(totals.not_done, totals.rows)} not done ({counts}).{why}",
            code=(stop.code if stop is not None else None) or "rows_failed",
            outcome=None
            if self._may_have_moved
            else "refused"
            if totals.counts["refused"]
            else "not_sent",
            request_id=stop.request_id if stop is not None else None,
            retryable=stop is not None,
            retry_after=stop.retry_after if stop is not None else None,
            hint=self._hint(stop),
        )

    def _hint(self, stop: SvcError | None) -> str:
        if isinstance(stop, Unauthorized | Forbidden):
            return _NEW_KEY if isinstance(stop, Unauthorized) else _FORBIDDEN
        counts = self.totals.counts
        told = {(line.outcome, (line.error or {}).get("code")) for line in self.totals.problems}
        codes = {code for _, code in told}
        if stop is None and codes == {NOT_BY_SERVICE}:
            return _BY_GATEWAY.format(self.line)
        if stop is None and (counts["invalid"] + counts["refused"] or told & _IN_THE_ROW):
            advice = _advise(self.batch_input, self.totals.problems)
            return advice or f"Correct the rows ({self.results.name} says why), then run this again"
        if self.totals.not_done == self.totals.held:
            return f"{_HELD}{_LIST if counts['unknown'] else ''}"
        if stop is None and self.totals.not_done == counts["failed"]:
            again = self.line.but("--retry-failed")
            return f"See why: {self.results}; to send what has failed once more: {again}"
        if stop is None and counts["unknown"]:
            return f"{self.line}; what stays unknown: svc requests list --unresolved"
        return str(self.line)

    def _data(self) -> dict[str, Any]:
        totals = self.totals
        return {
            "object": "batch",
            "operation": self.batch_input.operation.name,
            "import": self.batch_input.batch.id,
            "name": self.batch_input.batch.name,
            "run": self.batch_input.batch.label,
            "rows": totals.rows,
            "done": totals.done,
            "replayed": totals.replayed,
            "skipped": totals.skipped,
            "changed": totals.changed,
            **{outcome: totals.counts[outcome] for outcome in _OUTCOMES},
            "totals": totals.money.as_data(),
            "totals_before": totals.money_before.as_data(),
            "results": str(self.results),
            "left_out": list(self.batch_input.left_out),
            "problems": _problems(totals.problems),
            "warned": totals.warned,
            "warnings": [
                {"row": line.row, "line": line.line, "id": line.id, "messages": list(line.warnings)}
                for line in totals.warnings
            ],
        }

    def _tell(self, out: "Output") -> None:
        totals = self.totals
        _note_problems(
            out,
            totals.problems,
            totals.wrong,
            lambda line: f"{_WORDS.get(line.outcome, line.outcome)}: {_why(line)}",
        )
        for line in totals.warnings:
            out.warn(f"line {line.line} ({line.id}): {'; '.join(line.warnings)}.")
        _note_more(out, totals.warned, "with such a warning")
        out.note(self._tell_rows())
        if totals.money.rows:
            word = _DONE_WORDS.get(self.batch_input.operation.name, "Done now")
            out.note(f"{word}: {in_words(totals.money)}")
        if totals.replayed:
            before = totals.money_before
            told = in_words(before) if before.rows else _rows(totals.replayed)
            out.note(f"Done before, as the service says: {told}")
        out.note(f"Results: {self.results}")
        if totals.skipped == totals.rows > 0 and not totals.contradicted:
            later = _SINCE if self.batch_input.operation.action.settles else ""
            out.note(f"Every row was done before{later}.")

    @property
    def _outcome(self) -> Outcome | None:
        """What is said of all rows together; None where they differ."""
        return None if self.totals.not_done else "done"

    def _tell_rows(self) -> str:
        totals = self.totals
        counts = _tell_counts(totals, ("done", "skipped", *_NOT_DONE))
        return ": ".join(
            filter(None, (self.batch_input.operation.name, _rows(totals.rows), counts))
        )

    def _build_lost(self, error: OSError) -> LocalError:
        why = system_words(error)
        lost = LocalError(
            f"{self.totals.done} rows were done, but the summary could not be written: {why}.",
            code="result_not_written",
            outcome=self._outcome,
            hint=f"The ids are in {self.results}",
        )
        if isinstance(error, BrokenPipeError):
            lost.exit_code = ExitCode.BROKEN_PIPE
        return lost


def report_check(out: "Output", batch_input: BatchInput, todo: BatchPlan) -> None:
    """Prints what a run would do (`--dry-run`); raises PartlyDone if a row cannot be sent."""
    money = money_of(todo.tasks.rows())
    lines = [build_bad_line(bad) for bad in islice(todo.bad, PROBLEMS_MAX)]
    if out.format == "human":
        _note_problems(out, lines, len(todo.bad), _why)
        out.note(_check_in_words(batch_input, todo, money))
    else:
        out.value(_check_data(batch_input, todo, money, lines))
    if todo.bad:
        raise PartlyDone(
            f"{len(todo.bad)} of {_rows(todo.rows)} cannot be sent. Nothing was sent.",
            code="rows_invalid",
            outcome="not_sent",
            hint=_advise(batch_input, lines)
            or f"Correct them{', or run without --dry-run to send the others' * bool(todo.tasks)}",
        )


def _build_contradicted(totals: Totals) -> ReplyContradiction:
    """What an earlier run has said of a row is as true now: the row is done, and not as asked."""
    first = next(line for line in totals.problems if line.outcome == "done")
    more = f" So it is with {totals.contradicted} rows." if totals.contradicted > 1 else ""
    return ReplyContradiction(
        f"Line {first.line} was carried out before. {_why(first)}{more}",
        code=CONTRADICTED,
        outcome="done",
        request=first.request,
        idempotency_key=first.idempotency_key,
        hint=_SETTLE,
    )


def note_left_out(batch_input: BatchInput) -> str | None:
    """Returns a note that names the columns that are not sent; None if all are."""
    if not batch_input.left_out:
        return None
    names = ", ".join(batch_input.left_out)
    return f"Not sent, for {batch_input.operation.name} does not take them: {names}"


def _check_data(
    batch_input: BatchInput, todo: BatchPlan, money: Money, lines: list[ResultLine]
) -> dict[str, Any]:
    largest = _find_largest(todo.tasks.rows())
    row = largest[0] if len(largest) == 1 else None
    return {
        "object": "batch_check",
        "operation": batch_input.operation.name,
        "import": batch_input.batch.id,
        "name": batch_input.batch.name,
        "run": batch_input.batch.label,
        "rows": todo.rows,
        "to_send": len(todo.tasks),
        "skipped": len(todo.done),
        "newest_hours": None if todo.newest is None else int(todo.newest // 3600),
        "invalid": len(todo.bad),
        "unknown": _count_held(todo, RowDecision.STOP_ROW_TOO_OLD),
        "failed": _count_held(todo, RowDecision.STOP_ROW_FAILED),
        "contradicted": _count_held(todo, RowDecision.STOP_ROW_CONTRADICTED),
        "done_by_hand": _count_held(todo, RowDecision.STOP_ROW_BY_HAND),
        "edited": _count_held(todo, RowDecision.STOP_ROW_REWORDED),
        "changed": _count_held(todo, RowDecision.STOP_ROW_CHANGED, RowDecision.STOP_ROW_OVERTAKEN),
        "known_otherwise": _count_held(todo, RowDecision.STOP_ROW_KEY_TAKEN),
        "largest": row and {"line": row.line, "amount": row.amount, "currency": row.currency},
        "equal": [{"rows": len(each), "lines": each[:20]} for each in _equal(todo)[:20]],
        "totals": money.as_data(),
        "without_amount": money.without_amount if batch_input.operation.action.total else 0,
        "without_currency": money.without_currency if batch_input.operation.action.total else 0,
        "left_out": list(batch_input.left_out),
        "problems": _problems(lines),
    }


def _check_in_words(batch_input: BatchInput, todo: BatchPlan, money: Money) -> str:
    parts = [f"{len(todo.tasks):,} to send"]
    newest = "" if todo.newest is None else f", the newest {_ago(todo.newest)}"
    for count, words in (
        (len(todo.done), f"done before{newest}"),
        (len(todo.bad), "invalid"),
        *((_count_held(todo, decision), words) for decision, words in _HELD_WORDS.items()),
    ):
        if count:
            parts.append(f"{count:,} {words}")
    lines = [
        f"{batch_input.operation.name}: {_rows(todo.rows)}: {', '.join(parts)}. Nothing was sent."
    ]
    if todo.tasks and batch_input.operation.action.total:
        lines.append(f"To send: {in_words(money)}")
    lines += _remarks(todo)
    return "\n".join(lines)


_HELD_WORDS: Final = {
    RowDecision.STOP_ROW_TOO_OLD: "with an unknown outcome, too old to send again",
    RowDecision.STOP_ROW_FAILED: "that were carried out and have failed",
    RowDecision.STOP_ROW_CONTRADICTED: "whose answer said something else",
    RowDecision.STOP_ROW_BY_HAND: "that a single command has carried out",
    RowDecision.STOP_ROW_REWORDED: "that a single command has carried out in other words",
    RowDecision.STOP_ROW_CHANGED: "that were sent with other values",
    RowDecision.STOP_ROW_OVERTAKEN: "whose object has other values since",
    RowDecision.STOP_ROW_KEY_TAKEN: "that the service knows with other values",
}


def _count_held(todo: BatchPlan, *decisions: RowDecision) -> int:
    return sum(one.decision in decisions for one in todo.held)


def questions_of(
    batch_input: BatchInput, todo: BatchPlan, rows: Sequence[BatchRow] | None
) -> tuple[str, ...]:
    """Returns the lines of the question: the sums to be sent, then a line for each remark.

    `rows` are the rows to be sent, with what the service says of their money.
    """
    money = money_of(todo.tasks.rows()) if rows is None else money_of(rows)
    sums = f" ({in_words(money)})" if batch_input.operation.action.total else ""
    done = len(todo.done)
    before = (
        [f"{_rows(done)} done before, the newest {_ago(todo.newest)}"]
        if done and todo.newest is not None
        else []
    )
    return (sums, *_remarks(todo, rows), *before)


def _remarks(todo: BatchPlan, rows: Sequence[BatchRow] | None = None) -> list[str]:
    """The largest row, and rows that ask for the same, so that a slip is seen before it is sent."""
    found = []
    largest = _find_largest(todo.tasks.rows() if rows is None else rows)
    if largest and len(todo.tasks) > len(largest):
        told = ", ".join(
            f"{format_amount(row.amount or 0, str(row.currency))} in line {row.line}"
            for row in largest
        )
        found.append(f"The largest: {told}")
    for lines in _equal(todo)[:3]:
        told = ", ".join(map(str, lines[:10]))
        found.append(f"{len(lines)} rows ask for the same: the lines {told}")
    return found


def _find_largest(sent: Iterable[BatchRow]) -> list[BatchRow]:
    """The row with the largest amount of each currency; none where a row's currency is unknown."""
    largest: dict[str, BatchRow] = {}
    for row in sent:
        if row.amount is None:
            continue
        if not row.currency:
            return []
        known = largest.setdefault(row.currency, row)
        if row.amount > (known.amount or 0):
            largest[row.currency] = row
    return [largest[currency] for currency in sorted(largest)]


def _equal(todo: BatchPlan) -> list[list[int]]:
    """The lines of rows that ask for the same thing, the most of them first."""
    lines: dict[str, list[int]] = {}
    for row in todo.tasks.rows():
        if todo.digests.repeats(row.alike):
            lines.setdefault(row.alike, []).append(row.line)
    return sorted((one for one in lines.values() if len(one) > 1), key=len, reverse=True)


def _ago(seconds: float | None) -> str:
    minutes = int((seconds or 0) // 60)
    if minutes < 120:  # noqa: PLR2004
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} hours ago" if hours < 48 else f"{hours // 24} days ago"  # noqa: PLR2004


def in_words(money: Money) -> str:
    """Writes amounts for people: `157.08 EUR (3 rows), 10 rows without an amount`."""
    parts = []
    for currency in sorted(money.rows):
        count = money.rows[currency]
        amount = format_amount(money.amounts[currency], currency)
        parts.append(f"{amount} ({_rows(count)})")
    # A refund's row has no currency, for its payment has one.
    for count, words in (
        (money.without_currency, "whose currency is not in the file"),
        (money.without_amount, "without an amount"),
        (
            money.unstated - money.without_currency - money.without_amount,
            "whose amount or currency was not answered",
        ),
    ):
        if count:
            parts.append(f"{_rows(count)} {words}")
    return ", ".join(parts)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _of(count: int, rows: int) -> str:
    """`2 of 3 rows are`, `1 of 3 rows is`."""
    return f"{count:,} of {_rows(rows)} {'is' if count == 1 else 'are'}"


def _tell_counts(totals: Totals, outcomes: Iterable[str]) -> str:
    """How many rows had each outcome; what none had is not named."""
    counts = {**totals.counts, "skipped": totals.skipped, "changed": totals.changed}
    found = ((counts.get(name, 0), _WORDS.get(name, name)) for name in outcomes)
    return ", ".join(f"{count:,} {word}" for count, word in found if count)


def _problems(lines: Iterable[ResultLine]) -> list[dict[str, object]]:
    return [
        {"row": line.row, "line": line.line, "outcome": line.outcome, **(line.error or {})}
        for line in lines
    ]


def _advise(batch_input: BatchInput, lines: Iterable[ResultLine]) -> str | None:
    """What mends rows that are refused for one plain reason; None where it is another."""
    errors = [line.error or {} for line in lines]
    if any(error.get("code") == AMOUNT_IN_DECIMALS for error in errors):
        return _DECIMALS
    if "order" in batch_input.left_out and any(error.get("param") == "payment" for error in errors):
        return _PAYMENTS
    return None


def _note_problems(
    out: "Output", lines: Iterable[ResultLine], count: int, words: Callable[[ResultLine], str]
) -> None:
    """Names what is wrong with the first lines, and once where it is the same from line to line."""
    said: list[tuple[int, int, str]] = []
    for line in lines:
        first, last, why = said[-1] if said else (0, 0, "")
        if words(line) == why and line.line == last + 1:
            said[-1] = (first, line.line, why)
        else:
            said.append((line.line, line.line, words(line)))
    for first, last, why in said:
        named = f"line {first}" if first == last else f"lines {first} to {last}"
        out.note(f"{named}: {why}")
    _note_more(out, count, "with a fault")


def _note_more(out: "Output", count: int, words: str) -> None:
    if count > PROBLEMS_MAX:
        out.note(f"and {_rows(count - PROBLEMS_MAX)} more {words}")


def _why(line: ResultLine) -> str:
    error = line.error or {}
    return str(error.get("message") or error.get("code"))
