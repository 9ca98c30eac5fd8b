"""The same request again, and a key again: what is refused, what is begun anew (promises R4, R5)."""

from collections.abc import Sequence

import pytest

from support.calls import refunds
from support.clocks import ManualClock
from svc.client import find
from svc.client.reply import Reply
from svc.delivery.journal.entry import (
    Intent,
    KeyEquivalence,
    NewIntent,
    Scope,
    Settled,
    settle_by_reply,
)
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.refusals import format_full_command
from svc.delivery.journal.transaction import Like
from svc.delivery.send import choose_command
from svc.errors import Conflict
from unit.delivery.journal.asking import DONE, HOUR, OTHERS, SCOPE, Open, asked, done, end, record


def test_unresolved_duplicate_stops_the_same_request(intents: Journal) -> None:
    """R5: exit 6, naming the command that settles the first and the way to a second one."""
    first = record(intents, asked())
    end(intents, first)
    with pytest.raises(Conflict) as caught:
        record(intents, asked(key="key-2"))
    error = caught.value
    assert (error.code, error.request, error.idempotency_key) == (
        "request_unresolved",
        first.id,
        "key-1",
    )
    assert f"svc requests resume {first.id}" in (error.hint or "")
    assert "--new-request" in (error.hint or "")
    assert record(intents, asked(key="key-2"), new_request=True).id != first.id


@pytest.mark.parametrize(
    ("before", "now", "stops"),
    [
        ({}, {"reason": "duplicate"}, True),
        ({"metadata": {"order": "7"}}, {"metadata": {"note": "late"}}, True),
        ({"metadata": {"order": "7"}}, {"metadata": {"order": "8"}}, False),
        ({"metadata": {"order": "Tk-7 a"}}, {"metadata": {"order": "tk\u20117  A\u200b"}}, True),
        ({}, {"amount": 5, "reason": "duplicate"}, False),
        ({}, {"payment": "pay_2", "reason": "duplicate"}, False),
    ],
    ids=["reason", "other marks", "mark differs", "mark retyped", "amount", "payment"],
)
def test_an_unresolved_request_stops_the_same_in_other_words(
    intents: Journal, before: dict[str, object], now: dict[str, object], stops: bool
) -> None:
    """R115: who types it anew with a reason, or corrects a name, means one payment."""
    base = {"payment": "pay_1", "amount": 4999}
    first = record(intents, asked(refunds.create({**base, **before})))
    end(intents, first)
    second = asked(refunds.create({**base, **now}), "key-2")
    if stops:
        with pytest.raises(Conflict, match="in other words") as caught:
            record(intents, second)
        assert (caught.value.code, caught.value.request) == ("request_unresolved", first.id)
        assert f"svc requests resume {first.id}" in (caught.value.hint or "")
    assert record(intents, second, new_request=stops).sendings == 1


@pytest.mark.parametrize(
    ("mode", "seconds", "told"),
    [("live", 599, "stops"), ("test", 599, "notes"), ("live", 601, "")],
)
def test_what_was_done_a_moment_ago_in_other_words_is_told(
    intents: Journal, clock: ManualClock, mode: str, seconds: float, told: str
) -> None:
    """R115: a payout whose name is corrected once it was made is a second payout."""
    scope = SCOPE._replace(mode=mode)
    first = record(intents, asked(scope=scope))
    end(intents, first, "done")
    clock.advance(seconds)
    worded = refunds.create({"payment": "pay_1", "amount": 4999, "reason": "duplicate"})
    second = asked(worded, "key-2", scope, requested_at=clock.now() - 5)
    notes: list[str] = []

    def choose(likes: Sequence[Like]) -> Intent | None:
        return choose_command(second, likes, clock.now(), format_full_command, notes.append)

    if told == "stops":
        with pytest.raises(Conflict, match=r"in other words.* a moment ago, at") as caught:
            intents.record(second, choose)
        assert "--new-request" in (caught.value.hint or "")
    else:
        assert intents.record(second, choose).sendings == 1
    assert ["in other words" in one for one in notes] == [True] * (told == "notes")


