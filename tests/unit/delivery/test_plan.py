"""What a run does with the rows of earlier ones (promises R16, R113 to R118)."""

from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from support.calls import refunds
from support.clocks import ManualClock
from svc.client.request import prepare
from svc.delivery.evidence import Evidence, read_outcome
from svc.delivery.hints import build_held_error, notes_of
from svc.delivery.journal.batches import BatchName, default_name
from svc.delivery.journal.entry import OBJECT_FAILED, KeyEquivalence, NewIntent, Settled, store_call
from svc.delivery.journal.refusals import format_full_command
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.likeness import about_of
from svc.delivery.plan import BatchPlan, BatchTimes
from svc.delivery.policy import KeyRelation, RowDecision
from svc.errors import Conflict
from unit.delivery.rows import BASE, DAY, HOUR, REFUNDS, SCOPE, Desk, one_row

DONE = Settled("done", 200, "rf_1", proved=True)
FAILED = Settled("done", 200, "rf_1", error_code=OBJECT_FAILED, proved=True)
REFUSED = Settled("refused", 400, None, None, "amount_too_large", proved=True)
LIMITED = Settled("not_sent", 429, None, None, "rate_limit")
UNKNOWN = Settled("unknown")
OTHER = BatchName("/a/other.csv", "refunds.create", SCOPE)


def advance(desk: Desk, seconds: float) -> None:
    assert isinstance(desk.clock, ManualClock)
    desk.clock.advance(seconds)


def sent(todo: BatchPlan) -> list[tuple[int, str]]:
    """Amount and key of every row that is to be sent."""
    assert todo.stop is None
    return [(task.row.amount or 0, task.key) for task in todo.tasks]


def amounts(found: Any) -> list[int]:
    return [one.row.amount for one in found]


def stop_of(todo: BatchPlan) -> RowDecision | None:
    return todo.stop.decision if todo.stop else None


def single(desk: Desk, amount: int, end: Settled) -> None:
    """A single command for the same refund."""
    call = refunds.create({"payment": "pay_1", "amount": amount})
    prepared = prepare(call, BASE, new_key=lambda: f"single-{amount}-{desk.clock.now()}")
    intent = desk.journal.record(NewIntent(store_call(call, prepared), SCOPE))
    desk.journal.settle(intent, end._replace(object_id=f"rf_s{amount}"))


def test_a_key_is_made_of_batch_content_and_ordinal_alone(desk: Desk) -> None:
    """R16, R114: the same file gives the same keys on any machine; every part of it counts."""
    first, again = desk.plan(100, 200, 100), desk.plan(100, 200, 100)
    assert sent(first) == sent(again)
    keys = [key for _, key in sent(first)]
    assert len(set(keys)) == 3
    assert all(len(key) == 36 and key[14] == "8" for key in keys)
    other = BatchName("/a/refunds.csv", "refunds.create", SCOPE, "2026-12")
    assert not {key for _, key in sent(desk.plan(100, 200, batch=other))} & set(keys)
    assert default_name("/a/../b/x.csv", BytesIO(b"1")) == default_name("/b/x.csv", BytesIO(b"2"))
    assert default_name("-", BytesIO(b"1")) != default_name("-", BytesIO(b"2"))


def test_done_rows_are_skipped_wherever_they_stand(desk: Desk) -> None:
    """R16: a row inserted above moves all others."""
    desk.run({100: DONE, 200: DONE})
    todo = desk.plan(50, 100, 60, 200)
    assert (amounts(todo.done), [amount for amount, _ in sent(todo)]) == ([100, 200], [50, 60])
    assert todo.is_begun


