"""What an answer proves of its request: the outcome, an earlier outcome, another request."""

from itertools import product
from typing import Any

import pytest

from support.calls import disputes, orders, payouts, refunds
from svc.client import find
from svc.client.call import Call
from svc.client.exchange import Failure, RawReply, Trouble
from svc.client.operations import failure_of, find_undocumented_status
from svc.errors import (
    ApiError,
    Conflict,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    ReplyContradiction,
    SvcError,
)
from svc.service.facts import SANDBOX_TIME_HEADER
from unit.client.bench import Bench, reply

POST = refunds.create({"payment": "pay_1", "amount": 100})
UNDOCUMENTED = find.post("/v1/gift_cards", {"amount": 5})
REFUND = {"id": "rf_1", "object": "refund", "amount": 100}
HTML = b"<html>408 Request Time-out</html>"
LATE = (408, 409, 425, 499)
DATE = "Tue, 14 Nov 2023 22:13:20 GMT"  # where the clock of the bench stands
SERVED = 1_700_000_000.0
RESET = Failure(Trouble.CLOSED, sent=True)
UNREACHED = Failure(Trouble.NO_CONNECTION, sent=False)


def own(code: str, type_: str = "invalid_request_error") -> dict[str, str]:
    return {"type": type_, "code": code, "message": "No."}


def failed(call: Call, *results: RawReply | Failure) -> SvcError:
    """The error that a call ends with."""
    with pytest.raises(SvcError) as caught:
        Bench(*results).client.send(call)
    return caught.value


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *product(LATE, (HTML, b"", own("x"), own("order_unexpected_state", "t"))),
        # A gateway that cannot read the service's answer.
        *product((400, 402, 410, 422), (HTML, b"", {"message": "No."}, {"code": "UPSTREAM"})),
        (400, {"type": "about:blank", "title": "Bad Request", "code": "bad_request"}),
        (400, {"type": "https://gateway.example/problems/upstream", "status": 400}),
    ],
)
def test_a_late_4xx_without_proof_leaves_the_outcome_unknown(status: int, body: Any) -> None:
    """R113: a gateway gives up after the effect; exit 7 after one attempt, and the same key."""
    made = Bench(reply(status, body))
    with pytest.raises(OutcomeUnknown) as caught:
        made.client.send(POST)
    error = caught.value
    assert (error.outcome, int(error.exit_code), made.attempts) == ("unknown", 7, 1)
    assert (error.idempotency_key, error.retryable, error.proved) == ("key-1", True, False)
    assert "may have been carried out" in error.message
    read = failed(refunds.retrieve("rf_1"), reply(status, body))
    assert isinstance(read, ApiError)
    assert read.outcome == "refused"


@pytest.mark.parametrize("status", LATE)
def test_the_services_own_word_settles_at_any_status(status: int) -> None:
    """R113: a documented type and code that belong together are proof."""
    error = failed(POST, reply(status, own("payment_disputed")))
    assert (error.outcome, error.proved) == ("refused", True)


@pytest.mark.parametrize(
    ("status", "body", "exit_code", "proved"),
    [
        (400, own("amount_too_large"), 3, True),
        (404, own("resource_missing"), 5, True),
        (400, {"error": own("payment_disputed")}, 3, True),
        (400, own("novel"), 3, False),
        (400, own("amount_too_large", "t"), 3, False),
        (401, HTML, 4, False),
        (401, own("api_key_invalid", "authentication_error"), 4, False),
        (403, own("permission_denied", "permission_error"), 4, False),
        (404, HTML, 5, False),
        (404, own("endpoint_unknown"), 5, False),
        (405, HTML, 3, False),
        (413, HTML, 3, False),
        (400, own("idempotency_key_reused", "idempotency_error"), 6, False),
        (409, own("idempotency_key_reused", "idempotency_error"), 6, False),
        (422, own("idempotency_key_mismatch"), 6, False),
    ],
)
def test_a_refusal_says_whether_it_is_proved(
    status: int, body: Any, exit_code: int, proved: bool
) -> None:
    """R113: exits as ever, and an attribute for the journal: without proof the key is kept."""
    error = failed(POST, reply(status, body))
    assert (error.outcome, int(error.exit_code), error.proved) == ("refused", exit_code, proved)


