"""Why a batch, or a row of one, is not sent, and what a person does then: each case, whole.

It lies in `hints.txt`; after a change that is meant, `GOLDEN=write` writes it anew.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

from support.suite.golden import hold_golden
from svc.client.retry import KEY_SAFE_SECONDS
from svc.delivery.evidence import Evidence, Known
from svc.delivery.hints import TypedLine, build_held_error, notes_of, stop_error
from svc.delivery.journal.batches import DUPLICATE_SECONDS, BatchName, Duplicate
from svc.delivery.journal.refusals import format_full_command
from svc.delivery.plan import BatchRow, BatchTimes, UnsentRow
from svc.delivery.policy import RowDecision
from svc.errors import SvcError
from unit.delivery.journal.test_refusals import AT, DONE, SCOPE, request

OPEN = request()
NOW = AT + 86_400
BATCH = BatchName("/a/june.csv", "refunds.create", SCOPE)
LABELLED = replace(BATCH, label="2026-06")
OTHER = BatchName("/a/may.csv", "refunds.create", SCOPE)
# What a row was before, as the results file and the journal know it.
TOLD = Evidence(Known.UNKNOWN, "alike", "key-1", AT, object_id="rf_1", row=3)
KEPT = TOLD._replace(request="rq_1", intent=OPEN)
MADE = KEPT._replace(known=Known.DONE, intent=DONE._replace(state="done"))
# What another batch, or a single command, has or may have done.
LATER = Duplicate("alike", OTHER, True, "rq_2", AT, "k", "shop", "rf_2", row=7, created_at=AT)
MAYBE = LATER._replace(done=False, settled_at=None)
BY_HAND = LATER._replace(batch=None)


def row(line: int = 4, subject: str = "refund:pay_1", key: str | None = None) -> BatchRow:
    return BatchRow(line - 1, line, "/v1/refunds", b"", "", "", 1, "EUR", key, subject=subject)


def line(*more: str) -> TypedLine:
    return TypedLine(("batch", "refunds.create", "june.csv", *more), NOW, PurePath("/a"))


def stopped(name: str, *rows: UnsentRow, batch: BatchName = BATCH, **plan: Any) -> SvcError:
    """The error of a batch that these rows stop."""
    reason = SimpleNamespace(decision=RowDecision[f"STOP_{name}"], rows=rows)
    orphans: list[Evidence] = []
    known = {"orphans": orphans, "stop": reason, "newest": None, "is_begun": False, **plan}
    facts: Any = SimpleNamespace(batch=batch, own_key="sk_live_…9", times=BatchTimes(NOW))
    words = line("--run=2026-06") if batch.label else line("--continue", "--", "-x")
    error = stop_error(SimpleNamespace(**known), facts, words, format_full_command)  # type: ignore[arg-type]
    assert error is not None
    return error


def unsent(
    evidence: Evidence | None = None, other: Duplicate | None = None, **at: Any
) -> UnsentRow:
    before = at.pop("before", None)
    return UnsentRow(row(**at), evidence, RowDecision.SEND, other, before)


def each_stop() -> Iterator[SvcError]:
    yield stopped("ACCOUNT", unsent(TOLD))
    yield stopped("ACCOUNT", unsent(KEPT))
    yield stopped("ACCOUNT", unsent(MADE), batch=LABELLED)
    hours = 3600.0
    for newest in (-1.0, 0.0, 47.9 * hours, 48 * hours, DUPLICATE_SECONDS, DUPLICATE_SECONDS + 1):
        yield stopped("OLD", unsent(MADE), newest=newest)
    today = replace(BATCH, label="2026-10-02")
    yield stopped("OLD", *[unsent(MADE)] * 1000, batch=today, newest=hours)
    yield stopped("RUNNING", unsent(None, MAYBE._replace(request=None)))
    yield stopped("UNRESOLVED", unsent(None, MAYBE))
    of_results = replace(OTHER, name=OTHER.id)
    yield stopped("UNRESOLVED", *[unsent(None, MAYBE._replace(batch=of_results))] * 2)
    live = replace(BATCH, scope=SCOPE._replace(mode="live"))
    yield stopped("UNRESOLVED", unsent(None, MAYBE._replace(batch=None)), batch=live)


def each_like() -> Iterator[SvcError]:
    newest = LATER._replace(settled_at=AT + 86_400)
    november = LATER._replace(batch=replace(BATCH, label="2026-11"))
    yield stopped("REPEATED", unsent(None, LATER))
    yield stopped("REPEATED", unsent(None, LATER), unsent(None, newest, line=5))
    yield stopped("REPEATED", unsent(None, LATER), unsent(None, november), unsent(None, november))
    yield stopped("REPEATED", unsent(None, BY_HAND), batch=LABELLED)
    yield stopped("REPEATED", unsent(None, november), batch=LABELLED)
    yield stopped("REPEATED", unsent(None, LATER._replace(batch=BATCH)), batch=LABELLED)
    many = [unsent(None, LATER, line=at) for at in (2, 3, 4, *range(6, 26, 2))]
    yield stopped("REPEATED", *many[:12], is_begun=True)
    yield stopped("REPEATED", *many, is_begun=True)
    yield stopped("EDITED", unsent(None, LATER))
    yield stopped("EDITED", *[unsent(None, MAYBE, subject="")] * 2)
    account = "payout:DE89370400440532013000"
    yield stopped("EDITED", *[unsent(before=MADE, subject=account)] * 3, newest=1.0)
    yield stopped("EDITED", unsent(before=KEPT._replace(known=Known.REFUSED)), batch=LABELLED)
    nowhere = SimpleNamespace(decision=None, rows=())
    for orphans in (
        [KEPT] * 3,
        [KEPT] * 4,
        [TOLD],
        [TOLD, KEPT._replace(at=NOW - KEY_SAFE_SECONDS)],
        [KEPT._replace(at=NOW - KEY_SAFE_SECONDS + 1), KEPT],
    ):
        yield stopped("OLD", orphans=orphans, stop=nowhere)


def each_row() -> Iterator[SvcError]:
    named = row(key="own")
    held = (
        ("ROW_BY_HAND", row(), None, BY_HAND),
        ("ROW_REWORDED", row(), None, BY_HAND),
        ("ROW_REWORDED", row(subject="payout:12345678"), None, MAYBE),
        ("ROW_FAILED", row(), KEPT, None),
        ("ROW_OVERTAKEN", row(), MADE, LATER),
        ("ROW_OVERTAKEN", named, MADE, MAYBE),
        ("ROW_OVERTAKEN", row(), KEPT, LATER),
        ("ROW_OVERTAKEN", row(), TOLD, LATER),
        ("ROW_CHANGED", row(), MADE, None),
        ("ROW_CHANGED", named, MADE._replace(object_id=None), None),
        ("ROW_CHANGED", row(), KEPT, None),
        ("ROW_CHANGED", row(), TOLD, None),
        ("ROW_KEY_TAKEN", row(), KEPT, None),
        ("ROW_KEY_TAKEN", row(), TOLD, None),
        ("ROW_TOO_OLD", row(), KEPT, None),
        ("ROW_TOO_OLD", row(), TOLD, None),
    )
    for name, one, evidence, other in held:
        passed = UnsentRow(one, evidence, RowDecision[f"STOP_{name}"], other)
        yield build_held_error(passed, BatchTimes(NOW), format_full_command)


def each_note() -> Iterator[str]:
    gone, noted = [MADE] * 2, [unsent(None, LATER), unsent(None, LATER._replace(settled_at=NOW))]
    for done, tasks, some in (([], [1], []), ([], [], []), ([1], [1], []), ([], [1], noted)):
        plan: Any = SimpleNamespace(gone=gone, done=done, tasks=tasks, noted=some)
        yield " | ".join(notes_of(plan))


def each_line() -> Iterator[str]:
    for error in (*each_stop(), *each_like(), *each_row()):
        facts = (error.code, error.outcome, error.param, error.request, error.idempotency_key)
        yield f"{facts} {int(error.exit_code)}\n  {error.message}\n    {error.hint}"
    yield from each_note()


def test_each_hint_is_told_as_agreed() -> None:
    """R120: none has an invented amount or account, and none repeats what was carried out."""
    hold_golden(Path(__file__).with_name("hints.txt"), "".join(f"{it}\n" for it in each_line()))