def test_a_row_is_the_same_however_it_is_spelled(desk: Desk) -> None:
    """R115: the likeness finds it; what is sent again are the first bytes under the first key."""
    spelled = {"amount": 5, "payment": "pay_1", "metadata": {"name": "Müller  AG"}}
    other = {"metadata": {"name": "mu\u0308ller ag"}, "payment": " pay_1 ", "amount": 5}
    assert one_row(spelled).alike == one_row(other).alike
    jobs = desk.record(desk.plan(spelled))
    desk.journal.settle_many([(jobs[0].intent, UNKNOWN)])
    desk.sender_locks.close()
    (task,) = desk.plan(other).tasks
    assert (task.key, task.intent) == (jobs[0].intent.stored.idempotency_key, desk.kept()[0])
    (again,) = desk.record(desk.plan(other))
    assert again.prepared.body == jobs[0].prepared.body


def test_a_refused_row_sends_its_key_first_and_then_the_next_one(desk: Desk) -> None:
    """R113, R114: every machine walks the same keys; only a replayed refusal uses one up."""
    (key,) = desk.run({100: REFUSED})
    todo = desk.plan(100)
    assert sent(todo) == [(100, key)]
    assert todo.keys is not None
    (task,) = todo.tasks
    walk = [todo.keys.after(task.row, key)]
    walk.append(todo.keys.after(task.row, walk[0]))
    assert walk == [REFUNDS.key_of(task.row.likeness, 0, refusals) for refusals in (1, 2)]


@pytest.mark.parametrize("end", [UNKNOWN, LIMITED, None, Settled("refused", 404)])
def test_a_row_whose_end_is_open_keeps_its_key(desk: Desk, end: Settled | None) -> None:
    """R113, R11: unknown, never sent, too many, or refused by what is not the service."""
    keys = desk.run({100: end})
    assert [key for _, key in sent(desk.plan(100))] == keys


def test_equal_rows_are_as_many_requests(desk: Desk) -> None:
    """R16: two equal rows are two; of them the one that was done counts first."""
    jobs = desk.record(desk.plan(100, 100, 100))
    assert len({job.intent.stored.idempotency_key for job in jobs}) == 3
    desk.journal.settle_many([(jobs[2].intent, DONE), (jobs[0].intent, UNKNOWN)])
    desk.sender_locks.close()
    todo = desk.plan(100, 100, 100, 100)
    assert [one.row.number for one in todo.done] == [1]
    keys = [task.key for task in todo.tasks]
    assert {*keys[:2]} == {job.prepared.idempotency_key for job in jobs[:2]}
    assert len(set(keys)) == 3


def test_an_unknown_row_that_left_the_file_stops_everything(desk: Desk) -> None:
    """R16: sending a corrected row might do both."""
    desk.run({100: UNKNOWN, 200: DONE})
    assert [one.key for one in desk.plan(150, 200).orphans] == [
        one.stored.idempotency_key for one in desk.kept() if one.state == "unknown"
    ]


@pytest.mark.parametrize(("hours", "old"), [(22.9, False), (23, True), (-0.1, True)])
def test_an_unknown_row_is_not_sent_after_23_hours(desk: Desk, hours: float, old: bool) -> None:
    """R4: the row is left out, the others are sent; so it is where the clock was put back."""
    desk.run({100: UNKNOWN})
    advance(desk, hours * HOUR)
    todo = desk.plan(100, 200)
    assert amounts(todo.held) == ([100] if old else [])
    assert [amount for amount, _ in sent(todo)] == ([200] if old else [100, 200])


def test_a_key_is_as_old_as_the_service_says(desk: Desk) -> None:
    """R4: this machine's clock was ten hours fast when the row was sent; `Date` was right."""
    dated = desk.clock.now() - 10 * HOUR
    desk.run({100: UNKNOWN._replace(dated_at=dated)})
    advance(desk, 20 * HOUR)
    assert sent(desk.plan(100)) != []
    assert amounts(desk.plan(100, dated=dated + 22 * HOUR).held) == []
    assert amounts(desk.plan(100, dated=dated + 30 * HOUR).held) == [100]


def test_bad_rows_are_neither_sent_nor_in_the_way(desk: Desk) -> None:
    """One that cannot be read is told, and counts for nothing else."""
    desk.run({100: DONE})
    todo = desk.plan("no amount", 100, 200)
    assert (len(todo.bad), amounts(todo.done), len(todo.tasks), todo.rows) == (1, [100], 1, 3)