def test_what_never_came_from_the_service_is_not_proved() -> None:
    """R113: 429, no connection and a lost answer prove nothing; nor does a refusal after one."""
    assert not failed(POST, reply(429, own("rate_limit", "rate_limit_error"))).proved
    assert not failed(POST, UNREACHED).proved
    assert not failed(POST, RESET).proved
    late = failed(POST, RESET, reply(404, HTML))
    assert (late.outcome, late.proved) == ("unknown", False)
    assert failed(POST, RESET, reply(400, own("amount_too_large"))).proved


def test_a_read_is_never_said_to_have_been_carried_out() -> None:
    """R10: a 404 after a failed attempt of a GET is a 404."""
    assert isinstance(failed(refunds.retrieve("rf_1"), reply(500, b""), reply(404, HTML)), NotFound)


@pytest.mark.parametrize(
    ("results", "kind", "served"),
    [
        ([reply(429, b"", date=DATE)], RateLimited, SERVED),
        ([reply(400, own("x"), date=DATE)], ApiError, SERVED),
        ([reply(409, own("idempotency_key_reused"), date=DATE)], Conflict, SERVED),
        ([reply(500, b"", date=DATE)], OutcomeUnknown, SERVED),
        ([reply(500, b"", date=DATE), RESET], OutcomeUnknown, SERVED),
        ([reply(200, {**REFUND, "amount": 5}, date=DATE)], ReplyContradiction, SERVED),
        ([reply(400, own("x"), date="now")], ApiError, None),
        ([reply(400, own("x"))], ApiError, None),
        ([RESET], OutcomeUnknown, None),
        ([UNREACHED], SvcError, None),
    ],
)
def test_an_error_has_the_services_own_time(
    results: list[RawReply | Failure], kind: type[SvcError], served: float | None
) -> None:
    """R4: this machine's clock may be wrong; of several answers the first is kept."""
    error = failed(POST, *results)
    assert isinstance(error, kind)
    assert error.server_time == served


def test_an_answer_has_the_services_own_time() -> None:
    """R4: as an error has; a sandbox's clock can be turned and is told apart."""
    assert Bench(reply(200, REFUND, date=DATE)).client.send(POST).server_time == SERVED
    turned = {SANDBOX_TIME_HEADER.lower().replace("-", "_"): "2023-11-14T22:13:21Z"}
    assert (
        Bench(reply(200, REFUND, date=DATE, **turned)).client.send(POST).server_time == SERVED + 1
    )
    assert Bench(reply(200, REFUND)).client.send(POST).server_time is None


REPLAY = {"idempotent_replayed": "true", "date": DATE}
BUSY = reply(409, own("idempotency_key_in_use", "idempotency_error"))


