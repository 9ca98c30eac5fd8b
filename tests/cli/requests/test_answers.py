"""What a single command says of the answer to its POST, and the exit code that it ends with."""

from pathlib import Path
from typing import Any

import pytest

from support.on_terminal import AtTerminal
from support.orders import CREATE_ORDER as ORDER
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer

HUMAN = {"SVC_OUTPUT": "human"}
LIVE = {"SVC_API_KEY": "sk_live_sandbox", "SVC_MODE": "live"}
REFUND = ("refunds", "create", "--payment", "pay_1")
PAYOUT = (
    *("payouts", "create", "--amount", "500", "--currency", "EUR", "--country", "DE"),
    *("--account-holder-name", "Müller", "--iban", "DE89370400440532013000"),
)
FAILED_REFUND = {
    "id": "rf_1",
    "object": "refund",
    "payment": "pay_1",
    "status": "failed",
    "failure_reason": "expired_or_canceled_card",
}
DISPUTE = {"id": "dp_1", "object": "dispute", "status": "needs_response"}


@pytest.mark.parametrize(
    ("argv", "answer", "why"),
    [
        (REFUND, FAILED_REFUND, "the status of rf_1 is failed (expired_or_canceled_card)"),
        ((*REFUND, "--wait"), FAILED_REFUND, "the status of rf_1 is failed"),
        (("post", "/v1/refunds", "-d", "payment=pay_1"), FAILED_REFUND, "is failed"),
        (
            PAYOUT,
            {"id": "po_1", "object": "payout", "status": "failed", "failure_reason": "no_account"},
            "the status of po_1 is failed (no_account)",
        ),
        (
            ("orders", "capture", "ord_1", "--amount", "5"),
            {"id": "pay_1", "object": "payment", "order": "ord_1", "amount_captured": 0},
            "the amount_captured of pay_1 is 0",
        ),
        (
            ("orders", "cancel", "ord_1"),
            {"id": "ord_1", "object": "order", "status": "paid"},
            "the status of ord_1 is paid",
        ),
        (
            ("disputes", "update", "dp_1", "--tracking-number", "1Z", "--submit"),
            DISPUTE,
            "the status of dp_1 is needs_response",
        ),
    ],
    ids=["refund", "waiting", "post", "payout", "capture", "cancel", "submit"],
)
def test_an_object_that_failed_is_printed_and_ends_with_11(
    svc: Svc, service: ScriptedServer, argv: tuple[str, ...], answer: dict[str, Any], why: str
) -> None:
    """R117: `svc payouts create && mark_paid` must not mark it; the object is there to be read."""
    service.play(service.reply(200, answer))
    done = svc(*argv)
    assert (done.code, done.json) == (11, answer)
    error = done.error
    assert (error["code"], error["outcome"]) == ("object_failed", "failed")
    assert why in error["message"]
    assert f"Next: svc get {answer['id']}" in error["message"]
    assert error["idempotency_key"]
    assert len(service.requests) == 1


@pytest.mark.parametrize(("argv", "identifier"), [(REFUND, "rf_1"), (PAYOUT, "po_1")])
def test_what_fails_while_it_is_waited_for_ends_with_11(
    svc: Svc, service: ScriptedServer, argv: tuple[str, ...], identifier: str
) -> None:
    """R117: `svc payouts create --wait && mark_paid` must not mark it either."""
    begun = {"id": identifier, "object": argv[0].removesuffix("s"), "status": "sent"}
    ended = {**begun, "status": "failed", "failure_reason": "account_closed"}
    service.play(service.reply(200, begun), service.reply(200, ended))
    done = svc(*argv, "--wait")
    assert (done.code, done.json) == (11, ended)
    error = done.error
    assert (error["code"], error["outcome"]) == ("object_failed", "failed")
    assert f"the status of {identifier} is failed (account_closed)" in error["message"]
    assert error["idempotency_key"]
    listed = svc("requests", "list").json
    assert [(one["status"], one["object_id"]) for one in listed] == [("failed", identifier)]
    service.play(service.reply(200, {**begun, "id": f"{identifier}2"}))
    again = svc(*argv, env={"SVC_OUTPUT": "human"})  # nothing of it was done a moment ago
    assert (again.code, "a second one" in again.err) == (0, False)