@pytest.mark.parametrize("bad", [(), ("bad",)])
def test_what_was_done_twelve_hours_ago_is_not_skipped_in_silence(
    desk: Desk, bad: tuple[str, ...]
) -> None:
    """R115: next month's run of the same file, also where a bad row keeps it from being whole."""
    desk.run({100: DONE, 200: DONE})
    advance(desk, 12 * HOUR - 1)
    assert amounts(desk.plan(100, 200, *bad).done) == [100, 200]
    advance(desk, 1)
    assert stop_of(desk.plan(100, 200, *bad)) is RowDecision.STOP_OLD
    todo = desk.plan(100, 200, 300, *bad, may_continue=True)
    assert (amounts(todo.done), amounts(todo.tasks), todo.stop) == ([100, 200], [300], None)


def test_what_was_done_after_now_is_not_skipped_in_silence(desk: Desk) -> None:
    """R115: the clock was a year fast when it was sent: for a year the batch would be young."""
    desk.run({100: DONE})
    advance(desk, -600)  # the clocks of two machines differ by minutes
    assert amounts(desk.plan(100).done) == [100]
    advance(desk, -1)
    assert stop_of(desk.plan(100)) is RowDecision.STOP_OLD
    assert amounts(desk.plan(100, may_continue=True).done) == [100]


def test_an_effect_of_today_keeps_a_growing_file_young(desk: Desk) -> None:
    """R115: the age is that of the newest effect, not of the first run."""
    desk.run({100: DONE})
    advance(desk, 11 * HOUR)
    desk.run({100: DONE, 200: DONE})
    advance(desk, 11 * HOUR)
    assert amounts(desk.plan(100, 200).done) == [100, 200]


def test_a_month_on_a_sandboxs_clock_counts_too(desk: Desk) -> None:
    """R4: a sandbox's clock may be turned; whichever clock says more is believed."""
    (job,) = desk.record(desk.plan(100), served=1000.0)
    desk.journal.settle(job.intent, DONE)
    desk.sender_locks.close()
    assert desk.plan(100, served=1000.0 + 12 * HOUR - 1).stop is None
    assert stop_of(desk.plan(100, served=1000.0 + 12 * HOUR)) is RowDecision.STOP_OLD


def test_another_label_is_another_occasion_and_not_within_seven_days_unasked(desk: Desk) -> None:
    """R115: `--run LABEL` does it anew; within seven days somebody has to say so (`--again`)."""
    desk.run({100: DONE})
    november = BatchName(REFUNDS.name, REFUNDS.operation, SCOPE, "2026-11")
    assert stop_of(desk.plan(100, batch=november)) is RowDecision.STOP_REPEATED
    assert len(desk.plan(100, batch=november, may_repeat=True).tasks) == 1
    advance(desk, 7 * DAY)
    assert stop_of(desk.plan(100, batch=november)) is RowDecision.STOP_REPEATED
    advance(desk, 1)
    todo = desk.plan(100, batch=november)
    assert (len(todo.tasks), len(todo.noted), todo.stop) == (1, 1, None)


def test_a_label_is_no_word_about_a_single_command_of_this_week(desk: Desk) -> None:
    """R115: a script gives a label each month; who was paid by hand before it is not paid twice."""
    single(desk, 200, DONE)
    november = BatchName(REFUNDS.name, REFUNDS.operation, SCOPE, "2026-11")
    for batch in (REFUNDS, november):
        assert amounts(desk.plan(200, batch=batch).held) == [200]
        assert amounts(desk.plan(200, batch=batch, may_skip_done=True).adopted) == [200]
    assert len(desk.plan(200, batch=november, may_repeat=True).tasks) == 1
    advance(desk, 7 * DAY + 1)
    todo = desk.plan(200, batch=november)
    assert (len(todo.tasks), amounts(todo.held), amounts(todo.noted)) == (1, [], [200])