@pytest.mark.parametrize(
    ("results", "earlier"),
    [
        ([reply(200, REFUND, **REPLAY)], True),
        ([reply(200, REFUND, date=DATE)], False),
        # Nothing of this sending was carried out before the stored answer came.
        ([UNREACHED, reply(200, REFUND, **REPLAY)], True),
        ([reply(429, b""), reply(200, REFUND, **REPLAY)], True),
        # An earlier attempt of this sending may be what was stored.
        ([RESET, reply(200, REFUND, **REPLAY)], False),
        ([reply(500, b""), reply(200, REFUND, **REPLAY)], False),
        ([BUSY, reply(200, REFUND, **REPLAY)], False),
        # Without the header, the object's own age.
        ([reply(200, {**REFUND, "created": "2023-11-14T22:13:15Z"}, date=DATE)], False),
        ([reply(200, {**REFUND, "created": "2023-11-14T22:13:14Z"}, date=DATE)], True),
        ([reply(200, {**REFUND, "created": "2023-11-14T22:13:14"}, date=DATE)], True),
        ([reply(200, {**REFUND, "created": "2023-11-14T22:13:14Z"})], False),
        ([reply(200, {**REFUND, "created": "long ago"}, date=DATE)], False),
        ([reply(200, {**REFUND, "created": 5}, date=DATE)], False),
        # A stored answer to a later attempt is old all the same where its object is.
        ([RESET, reply(200, {**REFUND, "created": "2023-11-14T21:00:00Z"}, **REPLAY)], True),
    ],
)
def test_what_was_done_before_is_told_apart(
    results: list[RawReply | Failure], earlier: bool
) -> None:
    """R117: by the header, else by the age of what was made, on the service's own clock."""
    assert Bench(*results).client.send(POST).replayed_earlier is earlier


def test_the_age_of_an_object_is_counted_from_the_first_attempt() -> None:
    """R117: an answer that took 30 s to come, in two attempts, is of this sending."""
    made = Bench(RESET, reply(200, {**REFUND, "created": "2023-11-14T22:12:52Z"}, date=DATE))
    made.wire.seconds = 14.0
    assert not made.client.send(POST).replayed_earlier
    made.wire.seconds = 4.0
    assert made.client.send(POST).replayed_earlier


def test_a_changed_object_is_old_and_was_changed_now() -> None:
    """R117: only what a request makes tells by its age when it was done."""
    old = {"id": "ord_1", "object": "order", "created": "2022-01-01T00:00:00Z"}
    call = orders.update("ord_1", {"amount": 5})
    answer = Bench(reply(200, old, date=DATE)).client.send(call)
    assert not answer.replayed_earlier
    assert answer.created_at == 1_640_995_200.0


ORDER = {"id": "ord_1", "object": "order"}
PAYMENT = {"id": "pay_1", "object": "payment"}
DISPUTE = {"id": "dp_1", "object": "dispute"}
SUBMIT = disputes.update("dp_1", {"submit": True})
CAPTURE = orders.capture("ord_1")
CANCEL = orders.cancel("ord_1")
PAY_OUT = payouts.create({"amount": 1})


@pytest.mark.parametrize(
    ("call", "data", "why"),
    [
        (POST, {**REFUND, "status": "failed"}, "the status of rf_1 is failed"),
        (
            POST,
            {**REFUND, "status": "failed", "failure_reason": "declined"},
            "the status of rf_1 is failed (declined)",
        ),
        (PAY_OUT, {"id": "po_1", "status": "failed"}, "the status of po_1 is failed"),
        (CAPTURE, {**PAYMENT, "status": "failed"}, "the status of pay_1 is failed"),
        (CAPTURE, {**PAYMENT, "amount_captured": 0}, "the amount_captured of pay_1 is 0"),
        (CAPTURE, {**ORDER, "amount_captured": 0}, "the amount_captured of ord_1 is 0"),
        (CANCEL, {**ORDER, "status": "paid"}, "the status of ord_1 is paid"),
        (CANCEL, {**ORDER, "status": "authorized"}, "the status of ord_1 is authorized"),
        (SUBMIT, {**DISPUTE, "status": "needs_response"}, "the status of dp_1 is needs_response"),
        (
            SUBMIT,
            {**DISPUTE, "status": "under_review", "evidence_status": "draft"},
            "the evidence_status of dp_1 is draft",
        ),
        (
            disputes.update("dp_1", {"submit": "true"}, encoding="form"),
            {**DISPUTE, "status": "needs_response"},
            "the status of dp_1 is needs_response",
        ),
        (
            find.post("/v1/refunds", {"payment": "pay_1"}),
            {**REFUND, "status": "failed"},
            "the status of rf_1 is failed",
        ),
        (POST, {"status": "failed\x1b[2J"}, None),
        (POST, {**REFUND, "status": "pending"}, None),
        (POST, {**REFUND, "status": "novel"}, None),
        (POST, REFUND, None),
        (POST, [], None),
        (POST, None, None),
        (CAPTURE, {**PAYMENT, "amount_captured": 10, "status": "captured"}, None),
        (CANCEL, {**ORDER, "status": "cancelled"}, None),
        (CANCEL, {**ORDER, "status": "canceled"}, None),
        (CANCEL, ORDER, None),
        (SUBMIT, {**DISPUTE, "status": "under_review", "evidence_status": "submitted"}, None),
        (disputes.update("dp_1", {}), {**DISPUTE, "status": "needs_response"}, None),
        (disputes.update("dp_1", {"submit": False}), {**DISPUTE, "evidence_status": "draft"}, None),
        (orders.create({}), {**ORDER, "status": "requires_payment"}, None),
        (refunds.retrieve("rf_1"), {**REFUND, "status": "failed"}, None),
        (UNDOCUMENTED, {"status": "failed"}, None),
    ],
)
def test_a_status_that_means_failure_is_a_failure(call: Call, data: Any, why: str | None) -> None:
    """R117: the statuses that the description calls failures, of the operation that was asked."""
    assert failure_of(call, data) == why