def test_a_failed_refund_is_not_done(svc: Svc, service: ScriptedServer, tmp_path: Path) -> None:
    """R115, R117: the journal has it as failed; the same once more is neither told nor skipped."""
    service.play(service.reply(200, FAILED_REFUND))
    assert svc(*REFUND, "--yes", env=LIVE).code == 11
    listed = svc("requests", "list").json
    assert [(one["status"], one["object_id"]) for one in listed] == [("failed", "rf_1")]
    answered = {**FAILED_REFUND, "id": "rf_2", "status": "succeeded", "livemode": True}
    service.play(service.reply(200, answered))
    again = svc(*REFUND, "--yes", env=LIVE)
    assert (again.code, again.json["id"]) == (0, "rf_2"), again.err
    third = svc(*REFUND, "--yes", env=LIVE)
    assert (third.code, third.error["code"]) == (6, "request_settled")

    other = {**FAILED_REFUND, "id": "rf_3", "payment": "pay_2"}
    service.play(service.reply(200, other))
    assert svc("refunds", "create", "--payment", "pay_2").code == 11
    rows = tmp_path / "r.csv"
    rows.write_text("payment\npay_2\n")
    service.play(service.reply(200, {**other, "id": "rf_4", "status": "succeeded"}))
    batch = svc("batch", "refunds.create", str(rows), "--skip-done")
    assert (batch.code, batch.json["done"], batch.json["skipped"]) == (0, 1, 0), batch.err


def test_a_draft_is_no_failed_submission(svc: Svc, service: ScriptedServer) -> None:
    """R117: without --submit an open dispute is what was asked for."""
    service.play(service.reply(200, DISPUTE))
    assert svc("disputes", "update", "dp_1", "--tracking-number", "1Z").code == 0


def test_a_status_that_is_not_documented_is_told_to_a_person(
    svc: Svc, service: ScriptedServer
) -> None:
    """R117: done, with a warning; a program reads the object, and stderr stays empty (R73)."""
    service.play(service.reply(200, {**FAILED_REFUND, "status": "returned"}))
    told = svc(*REFUND, env=HUMAN)
    assert told.code == 0
    assert "Warning: The status of rf_1 is 'returned', which is not documented." in told.err
    service.play(service.reply(200, {**FAILED_REFUND, "id": "rf_2", "status": "returned"}))
    quiet = svc(*REFUND, "--new-request")
    assert (quiet.code, quiet.err) == (0, "")


def test_a_recipient_that_is_spelled_otherwise_is_told_and_done(
    svc: Svc, service: ScriptedServer
) -> None:
    """R119: both spellings, to a program too; the end of the account agrees."""
    destination = {"account_holder_name": "Mueller", "country": "DE", "last4": "3000"}
    answer = {"id": "po_1", "object": "payout", "status": "created", "destination": destination}
    service.play(service.reply(200, answer))
    done = svc(*PAYOUT)
    assert (done.code, done.json) == (0, answer)
    assert done.err == (
        "Warning: account_holder_name is 'Mueller' in the answer and 'Müller' in the request.\n"
    )


@pytest.mark.parametrize("status", [200, 204])
def test_a_post_without_an_answer_to_show_is_done(
    svc: Svc, service: ScriptedServer, status: int
) -> None:
    """R72: to a path that is not documented, in one attempt; a JSON reader gets one document."""
    service.play(service.reply(status, b""))
    done = svc("post", "/v1/gift_cards/gc_1/void")
    assert (done.code, done.out, done.err) == (0, "null\n", "")
    assert len(service.requests) == 1
    told = svc("post", "/v1/gift_cards/gc_1/void", "-d", "x=1", env=HUMAN)
    assert told.out == f"Done. The service answered {status} without content.\n"
    assert svc("post", "/v1/gift_cards/gc_1/void", "-d", "x=2", "-o", "id").out == ""


def test_an_error_in_a_200_is_not_done(svc: Svc, service: ScriptedServer) -> None:
    """R10: of a path that is not documented, the outcome is not known (7)."""
    refused = {"type": "invalid_request_error", "code": "endpoint_unknown", "message": "No path."}
    service.play(service.reply(200, {"error": refused}))
    done = svc("post", "/v1/gift_cards", "-d", "amount:=5", "--max-time", "1")
    assert (done.code, done.out, done.error["outcome"]) == (7, "", "unknown")


