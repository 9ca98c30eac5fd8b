"""What is known of the rows of a run: the line of each, their counts, and the money they move."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from svc.batch.outcome import advised_fields, bad_line
from svc.batch.plan import BatchPlan
from svc.batch.results import ResultLine, failure
from svc.batch.rows import BatchRow
from svc.delivery.journal.entry import Intent, Settled

# What rows move: a currency and minor units, None where an answer does not say.
Movements = Mapping[int, tuple[str, int] | None]

_BEFORE_FORGETTING: Final = "if it was carried out, take the row out of the file before that"
PROBLEMS_MAX: Final = 20


@dataclass(slots=True)
class Money:
    """Amounts in minor units by currency.

    Attributes:
        unstated: rows whose amount or currency is not stated, such as a refund of all that is left.
        without_amount: those of them that are known to have no amount.
        without_currency: those that have an amount in a currency that is not said beside it.
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
        """A list for programs, in the order of the currencies' names."""
        return [
            {"currency": currency, "amount": self.amounts[currency], "rows": self.rows[currency]}
            for currency in sorted(self.rows)
        ]


class _Moved(NamedTuple):
    """What a row has moved: a currency and minor units, None where its answer does not say."""

    total: tuple[str, int] | None


@dataclass(slots=True)
class Totals:
    """What became of the rows of one run.

    Attributes:
        rows: of the file.
        too_old: of unknown outcome, and not sent again by any run (promise R4).
        skipped: that an earlier run has carried out.
        contradicted: of these, with an answer that says something else than the row.
        counts: of the others, by outcome; what is missing has not ended yet.
        money: carried out in this run.
        wrong: how many rows ended with an error.
        problems: the first of them.
    """

    rows: int
    too_old: int = 0
    skipped: int = 0
    contradicted: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    money: Money = field(default_factory=Money)
    wrong: int = 0
    problems: list[ResultLine] = field(default_factory=list)

    def skip(self, line: ResultLine) -> None:
        """Counts a row that an earlier run has carried out."""
        self.skipped += 1
        self.contradicted += line.error is not None
        self._remember(line)

    def add(self, line: ResultLine, moved: _Moved | None = None) -> None:
        """Counts a row of this run, and what it has moved, if that counts."""
        self.counts[line.outcome] += 1
        if moved is not None:
            self.money.add(moved.total)
        self._remember(line)

    def _remember(self, line: ResultLine) -> None:
        if line.error is not None:
            self.wrong += 1
            if len(self.problems) < PROBLEMS_MAX:
                self.problems.append(line)

    @property
    def done(self) -> int:
        return self.counts["done"]

    @property
    def not_done(self) -> int:
        """Rows that neither this nor an earlier run has carried out."""
        return self.rows - self.skipped - self.done

    @property
    def ended(self) -> int:
        """Rows about which nothing more will be heard."""
        return self.skipped + self.counts.total()


def money_of(rows: Iterable[BatchRow]) -> Money:
    """What the file says of the amounts of rows, before anything is sent."""
    money = Money()
    for row in rows:
        if row.amount is not None and row.currency is not None:
            money.add((row.currency, row.amount))
            continue
        money.add(None)
        money.without_amount += row.amount is None
        money.without_currency += row.amount is not None
    return money


def money_planned(plan: BatchPlan) -> Money:
    """What the rows that are to be sent move, as far as the file says."""
    return money_of(task.row for task in plan.tasks)


class _Told(NamedTuple):
    """How a row of this run ended; `moved` is what that moved, if it counts."""

    line: ResultLine
    moved: _Moved | None


class Tally:
    """What is known of all rows of a plan.

    A signal may come at any step. How rows ended is noted in one; what follows from it is made anew
    with `recount`.

    Attributes:
        known: the lines of rows about which nothing will be done in this run.
        totals: what became of the rows so far.
    """

    def __init__(self, plan: BatchPlan) -> None:
        self._plan = plan
        self._told: dict[int, _Told] = {}
        self.known = _known(plan)
        self.totals = self._counted()

    def __contains__(self, row: int) -> bool:
        return row in self._told

    def note(self, lines: Iterable[ResultLine], moved: Movements) -> list[ResultLine]:
        """Notes how rows ended, each once, and gives the lines of those that are new.

        `moved` has what rows move, a currency and minor units, where that counts.
        """
        fresh = {line.row: _told(line, moved) for line in lines if line.row not in self._told}
        self._told.update(fresh)
        for each in fresh.values():
            self.totals.add(each.line, each.moved)
        return [each.line for each in fresh.values()]

    def recount(self) -> None:
        """Counts all rows anew, whatever a signal has kept from being counted."""
        self.totals = self._counted()

    def lines(self) -> list[ResultLine]:
        """Gives the lines of all rows that are known of by now."""
        return [*self.known, *(each.line for each in self._told.values())]

    def _counted(self) -> Totals:
        totals = Totals(self._plan.rows, too_old=len(self._plan.stale))
        for line in self.known:
            if line.outcome == "done":
                totals.skip(line)
            else:
                totals.add(line)
        for each in self._told.values():
            totals.add(each.line, each.moved)
        return totals


def _told(line: ResultLine, moved: Movements) -> _Told:
    counts = line.outcome == "done" and line.row in moved
    return _Told(line, _Moved(moved[line.row]) if counts else None)


def _done_before(row: BatchRow, intent: Intent) -> ResultLine:
    """The line of a row that an earlier run has carried out; what was wrong with it is said again.

    A difference between row and answer (promise R15) is nothing that a second run settles.
    """
    settled = intent.settled or Settled("done")
    error: dict[str, object] | None = None
    if intent.is_contradicted:
        code, message = settled.error_code, settled.error_message
        error = failure(code, message, None, settled.status, settled.request_id)
    key = intent.stored.idempotency_key
    return ResultLine(row.number, row.line, "done", settled.object_id, error, key, intent.id)


def _known(plan: BatchPlan) -> list[ResultLine]:
    """The lines of rows about which nothing will be done in this run."""
    lines = [_done_before(row, intent) for row, intent in plan.done]
    for row, intent, error in plan.stale:
        fields = advised_fields(error)
        fields["message"] = f"{fields['message']}; {_BEFORE_FORGETTING}"
        key = intent.stored.idempotency_key
        lines.append(ResultLine(row.number, row.line, "unknown", None, fields, key, intent.id))
    lines += map(bad_line, plan.bad)
    return lines
