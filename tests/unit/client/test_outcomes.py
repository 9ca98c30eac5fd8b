"""What a call ends as: done, refused, not sent or unknown, without a network."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from support.calls import refunds
from svc.batch.workers import SharedQuota
from svc.client.call import Call
from svc.client.exchange import Failure, RawReply, Trouble
from svc.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NetworkError,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    ReplyContradiction,
    ServerError,
    SvcError,
    Unauthorized,
    UsageError,
)
from unit.client.bench import Bench, reply

POST = refunds.create({"payment": "pay_1", "amount": 100})
GET = refunds.retrieve("rf_1")


def refusal(status: int, code: str | None = None, **headers: str) -> RawReply:
    return reply(status, {"type": "t", "code": code, "message": "No."}, **headers)


OK = reply(200, {"id": "rf_1", "object": "refund", "amount": 100}, request_id="req_1")
REFUSED_FOR_GOOD = {"type": "invalid_request_error", "code": "amount_too_large", "message": "No."}
REFUSED = Failure(Trouble.NO_CONNECTION, sent=False, detail="connection refused")
NO_NAME = Failure(Trouble.NO_ADDRESS, sent=False)
BAD_CERTIFICATE = Failure(Trouble.CERTIFICATE, sent=False, detail="expired")
TLS_CUT = Failure(Trouble.NO_TLS, sent=False)
RESET = Failure(Trouble.CLOSED, sent=True, detail="connection reset by peer")
TIMEOUT = Failure(Trouble.TIMEOUT, sent=True)
TOO_LARGE = Failure(Trouble.TOO_LARGE, sent=True)
BUSY = refusal(409, "idempotency_key_in_use")


@pytest.mark.parametrize(
    ("call", "results", "attempts", "kind", "outcome"),
    [
        # Never connected.
        (POST, [NO_NAME], 4, NetworkError, "not_sent"),
        (POST, [REFUSED], 4, NetworkError, "not_sent"),
        (GET, [REFUSED], 4, NetworkError, None),
        # TLS.
        (POST, [BAD_CERTIFICATE], 1, NetworkError, "not_sent"),
        (POST, [TLS_CUT], 4, NetworkError, "not_sent"),
        (POST, [Failure(Trouble.PROXY, sent=False)], 1, NetworkError, "not_sent"),
        # Sent, no answer.
        (POST, [RESET], 4, OutcomeUnknown, "unknown"),
        (GET, [RESET], 4, NetworkError, None),
        (POST, [Failure(Trouble.TRUNCATED, sent=True)], 4, OutcomeUnknown, "unknown"),
        (POST, [Failure(Trouble.GARBLED, sent=True)], 4, OutcomeUnknown, "unknown"),
        (POST, [TOO_LARGE], 1, OutcomeUnknown, "unknown"),
        (GET, [TOO_LARGE], 1, NetworkError, None),
        # A 2xx that is no answer.
        (POST, [reply(200, b"")], 4, OutcomeUnknown, "unknown"),
        (POST, [reply(200, b"<html>")], 4, OutcomeUnknown, "unknown"),
        (POST, [reply(200, [])], 4, OutcomeUnknown, "unknown"),
        (POST, [reply(200, {"id": "ord_1", "object": "order"})], 4, OutcomeUnknown, "unknown"),
        (GET, [reply(200, [])], 4, NetworkError, None),
        # Too many requests, and failures of the service.
        (POST, [refusal(429)], 4, RateLimited, "refused"),
        (GET, [refusal(429)], 4, RateLimited, None),
        (POST, [refusal(500)], 4, OutcomeUnknown, "unknown"),
        (POST, [refusal(503)], 4, OutcomeUnknown, "unknown"),
        (GET, [refusal(503)], 4, ServerError, None),
        (POST, [refusal(501)], 1, OutcomeUnknown, "unknown"),
        (POST, [refusal(500, idempotent_replayed="true")], 1, OutcomeUnknown, "unknown"),
        # Conflicts and refusals.
        (POST, [BUSY], 4, OutcomeUnknown, "unknown"),
        (POST, [refusal(409)], 1, OutcomeUnknown, "unknown"),
        (POST, [refusal(409, "idempotency_key_reused")], 1, Conflict, "refused"),
        (POST, [refusal(400, "idempotency_key_reused")], 1, Conflict, "refused"),
        (POST, [refusal(422, "idempotency_key_reused")], 1, Conflict, "refused"),
        (POST, [refusal(401)], 1, Unauthorized, "refused"),
        (POST, [refusal(403, "permission_denied")], 1, Forbidden, "refused"),
        (GET, [refusal(404)], 1, NotFound, "refused"),
        # R24: redirects.
        (POST, [reply(307, b"", location="https://evil.example/")], 1, OutcomeUnknown, "unknown"),
        (GET, [reply(302, b"", location="/x")], 1, NetworkError, None),
        # Mixed: what an earlier attempt left open stays open.
        (POST, [RESET, REFUSED], 4, OutcomeUnknown, "unknown"),
        (POST, [refusal(500), refusal(429)], 4, OutcomeUnknown, "unknown"),
        (POST, [RESET, refusal(401)], 2, OutcomeUnknown, "unknown"),
        (POST, [RESET, refusal(403)], 2, OutcomeUnknown, "unknown"),
        (POST, [RESET, BAD_CERTIFICATE], 2, OutcomeUnknown, "unknown"),
        # Mixed: a definite answer behind the idempotency layer settles it.
        (POST, [RESET, reply(400, REFUSED_FOR_GOOD)], 2, ApiError, "refused"),
        (POST, [refusal(429), REFUSED], 4, NetworkError, "not_sent"),
        (POST, [REFUSED, refusal(429)], 4, RateLimited, "refused"),
    ],
)
def test_a_call_ends_with_the_right_outcome(
    call: Call,
    results: list[RawReply | Failure],
    attempts: int,
    kind: type[SvcError],
    outcome: str | None,
    bench: type[Bench],
) -> None:
    """R6, R10, R11: attempts, class and outcome of every fault; the key is never lost."""
    made = bench(*results)
    with pytest.raises(kind) as caught:
        made.client.send(call)
    assert made.attempts == attempts
    assert caught.value.outcome == outcome
    assert caught.value.idempotency_key == ("key-1" if call is POST else None)
    assert len(made.records) == attempts
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("results", "attempts"),
    [
        *(([OK], 1), ([REFUSED, OK], 2), ([RESET, OK], 2), ([refusal(429), OK], 2)),
        *(([refusal(500), OK], 2), ([refusal(502), refusal(503), refusal(504), OK], 4)),
        *(([BUSY, OK], 2), ([reply(200, b"<html>"), OK], 2), ([TLS_CUT, RESET, TIMEOUT, OK], 4)),
    ],
)
def test_a_passing_fault_ends_well(
    results: list[RawReply | Failure], attempts: int, bench: type[Bench]
) -> None:
    """R6: tried again with the same bytes, then done."""
    made = bench(*results)
    answer = made.client.send(POST)
    assert answer.attempts == made.attempts == attempts
    assert (answer.status, answer.request_id, answer.idempotency_key) == (200, "req_1", "key-1")
    assert len(set(made.wire.requests)) == 1
    assert made.records == list(range(1, attempts + 1))
    assert len(made.clock.slept) == attempts - 1


@pytest.mark.parametrize(
    ("call", "status", "kind", "outcome"),
    [
        (POST, 500, OutcomeUnknown, "unknown"),
        (POST, 429, RateLimited, "refused"),
        (GET, 429, RateLimited, None),
        (GET, 503, ServerError, None),
        (GET, 307, NetworkError, None),
        (POST, 307, OutcomeUnknown, "unknown"),
        (POST, 400, ApiError, "refused"),
    ],
)
def test_every_end_says_all_that_the_service_has_said(
    call: Call, status: int, kind: type[SvcError], outcome: str | None, bench: type[Bench]
) -> None:
    """R73: code, parameter, status, request id and the wait that is asked for, whatever the end."""
    said = {"type": "t", "code": "c_1", "message": "No.", "param": "items[0][name]"}
    made = bench(reply(status, said, request_id="req_9", retry_after="3600"))
    with pytest.raises(kind) as caught:
        made.client.send(call)
    error = caught.value
    assert (error.code, error.param, error.status) == ("c_1", "items[0][name]", status)
    assert (error.request_id, error.outcome) == ("req_9", outcome)
    assert error.retry_after == 3600
    assert error.idempotency_key == ("key-1" if call is POST else None)


@pytest.mark.parametrize(("status", "done"), [(200, True), (201, True), (299, True), (300, False)])
def test_only_2xx_is_success(status: int, done: bool, bench: type[Bench]) -> None:
    """R24: 300 with the very body of a success is none; of a POST nobody knows what it did."""
    made = bench(reply(status, {"id": "rf_1", "object": "refund", "amount": 100}))
    if done:
        assert made.client.send(POST).status == status
        return
    with pytest.raises(OutcomeUnknown) as caught:
        made.client.send(POST)
    assert (caught.value.status, made.attempts) == (300, 1)


def test_exit_codes_of_the_ends(bench: type[Bench]) -> None:
    """R11, R71: unknown is 7, not carried out is 8, a GET that fails is 8."""
    ends = {}
    for name, call, result in (
        ("post 5xx", POST, refusal(500)),
        ("get 5xx", GET, refusal(500)),
        ("post 429", POST, refusal(429)),
        ("post unreached", POST, REFUSED),
        ("get reset", GET, RESET),
        ("post reset", POST, RESET),
    ):
        with pytest.raises(SvcError) as caught:
            bench(result).client.send(call)
        ends[name] = int(caught.value.exit_code)
    assert ends == {
        "post 5xx": 7,
        "get 5xx": 8,
        "post 429": 8,
        "post unreached": 8,
        "get reset": 8,
        "post reset": 7,
    }


def test_a_wait_that_was_asked_for_is_kept(bench: type[Bench]) -> None:
    """Retry-After 2 waits at least 2 s, then it is done."""
    made = bench(refusal(429, retry_after="2"), OK)
    made.client.send(POST)
    assert made.clock.slept == [2.0]


def test_a_wait_beyond_the_deadline_ends_at_once(bench: type[Bench]) -> None:
    """R8: stops, exit 8, and says how long the service wants."""
    made = bench(refusal(429, retry_after="3600"))
    with pytest.raises(RateLimited) as caught:
        made.client.send(POST)
    assert made.attempts == 1
    assert made.clock.slept == []
    assert caught.value.retry_after == 3600
    assert caught.value.retryable


@pytest.mark.parametrize(
    "value", ["-5", "abc", "1e12", "86401", "1000000000000", "Thu, 01 Jan 1970 00:00:00 GMT"]
)
def test_a_senseless_wait_is_ignored(value: str, bench: type[Bench]) -> None:
    """R8: our own waits then."""
    made = bench(refusal(429, retry_after=value), OK)
    made.client.send(POST)
    assert made.clock.slept == [0.375]


def test_the_deadline_covers_waits_and_attempts(bench: type[Bench]) -> None:
    """R9: one limit for all; an answer that takes it all leaves the outcome open."""
    made = bench(TIMEOUT)
    made.wire.seconds = 60.0
    with pytest.raises(OutcomeUnknown) as caught:
        made.client.send(POST)
    assert made.attempts == 1
    assert "the time is up" in caught.value.message


def test_the_deadline_in_a_wait_after_429_is_not_carried_out(bench: type[Bench]) -> None:
    """R11: a limiter's answer is definite even if the time ends before the next attempt."""
    made = bench(refusal(429), deadline_seconds=0.3)
    with pytest.raises(RateLimited):
        made.client.send(POST)
    assert made.attempts == 1