def test_a_copy_of_a_batch_is_not_run_a_second_time_unasked(desk: Desk) -> None:
    """R115: another name, the same rows."""
    desk.run({100: DONE, 200: REFUSED})
    todo = desk.plan(100, 200, 300, batch=OTHER)
    assert (stop_of(todo), amounts(todo.stop.rows if todo.stop else ())) == (
        RowDecision.STOP_REPEATED,
        [100],
    )


@pytest.mark.parametrize("before", [True, False])
def test_what_a_single_command_has_done_is_not_sent(desk: Desk, before: bool) -> None:
    """R115: by hand before the batch, or after a row of it was turned away: the row is left out."""
    if before:
        single(desk, 200, DONE)
    desk.run({100: DONE, 200: LIMITED})
    if not before:
        single(desk, 200, DONE)
    todo = desk.plan(100, 200, 200)
    assert (amounts(todo.done), amounts(todo.held), len(todo.tasks)) == ([100], [200], 1)
    assert todo.held[0].duplicate is not None
    assert todo.held[0].duplicate.object_id == "rf_s200"
    adopted = desk.plan(100, 200, may_skip_done=True)
    assert (amounts(adopted.done), len(adopted.adopted), list(adopted.tasks)) == ([100, 200], 1, [])
    assert len(desk.plan(100, 200, may_repeat=True).tasks) == 1


def test_a_single_command_of_long_ago_is_a_note_unless_the_batch_was_under_way(desk: Desk) -> None:
    """R115: last month's by hand is another occasion; what was done since the batch began is not."""
    single(desk, 300, DONE)
    advance(desk, 8 * DAY)
    desk.run({100: DONE, 200: LIMITED})
    todo = desk.plan(100, 200, 300)
    assert (len(todo.noted), amounts(todo.tasks)) == (1, [200, 300])
    single(desk, 200, DONE)
    advance(desk, 30 * DAY)
    todo = desk.plan(100, 200, may_continue=True)
    assert (amounts(todo.held), list(todo.tasks)) == ([200], [])


@pytest.mark.parametrize("end", [UNKNOWN, None])
def test_an_unresolved_request_elsewhere_always_stops(desk: Desk, end: Settled | None) -> None:
    """R5: nothing that a person says for rows lets it through."""
    desk.run({100: end}, batch=OTHER)
    assert stop_of(desk.plan(100, may_repeat=True)) is RowDecision.STOP_UNRESOLVED


def test_what_has_failed_is_not_sent_again_unasked(desk: Desk) -> None:
    """R117: `--retry-failed` sends the next key, once the object is seen to have failed."""
    (key,) = desk.run({100: FAILED})
    assert amounts(desk.plan(100).held) == [100]
    (task,) = desk.plan(100, may_retry_failed=True).tasks
    assert (task.key, task.failed) == (REFUNDS.key_of(task.row.likeness, 0, 1), "rf_100")
    assert task.key != key


def test_what_has_failed_and_was_done_by_hand_since_is_not_sent_again(desk: Desk) -> None:
    """R115, R117: somebody has seen the failure and paid; a month later it is still paid."""
    desk.run({200: DONE}, batch=OTHER)  # another occasion
    advance(desk, 1)
    desk.run({100: FAILED, 200: FAILED}, may_repeat=True)
    assert len(desk.plan(100, 200, may_retry_failed=True).tasks) == 2
    advance(desk, 1)
    single(desk, 100, DONE)
    for days in (0, 30):
        advance(desk, days * DAY)
        for may in (False, True):
            todo = desk.plan(100, may_retry_failed=may)
            assert (amounts(todo.held), list(todo.tasks)) == ([100], [])
            assert todo.held[0].decision is RowDecision.STOP_ROW_BY_HAND
        assert amounts(desk.plan(100, may_skip_done=True).adopted) == [100]
    assert len(desk.plan(100, may_retry_failed=True, may_repeat=True).tasks) == 1


