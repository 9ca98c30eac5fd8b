"""Who may send a request again: one at a time, and only in its time (promises R4, R69)."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from support.calls import orders, payouts, refunds
from support.clocks import ManualClock
from support.suite.compiling import TESTS
from support.suite.patience import patient
from svc.client import find
from svc.client.call import Call
from svc.client.contradiction import CONTRADICTED
from svc.delivery.journal.entry import Settled, settle_by_error
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.errors import Conflict, LocalError, OutcomeUnknown, RateLimited
from unit.delivery.journal.asking import (
    BASE,
    DONE,
    HOUR,
    SCOPE,
    Open,
    asked,
    done,
    end,
    is_busy,
    record,
)


def test_lease_takes_an_unresolved_request(intents: Journal, clock: ManualClock) -> None:
    """R3: same key, same bytes, and only a definite answer will settle it."""
    first = record(intents, asked())
    end(intents, first)
    clock.advance(60)
    again = intents.lease(first.id)
    assert again.stored == first.stored
    assert (again.sendings, again.sent_before) == (2, True)
    assert (again.first_sent_at, again.last_sent_at) == (first.first_sent_at, clock.now())


def test_what_was_begun_anew_is_not_resumed_beside_it(intents: Journal) -> None:
    """R91: the first was not carried out, the second may have been; one of them is meant."""
    first = record(intents, asked())
    end(intents, first, "not_sent")
    second = record(intents, asked(key="key-2"), new_request=True)
    end(intents, second)
    with pytest.raises(Conflict, match="begun once more") as caught:
        intents.lease(first.id)
    assert caught.value.request == second.id
    assert f"svc requests resume {second.id}" in (caught.value.hint or "")
    with pytest.raises(Conflict):
        record(intents, asked())
    end(intents, intents.lease(second.id), "not_sent")
    assert intents.lease(first.id).sendings == 2


def test_what_was_done_anew_is_not_resumed_beside_it(intents: Journal) -> None:
    """R91: the first was not carried out, its command was given again: that one was meant."""
    first = record(intents, asked())
    end(intents, first, "not_sent")
    second = record(intents, asked(key="key-2"), new_request=True)
    intents.settle(second, done()._replace(object_id="rf_second"))
    with pytest.raises(Conflict, match=r"carried out by another one.*rf_second") as caught:
        intents.lease(first.id)
    assert (caught.value.code, caught.value.request) == ("request_settled", second.id)
    assert "svc get rf_second" in (caught.value.hint or "")


def test_equal_rows_of_one_list_are_resumed_each(intents: Journal) -> None:
    """R16: two equal rows are two requests; one that was done says nothing of the other."""
    rows = [asked(key=f"key-{row}", batch="imp_1", row=row) for row in (1, 2)]
    first, second = intents.record_many(rows)
    end(intents, first, "not_sent")
    intents.settle(second, done())
    assert intents.lease(first.id).sendings == 2


@pytest.mark.parametrize(
    ("settled", "contradicted"),
    [
        (None, False),
        (Settled("done", 200, "rf_1"), False),
        (Settled("done", 200, "rf_1", error_code=CONTRADICTED), True),
        (Settled("unknown", 200, error_code=CONTRADICTED), False),
        (Settled("refused", 400, error_code="amount_too_large"), False),
    ],
)
def test_what_was_carried_out_otherwise_than_asked_is_told_apart(
    settled: Settled | None, contradicted: bool, intents: Journal
) -> None:
    """R15: of one that has ended so; of one that has not, nothing is known yet."""
    made = record(intents, asked())
    if settled is not None:
        intents.settle(made, settled)
    kept = intents.find(made.id)
    assert kept is not None
    code = kept.settled.error_code if kept.settled is not None else None
    assert (kept.state == "done" and code == CONTRADICTED) is contradicted


def test_an_answer_that_contradicts_its_request_is_no_witness(intents: Journal) -> None:
    """It may name somebody else's object, which then seems to be of another account."""
    contradicted = record(intents, asked())
    end(intents, contradicted, "done", object_id="rf_x", error_code="reply_contradiction")
    end(intents, record(intents, asked(key="key-2")), "done", object_id="rf_ours")
    assert intents.list_made_with(SCOPE.key_fingerprint, SCOPE) == ("rf_ours",)


def test_second_lease_is_refused_until_the_first_ends(opened: Open) -> None:
    """R69: never two requests in flight with one key, in one process or in two."""
    one, two = opened(), opened()
    first = record(one, asked())
    for journal in (one, two):
        with pytest.raises(Conflict) as caught:
            journal.lease(first.id)
        assert caught.value.code == "request_in_flight"
    assert is_busy(two, first)
    one.release(first)
    assert not is_busy(two, first)
    assert two.lease(first.id).sendings == 2


