"""The journal of POSTs: what is committed, what is refused, who may send (promises R2-R5, R69)."""

import sqlite3
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from support.patience import patient
from svc.base_url import BaseUrl
from svc.client.call import Call
from svc.client.contradiction import CONTRADICTED
from svc.client.journal.entry import Account, Asked, Intent, Settled, settled_by, settled_with
from svc.client.journal.journal import EVERY, PRUNE, Journal, fresh_id, id_of
from svc.client.journal.leases import Leases
from svc.client.journal.stored import Scope, restored
from svc.client.reply import Reply
from svc.client.request import prepare
from svc.client.resources import find, orders, payouts, refunds
from svc.clock import ManualClock
from svc.errors import ApiError, Conflict, LocalError, NotFound, OutcomeUnknown, RateLimited
from svc.redaction import redact
from svc.state import LOST, Database, Tx

BASE = BaseUrl.parse("https://api.example.com")
SCOPE = Scope("default", "test", str(BASE), "sk_test_…ary1")
REFUND = refunds.create({"payment": "pay_1", "amount": 4999})
DONE = Settled("done", 200, "rf_1", "req_1")
HOUR = 3600
OTHERS = Scope("other", "test", str(BASE), "sk_test_…wxyz")
_numbers = count(2)

Open = Callable[[], Journal]


def asked(call: Call = REFUND, key: str = "key-1", scope: Scope = SCOPE, **more: Any) -> Asked:
    prepared = prepare(call, BASE, new_key=lambda: key, api_version=more.pop("version", None))
    return Asked(call, prepared, scope, **more)


def done() -> Settled:
    """The end of a request that has made something of its own."""
    return DONE._replace(object_id=f"rf_{next(_numbers)}")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def opened(path: Path, clock: ManualClock) -> Iterator[Open]:
    """Opens the journal as one more process would."""
    states: list[Database] = []
    leases: list[Leases] = []

    def open_one() -> Journal:
        def state() -> Database:
            states.append(Database.open(path, clock=clock))
            return states[-1]

        leases.append(Leases(path.parent / "senders"))
        return Journal(state, leases[-1], clock)

    yield open_one
    for one in states:
        one.close()
    for each in leases:
        each.close()


@pytest.fixture
def intents(opened: Open) -> Journal:
    return opened()


def end(intents: Journal, intent: Intent, outcome: Any = "unknown", **more: Any) -> None:
    intents.settle(intent, Settled(outcome, **more))


def is_busy(intents: Journal, intent: Intent) -> bool:
    """Whether the journal says by now that somebody is sending a request."""
    kept = intents.find(intent.id)
    assert kept is not None
    return intents.is_in_flight(kept)


# --- recording --------------------------------------------------------------------------------


def test_record_keeps_all_that_is_needed_to_send_it_again(intents: Journal) -> None:
    """Key, bytes, path, version and address come back as they were sent (R1, R2)."""
    call = payouts.create({"amount": 10000, "currency": "EUR", "reference": "Zürich"})
    first = asked(call, version="2026-09-01")
    made = intents.record(first)
    kept = intents.find(made.id)
    assert kept is not None
    assert kept == made
    assert kept.is_unresolved
    assert (kept.first_sent_at, kept.sendings, kept.sent_before) == (1_700_000_000.0, 1, False)
    again, prepared = restored(kept.stored, BaseUrl.parse(kept.scope.base_url))
    assert prepared == first.prepared
    assert (again.expects, again.checks) == (call.expects, call.checks)


def test_record_is_committed_before_it_returns(intents: Journal, path: Path) -> None:
    """Another connection sees the row at once (R2)."""
    made = intents.record(asked())
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT id, state FROM requests").fetchall() == [(made.id, "open")]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (sender,) = (path.parent / "senders").iterdir()
    assert stat.S_IMODE(sender.stat().st_mode) == 0o600
    assert stat.S_IMODE(sender.parent.stat().st_mode) == 0o700


