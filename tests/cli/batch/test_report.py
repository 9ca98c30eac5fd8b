"""How the end of a batch is told, by the outcomes of its rows: the summary, its data, the error.

It lies in `report.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from support.suite.golden import hold_golden
from svc.batch.results import ResultLine
from svc.batch.tally import Money, Totals
from svc.cli.batch.report import Report, questions_of, report_check
from svc.cli.batch.workers import Progress
from svc.delivery.hints import TypedLine
from svc.delivery.policy import RowDecision
from svc.errors import (
    Forbidden,
    NetworkError,
    PartlyDone,
    ReplyContradiction,
    SvcError,
    Unauthorized,
)

LINE = TypedLine(("batch", "refunds.create", "a.csv"), 0.0, Path("/a"))
DONE = ResultLine(1, 2, "done", "re_1")
BAD = {"code": "parameter_invalid", "message": "The amount is too large.", "param": "amount"}
ENDS: dict[str, tuple[Totals, SvcError | None]] = {
    "all done": (Totals(2, counts=Counter(done=2)), None),
    "all done before": (Totals(2, skipped=2), None),
    "of another reply": (Totals(1, skipped=1, replayed=1), None),
    "one refused": (Totals(1, counts=Counter(refused=1)), None),
    "invalid": (Totals(3, counts=Counter(done=1, invalid=2)), None),
    "failed alone": (Totals(3, counts=Counter(done=1, failed=2)), None),
    "unknown": (Totals(3, counts=Counter(done=1, unknown=2)), None),
    "unknown and held": (Totals(3, held=2, counts=Counter(done=1, unknown=2)), None),
    "changed and held": (Totals(3, held=1, changed=1, skipped=2), None),
    "stopped": (Totals(1200, counts=Counter(not_sent=1200)), NetworkError("It was not reached.")),
    "stopped late": (
        Totals(3, counts=Counter(done=1, not_sent=2)),
        NetworkError("It was not reached.", request_id="req_1", retry_after=5),
    ),
    "a key refused": (Totals(2, counts=Counter(done=1, not_sent=1)), Unauthorized("No key.")),
    "an account refused": (Totals(2, counts=Counter(done=1, not_sent=1)), Forbidden("No right.")),
    "a contradiction": (
        Totals(2, counts=Counter(unknown=1)),
        ReplyContradiction("Another amount.", outcome="unknown", hint="Ask."),
    ),
    "a contradiction of a done one": (
        Totals(2, counts=Counter(done=1)),
        ReplyContradiction("Another amount.", outcome="done", hint="Ask."),
    ),
}
PROBLEMS: dict[str, tuple[str, dict[str, object]]] = {
    "decimals": ("invalid", {"code": "amount_in_decimals", "message": "1.50 has decimals."}),
    "payment": ("invalid", {"code": "parameter_missing", "param": "payment", "message": "Gone."}),
    "gateway": ("refused", {"code": "refused_by_gateway", "message": "A page."}),
    "key": ("unknown", {"code": "idempotency_key_reused"}),
    "currency": ("not_sent", {"code": "currency_mismatch", "message": "EUR is not USD."}),
    "other": ("refused", dict(BAD)),
}


class Told:
    """What a run prints, in place of the program's output."""

    def __init__(self, form: str = "human") -> None:
        self.format, self.lines = form, list[str]()

    def note(self, text: str) -> None:
        self.lines.append(text)

    def warn(self, text: str) -> None:
        self.lines.append(f"Warning: {text}")

    def hint(self, text: str) -> None:
        self.lines.append(f"Hint: {text}")

    def value(self, data: Any) -> None:
        self.lines.append(json.dumps(data))


class Chosen(list[Any]):
    """Rows that a plan has chosen."""

    def rows(self) -> "Chosen":
        return self


def batch(left_out: tuple[str, ...] = (), *, total: bool = True) -> Any:
    operation = SimpleNamespace(
        name="refunds.create", action=SimpleNamespace(total=total, settles=True)
    )
    named = SimpleNamespace(id="bat_1", name="a.csv", label="october")
    return SimpleNamespace(operation=operation, batch=named, left_out=left_out)


def end(totals: Totals, stop: SvcError | None, left_out: tuple[str, ...] = ()) -> Iterator[str]:
    run = cast("Any", SimpleNamespace(totals=totals))
    report = Report(batch(left_out), run, Path("a.results.csv"), LINE)
    for form in ("human", *(["ndjson"] if totals.problems and not left_out else [])):
        out = Told(form)
        report.show_interrupted(cast("Any", out))
        yield from out.lines
    error = report.error(None, stop)
    if error is not None:
        yield f"{type(error).__name__}: {error.message}"
        said = (error.code, error.outcome, error.request_id, error.retryable, error.retry_after)
        yield f"{said} {error.idempotency_key} {error.exit_code:d}"
        yield f"{error.hint}"


