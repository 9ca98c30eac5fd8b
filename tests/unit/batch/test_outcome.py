"""What an ended row means: its line of the results, word for word, and the end of a whole batch."""

import json
from typing import Any

import pytest

from svc.base_url import BaseUrl
from svc.batch.results import ResultLine
from svc.batch.run import make_should_stop, total_of
from svc.batch.tally import Totals, build_bad_line, error_fields, line_of, money_of
from svc.batch.workers import SharedQuota
from svc.client.contradiction import CONTRADICTED, Contradiction
from svc.client.exchange import Failure, RawReply, Trouble
from svc.client.refusal import NOT_OURS
from svc.client.reply import Reply
from svc.delivery.journal.entry import NewIntent, Settled, Stored, restore_call
from svc.delivery.plan import BatchRow, InvalidRow
from svc.delivery.rows import (
    RowJob,
    classify_claimed_by_other,
    classify_error,
    classify_reply,
    classify_unsent,
)
from svc.errors import (
    ApiError,
    AuthError,
    Forbidden,
    OutcomeUnknown,
    RateLimited,
    ReplyContradiction,
    SvcError,
    Unauthorized,
    UsageError,
)
from unit.batch.floor import Floor

ROW = BatchRow(1, 1, "/v1/refunds", b"", "", "", None, None)
LOST = Failure(Trouble.CLOSED, sent=True)


def refused(status: int, code: str, param: str | None = None) -> RawReply:
    said = {"type": "invalid_request_error", "code": code, "message": "No.", "param": param}
    return RawReply(status, (("request-id", "req_7"),), json.dumps(said).encode())


def test_refused_row_has_all_that_the_service_said(floor: Floor) -> None:
    """R16: code, message, parameter, status and request id stand in its line, and its own key."""
    floor.service.answer = lambda request, nth: refused(400, "amount_too_large", "amount")
    run = floor.run([7])
    (line,) = floor.results
    assert (line["row"], line["line"], line["outcome"], line["id"]) == (1, 2, "refused", None)
    assert line["error"] == {
        "code": "amount_too_large",
        "message": line["error"]["message"],
        "param": "amount",
        "status": 400,
        "request_id": "req_7",
    }
    assert "No." in line["error"]["message"]
    assert line["idempotency_key"] == floor.service.keys[0]
    (kept,) = floor.intents.list(batch=floor.batch.id)
    assert line["request"] == kept.id
    assert (run.totals.wrong, [one.row for one in run.totals.problems]) == (1, [1])


@pytest.mark.parametrize(
    ("answer", "outcome", "state", "code"),
    [
        (refused(429, "rate_limit"), "not_sent", "not_sent", "rate_limit"),
        (refused(500, "internal_error"), "unknown", "unknown", "internal_error"),
        (LOST, "unknown", "unknown", "network_error"),
        (Failure(Trouble.NO_CONNECTION, sent=False), "not_sent", "not_sent", "network_error"),
    ],
)
def test_row_without_a_definite_end_is_for_the_next_run(
    answer: Any, outcome: str, state: str, code: str, floor: "Floor"
) -> None:
    """R10, R11: its line and the journal say the same, and why."""
    floor.service.answer = lambda request, nth: answer
    floor.run([7])
    (line,) = floor.results
    assert (line["outcome"], floor.states, line["id"]) == (outcome, [state], None)
    assert line["error"] is not None
    if isinstance(answer, RawReply):
        assert line["error"]["code"] == code
        assert (line["error"]["status"], line["error"]["request_id"]) == (answer.status, "req_7")
    else:
        assert (line["error"]["status"], line["error"]["request_id"]) == (None, None)


def test_error_without_a_code_has_its_type() -> None:
    """Something for programs to go by is always there; what is secret is masked."""
    error = ApiError("sk_test_4fQzN7cPq2LrTxVb9KdYhWm3 is no amount.", outcome="refused")
    fields = error_fields(error)
    assert fields["code"] == error.type
    assert "4fQzN7cPq2LrTxVb9" not in str(fields["message"])


def test_row_that_is_bad_has_an_error_like_any_other() -> None:
    """R16: a program finds the same fields, whether the row or the service is to blame."""
    secret = "sk_test_4fQzN7cPq2LrTxVb9KdYhWm3"
    line = build_bad_line(
        InvalidRow(3, 4, f"{secret} has no amount.", "amount", "parameter_missing")
    )
    assert (line.row, line.line, line.outcome, line.id) == (3, 4, "invalid", None)
    assert line.error is not None
    message = line.error["message"]
    assert line.error == {
        "code": "parameter_missing",
        "message": message,
        "param": "amount",
        "status": None,
        "request_id": None,
    }
    assert secret not in str(message)
    assert line.error.keys() == error_fields(ApiError("No.")).keys()