def test_a_replay_is_told_as_done_before(svc: Svc, sandbox: Sandbox) -> None:
    """R117: with its time, to a person; a program gets the object as always."""
    order = svc.ok(*ORDER, "--idempotency-key", "k-1")
    told = svc(*ORDER, "--idempotency-key", "k-1", env=HUMAN)
    assert told.code == 0
    said = f"{order['id']} was done before, at {order['created']}. Nothing was done now."
    assert said in " ".join(told.err.split())
    again = svc(*ORDER, "--idempotency-key", "k-1")
    assert (again.json["id"], again.err) == (order["id"], "")
    assert "done before" not in svc(*ORDER, "--idempotency-key", "k-2", env=HUMAN).err


def test_a_new_key_is_not_told_as_done_before(svc: Svc, service: ScriptedServer) -> None:
    """R117: a proxy that sends a POST twice gets a replay; the first was this command's own."""
    made = {**FAILED_REFUND, "status": "succeeded", "failure_reason": None}
    service.play(service.reply(200, made, {"Idempotent-Replayed": "true"}))
    done = svc(*REFUND, env=HUMAN)
    assert (done.code, "done before" in done.err, "Nothing was done" in done.err) == (
        0,
        False,
        False,
    )


def test_what_another_machine_did_is_told_without_a_header(
    svc: Svc, service: ScriptedServer
) -> None:
    """R117: by the object's age on the service's own clock, where it marks no replay."""
    old = {**FAILED_REFUND, "status": "pending", "created": "2023-11-14T22:13:00Z"}
    date = {"Date": "Tue, 14 Nov 2023 22:13:20 GMT"}
    service.play(service.reply(200, old, date))
    told = svc(*REFUND, "--idempotency-key", "k-1", env=HUMAN)
    assert "rf_1 was done before, at 2023-11-14T22:13:00Z." in told.err


@pytest.mark.parametrize("way", ["resume", "key"])
def test_a_key_is_as_old_as_the_service_says(svc: Svc, service: ScriptedServer, way: str) -> None:
    """R4: by the `Date` of its first answer, however this machine's clock is turned."""
    refund = (*REFUND, *(("--idempotency-key", "k-1") if way == "key" else ()))

    def dated(hours: int, status: int = 408) -> Any:
        day, hour = divmod(hours, 24)
        return service.reply(status, b"", {"Date": f"Tue, {14 + day} Nov 2023 {hour:02}:00:00 GMT"})

    service.play(dated(0))
    unknown = svc(*refund)
    again = refund if way == "key" else ("requests", "resume", unknown.error["request"])
    for hours, posts in ((22, 2), (30, 2)):
        # A sandbox is looked for first; what is asked of this service has this hour.
        service.play(dated(hours))
        told = svc(*again)
        assert (unknown.code, told.code) == (7, 7)
        assert sum(b"POST /v1/" in one for one in service.requests) == posts
    assert told.error["code"] == "idempotency_key_too_old"


def test_a_query_that_fails_is_answered_with_the_object(svc: Svc, service: ScriptedServer) -> None:
    """R120: what was sent once is read, never sent again for the sake of a query."""
    service.play(service.reply(200, {**FAILED_REFUND, "status": "pending"}))
    done = svc(*REFUND, "--query", "length(amount)")
    assert (done.code, done.error["code"], done.error["outcome"]) == (10, "query_failed", "done")
    assert done.error["message"].endswith("Next: svc get rf_1")
    assert "--query out" not in done.error["message"]
    service.play(service.reply(200, {"object": "gift_card"}))
    bare = svc("post", "/v1/gift_cards", "--query", "length(amount)", env=HUMAN)
    assert "The request was carried out." in bare.err
    assert "Next: " not in bare.err
    service.play(service.reply(200, {"object": "list", "data": [], "has_more": False}))
    listed = svc("orders", "list", "--query", "length(has_more)", env=HUMAN)
    assert "Leave --query out to see the whole list" in listed.err
    service.play(service.reply(200, {**FAILED_REFUND, "id": "rf_2", "status": "pending"}))
    missed = svc(*REFUND, "--new-request", "--query", "idd", env=HUMAN)
    assert "The query has found nothing in rf_2." in missed.out
    checked = svc(*REFUND, "--dry-run", "--query", "length(method)")
    assert checked.code == 0
    checked = svc(*REFUND, "--dry-run", "--query", "abs(method)")
    assert (checked.code, checked.error["outcome"]) == (10, None)
    assert "carried out" not in checked.err


