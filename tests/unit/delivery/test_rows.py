"""What the journal keeps of a batch's rows: of a results file, and where a row has not ended."""

from svc.client.reply import Reply
from svc.delivery.evidence import Evidence, Known, read_known, read_outcome
from svc.delivery.journal.entry import Settled
from svc.delivery.rows import RowEnd, RowJournal, classify_reply
from unit.delivery.journal.asking import is_busy
from unit.delivery.rows import BASE, REFUNDS, Desk, one_row

# What a line of a results file says, with the code of its error.
OUTCOMES = {
    ("done", None): Known.DONE,
    ("done", "reply_contradiction"): Known.CONTRADICTED,
    ("done", "object_failed"): Known.FAILED,
    ("failed", "object_failed"): Known.FAILED,
    ("failed", None): Known.FAILED,
    ("unknown", None): Known.UNKNOWN,
    ("unknown", "reply_contradiction"): Known.UNKNOWN,
    ("unknown", "idempotency_key_reused"): Known.KEY_TAKEN,
    ("refused", "idempotency_key_reused"): Known.NOTHING,
    ("not_sent", "done_by_hand"): Known.NOTHING,
    ("invalid", None): Known.NOTHING,
}


def test_what_a_line_says_of_its_row() -> None:
    """R116: something may have come of it, or nothing that a key needs."""
    assert {said: read_outcome(*said) for said in OUTCOMES} == OUTCOMES


def test_what_a_results_file_alone_knows_outlives_it(desk: Desk) -> None:
    """R116: each outcome with its time, once, and of no other account; nobody is sending it."""
    row = one_row(100)
    at = desk.clock.now() - 3600
    known = (Known.UNKNOWN, Known.KEY_TAKEN, Known.FAILED, Known.CONTRADICTED, Known.DONE)
    told = [
        Evidence(one, "", f"key-{place}", at, object_id=f"rf_{place}", row=place, alike=row.alike)
        for place, one in enumerate(known)
    ]
    elsewhere = told[-1]._replace(
        key="key-5", object_id="rf_5", alike="other", key_fingerprint="sk_test_…wxyz"
    )
    lost = told[0]._replace(key="key-6", alike="other")  # without its bytes it cannot be sent
    journal = RowJournal(desk.journal, REFUNDS, BASE, "json", None)
    for _ in range(2):
        lines = [*((one, row) for one in told), (elsewhere, None), (lost, row)]
        journal.keep_known_from_results(lines, "/v1/refunds")
    kept = sorted(desk.kept(), key=lambda one: one.stored.idempotency_key)
    assert [one.stored.idempotency_key for one in kept] == [f"key-{n}" for n in range(6)]
    assert [read_known(one) for one in kept] == [*known, Known.DONE]
    assert [one.row for one in kept] == [0, 1, 2, 3, 4, 4]
    assert {one.first_sent_at for one in kept} == {at}
    assert [bool(one.stored.body) for one in kept] == [True] * 5 + [False]
    assert kept[5].scope.key_fingerprint == "sk_test_…wxyz"
    assert not any(is_busy(desk.journal, one) for one in kept)


def test_a_row_that_has_not_ended_is_anothers_to_send(desk: Desk) -> None:
    """R69: though the process that has begun it goes on."""
    open_, done = desk.record(desk.plan(100, 200))
    assert is_busy(desk.journal, open_.intent)
    settled = Settled("done", 200, "rf_1")
    ends = [RowEnd(open_, None, "unknown"), RowEnd(done, settled, "done")]
    RowJournal(desk.journal, REFUNDS, BASE, "json", None).settle(ends)
    assert [one.state for one in desk.kept()] == ["open", "done"]
    assert not is_busy(desk.journal, open_.intent)


def test_what_was_carried_out_and_has_failed_is_no_row_that_is_done(desk: Desk) -> None:
    """R117: the journal has it as done, and as failed; other rows go on."""
    [job] = desk.record(desk.plan(100))
    data = {"object": "refund", "id": "rf_1", "status": "failed"}
    reply = Reply(201, (), "", data, (), "req_1", replayed=False, attempts=1, creates=True)
    done = classify_reply(job, reply)
    assert (done.outcome, done.error, done.stop) == ("done", None, None)
    end = classify_reply(job, reply._replace(failure="its status is failed"))
    assert (end.outcome, end.reply is not None, end.stop, end.is_spent) == (
        "failed",
        True,
        None,
        False,
    )
    assert end.settled is not None
    assert (end.settled.outcome, end.settled.error_code) == ("done", "object_failed")
    error = end.error
    assert error is not None
    assert error.message == "It was carried out, and has failed: its status is failed."
    assert (error.code, error.outcome, error.hint) == ("object_failed", "failed", "svc get rf_1")
    assert (error.status, error.request_id) == (201, "req_1")