@pytest.mark.parametrize(
    ("days", "reason", "decision"),
    [
        (6, None, RowDecision.STOP_ROW_BY_HAND),
        (6, "duplicate", RowDecision.STOP_ROW_REWORDED),
        (8, None, None),
        (8, "duplicate", None),
    ],
)
def test_a_row_that_was_left_out_stays_so_a_month_later(
    desk: Desk, days: int, reason: str | None, decision: RowDecision | None
) -> None:
    """R115: days count to the beginning of the batch, and not to this run of it."""
    single(desk, 100, DONE)
    advance(desk, days * DAY)
    row = {"amount": 100, "payment": "pay_1", **({"reason": reason} if reason else {})}
    desk.run({200: DONE})
    for later in (0, 30):
        advance(desk, later * DAY)
        held = desk.plan(row, 200, may_continue=True).held
        assert [one.decision for one in held] == ([decision] if decision else [])


@pytest.mark.parametrize(
    ("row", "stop"),
    [
        ({"amount": 100, "payment": "pay_1"}, RowDecision.STOP_REPEATED),
        ({"amount": 100, "payment": "pay_1", "reason": "duplicate"}, RowDecision.STOP_EDITED),
    ],
)
def test_what_has_failed_and_was_done_in_another_file_since_is_not_sent_again(
    desk: Desk, row: dict[str, Any], stop: RowDecision
) -> None:
    """R115, R117: the failed rows were put in a file of their own, perhaps in other words."""
    desk.run({100: FAILED})
    advance(desk, 1)
    desk.batches.begin(OTHER)
    (job,) = desk.record(desk.plan(row, batch=OTHER, may_send_edited=True), OTHER)
    assert stop_of(desk.plan(100)) is None  # it is not sent, and the other rows are
    assert stop_of(desk.plan(100, may_retry_failed=True)) is not None
    desk.journal.settle(job.intent, DONE._replace(object_id="rf_2"))
    desk.sender_locks.close()
    assert amounts(desk.plan(100, 200).held) == [100]
    assert stop_of(desk.plan(100, may_retry_failed=True)) is stop
    advance(desk, 6 * DAY)
    assert stop_of(desk.plan(100, may_retry_failed=True)) is stop
    allowed = desk.plan(100, may_retry_failed=True, may_repeat=True, may_send_edited=True)
    assert len(allowed.tasks) == 1


def test_a_second_request_whose_outcome_is_unknown_goes_on_before_what_had_failed(
    desk: Desk,
) -> None:
    """R117: it took the place of that, and is not one of a row that is no longer in the file."""
    desk.run({100: FAILED})
    (second,) = desk.run({100: UNKNOWN}, may_retry_failed=True)
    for may in (False, True):
        todo = desk.plan(100, may_retry_failed=may)
        assert (sent(todo), todo.orphans) == ([(100, second)], [])


def test_a_done_row_that_was_changed_is_not_sent_unasked(desk: Desk) -> None:
    """R115: about the same payment, and the row that was done is no longer in the file."""
    desk.run({100: DONE, 200: DONE})
    changed: dict[str, Any] = {"amount": 200, "payment": "pay_1", "metadata": {"note": "x"}}
    todo = desk.plan(100, changed)
    assert stop_of(todo) is RowDecision.STOP_EDITED
    assert [one.object_id for one in todo.gone] == ["rf_200"]
    assert len(desk.plan(100, changed, may_send_edited=True).tasks) == 1
    # Also where no done row is left, and only the amount is the same.
    assert stop_of(desk.plan(changed)) is RowDecision.STOP_EDITED
    other = {**changed, "payment": "pay_2"}
    assert stop_of(desk.plan(100, other)) is None


def test_a_row_that_a_gateway_turned_away_is_not_sent_in_other_words(desk: Desk) -> None:
    """R115: it may have been carried out; what the service itself has refused may be corrected."""
    desk.run({100: Settled("refused", 404), 200: Settled("refused", 400, proved=True)})
    changed: dict[str, Any] = {"amount": 150, "payment": "pay_1"}
    assert stop_of(desk.plan(200, changed)) is RowDecision.STOP_EDITED
    assert len(desk.plan(200, changed, may_send_edited=True).tasks) == 2
    assert amounts(desk.plan(100, changed).tasks) == [100, 150]
    assert amounts(desk.plan(100, 200).tasks) == [100, 200]