@pytest.mark.parametrize("status", ["captured", "failed"])
def test_nothing_captured_is_a_failure_and_no_contradiction(status: str) -> None:
    """R117 before R15: of 500 nothing was captured; any other amount contradicts."""
    call = orders.capture("ord_1", {"amount": 500})
    answer = {**PAYMENT, "order": "ord_1", "status": status, "amount_captured": 0}
    assert failure_of(call, Bench(reply(200, answer)).client.send(call).data)
    other = failed(call, reply(200, {**answer, "amount_captured": 400}))
    assert isinstance(other, ReplyContradiction)


@pytest.mark.parametrize(
    ("call", "data", "status"),
    [
        (POST, {**REFUND, "status": "canceled"}, "canceled"),
        (CANCEL, {**ORDER, "status": "can\x1bceled"}, "canceled"),
        (POST, {**REFUND, "status": "pending"}, None),
        (POST, {**REFUND, "status": 5}, None),
        (POST, {"object": "novel", "status": "x"}, None),
        (POST, None, None),
        (refunds.retrieve("rf_1"), {**REFUND, "status": "canceled"}, None),
    ],
)
def test_a_status_that_is_not_documented_is_named(
    call: Call, data: Any, status: str | None
) -> None:
    """R117: it is no failure, and a person should know."""
    assert find_undocumented_status(call, data) == status


DESTINATION = {
    "account_holder_name": "Müller GmbH",
    "bank_name": "Deutsche Bank",
    "bic": "DEUTDEFF",
    "bank_code": "37050198",
    "country": "DE",
    "iban": "DE89370400440532013000",
}


def paid_to(said: dict[str, object]) -> RawReply:
    return reply(200, {"id": "po_1", "object": "payout", "amount": 500, "destination": said})


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("account_holder_name", "Mueller GmbH"),
        ("account_holder_name", "Muller GmbH"),
        ("account_holder_name", "Mül"),
        ("account_holder_name", "Somebody Else"),
        ("bank_name", "Deutsche Bank AG"),
        ("bic", "DEUTDEFFXXX"),
        ("bank_code", "370501980"),
        ("country", "AT"),
    ],
)
def test_another_spelling_of_a_recipient_is_a_warning(name: str, theirs: str) -> None:
    """R119: done, with both spellings; the amount and the end of the account agree."""
    call = payouts.create({"amount": 500, "destination": DESTINATION})
    answer = Bench(paid_to({"last4": "3000", name: theirs})).client.send(call)
    said = f"{name} is {theirs!r} in the answer and {DESTINATION[name]!r} in the request"
    assert answer.warnings == (said,)


