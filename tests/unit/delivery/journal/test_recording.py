"""What is committed before the first byte of a request leaves (promises R2, R3)."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from support.calls import orders, payouts, refunds
from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.client.request import prepare
from svc.delivery.journal.entry import NewIntent, restore_call, store_call
from svc.delivery.journal.journal import Journal, make_id
from svc.delivery.journal.sender_locks import SenderLocks
from svc.errors import Conflict, LocalError
from svc.state import LOST, Database
from unit.delivery.journal.asking import BASE, DONE, OTHERS, SCOPE, Open, asked, done


def test_record_keeps_all_that_is_needed_to_send_it_again(intents: Journal) -> None:
    """Key, bytes, path, version and address come back as they were sent (R1, R2)."""
    call = payouts.create({"amount": 10000, "currency": "EUR", "reference": "Zürich"})
    first = prepare(call, BASE, new_key=lambda: "key-1", api_version="2026-09-01")
    made = intents.record(NewIntent(store_call(call, first), SCOPE))
    kept = intents.find(made.id)
    assert kept is not None
    assert kept == made
    assert kept.is_unresolved
    assert (kept.first_sent_at, kept.sendings, kept.sent_before) == (1_700_000_000.0, 1, False)
    again, prepared = restore_call(kept.stored, BaseUrl.parse(kept.scope.base_url))
    assert prepared == first
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

    sender_locks = SenderLocks(path.parent / "senders")
    intents = Journal(traced, sender_locks, clock)
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
        lambda: intents.release(first),
    ):
        said.clear()
        call()
        assert said.index("COMMIT") > said.index("PRAGMA synchronous = NORMAL")
        assert intents._state().rows("PRAGMA synchronous") == [{"synchronous": 2}]
    intents._state().close()
    sender_locks.close()


def test_journal_cannot_be_opened_means_nothing_is_recorded(clock: ManualClock) -> None:
    """The caller gets the error before it could send anything (R2, R70)."""

    def refuse() -> Database:
        raise LocalError("no")

    with pytest.raises(LocalError):
        Journal(refuse, SenderLocks(Path("/nonexistent/x")), clock).record(asked())


@pytest.mark.parametrize("late", [False, True])
def test_what_goes_into_a_file_that_is_gone_is_not_recorded(
    late: bool, opened: Open, path: Path, clock: ManualClock
) -> None:
    """R2, R102: also where it was deleted in the midst, so that nothing is sent unrecorded."""
    assert opened().list() == []

    def new_id() -> str:
        if late:
            path.unlink()
        return make_id()

    with (
        closing(SenderLocks(path.parent / "senders")) as sender_locks,
        closing(Database.open(path, clock=clock)) as state,
    ):
        if not late:
            path.unlink()
        with pytest.raises(LocalError) as caught:
            Journal(lambda: state, sender_locks, clock, new_id).record(asked())
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
    one, other = SenderLocks(folder), SenderLocks(folder)
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


def test_ids_are_easy_to_tell_apart_and_to_type() -> None:
    """`rq_` and 20 lower-case letters and digits."""
    ids = {make_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(len(one) == 23 and one.startswith("rq_") and one.islower() for one in ids)