def test_a_new_file_under_an_old_name_is_sent(desk: Desk) -> None:
    """R115: a nightly export: no done row is left, and none is changed."""
    desk.run({100: DONE, 200: DONE})
    todo = desk.plan({"amount": 100, "payment": "pay_2"}, {"amount": 7, "payment": "pay_3"})
    assert (todo.stop, len(todo.tasks), len(todo.gone)) == (None, 2, 2)
    assert notes_of(todo)[0].startswith("2 rows are done in this batch and no longer in the file")


def test_a_row_with_an_id_of_its_own_is_the_same_whatever_is_corrected(desk: Desk) -> None:
    """R115: `--row-id`: an invoice is paid once, however its row is spelled."""
    first = {"amount": 100, "payment": "pay_1", "metadata": {"invoice": "7"}}
    second = {"amount": 150, "payment": "pay_1", "metadata": {"invoice": "7"}}
    jobs = desk.record(desk.plan(first, row_id="metadata[invoice]"))
    desk.journal.settle(jobs[0].intent, DONE)
    desk.sender_locks.close()
    todo = desk.plan(second, row_id="metadata[invoice]")
    assert (amounts(todo.held), list(todo.tasks), todo.stop) == ([150], [], None)
    assert todo.held[0].decision is RowDecision.STOP_ROW_CHANGED
    assert amounts(desk.plan(first, row_id="metadata[invoice]").done) == [100]
    assert len(desk.plan(second, row_id="metadata[invoice]", may_send_edited=True).tasks) == 1


@pytest.mark.parametrize(
    ("account", "relation"),
    [
        (KeyEquivalence(), "stop"),
        (KeyEquivalence(other=frozenset((SCOPE.key_fingerprint,))), "stop"),
        (KeyEquivalence(same=frozenset((SCOPE.key_fingerprint,))), "skip"),
    ],
    ids=["not known", "other", "same"],
)
def test_another_key_must_be_shown_to_be_of_the_same_account(
    desk: Desk, account: KeyEquivalence, relation: str
) -> None:
    """R118: what another account has done is never skipped; not known stops."""
    desk.run({100: DONE})
    todo = desk.plan(100, own_key="sk_test_…wxyz", account=account)
    wanted = None if relation == "skip" else RowDecision.STOP_ACCOUNT
    assert stop_of(todo) is wanted


def test_a_reset_sandbox_has_nothing(desk: Desk) -> None:
    """R81: what was made there before is gone with it."""
    desk.run({100: DONE._replace(world="w1")})
    assert amounts(desk.plan(100, world="w1").done) == [100]
    assert len(desk.plan(100, world="w2").tasks) == 1


def past(desk: Desk, outcome: str, amount: int, ago: float) -> Evidence:
    row, at = one_row(amount), desk.clock.now() - ago
    known, key = read_outcome(outcome, None), REFUNDS.key_of(row.likeness, 0)
    return Evidence(known, "", key, at, None, f"rf_{amount}", "rq_gone", alike=row.alike)


def test_the_results_file_tells_where_the_journal_is_lost(desk: Desk) -> None:
    """R116: done anywhere is done; unknown anywhere, and done nowhere, is unknown."""
    lines = (past(desk, "done", 100, HOUR), past(desk, "unknown", 200, HOUR))
    # The key of the line of which only the outcome is unknown is the same one's.
    lines = (lines[0], lines[1]._replace(key_fingerprint=SCOPE.key_fingerprint))
    todo = desk.plan(100, 200, 300, lines=lines, unseen=KeyRelation.SAME)
    assert (amounts(todo.done), amounts(todo.tasks)) == ([100], [200, 300])
    assert (todo.tasks[0].key, todo.tasks[0].sent_at) == (lines[1].key, lines[1].at)
    (job, _) = desk.record(todo)
    assert (job.intent.sent_before, job.intent.first_sent_at) == (True, lines[1].at)
    desk.sender_locks.close()