def test_own_keys_tell_requests_of_one_effect_apart(intents: Journal) -> None:
    """R115: of two that a person has named, the second is not the first in other words."""
    end(intents, record(intents, asked(key_given=True)))
    worded = refunds.create({"payment": "pay_1", "amount": 4999, "reason": "duplicate"})
    assert record(intents, asked(worded, "key-2", key_given=True)).sendings == 1


def test_twin_in_flight_is_waited_for(opened: Open) -> None:
    """R5, R69: while another process sends it, it is not to be resumed but awaited."""
    record(opened(), asked())
    with pytest.raises(Conflict, match="another process now"):
        record(opened(), asked(key="key-2"))


@pytest.mark.parametrize("before", [0.5, 0.0])
def test_what_another_process_ended_since_a_person_asked_is_not_sent_again(
    opened: Open, clock: ManualClock, before: float
) -> None:
    """R91: a command that waited for the journal meets an end which the person could not know of.

    Nor does a clock whose ticks are longer than a request tell that the first was over.
    """
    began_at = clock.now()
    clock.advance(before)
    first = record(opened(), asked())
    end(opened(), first, "done")
    second = asked(key="key-2")._replace(requested_at=began_at)
    with pytest.raises(Conflict, match="by another process after this command had begun") as caught:
        record(opened(), second)
    assert (caught.value.outcome, caught.value.request) == ("not_sent", first.id)
    assert "--new-request" in (caught.value.hint or "")
    end(opened(), record(opened(), second, new_request=True), "done")
    clock.advance(0.1)
    later = asked(key="key-3")._replace(requested_at=clock.now())
    assert record(opened(), later).sendings == 1


@pytest.mark.parametrize(("mode", "stops"), [("test", False), ("live", True)])
def test_what_was_done_by_a_clock_that_was_ahead_was_done_by_no_other_process(
    intents: Journal, clock: ManualClock, mode: str, stops: bool
) -> None:
    """R91, R115: how long ago is not known, so that it is told as what was done a moment ago."""
    scope = SCOPE._replace(mode=mode)
    end(intents, record(intents, asked(scope=scope)), "done")
    clock.advance(-48 * HOUR)
    second = asked(key="key-2", scope=scope, requested_at=clock.now())
    if stops:
        with pytest.raises(Conflict, match="carried out a moment ago, at"):
            record(intents, second)
    else:
        assert record(intents, second).sendings == 1


@pytest.mark.parametrize("outcome", ["done", "refused"])
def test_settled_request_may_be_sent_a_second_time(intents: Journal, outcome: str) -> None:
    """Two equal orders in a row are two orders: only an open outcome stops the second."""
    end(intents, record(intents, asked()), outcome, proved=True)
    assert record(intents, asked(key="key-2")).sendings == 1


@pytest.mark.parametrize(
    "settled",
    [Settled("not_sent"), Settled("refused", 404), Settled("refused", 429, proved=True)],
    ids=["never left", "refused by a gateway", "too many"],
)
def test_a_request_keeps_its_key_until_the_service_has_proved_an_outcome(
    intents: Journal, clock: ManualClock, settled: Settled
) -> None:
    """R113: the same command sends the same key again, for 23 hours; another body has its own."""
    first = record(intents, asked())
    intents.settle(first, settled)
    clock.advance(23 * HOUR - 1)
    again = record(intents, asked(key="key-2"))
    assert (again.id, again.stored.idempotency_key, again.sendings) == (first.id, "key-1", 2)
    intents.settle(again, settled)
    other = asked(refunds.create({"payment": "pay_1", "amount": 1}), "key-3")
    assert record(intents, other).stored.idempotency_key == "key-3"
    intents.settle(record(intents, asked(key="key-4"), new_request=True), settled)
    clock.advance(23 * HOUR)
    assert record(intents, asked(key="key-5")).sendings == 1