def test_connecting_gets_a_share_of_the_deadline(bench: type[Bench]) -> None:
    """Four attempts fit into the time, whatever it is."""
    made = bench(REFUSED, deadline_seconds=8.0)
    with pytest.raises(NetworkError):
        made.client.send(POST)
    assert made.wire.limits[0] == 2.0
    assert all(limit <= 8.0 for limit in made.wire.limits)


def asleep(made: Bench, seconds: float) -> None:
    """In each wait the machine sleeps so long: the wall clock moves, the monotonic one does not."""
    plain_sleep = made.clock.sleep

    def suspend(wait: float) -> None:
        plain_sleep(wait)
        made.clock._now += seconds

    setattr(made.clock, "sleep", suspend)  # noqa: B010  one clock, this once


@pytest.mark.parametrize("seconds", [86_400, 23 * 3600, -3600])
def test_a_suspended_machine_does_not_repeat_an_old_post(
    bench: type[Bench], seconds: float
) -> None:
    """R4: a key that grew a day old in a wait, or whose age nobody knows, is not sent."""
    made = bench(RESET, OK)
    asleep(made, seconds)
    with pytest.raises(OutcomeUnknown) as caught:
        made.client.send(POST)
    assert made.attempts == 1
    assert not caught.value.retryable
    assert "Do not send it again" in (caught.value.hint or "")
    assert ("the clock was put back" in caught.value.message) is (seconds < 0)
    assert ("before the clock is right" in (caught.value.hint or "")) is (seconds < 0)