def test_an_edited_row_is_seen_where_the_body_of_the_done_one_was_deleted(desk: Desk) -> None:
    """R115: after 90 days the results file alone says what the request was about."""
    (key,) = desk.run({100: DONE})
    line = past(desk, "done", 100, 0)._replace(key=key, about=about_of(one_row(100).subject))
    advance(desk, 91 * DAY)
    assert desk.batches.compact_expired_batch()
    assert [one.stored.body for one in desk.kept()] == [b""]
    assert stop_of(desk.plan(150, lines=(line,))) is RowDecision.STOP_EDITED


def test_a_single_command_counts_first_for_the_equal_row_that_was_not_sent(desk: Desk) -> None:
    """R115: two are wanted; the unknown one is settled under its own key, and none is made anew."""
    line = past(desk, "unknown", 100, HOUR)._replace(key_fingerprint=SCOPE.key_fingerprint)
    single(desk, 100, DONE)
    both = desk.plan(100, 100, lines=(line,), unseen=KeyRelation.SAME, may_skip_done=True)
    assert (amounts(both.adopted), [task.key for task in both.tasks]) == ([100], [line.key])
    alone = desk.plan(100, lines=(line,), unseen=KeyRelation.SAME, may_skip_done=True)
    assert (amounts(alone.adopted), amounts(alone.tasks)) == ([100], [])


def test_a_results_file_of_another_account_or_day_skips_nothing(desk: Desk) -> None:
    """R115, R118: what nothing shows to be of this account stops, and so does what is old."""
    young, old = past(desk, "done", 100, HOUR), past(desk, "done", 100, 13 * HOUR)
    assert stop_of(desk.plan(100, lines=(young,))) is RowDecision.STOP_ACCOUNT
    seen = KeyRelation.SAME
    assert stop_of(desk.plan(100, lines=(old,), unseen=seen)) is RowDecision.STOP_OLD
    lost = past(desk, "unknown", 100, 24 * HOUR)
    (held,) = desk.plan(100, lines=(lost,), unseen=seen).held
    assert (held.row.amount, held.decision) == (100, RowDecision.STOP_ROW_TOO_OLD)


def test_a_row_that_a_sandbox_has_forgotten_is_not_sent(desk: Desk) -> None:
    """R4: its clock was turned; whichever clock tells it, the row is to be taken out first."""
    (job,) = desk.record(desk.plan(100), served=1000.0)
    desk.journal.settle(job.intent, UNKNOWN)
    desk.sender_locks.close()
    assert len(desk.plan(100, served=1000.0 + 23 * HOUR - 1).tasks) == 1
    (held,) = desk.plan(100, served=1000.0 + 23 * HOUR).held
    times = BatchTimes(desk.clock.now(), 1000.0 + 23 * HOUR)
    error = build_held_error(held, times, format_full_command)
    assert "the sandbox's clock says" in error.message
    assert (error.hint or "").endswith("take the row out of the file before that")


def test_one_process_at_a_time_runs_a_batch(desk: Desk, tmp_path: Path) -> None:
    """R69: the other one waits for its end."""
    desk.batches.begin(REFUNDS)
    with closing(SenderLocks(tmp_path / "state" / "senders")) as others:
        second = Desk(desk.journal._state(), others, desk.clock)
        with pytest.raises(Conflict, match="Another process is running this batch now"):
            second.batches.begin(REFUNDS)
        desk.sender_locks.close()
        second.batches.begin(REFUNDS)


def test_a_key_of_a_rows_own_stands_for_what_was_sent(desk: Desk) -> None:
    """R115: --edited makes no new key for it; the service would refuse the old one."""
    row = {"payment": "pay_1", "amount": 100, "idempotency_key": "own"}
    desk.batches.begin(REFUNDS)
    [job] = desk.record(desk.plan(row))
    desk.journal.settle(job.intent, Settled("done", 200, "rf_1", proved=True))
    for may in (False, True):
        held = desk.plan({**row, "amount": 200}, may_send_edited=may).held
        assert [one.decision for one in held] == [RowDecision.STOP_ROW_CHANGED]