def test_only_what_must_survive_a_power_cut_waits_for_the_disk(
    path: Path, clock: ManualClock
) -> None:
    """R2: recording and leasing sync; settling does not, and leaves syncing on behind it."""
    said: list[str] = []

    def traced() -> Database:
        state = Database.open(path, clock=clock)
        state._connection.set_trace_callback(said.append)
        return state

    leases = Leases(path.parent / "senders")
    intents = Journal(traced, leases, clock)
    first = intents.record(asked())
    intents.release(first)
    intents.lease(first.id)
    again = [line.split()[0] for line in said if "INSERT" in line or "UPDATE" in line]
    assert again == ["INSERT", "UPDATE", "UPDATE"]  # recorded, released, leased
    loose = [number for number, line in enumerate(said) if line.endswith("synchronous = NORMAL")]
    tight = [number for number, line in enumerate(said) if line.endswith("synchronous = FULL")]
    commits = [number for number, line in enumerate(said) if line == "COMMIT"]
    assert len(commits) == 3
    assert commits[0] < loose[0] < commits[1] < tight[0] < commits[2]
    for call in (
        lambda: intents.settle(first, DONE),
        lambda: intents.withdraw("key-2"),
        lambda: intents.release(first),
    ):
        said.clear()
        call()
        assert said.index("COMMIT") > said.index("PRAGMA synchronous = NORMAL")
        assert intents._state().rows("PRAGMA synchronous") == [{"synchronous": 2}]
    intents._state().close()
    leases.close()


def test_journal_cannot_be_opened_means_nothing_is_recorded(clock: ManualClock) -> None:
    """The caller gets the error before it could send anything (R2, R70)."""

    def refuse() -> Database:
        raise LocalError("no")

    with pytest.raises(LocalError):
        Journal(refuse, Leases(Path("/nonexistent/x")), clock).record(asked())


@pytest.mark.parametrize("late", [False, True])
def test_what_goes_into_a_file_that_is_gone_is_not_recorded(
    late: bool, opened: Open, path: Path, clock: ManualClock
) -> None:
    """R2, R102: also where it was deleted in the midst, so that nothing is sent unrecorded."""
    assert opened().list() == []

    def new_id() -> str:
        if late:
            path.unlink()
        return fresh_id()

    with (
        closing(Leases(path.parent / "senders")) as leases,
        closing(Database.open(path, clock=clock)) as state,
    ):
        if not late:
            path.unlink()
        with pytest.raises(LocalError) as caught:
            Journal(lambda: state, leases, clock, new_id).record(asked())
    assert caught.value.code in LOST


def test_what_another_request_has_made_settles_nothing(intents: Journal) -> None:
    """R93: whoever settles is told so, of one alone and of several."""
    first, second, third = (intents.record(asked(key=f"key-{n}"), new_request=True) for n in "123")
    assert intents.settle(first, DONE)
    assert not intents.settle(second, DONE)
    assert intents.settle_many([(third, done()), (second, DONE)]) == {second.id}
    kept = intents.find(second.id)
    assert kept is not None
    assert kept.is_unresolved


def test_sign_of_life_goes_with_its_sender(tmp_path: Path) -> None:
    """R69: while it is there others hold back; it leaves nothing that anybody has to tidy up."""
    folder = tmp_path / "senders"
    one, other = Leases(folder), Leases(folder)
    token = one.token
    assert other.is_alive(token)
    one.close()
    assert list(folder.iterdir()) == []
    assert not other.is_alive(token)


def test_sign_of_life_that_cannot_be_given_stops_everything(intents: Journal, path: Path) -> None:
    """Without it nobody could tell later whether the request is being sent (R69, R70)."""
    path.parent.mkdir(mode=0o700)
    (path.parent / "senders").write_text("in the way")
    with pytest.raises(LocalError, match="senders"):
        intents.record(asked())
    assert intents.list() == []


def test_record_many_is_all_or_nothing(intents: Journal) -> None:
    """One row that cannot be recorded undoes the others, and frees their leases."""
    other = asked(refunds.create({"payment": "pay_2"}), "key-1")
    with pytest.raises(Conflict):
        intents.record_many([asked(), other])
    assert intents.list() == []
    (one, two) = intents.record_many([asked(), asked(key="key-2", batch="b", row=7)])
    assert [one.batch, two.batch, two.row] == [None, "b", 7]
    assert [kept.id for kept in intents.list(batch="b")] == [two.id]