@pytest.mark.parametrize(
    "theirs",
    ["Mu\u0308ller GmbH", "MÜLLER  GMBH", "Müller\u00a0GmbH", None],
)
def test_the_same_letters_are_no_difference(theirs: str | None) -> None:
    """R119: Unicode's form, case and blanks are folded, and what is not said says nothing."""
    call = payouts.create({"amount": 500, "destination": DESTINATION})
    answer = Bench(paid_to({"account_holder_name": theirs, "iban": "DE** **** 3000"})).client
    assert answer.send(call).warnings == ()


@pytest.mark.parametrize("name", ["iban", "last4"])
def test_the_end_of_an_account_number_proves_another_request(name: str) -> None:
    """R119: an account that ends otherwise is another one; nothing is told as a mere warning."""
    call = payouts.create({"amount": 500, "destination": DESTINATION})
    error = failed(call, paid_to({name: "DE89370400440532013001"[-4:]}))
    assert (error.code, error.outcome) == ("reply_not_ours", "unknown")


@pytest.mark.parametrize(
    "body",
    [
        {"type": "invalid_request_error", "code": "endpoint_unknown", "message": "No such path."},
        {"error": {"type": "api_error", "message": "No."}},
        {"error": "No such path."},
        {"code": "x", "message": "No."},
    ],
)
def test_an_error_in_a_200_to_an_undocumented_path_is_not_done(body: dict[str, Any]) -> None:
    """R14: `svc post` of a path that nobody documents may have had its effect, or not: exit 7."""
    error = failed(UNDOCUMENTED, reply(200, body))
    assert (error.outcome, error.status) == ("unknown", 200)
    assert "its body is an error" in error.message


@pytest.mark.parametrize(
    "body",
    [
        {"id": "gc_1", "object": "gift_card", "error": {"message": "last attempt"}},
        {"object": "gift_card", "message": "Happy birthday", "type": "card"},
        {"message": "Thank you."},
        {"error": None, "count": 3},
        [{"error": "x"}],
        "error",
        None,
    ],
)
def test_any_other_answer_to_an_undocumented_path_is_done(body: Any) -> None:
    """R14: what it is, only the caller knows; a body that may be an error is shown by a read."""
    assert Bench(reply(200, body)).client.send(UNDOCUMENTED).data == body
    read = Bench(reply(200, {"error": "x"})).client.send(find.get("/v1/gift_cards"))
    assert read.data == {"error": "x"}


@pytest.mark.parametrize("status", [200, 202, 204])
def test_an_answer_without_content_to_an_undocumented_path_is_done(status: int) -> None:
    """R6: after one attempt; where an object is expected, and where the body was cut, it is none."""
    made = Bench(reply(status, b""))
    answer = made.client.send(UNDOCUMENTED)
    assert (answer.status, answer.data, answer.text, made.attempts) == (status, None, "", 1)
    for call, raw in (
        (POST, reply(status, b"")),
        (UNDOCUMENTED, reply(status, b"")._replace(complete=False)),
    ):
        assert failed(call, raw).outcome == "unknown"


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (POST, {**REFUND, "id": "pay_1"}),
        (POST, {**REFUND, "id": "po_1"}),
        (CAPTURE, {**PAYMENT, "id": "rf_1"}),
        (CANCEL, {**ORDER, "id": "lcq_1"}),
    ],
)
def test_an_id_of_another_kind_is_another_object(call: Call, body: dict[str, Any]) -> None:
    """R93: whatever its marker says; an id with a prefix of no kind is taken."""
    error = failed(call, reply(200, body))
    assert (error.code, error.outcome) == ("reply_not_ours", "unknown")
    assert Bench(reply(200, {**REFUND, "id": "re_1"})).client.send(POST).data["id"] == "re_1"
