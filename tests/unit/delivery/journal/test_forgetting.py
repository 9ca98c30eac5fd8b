"""What the journal lets go of, and what it never does."""

import sqlite3
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.calls import payouts
from support.clocks import ManualClock
from svc.delivery.journal.journal import EVERY, PRUNE, Journal
from svc.errors import Conflict, LocalError, NotFound
from svc.state import LOST, Tx
from unit.delivery.journal.asking import HOUR, Open, asked, done, end


def settle_as(intents: Journal, outcome: Any, **more: Any) -> str:
    """One request of its own, ended; gives its id."""
    key = more.pop("key", str(uuid.uuid4()))
    made = intents.record_many([asked(key=key, **more)])[0]
    end(intents, made, outcome)
    return made.id


def fill_up(intents: Journal) -> None:
    """As many requests as it takes for one to look for old ones."""
    ends = intents.record_many([asked(key=str(uuid.uuid4())) for _ in range(EVERY)])
    intents.settle_many([(one, done()) for one in ends])


def test_settled_requests_are_forgotten_after_90_days(intents: Journal, clock: ManualClock) -> None:
    """So that the journal does not grow for ever; nobody waits for it."""
    old = [settle_as(intents, outcome) for outcome in ("done", "refused", "not_sent")]
    clock.advance(90 * 24 * HOUR - 1)
    fill_up(intents)
    assert all(intents.find(one) for one in old)
    recent = settle_as(intents, "done")
    clock.advance(2)
    fill_up(intents)
    assert not any(intents.find(one) for one in old)
    assert intents.find(recent)


def test_one_request_in_many_looks_for_old_ones(intents: Journal, clock: ManualClock) -> None:
    """The others need not wait for it."""
    old = settle_as(intents, "done")
    clock.advance(91 * 24 * HOUR)
    for _ in range(3):
        settle_as(intents, "done")
    assert intents.find(old)


def test_what_guards_against_a_second_payment_is_never_forgotten(
    intents: Journal, clock: ManualClock
) -> None:
    """R5, R12, R16: unresolved requests, keys of the user's own, rows of a list."""
    kept = [
        settle_as(intents, "unknown"),
        intents.record_many([asked(key=str(uuid.uuid4()))])[0].id,
        settle_as(intents, "done", key="invoice-1001", key_given=True),
        settle_as(intents, "done", key=str(uuid.uuid4()), key_given=True),
        settle_as(intents, "done", batch="imp_1", row=1),
    ]
    clock.advance(1000 * 24 * HOUR)
    fill_up(intents)
    fill_up(intents)
    assert all(intents.find(one) for one in kept)
    with pytest.raises(Conflict) as caught:
        intents.record(asked(key="invoice-1001"), new_request=True)
    assert caught.value.code == "idempotency_key_too_old"


def test_what_went_into_a_file_that_is_gone_is_not_kept(
    intents: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R102: the database is deleted while an end is written: that is said, not taken for kept."""
    first = intents.record(asked())
    change = intents._transaction

    def while_it_goes(tx: Tx) -> Any:
        path.unlink(missing_ok=True)
        return change(tx)

    monkeypatch.setattr(intents, "_transaction", while_it_goes)
    with pytest.raises(LocalError, match="deleted or replaced") as caught:
        intents.settle(first, done())
    assert caught.value.code in LOST


def test_looking_for_old_requests_reads_no_others(intents: Journal) -> None:
    """It goes through an index of its own, however long the journal is."""
    plan = intents._state().rows(f"EXPLAIN QUERY PLAN {PRUNE}", (0, "", 0))
    assert any("request_settled" in row["detail"] for row in plan)
    assert not any("SCAN" in row["detail"] for row in plan)


def test_forgetting_that_fails_does_not_hide_the_end(
    intents: Journal, path: Path, clock: ManualClock
) -> None:
    """The end is kept, whatever becomes of old ones."""
    old = settle_as(intents, "done")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(
            "CREATE TRIGGER kept BEFORE DELETE ON requests BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    clock.advance(91 * 24 * HOUR)
    made = intents.record_many([asked(key=str(uuid.uuid4())) for _ in range(EVERY)])
    intents.settle_many([(one, done()) for one in made])
    assert {one.state for one in intents.list()} == {"done"}
    assert intents.find(old)


def test_forget_deletes_one_that_nobody_sends(opened: Open) -> None:
    """A forgotten request stops nothing any more; one in flight cannot be forgotten."""
    one, two = opened(), opened()
    first = one.record(asked())
    with pytest.raises(Conflict):
        two.forget(first.id)
    end(one, first)
    assert two.forget(first.id).id == first.id
    assert two.find(first.id) is None
    assert one.record(asked(key="key-2")).seq
    with pytest.raises(NotFound):
        two.forget(first.id)


def test_what_is_forgotten_is_in_no_file_any_more(intents: Journal, path: Path) -> None:
    """R45: also not in the log of the database, which would keep it for a while."""
    call = payouts.create({"amount": 1, "reference": "forget-me-not"})
    first = intents.record(asked(call))
    end(intents, first, "refused")

    def kept() -> bool:
        files = [one for one in path.parent.iterdir() if one.is_file()]
        return any(b"forget-me-not" in one.read_bytes() for one in files)

    assert kept()
    intents.forget(first.id)
    assert not kept()