def asked_about(object_: dict[str, Any], *argv: str, **given: Any) -> str:
    """The question to a person about a POST in live mode, whose object the service has so."""
    service, at_terminal = given["service"], given["at_terminal"]
    service.play(service.reply(given.get("status", 200), {"livemode": True, **object_}))
    asked = at_terminal("n\n", *argv, prompt="[y/N] ", **LIVE)
    assert [one[:4] for one in service.requests] == [b"GET "] * len(service.requests)
    return " ".join(asked.out.split())


PAYMENT = {
    "id": "pay_1",
    "object": "payment",
    "currency": "EUR",
    "amount_captured": 15708,
    "amount_refunded": 10000,
}
MANUAL = {"id": "ord_1", "object": "order", "currency": "EUR", "amount_total": 15708}


@pytest.mark.parametrize(
    ("object_", "argv", "question"),
    [
        (PAYMENT, REFUND, "refund payment pay_1, 57.08 EUR"),
        (PAYMENT, (*REFUND, "--amount", "1500"), "refund payment pay_1, 15.00 EUR"),
        ({**PAYMENT, "amount_captured": None}, REFUND, "refund payment pay_1, the full amount"),
        ({**PAYMENT, "amount_refunded": None}, REFUND, "refund payment pay_1, 157.08 EUR"),
        (MANUAL, ("orders", "capture", "ord_1"), "capture order ord_1, 157.08 EUR"),
        (
            {**MANUAL, "amount_captured": 708},
            ("orders", "capture", "ord_1"),
            "capture order ord_1, 150.00 EUR",
        ),
        (
            {**DISPUTE, "currency": "EUR", "amount": 15708},
            ("disputes", "accept", "dp_1"),
            "accept dispute dp_1 as lost, 157.08 EUR",
        ),
        (
            {**DISPUTE, "currency": "EUR", "amount": 15708},
            ("disputes", "update", "dp_1", "--tracking-number", "1Z", "--submit"),
            "This cannot be undone: submit the evidence of dispute dp_1, 157.08 EUR",
        ),
    ],
)
def test_a_question_is_about_what_is_left(
    service: ScriptedServer,
    at_terminal: AtTerminal,
    object_: dict[str, Any],
    argv: tuple[str, ...],
    question: str,
) -> None:
    """R19: of a payment of 157.08 EUR with 100.00 EUR given back it asks about 57.08 EUR."""
    asked = asked_about(object_, *argv, service=service, at_terminal=at_terminal)
    assert f"{question} live mode, profile default" in asked


@pytest.mark.parametrize(
    ("status", "argv"),
    [(403, REFUND), (403, ("disputes", "accept", "dp_1")), (404, ("disputes", "accept", "dp_1"))],
)
def test_a_sum_that_cannot_be_read_keeps_no_question_from_being_asked(
    service: ScriptedServer, at_terminal: AtTerminal, status: int, argv: tuple[str, ...]
) -> None:
    """R19: a key that may not read, or a service without the call, asks without a sum."""
    no = {"type": "permission_error", "code": "permission_denied", "message": "No."}
    asked = asked_about(no, *argv, service=service, at_terminal=at_terminal, status=status)
    assert "This moves real money: " in asked


def test_a_resumed_request_ends_as_its_first_sending_would(
    svc: Svc, service: ScriptedServer
) -> None:
    """R117: the object that failed is printed, exit 11; a replay is told as done before."""
    service.play(service.reply(408, b"<html>"))
    lost = svc(*REFUND)
    assert (lost.code, lost.error["outcome"]) == (7, "unknown")
    service.play(service.reply(200, FAILED_REFUND, {"Idempotent-Replayed": "true"}))
    done = svc("requests", "resume", lost.error["request"], "-o", "human")
    assert done.code == 11
    assert "rf_1 was done before. Nothing was done now." in done.err
    assert "the status of rf_1 is failed" in done.err


def test_the_submission_of_evidence_needs_a_yes_in_live_mode(
    svc: Svc, service: ScriptedServer
) -> None:
    """R19: it is final; a draft is not, and is not asked about."""
    update = ("disputes", "update", "dp_1", "--tracking-number", "1Z999")
    service.play(service.reply(200, DISPUTE))
    assert svc(*update, env=LIVE).code == 0
    for more in (("--submit",), ("-d", "submit=true")):
        refused = svc(*update, *more, env=LIVE)
        assert (refused.code, refused.error["code"]) == (2, "confirmation_required")
    assert [one[:5] for one in service.requests].count(b"POST ") == 1