def with_problems(outcome: str, error: dict[str, object], rows: int) -> Totals:
    totals = Totals(rows + 1)
    totals.add(DONE, {1: ("EUR", 1000)})
    for row in range(rows):
        line = row + 3 + row // 2
        totals.add(ResultLine(row + 2, line, outcome, error=error, warnings=("A name differs",)))
    return totals


def check(todo: Any, *, total: bool) -> Iterator[str]:
    for form in ("human", "json"):
        out = Told(form)
        try:
            report_check(cast("Any", out), batch(("note",), total=total), todo)
        except PartlyDone as error:
            out.note(f"{error.message} {error.code} {error.outcome} {error.hint}")
        yield from out.lines
    yield from questions_of(batch(total=total), todo, None)


def plans() -> Iterator[tuple[str, Any]]:
    def row(line: int, amount: int | None, currency: str | None, alike: str = "") -> Any:
        alike = alike or str(line)
        return SimpleNamespace(line=line, amount=amount, currency=currency, alike=alike)

    one, same = row(2, 1000, "EUR"), row(3, 1000, "EUR", "2")
    for name, tasks, newest, held in (
        ("nothing", (), None, ()),
        ("one", (one,), 59.0, ()),
        ("two", (one, same, row(4, 7, "JPY"), row(5, 2000, "EUR")), 7199.0, ()),
        ("three", (one, row(4, None, None)), 172_799.0, tuple(RowDecision)),
        ("four", (row(4, 5, None), one), 172_800.0, ()),
    ):
        chosen = Chosen(tasks)
        yield (
            name,
            SimpleNamespace(
                tasks=chosen,
                done=[] if newest is None else [one],
                held=[SimpleNamespace(decision=decision) for decision in held],
                bad=[],
                rows=len(tasks) + len(held),
                newest=newest,
                digests=SimpleNamespace(repeats=lambda alike: alike == "2"),
            ),
        )


def test_each_end_of_a_batch_is_told_as_agreed() -> None:
    told = []
    for name, (totals, stop) in ENDS.items():
        told += [f"== {name}", *end(totals, stop)]
    for name, (outcome, error) in PROBLEMS.items():
        left_out = ("order", "note")[name != "payment" :]
        told += [f"== {name}", *end(with_problems(outcome, error, 3), None, left_out)]
    told += ["== many", *end(with_problems("refused", dict(BAD), 22), None)]
    contradicted = Totals(2, replayed=2, money_before=Money(Counter(EUR=5), Counter(EUR=1)))
    error = {"code": "reply_contradiction", "message": "It has another amount."}
    for row in (1, 2):
        contradicted.skip(
            ResultLine(row, row + 1, "done", f"re_{row}", error=error, request="rq_1")
        )
    told += ["== contradicted", *end(contradicted, None)]
    for name, todo in plans():
        for total in (True, False):
            told += [f"== check {name} {total}", *check(todo, total=total)]
    hold_golden(Path(__file__).with_name("report.txt"), "\n".join(told) + "\n")


class WatchedLine:
    """A line of progress that is due, so wide, after so many seconds."""

    def __init__(self, width: int, seconds: float) -> None:
        self.width, self._seconds, self.shown = width, seconds, ""

    def is_due(self) -> bool:
        return True

    def seconds(self) -> float:
        return self._seconds

    def show(self, *parts: str) -> None:
        self.shown = "".join(parts)


def test_progress_says_how_much_is_left_and_how_long_it_takes() -> None:
    """What was done before this run counts as done, and not as fast."""
    before = Totals(100_000, skipped=50_000, counts=Counter(invalid=9_000))
    for width, seconds, totals, said in (
        (
            65,
            1.0,
            Totals(4, counts=Counter(done=1, refused=1)),
            "[##   ] 2 of 4 rows  1 failed  2/s  1 s left",
        ),
        (200, 1.0, Totals(2, counts=Counter(done=2)), f"[{'#' * 24}] 2 of 2 rows  2/s"),
        (60, 10.0, Totals(1_000, counts=Counter(done=9)), "9 of 1,000 rows  1/s  18 min left"),
        (60, 10.0, Totals(1_000, counts=Counter(done=92)), "92 of 1,000 rows  9/s  99 s left"),
        (60, 10.0, Totals(99_100, counts=Counter(done=100)), "100 of 99,100 rows  10/s  3 h left"),
        (60, 1.0, before, "59,000 of 100,000 rows  9,000 failed  0/s"),
        (60, 9.0, Totals(0), "0 of 0 rows  0/s"),
    ):
        line = WatchedLine(width, seconds)
        progress = Progress(line)  # type: ignore[arg-type]
        if totals is not before:
            progress.tell(Totals(totals.rows))
        progress.tell(totals)
        assert line.shown == said