def test_a_suspended_machine_may_go_on_after_ten_minutes(bench: type[Bench]) -> None:
    """Within 23 h the key is good."""
    made = bench(RESET, OK)
    asleep(made, 600)
    assert made.client.send(POST).attempts == 2


def test_a_suspended_machine_still_reads(bench: type[Bench]) -> None:
    """A GET has no key, so it is repeated after any sleep."""
    made = bench(RESET, OK)
    asleep(made, 86_400)
    assert made.client.send(GET).attempts == 2


@pytest.mark.parametrize(
    ("first_sent", "attempts"), [(-22.9 * 3600, 1), (-23 * 3600, 0), (-3600.0, 2), (5.0, 2)]
)
def test_the_age_of_a_key_is_counted_from_its_first_sending(
    bench: type[Bench], first_sent: float, attempts: int
) -> None:
    """R4: a resume that sleeps past the 23 hours, or comes after them, does not pay twice."""
    made = bench(RESET, OK)
    asleep(made, 7200)
    prepared = made.client.prepare(POST, idempotency_key="old")
    first = made.clock.now() + first_sent
    if attempts == 2:
        made.client.deliver(POST, prepared, sent_before=True, first_sent_at=first)
    else:
        with pytest.raises(OutcomeUnknown) as caught:
            made.client.deliver(POST, prepared, sent_before=True, first_sent_at=first)
        assert not caught.value.retryable
        assert "too old" in caught.value.message
    assert made.attempts == attempts