def test_a_key_twice_in_one_group_is_recorded_for_neither(intents: Journal) -> None:
    """Keys are looked for once for the whole group; what the group itself brings counts, too."""
    elsewhere = asked(scope=OTHERS)  # the same key of another profile is another one
    for second, code in (
        (asked(), "request_in_flight"),
        (asked(orders.create({"amount": 1, "currency": "EUR"})), "idempotency_key_reused"),
    ):
        with pytest.raises(Conflict) as info:
            intents.record_many([asked(), elsewhere, second])
        assert info.value.code == code
        assert intents.list() == []
    made = intents.record_many([asked(), elsewhere])
    assert [one.seq for one in made] == [1, 2]
    assert intents.list() == made[::-1]


@pytest.mark.parametrize("drawn", ["b36mc2tfx47cmbqkydfb", "cmtfcmtfcmtfcmtfcmtf"])
def test_an_id_is_never_taken_for_a_secret(drawn: str) -> None:
    """An error shows whole what is to be typed: `svc requests resume rq_...`."""
    letters = "0123456789abcdefghjkmnpqrstvwxyz"
    made = id_of(bytes(map(letters.index, drawn)))
    assert len(made) == len("rq_") + 20
    assert redact(f"Next: svc requests resume {made}") == f"Next: svc requests resume {made}"
    assert redact(f"rq_{drawn}") != f"rq_{drawn}"


