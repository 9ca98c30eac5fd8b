"""What the journal lets go of in lists that nobody has run for long."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from io import BytesIO

import pytest

from support.calls import refunds
from svc.client.request import prepare
from svc.delivery.journal.batches import BatchName, BatchTable, Duplicate, default_name
from svc.delivery.journal.entry import NewIntent, Scope, Settled, store_call
from svc.delivery.journal.sender_locks import SenderLocks
from svc.errors import Conflict, LocalError
from unit.batch.floor import Floor
from unit.delivery.rows import BASE, SCOPE

DAY = 24 * 3600


class Later:
    """The time so many days from now."""

    def __init__(self, floor: Floor, days: float) -> None:
        self._now = floor.clock.now() + days * DAY

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        raise AssertionError


def ledger(floor: Floor, days: float = 0) -> BatchTable:
    return BatchTable(floor.state, floor.sender_locks, Later(floor, days))


def ran(floor: Floor, amounts: list[int | str]) -> None:
    """Runs a list as the command does."""
    ledger(floor).begin(floor.batch)
    ledger(floor).end(floor.batch)  # before the run, which ends this process's leases
    floor.run(amounts)


def bodies(floor: Floor) -> list[bytes]:
    return [intent.stored.body for intent in floor.intents.list(batch=floor.batch.id)]


@pytest.mark.parametrize(("days", "packed"), [(89, False), (91, True)])
def test_bodies_of_an_old_list_are_let_go_of(floor: Floor, days: float, packed: bool) -> None:
    """After 90 days; what keeps its rows from being sent again stays for ever (R16)."""
    count = 600  # more than are done in one piece
    ran(floor, list(range(1, count + 1)))
    ledger(floor, days).compact_expired_batch()
    assert (bodies(floor) == [b""] * count) is packed
    sent = len(floor.service.requests)
    assert floor.run(list(range(1, count + 2))).totals.skipped == count
    assert len(floor.service.requests) == sent + 1


def test_bodies_of_a_list_whose_process_was_killed_are_let_go_of(floor: Floor) -> None:
    """Its lease is still there, and nobody lives who holds it."""
    floor.run([1, 2])
    ledger(floor).begin(floor.batch)
    ledger(floor, 91).compact_expired_batch()
    assert all(bodies(floor))  # it runs
    floor.sender_locks.close()
    ledger(floor, 91).compact_expired_batch()
    assert bodies(floor) == [b"", b""]


def test_list_that_runs_is_not_begun_a_second_time(floor: Floor) -> None:
    """R69: the second one sends nothing, says so, and can begin once the first has ended."""
    ledger(floor).begin(floor.batch)
    with closing(SenderLocks(floor.folder / "state" / "senders")) as others:
        second = BatchTable(floor.state, others, floor.clock)
        with pytest.raises(Conflict, match="Nothing was sent") as caught:
            second.begin(floor.batch)
        assert (caught.value.code, caught.value.outcome) == ("batch_in_progress", "not_sent")
        assert caught.value.hint == "Wait until it has ended; then run this again"
        ledger(floor).end(floor.batch)
        second.begin(floor.batch)
        second.end(floor.batch)


def test_unresolved_rows_of_an_old_list_stay_whole(floor: Floor) -> None:
    """R5: nobody knows what became of them; what was refused or not sent goes."""
    floor.service.answer = lambda request, nth: (
        400 if b'"amount":1,' in request.body else 505 if b'"amount":2,' in request.body else None
    )
    ran(floor, [1, 2, 3])
    assert floor.states == ["refused", "unknown", "done"]
    ledger(floor, 91).compact_expired_batch()
    assert floor.states == ["unknown", "done"]
    assert [bool(body) for body in bodies(floor)] == [True, False]


def test_one_list_at_a_time_and_each_once(floor: Floor) -> None:
    """The end of a run takes no long time over it; a list that is run again is looked at again."""
    ran(floor, [1])
    ledger(floor, 91).compact_expired_batch()
    (row,) = floor.state.rows("SELECT packed_at FROM batches")
    assert row["packed_at"] is not None
    ran(floor, [1, 2])
    (row,) = floor.state.rows("SELECT packed_at FROM batches")
    assert row["packed_at"] is None
    assert [bool(body) for body in bodies(floor)] == [False, True]


def test_nobody_else_begins_between_looking_and_reserving(floor: Floor) -> None:
    """R92: two lists that share rows look one after the other, so that the second sees the first."""
    database = floor.folder / "state" / "state.db"
    looked: list[Sequence[Duplicate]] = []

    def look(found: Sequence[Duplicate]) -> None:
        looked.append(found)
        with (
            closing(sqlite3.connect(database, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")

    ledger(floor).begin(floor.batch)
    ledger(floor).reserve(floor.batch, ["one", "two"], look)
    assert looked == [[]]
    with closing(sqlite3.connect(database, timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")


@pytest.mark.parametrize("killed", [False, True])
def test_what_a_list_held_is_free_afterwards(floor: Floor, killed: bool) -> None:
    """R91, R92: a command under another key no longer has to ask whose account the list was of."""
    call = refunds.create({"payment": "pay_1"})
    prepared = prepare(call, BASE, new_key=lambda: "key-1")
    scope = floor.batch.scope._replace(key_fingerprint="sk_test_…wxyz")
    asked = NewIntent(store_call(call, prepared), scope, alike=("one", "one"))
    ledger(floor).begin(floor.batch)
    ledger(floor).reserve(floor.batch, ["one"], lambda _: None)
    assert floor.intents.list_other_keys(asked) == {floor.batch.scope.key_fingerprint}
    if killed:
        floor.sender_locks.close()
        ledger(floor, 91).compact_expired_batch()
    else:
        ledger(floor).end(floor.batch)
    assert floor.intents.list_other_keys(asked) == frozenset()


OTHER = BatchName("/b/refunds.csv", "refunds.create", SCOPE)


def kept(floor: Floor, *identities: str) -> list[Duplicate]:
    """What another list is told about these."""
    return ledger(floor).duplicates(OTHER, identities)


def test_what_another_list_is_about_to_send_is_seen(floor: Floor) -> None:
    """R92: while its process lives; what a dead one held is free, and nobody stumbles over it."""
    ledger(floor).begin(floor.batch)
    ledger(floor).reserve(floor.batch, ["one", "two"], lambda _: None)
    held = Duplicate("one", floor.batch, False, None, None, SCOPE.key_fingerprint, SCOPE.profile)
    with closing(SenderLocks(floor.folder / "state" / "senders")) as others:
        second = BatchTable(floor.state, others, floor.clock)
        second.begin(OTHER)
        seen: list[Sequence[Duplicate]] = []
        second.reserve(OTHER, ["one", "three"], seen.append)
        assert seen == [[held]]
        assert ledger(floor).duplicates(floor.batch, ["three"]) != []
        assert ledger(floor).duplicates(floor.batch, ["two"]) == []  # its own
        floor.sender_locks.close()
        second.reserve(OTHER, ["one"], seen.append)
        assert seen[1:] == [[]]
    rows = floor.state.rows("SELECT identity, batch_id FROM reservations")
    assert rows == [{"identity": "one", "batch_id": OTHER.id}]


def test_what_is_too_much_is_not_reserved(floor: Floor) -> None:
    """R92: whoever refuses what says the same elsewhere leaves nothing behind."""

    def refuse(_: Sequence[Duplicate]) -> None:
        raise ZeroDivisionError

    ledger(floor).begin(floor.batch)
    with pytest.raises(ZeroDivisionError):
        ledger(floor).reserve(floor.batch, ["one"], refuse)
    assert kept(floor, "one") == []


def test_a_list_with_something_left_to_send_is_not_whole(floor: Floor) -> None:
    """R92: from the moment on that it is reserved; one with nothing left stays as it was."""
    ledger(floor).begin(floor.batch)
    ledger(floor).end(floor.batch, whole=True)
    ledger(floor).reserve(floor.batch, [], lambda _: None)
    ((_, at),) = ledger(floor).labels_of(floor.batch)
    assert at is not None
    ledger(floor).reserve(floor.batch, ["one"], lambda _: None)
    assert ledger(floor).labels_of(floor.batch) == [("", None)]


def test_what_was_done_or_is_open_elsewhere_is_seen(floor: Floor) -> None:
    """R5, R115: what was carried out by any means, and what is unresolved; with its object."""
    floor.service.answer = lambda request, nth: 400 if b'"amount":3,' in request.body else None
    ran(floor, [1, 3])
    done, refused = floor.intents.list(batch=floor.batch.id)
    assert done.settled_at is not None
    assert kept(floor, *map(str, range(500)), done.likeness, refused.likeness) == [
        Duplicate(
            done.likeness,
            floor.batch,
            True,
            done.id,
            done.settled_at,
            SCOPE.key_fingerprint,
            SCOPE.profile,
            "rf_1",
            key=done.stored.idempotency_key,
            seq=done.seq,
            created_at=done.created_at,
        )
    ]
    assert ledger(floor).duplicates(floor.batch, [done.likeness]) == []
    call = refunds.create({"payment": "pay_1"})
    asked = NewIntent(store_call(call, prepare(call, BASE, new_key=lambda: "key-1")), SCOPE)
    single = floor.intents.record(asked)
    (found,) = kept(floor, single.likeness)
    assert (found.batch, found.done, found.request, found.settled_at) == (
        None,
        False,
        single.id,
        None,
    )
    floor.intents.settle(single, Settled("done", 200, "rf_9"))
    (found,) = kept(floor, single.likeness)
    assert (found.batch, found.done, found.object_id) == (None, True, "rf_9")
    ledger(floor).begin(OTHER)
    ledger(floor).adopt(OTHER, [single.id])
    assert kept(floor, single.likeness) == []  # it is a row of that batch from now on
    assert [one.id for one in floor.intents.list(batch=OTHER.id)] == [single.id]


@pytest.mark.parametrize("late", [False, True])
def test_nothing_is_reserved_in_a_file_that_is_gone(floor: Floor, late: bool) -> None:
    """R102: before anything is looked at, and also where it went in the midst."""
    looked = []

    def look(found: Sequence[Duplicate]) -> None:
        looked.append(found)
        if late:
            (floor.folder / "state" / "state.db").unlink()

    ledger(floor).begin(floor.batch)
    if not late:
        (floor.folder / "state" / "state.db").unlink()
    with pytest.raises(LocalError):
        ledger(floor).reserve(floor.batch, ["one"], look)
    assert bool(looked) is late


def test_ids_and_keys_are_the_same_everywhere_and_for_ever() -> None:
    """R114: another machine, or a later release, sends no row under another key than the first."""
    scope = Scope("default", "test", "https://api.example.com", "sk_test_…nary")
    batch = BatchName("salaries", "refunds.create", scope, "2026-11")
    assert batch.id == "imp_apanymemzdn78as0kky0"
    assert batch.key_of("one", 0) == "8d33fed7-8ab5-8daa-985e-01ab952f305d"
    assert batch.key_of("one", 1) == "9270d58f-d29c-81cb-87ff-af9ab85321ff"
    assert batch.key_of("one", 0, 1) == "e30db8fc-9bf9-8272-9490-fcadd0457cfe"
    assert batch.key_of("two", 0) == "232d258a-a707-84da-95f5-742257f53c1d"
    assert default_name("-", BytesIO(b"x")) == "stdin:2d711642b726b044"
    elsewhere = scope._replace(profile="ci", key_fingerprint="sk_test_…wxyz")
    assert BatchName(batch.name, batch.operation, elsewhere, batch.label).id == batch.id
    others = {
        BatchName("other", batch.operation, scope, batch.label).id,
        BatchName(batch.name, "payouts.create", scope, batch.label).id,
        BatchName(batch.name, batch.operation, scope).id,
        BatchName(batch.name, batch.operation, scope._replace(mode="live"), batch.label).id,
        BatchName(batch.name, batch.operation, scope._replace(base_url="https://x.example")).id,
    }
    assert len(others - {batch.id}) == 5


def test_batches_of_an_earlier_release_keep_their_rows(floor: Floor) -> None:
    """R16: their ids held the profile; what they have done is found under the id of today."""
    ran(floor, [1, 2])
    old = floor.batch.old_id
    floor.state.change(
        lambda tx: (
            tx.execute("UPDATE batches SET id = ?, label = NULL", (old,)),
            tx.execute("UPDATE requests SET batch_id = ?", (old,)),
        )
    )
    assert floor.intents.list(batch=floor.batch.id) == []
    ledger(floor)
    assert [one.state for one in floor.intents.list(batch=floor.batch.id)] == ["done", "done"]