def test_a_resumed_request_stays_open_until_a_definite_answer(bench: type[Bench]) -> None:
    """R3, R10: what an earlier process may have sent is not settled by a 429 or a dead line."""
    for result in (refusal(429), REFUSED, refusal(401)):
        made = bench(result)
        prepared = made.client.prepare(POST, idempotency_key="old")
        with pytest.raises(OutcomeUnknown):
            made.client.deliver(POST, prepared, sent_before=True)
    made = bench(OK)
    prepared = made.client.prepare(POST, idempotency_key="old")
    assert made.client.deliver(POST, prepared, sent_before=True).idempotency_key == "old"


@pytest.mark.parametrize(
    "answer",
    [
        reply(404, b"default backend - 404"),
        reply(404, b"<html>Not Found</html>"),
        reply(404, {"type": 5, "code": None}),
        refusal(405, "x"),
        # What gateways and the service's own router say knows nothing of the key.
        reply(404, {"type": "about:blank", "title": "Not Found", "status": 404}),
        reply(404, {"type": "invalid_request_error", "code": "route_not_found"}),
        reply(404, {"type": "invalid_request_error", "code": "endpoint_unknown"}),
        reply(400, {"type": "invalid_request_error", "code": "version_invalid"}),
        reply(400, {"type": "t", "code": "amount_too_large"}),
        reply(409, {"type": "idempotency_error", "code": "idempotency_key_reused"}),
    ],
)
def test_a_gateways_refusal_does_not_settle_an_earlier_attempt(
    bench: type[Bench], answer: RawReply
) -> None:
    """R94: only an error of the service itself knows what became of a lost answer."""
    with pytest.raises(OutcomeUnknown) as caught:
        bench(RESET, answer).client.send(POST)
    assert (caught.value.outcome, caught.value.retryable) == ("unknown", True)
    with pytest.raises(ApiError) as alone:
        bench(answer).client.send(POST)
    assert alone.value.outcome == "refused"