def test_ids_are_easy_to_tell_apart_and_to_type() -> None:
    """`rq_` and 20 lower-case letters and digits."""
    ids = {fresh_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(len(one) == 23 and one.startswith("rq_") and one.islower() for one in ids)


# --- twins and keys ---------------------------------------------------------------------------


def test_unresolved_twin_stops_the_same_request(intents: Journal) -> None:
    """R5: exit 6, naming the command that settles the first and the way to a second one."""
    first = intents.record(asked())
    end(intents, first)
    with pytest.raises(Conflict) as caught:
        intents.record(asked(key="key-2"))
    error = caught.value
    assert (error.code, error.request, error.idempotency_key) == (
        "request_unresolved",
        first.id,
        "key-1",
    )
    assert f"svc requests resume {first.id}" in (error.hint or "")
    assert "--new-request" in (error.hint or "")
    assert intents.record(asked(key="key-2"), new_request=True).id != first.id


def test_twin_in_flight_is_waited_for(opened: Open) -> None:
    """R5, R69: while another process sends it, it is not to be resumed but awaited."""
    opened().record(asked())
    with pytest.raises(Conflict, match="another process now"):
        opened().record(asked(key="key-2"))


@pytest.mark.parametrize("before", [0.5, 0.0])
def test_what_another_process_ended_since_a_person_asked_is_not_sent_again(
    opened: Open, clock: ManualClock, before: float
) -> None:
    """R91: a command that waited for the journal meets an end which the person could not know of.

    Nor does a clock whose ticks are longer than a request tell that the first was over.
    """
    began_at = clock.now()
    clock.advance(before)
    first = opened().record(asked())
    end(opened(), first, "done")
    second = asked(key="key-2")._replace(meant_at=began_at)
    with pytest.raises(Conflict, match="by another process after this command had begun") as caught:
        opened().record(second)
    assert (caught.value.outcome, caught.value.request) == ("not_sent", first.id)
    assert "--new-request" in (caught.value.hint or "")
    end(opened(), opened().record(second, new_request=True), "done")
    clock.advance(0.1)
    later = asked(key="key-3")._replace(meant_at=clock.now())
    assert opened().record(later).sendings == 1


@pytest.mark.parametrize("outcome", ["done", "refused", "not_sent"])
def test_settled_request_may_be_sent_a_second_time(intents: Journal, outcome: str) -> None:
    """Two equal orders in a row are two orders: only an open outcome stops the second."""
    end(intents, intents.record(asked()), outcome)
    assert intents.record(asked(key="key-2")).sendings == 1


@pytest.mark.parametrize(
    "other",
    [
        asked(refunds.create({"payment": "pay_1", "amount": 5000}), "key-2"),
        asked(find.post("/v1/other", {"payment": "pay_1", "amount": 4999}), "key-2"),
        asked(key="key-2", scope=SCOPE._replace(mode="live")),
        asked(key="key-2", scope=OTHERS, account=Account(other=frozenset((SCOPE.key_hint,)))),
        asked(key="key-2", scope=SCOPE._replace(base_url="https://other.example.com")),
    ],
    ids=["body", "path", "mode", "account", "address"],
)
def test_another_request_is_no_twin(intents: Journal, other: Asked) -> None:
    """What differs in any of these is another request."""
    end(intents, intents.record(asked()))
    assert intents.twin(other) is None
    assert intents.twin(asked(key="key-2")) is not None
    intents.record(other)


def test_own_key_with_another_request_is_refused(intents: Journal) -> None:
    """R12: before anything is sent, whatever became of the first."""
    end(intents, intents.record(asked()), "done")
    other = asked(refunds.create({"payment": "pay_1", "amount": 1}))
    with pytest.raises(Conflict) as caught:
        intents.record(other, new_request=True)
    assert caught.value.code == "idempotency_key_reused"
    assert caught.value.outcome == "not_sent"


def test_own_key_with_the_same_request_begins_it_again(intents: Journal) -> None:
    """The key names one request, so it is that one's row which is sent again."""
    first = intents.record(asked())
    end(intents, first)
    again = intents.record(asked())
    assert (again.id, again.sendings, again.sent_before) == (first.id, 2, True)


def test_own_key_of_a_done_request_asks_for_its_answer_whatever_else_is_open(
    intents: Journal,
) -> None:
    """R5: it can make nothing more, so that an unresolved twin is no reason to hold it back."""
    end(intents, intents.record(asked()), "done")
    end(intents, intents.record(asked(key="key-2")))
    again = intents.record(asked())
    assert (again.state, again.sendings, again.sent_before) == ("done", 2, True)


def test_own_key_is_not_sent_under_another_accounts_key(intents: Journal) -> None:
    """R12, R19: another account would carry out what the first may have carried out already."""
    first = intents.record(asked())
    end(intents, first)
    other = asked(scope=SCOPE._replace(key_hint="sk_test_…wxyz"))
    for call in (intents.record, lambda one: intents.record_many([one])):
        with pytest.raises(Conflict) as caught:
            call(other)
        assert (caught.value.outcome, caught.value.request) == ("not_sent", first.id)
        assert f"svc requests resume {first.id}" in (caught.value.hint or "")
    kept = intents.find(first.id)
    assert kept is not None
    assert (kept.state, kept.scope, kept.sendings) == ("unknown", SCOPE, 1)
    rolled = intents.record(other._replace(account=Account(same=frozenset((SCOPE.key_hint,)))))
    assert (rolled.id, rolled.sent_before) == (first.id, True)


def test_own_key_of_a_done_request_is_spent_after_23_hours(
    intents: Journal, clock: ManualClock
) -> None:
    """The service would do it a second time once it has forgotten the key (R4)."""
    first = intents.record(asked())
    intents.settle(first, DONE)
    clock.advance(23 * HOUR - 1)
    again = intents.record(asked())
    assert (again.state, again.sent_before) == ("done", True)
    end(intents, again, "unknown")
    kept = intents.find(first.id)
    assert kept is not None
    assert kept.settled == DONE
    clock.advance(1)
    with pytest.raises(Conflict, match="second time"):
        intents.record(asked())


def test_what_was_not_sent_belongs_to_the_account_that_carried_it_out(intents: Journal) -> None:
    """R95: a list that was refused under one key and done under another is the other one's."""
    end(intents, intents.record(asked()), "not_sent")
    scope = SCOPE._replace(key_hint="sk_test_…wxyz")
    again = intents.record(asked(scope=scope))
    end(intents, again, "done")
    kept = intents.find(again.id)
    assert kept is not None
    assert (kept.sendings, kept.state, kept.scope) == (2, "done", scope)


def test_key_of_a_request_that_was_not_sent_is_fresh(intents: Journal, clock: ManualClock) -> None:
    """What the service never saw has no age: its 24 hours begin with the next attempt."""
    end(intents, intents.record(asked()), "not_sent")
    clock.advance(30 * HOUR)
    again = intents.record(asked())
    assert (again.first_sent_at, again.sent_before) == (clock.now(), False)


@pytest.mark.parametrize("identifier", ["x_\ud800", "a b", 7])
def test_an_odd_id_is_done_without_it(intents: Journal, identifier: object) -> None:
    """R10, R25: of a call that we do not know, an id that no object can have is not kept."""
    made = intents.record(asked(find.post("/v1/other")))
    reply = Reply(200, (), "", {"id": identifier}, (), None, replayed=False, attempts=1)
    intents.settle(made, settled_by(reply))
    kept = intents.find(made.id)
    assert kept is not None
    assert kept.settled == Settled("done", 200)


# --- forgetting --------------------------------------------------------------------------------


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
    plan = intents._state().rows(f"EXPLAIN QUERY PLAN {PRUNE}", (0,))
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


# --- sending again ----------------------------------------------------------------------------


def test_lease_takes_an_unresolved_request(intents: Journal, clock: ManualClock) -> None:
    """R3: same key, same bytes, and only a definite answer will settle it."""
    first = intents.record(asked())
    end(intents, first)
    clock.advance(60)
    again = intents.lease(first.id)
    assert again.stored == first.stored
    assert (again.sendings, again.sent_before) == (2, True)
    assert (again.first_sent_at, again.last_sent_at) == (first.first_sent_at, clock.now())


def test_what_was_begun_anew_is_not_resumed_beside_it(intents: Journal) -> None:
    """R91: the first was not carried out, the second may have been; one of them is meant."""
    first = intents.record(asked())
    end(intents, first, "not_sent")
    second = intents.record(asked(key="key-2"))
    end(intents, second)
    with pytest.raises(Conflict, match="begun once more") as caught:
        intents.lease(first.id)
    assert caught.value.request == second.id
    assert f"svc requests resume {second.id}" in (caught.value.hint or "")
    with pytest.raises(Conflict):
        intents.record(asked())
    end(intents, intents.lease(second.id), "not_sent")
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
    made = intents.record(asked())
    if settled is not None:
        intents.settle(made, settled)
    kept = intents.find(made.id)
    assert kept is not None
    assert kept.is_contradicted is contradicted


def test_an_answer_that_contradicts_its_request_is_no_witness(intents: Journal) -> None:
    """It may name somebody else's object, which then seems to be of another account."""
    contradicted = intents.record(asked())
    end(intents, contradicted, "done", object_id="rf_x", error_code="reply_contradiction")
    end(intents, intents.record(asked(key="key-2")), "done", object_id="rf_ours")
    assert intents.made_with(SCOPE.key_hint, SCOPE) == ("rf_ours",)


def test_second_lease_is_refused_until_the_first_ends(opened: Open) -> None:
    """R69: never two requests in flight with one key, in one process or in two."""
    one, two = opened(), opened()
    first = one.record(asked())
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
from svc.client.resources import refunds
from svc.client.journal.journal import Journal
from svc.client.journal.leases import Leases
from svc.client.journal.journal import EVERY, PRUNE
from svc.client.journal.entry import Account, Asked, Scope
from svc.client.request import prepare
from svc.clock import ManualClock
from svc.state import Database
from svc.base_url import BaseUrl
base, call = BaseUrl.parse({str(BASE)!r}), refunds.create({{"payment": "pay_1"}})
path, clock = pathlib.Path({str(path)!r}), ManualClock()
intents = Journal(lambda: Database.open(path, clock=clock), Leases(path.parent / "senders"), clock)
scope = Scope(*{tuple(SCOPE)!r})
print(intents.record(Asked(call, prepare(call, base, new_key=lambda: "k"), scope)).id, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
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
    first = intents.record(asked())
    end(intents, first, outcome, object_id="rf_9" if outcome == "done" else None)
    with pytest.raises(Conflict) as caught:
        intents.lease(first.id)
    assert (caught.value.code, caught.value.outcome) == ("request_settled", outcome)
    assert ("rf_9" in caught.value.message) == (outcome == "done")
    assert not is_busy(intents, first)


def test_request_that_was_too_much_is_resumed(intents: Journal) -> None:
    """R11: 429 to the end keeps the key."""
    first = intents.record(asked())
    error = RateLimited("busy", status=429, outcome="refused")
    intents.settle(first, settled_with(error))
    again = intents.lease(first.id)
    assert again.sent_before is False


def test_resume_is_refused_after_23_hours(intents: Journal, clock: ManualClock) -> None:
    """R4: to the second; it names what to look at, and the request stays listed."""
    first = intents.record(asked())
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
    first = intents.record(asked())
    end(intents, first)
    clock.advance(-11)
    with pytest.raises(OutcomeUnknown) as caught:
        intents.lease(first.id)
    assert caught.value.code == "clock_behind"


def test_resume_takes_a_clock_that_was_put_back_by_seconds(
    intents: Journal, clock: ManualClock
) -> None:
    """R4: a clock that is kept right goes back a little now and then; that is no question of age."""
    first = intents.record(asked())
    end(intents, first)
    clock.advance(-0.4)
    assert intents.lease(first.id).sent_before


@pytest.mark.parametrize(
    ("call", "look"),
    [
        (orders.create({"amount": 1}), "svc orders list --all --created-gte 2023-11-14T22:08:20Z"),
        (orders.capture("ord_1"), "svc orders retrieve ord_1"),
        (orders.cancel("ord_1"), "svc orders retrieve ord_1"),
        (refunds.create({"payment": "pay_1"}), "svc payments retrieve pay_1"),
        (refunds.create({"payment": "pay_1"}, encoding="form"), "svc payments retrieve pay_1"),
        (refunds.create({"payment": "$(rm x)"}), "svc refunds list --all"),
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
    first = intents.record(asked(call, scope=SCOPE._replace(mode="live")))
    end(intents, first)
    clock.advance(24 * HOUR)
    with pytest.raises(OutcomeUnknown) as caught:
        intents.lease(first.id)
    hint = caught.value.hint or ""
    assert look in hint
    assert ("--live" in hint) == ("dashboard" not in look)
    assert "$(" not in hint


def test_what_will_not_be_sent_is_taken_back(opened: Open) -> None:
    """R78: a signal came in the midst of recording; no twin stands in the way afterwards."""
    one, two = opened(), opened()
    first = one.record(asked())
    two.withdraw("key-1")  # of another process
    assert is_busy(two, first)
    one.withdraw("key-1")
    kept = two.find(first.id)
    assert kept is not None
    assert (kept.state, kept.is_unresolved) == ("not_sent", False)
    assert not is_busy(two, first)
    assert two.record(asked(key="key-2")).sendings == 1


def test_whoever_ends_waits_no_longer_for_other_processes(intents: Journal, path: Path) -> None:
    """R78: stopped within a second, also while somebody else holds the database."""
    intents.hurry(0.01)  # nothing is open yet
    first = intents.record(asked())
    intents.hurry(0.01)
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
    with closing(Leases(folder)) as leases, pytest.raises(LocalError, match="senders"):
        leases.is_alive("0123")
    assert Leases(folder).is_alive(None) is False


# --- settling, forgetting, listing ------------------------------------------------------------


def test_settle_frees_the_lease_and_keeps_the_end(opened: Open) -> None:
    """What became of it is there for the next process."""
    one, two = opened(), opened()
    first = one.record(asked())
    one.settle(first, DONE)
    assert not is_busy(two, first)
    kept = two.find(first.id)
    assert kept is not None
    assert (kept.state, kept.settled) == ("done", DONE)
    assert two.list(unresolved=True) == []


def test_error_text_is_kept_without_secrets(intents: Journal) -> None:
    """R45: what the service or the network said may have held a key."""
    first = intents.record(asked())
    error = OutcomeUnknown("it said sk_test_canarycanary", outcome="unknown")
    intents.settle(first, settled_with(error))
    kept = intents.find(first.id)
    assert kept is not None
    assert kept.settled is not None
    assert "canarycanary" not in (kept.settled.error_message or "")


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


def test_keys_of_the_same_request_are_told(intents: Journal) -> None:
    """R91: those that are not known to be of the account; who asks looks whose they are."""
    end(intents, intents.record(asked()))
    other = asked(key="key-2", scope=SCOPE._replace(key_hint="sk_test_…wxyz"))
    assert intents.strangers(other) == {SCOPE.key_hint}
    rolled = other._replace(account=Account(same=frozenset((SCOPE.key_hint,))))
    assert intents.strangers(rolled) == intents.strangers(asked(key="key-3")) == frozenset()
    assert intents.strangers(asked(orders.create({"amount": 1}), scope=other.scope)) == frozenset()


def test_what_one_request_has_made_no_other_has_made(intents: Journal) -> None:
    """R93: in one state of a sandbox; after a reset the same ids are given again."""
    first, second = intents.record_many([asked(), asked(key="key-2")])
    intents.settle(first, DONE._replace(world="w_1"))
    assert intents.is_taken(second, "rf_1", "w_1")
    assert not intents.is_taken(second, "rf_1", "w_2")
    assert not intents.is_taken(second, "rf_2", "w_1")
    assert not intents.is_taken(first, "rf_1", "w_1")


def test_list_is_newest_first(intents: Journal) -> None:
    """And a limit takes the newest."""
    made = [intents.record(asked(orders.create({"amount": n}), f"k{n}")).id for n in range(3)]
    assert [kept.id for kept in intents.list()] == made[::-1]
    assert [kept.id for kept in intents.list(limit=1)] == made[-1:]


@pytest.mark.parametrize("mode", ["test", "live"])
def test_request_knows_whether_it_moves_money(mode: str, intents: Journal) -> None:
    """The command that sends it again names the mode."""
    kept = intents.record(asked(scope=SCOPE._replace(mode=mode)))
    assert kept.is_live is (mode == "live")


def test_by_key_finds_the_request_of_its_scope(intents: Journal) -> None:
    """A key means something only within profile, mode and address."""
    first = intents.record(asked())
    found = intents.by_key("key-1", SCOPE)
    assert found is not None
    assert found.id == first.id
    assert intents.by_key("key-1", SCOPE._replace(mode="live")) is None


def test_objects_of_a_key_are_the_latest_that_it_made(intents: Journal) -> None:
    """What one key has made shows whether another is of its account; ten are enough."""
    for number in range(12):
        end(intents, intents.record(asked(key=f"k-{number}")), "done", object_id=f"rf_{number}")
    end(intents, intents.record(asked(key="refused")), "refused", object_id="rf_no")
    other = SCOPE._replace(key_hint="sk_test_…else")
    end(intents, intents.record(asked(key="else", scope=other)), "done", object_id="rf_else")
    latest = tuple(f"rf_{number}" for number in range(11, 1, -1))
    assert intents.made_with(SCOPE.key_hint, SCOPE) == latest
    assert intents.made_with(other.key_hint, SCOPE) == ("rf_else",)
    assert intents.made_with("sk_test_…none", SCOPE) == ()
    assert intents.made_with(SCOPE.key_hint, SCOPE._replace(mode="live")) == ()


@pytest.mark.parametrize(
    ("code", "kept"), [("amount_too_large", "amount_too_large"), (None, "api_error")]
)
def test_end_keeps_the_services_code_or_else_the_kind(code: str | None, kept: str) -> None:
    """Something is always there to go by, for people and for what follows from a code."""
    error = ApiError("No.", code=code, status=400, request_id="req_1", outcome="refused")
    ended = settled_with(error)
    assert (ended.error_code, ended.outcome, ended.status) == (kept, "refused", 400)
    assert (ended.request_id, ended.object_id) == ("req_1", None)
    assert settled_with(ApiError("No.", outcome=None)).outcome == "unknown"