def test_lease_ends_with_its_process(intents: Journal, path: Path) -> None:
    """A kill -9 leaves nothing that somebody would have to clean up (R3)."""
    code = f"""
import pathlib, sys
from support.calls import refunds
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.journal.journal import EVERY, PRUNE
from svc.delivery.journal.entry import NewIntent, Scope
from svc.delivery.journal.entry import store_call
from svc.client.request import prepare
from support.clocks import ManualClock
from svc.state import Database
from svc.base_url import BaseUrl
base, call = BaseUrl.parse({str(BASE)!r}), refunds.create({{"payment": "pay_1"}})
path, clock = pathlib.Path({str(path)!r}), ManualClock()
intents = Journal(lambda: Database.open(path, clock=clock), SenderLocks(path.parent / "senders"), clock)
scope = Scope(*{tuple(SCOPE)!r})
print(intents.record(NewIntent(store_call(call, prepare(call, base, new_key=lambda: "k")), scope)).id, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        made = holder.stdout.readline().decode().strip()
        with pytest.raises(Conflict):
            intents.lease(made)
        holder.kill()
        holder.wait()
        assert intents.lease(made).sendings == 2
    assert len(list((path.parent / "senders").iterdir())) == 1


@pytest.mark.parametrize("outcome", ["done", "refused"])
def test_settled_request_is_not_resumed(intents: Journal, outcome: str) -> None:
    """There is nothing to find out; the error says how it ended."""
    first = record(intents, asked())
    end(intents, first, outcome, object_id="rf_9" if outcome == "done" else None)
    with pytest.raises(Conflict) as caught:
        intents.lease(first.id)
    assert (caught.value.code, caught.value.outcome) == ("request_settled", outcome)
    assert ("rf_9" in caught.value.message) == (outcome == "done")
    assert not is_busy(intents, first)


def test_request_that_was_too_much_is_resumed(intents: Journal) -> None:
    """R11: 429 to the end keeps the key."""
    first = record(intents, asked())
    error = RateLimited("busy", status=429, outcome="refused")
    intents.settle(first, settle_by_error(error))
    again = intents.lease(first.id)
    assert again.sent_before is False


def test_resume_is_refused_after_23_hours(intents: Journal, clock: ManualClock) -> None:
    """R4: to the second; it names what to look at, and the request stays listed."""
    first = record(intents, asked())
    end(intents, first)
    clock.advance(23 * HOUR - 1)
    intents.release(intents.lease(first.id))
    clock.advance(1)
    with pytest.raises(OutcomeUnknown) as caught:
        intents.lease(first.id)
    assert caught.value.code == "idempotency_key_too_old"
    assert "svc payments retrieve pay_1" in (caught.value.hint or "")
    assert f"svc requests forget {first.id}" in (caught.value.hint or "")
    assert [kept.id for kept in intents.list(unresolved=True)] == [first.id]
    assert not is_busy(intents, first)


def test_resume_is_refused_when_the_clock_runs_behind(intents: Journal, clock: ManualClock) -> None:
    """R4: with the clock put back, nobody can tell how old the key is."""
    first = record(intents, asked())
    end(intents, first)
    clock.advance(-11)
    with pytest.raises(OutcomeUnknown) as caught:
        intents.lease(first.id)
    assert caught.value.code == "clock_behind"


def test_resume_takes_a_clock_that_was_put_back_by_seconds(
    intents: Journal, clock: ManualClock
) -> None:
    """R4: a clock that is kept right goes back a little now and then; that is no question of age."""
    first = record(intents, asked())
    end(intents, first)
    clock.advance(-0.4)
    assert intents.lease(first.id).sent_before


ODD_PAYMENT = refunds.create({"payment": "pay_1"})._replace(body={"payment": "$(rm x)"})


@pytest.mark.parametrize(
    ("call", "look"),
    [
        (orders.create({"amount": 1}), "svc orders list --all --created-gte 2023-11-14T22:08:20Z"),
        (orders.capture("ord_1"), "svc orders retrieve ord_1"),
        (orders.cancel("ord_1"), "svc orders retrieve ord_1"),
        (refunds.create({"payment": "pay_1"}), "svc payments retrieve pay_1"),
        (refunds.create({"payment": "pay_1"}, encoding="form"), "svc payments retrieve pay_1"),
        # Of a journal that was written before ids were checked.
        (ODD_PAYMENT, "svc refunds list --all"),
        (
            payouts.create({"amount": 1}),
            "svc payouts list --all --created-gte 2023-11-14T22:08:20Z",
        ),
        (find.post("/v1/disputes/dp_1/accept"), "svc disputes retrieve dp_1"),
        (find.post("/v1/webhook_endpoints"), "dashboard"),
    ],
)
def test_too_old_a_request_says_where_to_look(
    intents: Journal, clock: ManualClock, call: Call, look: str
) -> None:
    """R4: the read that shows what the request did, ready to run."""
    first = record(intents, asked(call, scope=SCOPE._replace(mode="live")))
    end(intents, first)
    clock.advance(24 * HOUR)
    with pytest.raises(OutcomeUnknown) as caught:
        intents.lease(first.id)
    hint = caught.value.hint or ""
    assert look in hint
    assert ("--live" in hint) == ("dashboard" not in look)
    assert "$(" not in hint


def test_whoever_ends_waits_no_longer_for_other_processes(intents: Journal, path: Path) -> None:
    """R78: stopped within a second, also while somebody else holds the database."""
    intents.shorten_timeout(0.01)  # nothing is open yet
    first = record(intents, asked())
    intents.shorten_timeout(0.01)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(LocalError):
            intents.settle(first, DONE)
        assert time.monotonic() - began < patient(1)
    # R2: what is recorded after it waits for the disk again.
    assert intents._state().rows("PRAGMA synchronous") == [{"synchronous": 2}]


def test_sign_of_life_that_cannot_be_looked_at_is_no_sign_of_death(tmp_path: Path) -> None:
    """R69: whoever cannot tell must not send."""
    folder = tmp_path / "senders"
    folder.write_text("in the way")
    with closing(SenderLocks(folder)) as sender_locks:
        with pytest.raises(LocalError, match="senders") as told:
            sender_locks.is_alive("0123")
        assert told.value.hint == "It tells which requests are being sent"
        with pytest.raises(LocalError, match="senders cannot be used"):
            assert sender_locks.token
    assert SenderLocks(folder).is_alive(None) is False