@pytest.mark.parametrize(
    "body",
    [
        {"type": "invalid_request_error", "code": "resource_missing"},
        {"error": {"type": "invalid_request_error", "code": "payment_disputed"}},
    ],
)
def test_an_error_of_the_service_settles_an_earlier_attempt(bench: type[Bench], body: Any) -> None:
    """R12: a definite 4xx after a lost answer closes the key."""
    with pytest.raises(ApiError) as caught:
        bench(RESET, reply(404, body)).client.send(POST)
    assert caught.value.outcome == "refused"


def test_a_contradicting_answer_is_not_repeated(bench: type[Bench]) -> None:
    """R15: shown, exit 1, one attempt."""
    made = bench(reply(200, {"id": "rf_1", "object": "refund", "livemode": True}))
    with pytest.raises(ReplyContradiction) as caught:
        made.client.send(POST)
    assert made.attempts == 1
    assert (int(caught.value.exit_code), caught.value.outcome) == (1, "unknown")
    assert caught.value.idempotency_key == "key-1"


def test_a_replay_is_told(bench: type[Bench]) -> None:
    """A stored answer is marked as such."""
    made = bench(RawReply(200, (*OK.headers, ("idempotent-replayed", "true")), OK.body))
    assert made.client.send(POST).replayed


def test_a_dry_quota_ends_the_attempts(bench: type[Bench]) -> None:
    """R17: when others have used it up, a call gets one attempt."""
    quota = SharedQuota(rows=1)
    assert quota.take(timed_out=True)
    made = bench(refusal(500), quota=quota)
    with pytest.raises(OutcomeUnknown) as caught:
        made.client.send(POST)
    assert made.attempts == 2
    assert "another attempt" in caught.value.message


def test_a_service_at_work_on_the_same_request_is_asked_again_on_a_dry_quota(
    bench: type[Bench],
) -> None:
    """R6, R17: it lives, so that what spares a dead one does not count."""
    quota = SharedQuota(rows=1)
    assert quota.take(timed_out=True)
    assert quota.take(timed_out=False)
    made = bench(BUSY, BUSY, OK, quota=quota)
    assert made.client.send(POST).attempts == 3
    assert not quota.exhausted


def test_success_pays_the_quota_back(bench: type[Bench]) -> None:
    """R17: one unit a success, five a further attempt."""
    quota = SharedQuota(rows=1)
    assert quota.take(timed_out=True)
    assert quota.take(timed_out=False)
    made = bench(OK, quota=quota)
    for _ in range(4):
        made.client.send(POST)
    assert not quota.take(timed_out=False)
    made.client.send(POST)
    assert quota.take(timed_out=False)