def test_second_run_has_one_line_for_each_row(floor: Floor) -> None:
    """What an earlier run has settled, what is bad and what is new: each row once, in order."""
    floor.run([1, "bad", 3])
    run = floor.run([1, "bad", 3, 4])
    assert [(one["row"], one["outcome"]) for one in floor.results] == [
        (1, "done"),
        (2, "invalid"),
        (3, "done"),
        (4, "done"),
    ]
    assert (run.totals.skipped, run.totals.done, run.totals.wrong, run.totals.not_done) == (
        2,
        1,
        1,
        1,
    )
    assert run.totals.ended == 4


@pytest.fixture
def job(floor: Floor) -> RowJob:
    """A row that was never sent before."""
    stored = Stored("/v1/refunds", "json", b'{"payment":"pay_1"}', "key-1", None)
    call, prepared = restore_call(stored, BaseUrl.parse("https://api.example.com"))
    asked = NewIntent(stored, floor.batch.scope, floor.batch.id, 1)
    (intent,) = floor.intents.record_many([asked])
    return RowJob(ROW, intent, call, prepared)


SILENT = OutcomeUnknown("No answer.", outcome="unknown")
REPLY = Reply(200, (), "{}", {"id": "rf_1"}, (), None, replayed=False, attempts=1)


def test_one_answer_ends_a_row_of_silence(job: RowJob) -> None:
    """R17: twenty rows without an answer one after the other end a batch, not twenty in all."""
    quota = SharedQuota(1000)
    halts = make_should_stop(quota)
    for answered in (
        classify_reply(job, REPLY),
        classify_error(job, ApiError("No.", outcome="refused")),
    ):
        for _ in range(19):
            assert not halts(classify_error(job, SILENT))
        assert not halts(answered)
    for _ in range(19):
        assert not halts(classify_error(job, SILENT))
    assert not quota.exhausted
    assert halts(classify_error(job, SILENT))
    assert quota.exhausted


def test_row_that_was_not_begun_says_nothing_of_the_service(job: RowJob) -> None:
    """R17: rows that were turned back before they were sent do not count as silence."""
    quota = SharedQuota(1000)
    halts = make_should_stop(quota)
    for _ in range(30):
        assert not halts(classify_unsent(job))
    assert not quota.exhausted


def test_row_that_was_not_begun_is_not_sent_or_as_unknown_as_before(job: RowJob) -> None:
    """R10: of one that an earlier run may have sent nobody knows more than before."""
    fresh = classify_unsent(job)
    assert (fresh.outcome, fresh.settled) == ("not_sent", Settled("not_sent"))
    again = job._replace(intent=job.intent._replace(sent_before=True))
    before = classify_unsent(again)
    assert (before.outcome, before.settled, before.stop) == ("unknown", None, None)
    bug = ZeroDivisionError("a bug")
    broken = classify_unsent(job, bug)
    assert (broken.outcome, broken.settled, broken.stop) == ("unknown", None, bug)


@pytest.mark.parametrize(
    ("error", "stops"),
    [
        (Forbidden("Not with this key."), True),
        (Unauthorized("This key has expired."), True),
        (AuthError("No key."), True),
        (UsageError("No address."), True),
        (ReplyContradiction("Another amount.", outcome="done"), True),
        (ApiError("No.", outcome="refused"), False),
        (RateLimited("Later.", outcome="refused"), False),
        (SILENT, False),
    ],
)
def test_what_concerns_every_row_ends_the_batch(error: SvcError, stops: bool, job: RowJob) -> None:
    """A key that is refused is refused for the next row too; a bad row is its own affair."""
    assert make_should_stop(SharedQuota(1000))(classify_error(job, error)) is stops
    assert (classify_error(job, error).stop is error) is stops


def test_what_an_answer_has_made_is_named_although_it_says_something_else(job: RowJob) -> None:
    """R15: another amount was refunded than asked for; its id is how a person finds it."""
    error = Contradiction("Another amount.", outcome="done", object_id="rf_7")
    found = classify_error(job, error)
    assert (found.outcome, line_of(found).id) == ("done", "rf_7")
    assert found.settled is not None
    assert found.settled.object_id == "rf_7"


@pytest.mark.parametrize("kind", [Unauthorized, Forbidden, RateLimited])
def test_row_that_was_turned_away_keeps_its_key(kind: type[SvcError], job: RowJob) -> None:
    """R11: it was not carried out, so the next run sends it with the same one."""
    settled = classify_error(job, kind("No.", outcome="refused", status=403)).settled
    assert settled is not None
    assert (settled.outcome, settled.status) == ("not_sent", 403)