@pytest.mark.parametrize(
    "other",
    [
        asked(refunds.create({"payment": "pay_1", "amount": 5000}), "key-2"),
        asked(find.post("/v1/other", {"payment": "pay_1", "amount": 4999}), "key-2"),
        asked(key="key-2", scope=SCOPE._replace(mode="live")),
        asked(
            key="key-2",
            scope=OTHERS,
            account=KeyEquivalence(other=frozenset((SCOPE.key_fingerprint,))),
        ),
        asked(key="key-2", scope=SCOPE._replace(base_url="https://other.example.com")),
    ],
    ids=["body", "path", "mode", "account", "address"],
)
def test_another_request_is_no_twin(intents: Journal, other: NewIntent) -> None:
    """What differs in any of these is another request."""
    end(intents, record(intents, asked()))
    found: list[Like] = []
    intents.record(other, found.extend)
    assert not found
    intents.record(asked(key="key-3"), found.extend)
    assert found


def test_own_key_with_another_request_is_refused(intents: Journal) -> None:
    """R12: before anything is sent, whatever became of the first."""
    end(intents, record(intents, asked()), "done")
    other = asked(refunds.create({"payment": "pay_1", "amount": 1}))
    with pytest.raises(Conflict) as caught:
        record(intents, other, new_request=True)
    assert caught.value.code == "idempotency_key_reused"
    assert caught.value.outcome == "not_sent"


def test_own_key_with_the_same_request_begins_it_again(intents: Journal) -> None:
    """The key names one request, so it is that one's row which is sent again."""
    first = record(intents, asked())
    end(intents, first)
    again = record(intents, asked())
    assert (again.id, again.sendings, again.sent_before) == (first.id, 2, True)


def test_own_key_of_a_done_request_asks_for_its_answer_whatever_else_is_open(
    intents: Journal,
) -> None:
    """R5: it can make nothing more, so that an unresolved duplicate is no reason to hold it back."""
    end(intents, record(intents, asked()), "done")
    end(intents, record(intents, asked(key="key-2")))
    again = record(intents, asked())
    assert (again.state, again.sendings, again.sent_before) == ("done", 2, True)


def test_own_key_is_not_sent_under_another_accounts_key(intents: Journal) -> None:
    """R12, R19: another account would carry out what the first may have carried out already."""
    first = record(intents, asked())
    end(intents, first)
    other = asked(scope=SCOPE._replace(key_fingerprint="sk_test_…wxyz"))
    for call in (intents.record, lambda one: intents.record_many([one])):
        with pytest.raises(Conflict) as caught:
            call(other)
        assert (caught.value.outcome, caught.value.request) == ("not_sent", first.id)
        assert f"svc requests resume {first.id}" in (caught.value.hint or "")
    kept = intents.find(first.id)
    assert kept is not None
    assert (kept.state, kept.scope, kept.sendings) == ("unknown", SCOPE, 1)
    rolled = record(
        intents, other._replace(account=KeyEquivalence(same=frozenset((SCOPE.key_fingerprint,))))
    )
    assert (rolled.id, rolled.sent_before) == (first.id, True)


@pytest.mark.parametrize(
    "elsewhere",
    [
        Scope("default", "test", "http://localhost:4242", "sk_test_…ary1"),
        Scope("shop", "test", "http://127.0.0.1:4242", "sk_test_…ary1"),
        Scope("shop", "test", "http://[::1]:4242", "sk_test_…ary1"),
    ],
    ids=["address", "profile", "both"],
)
def test_own_key_is_the_same_under_every_name_of_its_account(
    intents: Journal, clock: ManualClock, elsewhere: Scope
) -> None:
    """R91, R12: a day later the service would do it again, whatever this machine is called."""
    here = Scope("default", "test", "http://127.0.0.1:4242", "sk_test_…ary1")
    first = record(intents, asked(key="invoice-7", scope=here, key_given=True))
    intents.settle(first, done())
    again = asked(key="invoice-7", scope=elsewhere, key_given=True)
    assert intents.by_key("invoice-7", elsewhere) == intents.find(first.id)
    other = refunds.create({"payment": "pay_1", "amount": 5000})
    with pytest.raises(Conflict, match="was used for another request"):
        record(intents, asked(other, key="invoice-7", scope=elsewhere, key_given=True))
    clock.advance(23 * HOUR)
    with pytest.raises(Conflict) as caught:
        record(intents, again)
    assert (caught.value.code, caught.value.request) == ("idempotency_key_too_old", first.id)