def test_a_given_key_is_used_and_a_bad_one_sends_nothing(bench: type[Bench]) -> None:
    """R1, R13: the user's key goes out on every attempt."""
    made = bench(RESET, OK)
    assert made.client.send(POST, idempotency_key="mine").idempotency_key == "mine"
    assert all(("Idempotency-Key", "mine") in request.headers for request in made.wire.requests)
    with pytest.raises(UsageError):
        made.client.send(POST, idempotency_key="a b")
    assert made.attempts == 2


def test_the_key_travels_in_one_header_only(bench: type[Bench]) -> None:
    """R28: never in the path, the body or the User-Agent."""
    made = bench(OK)
    made.client.send(POST)
    request = made.wire.requests[0]
    holders = [name for name, value in request.headers if "sk_test_canary" in value]
    assert holders == ["Authorization"]
    assert "canary" not in request.target
    assert b"canary" not in request.body


def test_messages_name_what_happened_and_what_to_do(bench: type[Bench]) -> None:
    """What failed, why, and the next step."""
    with pytest.raises(OutcomeUnknown) as unknown:
        bench(RESET).client.send(POST)
    assert unknown.value.message == (
        "POST /v1/refunds may have been carried out, but https://api.example.com gave no clear "
        "answer: the connection was closed before an answer came (connection reset by peer) "
        "(4 attempts)."
    )
    assert unknown.value.hint == (
        "Within 23 hours it is safe to send it again with --idempotency-key key-1"
    )
    with pytest.raises(NetworkError) as unreached:
        bench(REFUSED, url="http://127.0.0.1:1").client.send(POST)
    assert unreached.value.message == (
        "POST /v1/refunds was not carried out, http://127.0.0.1:1 was not reached: "
        "no connection could be made (connection refused) (4 attempts)."
    )
    assert "svc sandbox start" in (unreached.value.hint or "")
    with pytest.raises(OutcomeUnknown) as moved:
        bench(reply(301, b"", location="https://e\x1b[2Jvil/")).client.send(POST)
    assert "pointed to https://e[2Jvil/" in moved.value.message
    with pytest.raises(OutcomeUnknown) as mixed:
        bench(RESET, REFUSED).client.send(POST)
    assert "an earlier attempt was sent" in mixed.value.message
    with pytest.raises(ServerError) as failed:
        bench(refusal(500, "internal_error", request_id="req_7")).client.send(GET)
    assert failed.value.message == (
        "GET /v1/refunds/rf_1 failed at https://api.example.com: it answered 500: No (4 attempts)."
    )
    assert (failed.value.code, failed.value.status) == ("internal_error", 500)
    assert failed.value.request_id == "req_7"


def test_a_client_closes_its_wire(bench: type[Bench]) -> None:
    """Leaving the block closes the connection."""
    made = bench(OK)
    with made.client as client:
        client.send(POST)
        assert not made.wire.closed
    assert made.wire.closed


def test_a_shorter_limit_for_one_call(bench: type[Bench]) -> None:
    """A waiting command gives its polls what is left of its own time."""
    made = bench(REFUSED)
    with pytest.raises(NetworkError):
        made.client.send(POST, within=0.2)
    assert made.attempts == 1


def test_each_attempt_is_told_with_what_the_one_before_was_answered() -> None:
    """What a person sees who waits: the number of the attempt and the last status."""
    told: list[object] = []

    def show(method: str, path: str) -> AbstractContextManager[Callable[..., None]]:
        told.append((method, path))
        return nullcontext(lambda number, status: told.append((number, status)))

    Bench(refusal(503), REFUSED, OK, show_progress=show).client.send(GET)
    assert told == [("GET", "/v1/refunds/rf_1"), (1, None), (2, 503), (3, None)]
