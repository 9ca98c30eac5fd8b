"""Counting what became of the rows, and the money in them (minor units by currency)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from svc.batch.plan import Plan
from svc.batch.results import Line
from svc.batch.rows import Row

PROBLEMS_MAX: Final = 20


@dataclass(slots=True)
class Money:
    """Amounts in minor units by currency.

    Attributes:
        unstated: rows whose amount or currency is not stated, such as a refund of all that is left.
    """

    amounts: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    unstated: int = 0

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


@dataclass(slots=True)
class Tally:
    """What became of the rows of one run.

    Attributes:
        rows: of the file.
        skipped: that an earlier run has carried out.
        contradicted: of these, with an answer that says something else than the row.
        counts: of the others, by outcome; what is missing has not ended yet.
        money: carried out in this run.
        wrong: how many rows ended with an error.
        problems: the first of them.
    """

    rows: int
    skipped: int = 0
    contradicted: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    money: Money = field(default_factory=Money)
    wrong: int = 0
    problems: list[Line] = field(default_factory=list)

    def skip(self, line: Line) -> None:
        """Counts a row that an earlier run has carried out."""
        self.skipped += 1
        self.contradicted += line.error is not None
        self._remember(line)

    def add(self, line: Line) -> None:
        self.counts[line.outcome] += 1
        self._remember(line)

    def _remember(self, line: Line) -> None:
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


def money_of(rows: Iterable[Row]) -> Money:
    """What the file says of the amounts of rows, before anything is sent."""
    money = Money()
    for row in rows:
        stated = row.amount is not None and row.currency is not None
        money.add((row.currency or "", row.amount or 0) if stated else None)
    return money


def money_planned(plan: Plan) -> Money:
    """What the rows that are to be sent move, as far as the file says."""
    return money_of(task.row for task in plan.tasks)