def test_reason_behind_an_unknown_end_ends_the_batch(job: RowJob) -> None:
    """A 401 after a lost answer leaves its row open, and no other row is begun."""
    unknown, refused_key = OutcomeUnknown("No answer.", outcome="unknown"), Unauthorized("No.")
    unknown.__cause__ = refused_key
    found = classify_error(job, unknown)
    assert (found.stop, found.outcome) == (refused_key, "unknown")
    unknown.__cause__ = ApiError("No.")
    assert classify_error(job, unknown).stop is None


def test_answer_that_is_another_requests_leaves_its_row_open(job: RowJob) -> None:
    """R93: nobody knows what became of the row, and a service that mixes up answers is left."""
    found = classify_claimed_by_other(classify_reply(job, REPLY))
    line = line_of(found)
    assert (found.outcome, line.id, found.settled, total_of(found, "amount")) == (
        "unknown",
        None,
        None,
        None,
    )
    assert line.error is not None
    assert line.error["code"] == NOT_OURS
    assert "rf_1" in str(line.error["message"])
    assert found.error is found.stop is not None
    assert (line_of(found).idempotency_key, line_of(found).request) == ("key-1", job.intent.id)


@pytest.mark.parametrize(
    ("data", "total"),
    [
        ({"id": "rf_1", "amount": 5, "currency": "EUR"}, ("EUR", 5)),
        ({"id": "rf_1", "amount": "5", "currency": "EUR"}, ("EUR", 5)),
        ({"id": "rf_1", "amount": 5.0, "currency": "EUR"}, ("EUR", 5)),
        ({"id": "rf_1", "amount": 5.5, "currency": "EUR"}, None),
        ({"id": "rf_1", "amount": "5.5", "currency": "EUR"}, None),
        ({"id": "rf_1", "amount": "V", "currency": "EUR"}, None),
        ({"id": "rf_1", "amount": True, "currency": "EUR"}, None),
        ({"id": "rf_1", "amount": 5, "currency": None}, None),
        ({"id": "rf_1", "amount": 5}, None),
        ([], None),
    ],
)
def test_money_counts_where_amount_and_currency_are_stated(
    data: object, total: tuple[str, int] | None, job: RowJob
) -> None:
    """An amount counts however it is spelled; nothing is guessed, and the row is done all the same."""
    found = classify_reply(job, REPLY._replace(data=data))
    assert (total_of(found, "amount"), found.outcome, found.stop) == (total, "done", None)


@pytest.mark.parametrize("error", [AuthError("No.", outcome="not_sent"), UsageError("No.")])
def test_row_that_an_earlier_run_may_have_sent_stays_open_without_a_connection(
    error: SvcError, job: RowJob
) -> None:
    """R10: that nothing could be sent now says nothing of what was sent before."""
    again = job._replace(intent=job.intent._replace(sent_before=True))
    found = classify_error(again, error)
    assert (found.settled, found.outcome, line_of(found).id) == (None, "unknown", None)
    fresh = classify_error(job, error)
    assert fresh.settled is not None
    assert (fresh.settled.outcome, fresh.outcome) == ("not_sent", "not_sent")
    refused = classify_error(again, ApiError("No.", outcome="refused"))
    assert refused.settled is not None
    assert refused.outcome == "refused"


def test_rows_of_an_earlier_run_are_counted_apart() -> None:
    """R15: one that was carried out otherwise than asked is told again, and is no new one."""
    totals = Totals(5)
    done = ResultLine(1, 1, "done", "rf_1", idempotency_key="key-1", request="rq_1")
    for line in (done, done._replace(row=2, error={"code": CONTRADICTED}), done._replace(row=3)):
        totals.skip(line)
    totals.add(done._replace(row=4))
    totals.add(done._replace(row=5, outcome="refused", error={"code": "amount_too_large"}))
    assert (totals.skipped, totals.contradicted, totals.wrong) == (3, 1, 2)
    assert [line.row for line in totals.problems] == [2, 5]
    assert (totals.done, totals.not_done, totals.ended) == (1, 1, 5)
    for row in range(6, 40):
        totals.add(done._replace(row=row, outcome="refused", error={"code": "x"}))
    assert (totals.wrong, len(totals.problems)) == (36, 20)


def test_sums_of_a_file_say_what_they_leave_out() -> None:
    """Amounts of one currency are added up; what has none, or no currency beside it, is counted."""
    money = money_of(
        ROW._replace(number=number, amount=amount, currency=currency)
        for number, (amount, currency) in enumerate(
            [(5, "EUR"), (7, "EUR"), (9, "CHF"), (None, "EUR"), (None, None), (3, None)], 1
        )
    )
    assert money.as_data() == [
        {"currency": "CHF", "amount": 9, "rows": 1},
        {"currency": "EUR", "amount": 12, "rows": 2},
    ]
    assert (money.unstated, money.without_amount, money.without_currency) == (3, 2, 1)