def test_own_key_of_a_done_request_is_spent_after_23_hours(
    intents: Journal, clock: ManualClock
) -> None:
    """The service would do it a second time once it has forgotten the key (R4)."""
    first = record(intents, asked())
    intents.settle(first, DONE)
    clock.advance(23 * HOUR - 1)
    again = record(intents, asked())
    assert (again.state, again.sent_before) == ("done", True)
    end(intents, again, "unknown")
    kept = intents.find(first.id)
    assert kept is not None
    assert kept.settled == DONE
    clock.advance(1)
    with pytest.raises(Conflict, match="second time"):
        record(intents, asked())


def test_what_was_not_sent_belongs_to_the_account_that_carried_it_out(intents: Journal) -> None:
    """R95: a list that was refused under one key and done under another is the other one's."""
    end(intents, record(intents, asked()), "not_sent")
    scope = SCOPE._replace(key_fingerprint="sk_test_…wxyz")
    again = record(intents, asked(scope=scope))
    end(intents, again, "done")
    kept = intents.find(again.id)
    assert kept is not None
    assert (kept.sendings, kept.state, kept.scope) == (2, "done", scope)


def test_key_of_a_request_that_was_not_sent_is_fresh(intents: Journal, clock: ManualClock) -> None:
    """What the service never saw has no age: its 24 hours begin with the next attempt."""
    end(intents, record(intents, asked()), "not_sent")
    clock.advance(30 * HOUR)
    again = record(intents, asked())
    assert (again.first_sent_at, again.sent_before) == (clock.now(), False)


@pytest.mark.parametrize("identifier", ["x_\ud800", "a b", 7])
def test_an_odd_id_is_done_without_it(intents: Journal, identifier: object) -> None:
    """R10, R25: of a call that we do not know, an id that no object can have is not kept."""
    made = record(intents, asked(find.post("/v1/other")))
    reply = Reply(200, (), "", {"id": identifier}, (), None, replayed=False, attempts=1)
    intents.settle(made, settle_by_reply(reply))
    kept = intents.find(made.id)
    assert kept is not None
    assert kept.settled == Settled("done", 200, proved=True)


@pytest.mark.parametrize("mode", ["test", "live"])
def test_the_same_command_within_ten_minutes_is_told_or_refused(
    intents: Journal, clock: ManualClock, mode: str
) -> None:
    """R115: in test mode a note, in live mode a stop; `--new-request` means a second one."""
    scope = SCOPE._replace(mode=mode)
    end(intents, record(intents, asked(scope=scope)), "done", object_id="rf_first")
    notes: list[str] = []

    def again(key: str) -> Intent:
        new = asked(key=key, scope=scope)
        return intents.record(
            new,
            lambda likes: choose_command(
                new, likes, clock.now(), format_full_command, notes.append
            ),
        )

    clock.advance(599)
    if mode == "live":
        with pytest.raises(Conflict, match="a moment ago") as caught:
            again("key-2")
        assert "--new-request" in (caught.value.hint or "")
        assert notes == []
    else:
        intents.settle(again("key-2"), done())
        assert len(notes) == 1
        assert "rf_first" in notes[0]
    intents.settle(record(intents, asked(key="key-3", scope=scope), new_request=True), done())
    clock.advance(600)
    assert again("key-4").sendings == 1
    assert len(notes) == (mode == "test")
