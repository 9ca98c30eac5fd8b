"""The durable inbox: nothing that was acknowledged is lost, nothing is forwarded twice."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import (
    NOW,
    SECRET,
    TargetServer,
    arrival,
    attempt,
    ended,
    event,
    listening,
    outcomes,
)
from svc.errors import LocalError
from svc.listen.inbox.history import InboxHistory, InboxScope
from svc.listen.inbox.interfaces import Batch, InboundEvent, Position, StoreResult, TargetRest
from svc.listen.inbox.sqlite import SqliteInbox
from svc.state import Database, Tx

TARGET = "http://a"


def inbound(
    number: int, *, open_: bool = True, size: int = 0, at: float | None = None
) -> InboundEvent:
    given = event(number, note="x" * size), b"Content-Type: application/json\r\n"
    received_at = NOW + number if at is None else at
    if not open_:
        return arrival(*given, received_at, "unrouted")
    return arrival(*given, received_at, targets=(TARGET,))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as opened:
        yield opened


def test_store_tells_new_from_known(state: Database) -> None:
    """R50: an id is new once for each listener, within a batch, across batches and restarts."""
    inbox = SqliteInbox(state, "one")
    first = inbox.store(Batch([inbound(1), inbound(2), inbound(1)]))
    assert first == [
        StoreResult(1, False, False, True),
        StoreResult(2, False, False, True),
        StoreResult(1, True, False, True),
    ]
    again = SqliteInbox(state, "one").store(Batch([inbound(2), inbound(3)]))
    assert again == [StoreResult(2, True, False, True), StoreResult(3, False, False, True)]
    other = SqliteInbox(state, "two").store(Batch([inbound(1)]))
    assert other == [StoreResult(4, False, False, True)]
    assert state.rows("SELECT copies FROM inbox WHERE seq = 1") == [{"copies": 1}]


def test_copies_are_known_before_and_after_their_ids_are_listed(state: Database) -> None:
    """R50: also those of another listener's run, and after a restart in between."""
    one, other = (SqliteInbox(state, name, listed_at_once=3) for name in ("one", "two"))
    events = InboxHistory(state, InboxScope("", "", None))
    for number in range(1, 10):
        assert one.store(Batch([inbound(number)])) == [
            StoreResult(2 * number - 1, False, False, True)
        ]
        assert other.store(Batch([inbound(number)])) == [
            StoreResult(2 * number, False, False, True)
        ]
        again = SqliteInbox(state, "one", listed_at_once=3)
        for inbox in (one, again):
            copies = inbox.store(Batch([inbound(n) for n in range(1, number + 1)]))
            assert copies == [
                StoreResult(2 * n - 1, True, False, True) for n in range(1, number + 1)
            ]
        seqs = [entry and entry.seq for entry in map(events.find, [f"evt_{number}", "evt_1"])]
        assert seqs == [2 * number, 2]
    assert 0 < state.rows("SELECT COUNT(*) AS n FROM event_ids")[0]["n"] <= 18


def test_failed_events_stay_known_without_retake(state: Database) -> None:
    """Under `--ack received` an event that could not be forwarded is still a known one."""
    inbox = SqliteInbox(state, "one")
    inbox.store(Batch([inbound(1)]))
    [kept] = inbox.store(Batch([inbound(1)], ended([1], "failed")))
    assert kept == StoreResult(1, duplicate=True, again=False, open=False)


def begun(inbox: SqliteInbox, *targets: str, ordered: bool = False, anew: bool = True) -> None:
    inbox.begin(targets or (TARGET,), ordered=ordered, anew=anew)


def test_what_is_open_is_read_in_pages_of_rows_and_bytes(state: Database) -> None:
    """What is open is read back in order, in pages of bounded size, never an empty one too early."""
    inbox = SqliteInbox(state, "one")
    begun(inbox)
    inbox.store(Batch([inbound(n, size=900_000 if n < 9 else 0) for n in range(400)]))
    inbox.store(Batch(attempts=[*ended([2]), *ended([3], "failed")]))
    found: list[int] = []
    sizes = []
    while page := inbox.due(TARGET, found[-1] if found else 0, 256):
        found += [one.seq for one in page]
        sizes.append(sum(len(one.body) for one in page))
    assert found == [1, *range(4, 401)]
    assert max(sizes) < 6_000_000


def test_each_target_has_attempts_of_its_own(state: Database) -> None:
    """An open event comes with its bytes, and with what was tried at the target that asks."""
    inbox = SqliteInbox(state, "one")
    begun(inbox, "http://a", "http://b", "http://c")
    both = ("http://a", "http://b", "http://c")
    inbox.store(Batch([arrival(event(1, note=""), targets=both)]))
    batch = Batch(
        attempts=[
            attempt(1, "http://a"),
            attempt(1, "http://b", "later", next_at=NOW + 2.0),
            attempt(1, "http://b", "later", number=2, next_at=NOW + 10.0),
        ]
    )
    inbox.store(batch)
    assert (inbox.due("http://a", 0, 256), inbox.due("http://b", 0, 256), batch.ended) == (
        [],
        [],
        [],
    )
    assert inbox.again("http://b", NOW + 9, 256).soonest == NOW + 10
    [item] = inbox.again("http://b", NOW + 10, 256).items
    assert (item.attempts, item.redelivered, item.body) == (2, 2, event(1, note=""))
    [other] = inbox.due("http://c", 0, 256)
    assert (other.attempts, other.redelivered) == (0, 0)
    last = Batch(attempts=[attempt(1, "http://b"), attempt(1, "http://c", "failed")])
    inbox.store(last)
    assert [(one.seq, one.taken) for one in last.ended] == [(1, False)]


def test_success_of_a_target_makes_due_what_failed_with_it(state: Database) -> None:
    """What failed while others succeeded keeps to its time."""
    inbox = SqliteInbox(state, "one")
    begun(inbox)
    inbox.store(Batch([inbound(n) for n in range(1, 4)]))
    at = NOW + 3600.0
    failed = [attempt(n, verdict="later", ailing=n < 3, next_at=at) for n in (3, 2, 1)]
    inbox.store(Batch(attempts=failed, well=[TARGET]))
    found = inbox.again(TARGET, NOW, 256)
    assert [one.seq for one in found.items] == [1, 2]
    assert found.soonest == NOW + 3600


def test_an_event_waits_for_older_ones_of_its_object(state: Database) -> None:
    """`--ordered`: it is born waiting, and the end of the one before it frees it, and it alone."""
    inbox = SqliteInbox(state, "one")
    begun(inbox, ordered=True)
    same = [
        arrival(event(n, data={"object": {"id": "ord_1"}}), targets=(TARGET,), ordered=True)
        for n in range(1, 4)
    ]
    kept = inbox.store(Batch(same))
    assert [one.waits for one in kept if isinstance(one, StoreResult)] == [(), (TARGET,), (TARGET,)]
    assert [one.seq for one in inbox.due(TARGET, 0, 256)] == [1]
    again = Batch(attempts=ended([1], "later"))
    inbox.store(again)
    assert not again.freed
    batch = Batch(attempts=ended([1]))
    inbox.store(batch)
    assert batch.freed == {TARGET}
    assert [one.seq for one in inbox.again(TARGET, NOW, 256).items] == [2]
    begun(inbox)  # without order the last one waits for nothing
    assert sorted(one.seq for one in inbox.again(TARGET, NOW, 256).items) == [2, 3]
    begun(inbox, ordered=True)
    assert (
        inbox.due(TARGET, 0, 256),
        [one.seq for one in inbox.again(TARGET, NOW, 256).items],
    ) == (
        [],
        [2],
    )
    for seq, freed in ((2, {TARGET}), (3, set())):
        last = Batch(attempts=ended([seq]))
        inbox.store(last)
        assert last.freed == freed


def test_what_a_killed_run_had_open_may_have_been_sent(state: Database) -> None:
    """R124: after a clean end only what it cut off, after a kill all that it had read."""
    inbox = SqliteInbox(state, "one")
    begun(inbox)
    inbox.store(Batch([inbound(1), inbound(2)]))
    inbox.store(Batch(attempts=ended([1], "cut"), closing=[TARGET]))
    again = SqliteInbox(state, "one")
    begun(again)
    assert [one.redelivered for one in again.due(TARGET, 0, 256)] == [1, 0]
    again.store(Batch([inbound(3)]))
    after_kill = SqliteInbox(state, "one")
    begun(after_kill)
    after_kill.store(Batch([inbound(4)]))
    assert [one.redelivered for one in after_kill.due(TARGET, 0, 256)] == [2, 1, 1, 0]


def test_what_a_killed_run_had_not_read_was_not_sent(state: Database) -> None:
    """R124: a target that is away or slow has much waiting, of which nothing is under way."""
    inbox = SqliteInbox(state, "one")
    begun(inbox)
    inbox.store(Batch([inbound(1)], rests=[TargetRest(TARGET, 1.0, "refused", last=1)]))
    inbox.store(Batch([inbound(n) for n in range(2, 7)], rests=[TargetRest(TARGET, 2.0, None)]))
    killed = SqliteInbox(state, "one")
    begun(killed)
    killed.store(
        Batch(attempts=[attempt(4, verdict="later")], rests=[TargetRest(TARGET, 0, None, 2)])
    )
    assert [one.redelivered for one in killed.due(TARGET, 1, 2)] == [0, 0]  # which are sent now
    killed.store(Batch(rests=[TargetRest(TARGET, 0, None, 3)]))
    again = SqliteInbox(state, "one")
    begun(again)
    assert [one.redelivered for one in again.due(TARGET, 0, 256)] == [1, 1, 1, 0, 0]
    assert [one.seq for one in again.again(TARGET, NOW, 256).items] == [4]
    again.store(Batch(rests=[TargetRest(TARGET, 0, None, 3)]))
    again.again(TARGET, NOW, 256)
    third = SqliteInbox(state, "one")
    begun(third)  # what was under way at the first kill may still have been
    third.store(Batch(rests=[TargetRest(TARGET, 0, None, 1)]))
    assert third.due(TARGET, 6, 256) == []  # from here on what comes is sent at once
    third.store(Batch([inbound(7)]))
    last = SqliteInbox(state, "one")
    begun(last)
    assert {one.redelivered > 0 for one in last.due(TARGET, 0, 256)} == {True}


def test_what_waits_for_a_target_stays_with_it_unless_it_is_adopted(state: Database) -> None:
    """An event of one project goes to no other's handler; `--adopt` gives it to those of now."""
    inbox = SqliteInbox(state, "one")
    inbox.store(Batch([inbound(1), inbound(2)]))
    inbox.store(Batch(attempts=ended([1])))
    begun(inbox, "http://b")
    assert (inbox.due("http://b", 0, 256), inbox.count(["http://b"])) == ([], 0)
    inbox.adopt(lambda _: ["http://b"], ["http://b"])
    begun(inbox, "http://b")
    assert [one.seq for one in inbox.due("http://b", 0, 256)] == [2]
    assert outcomes(state) == ["forwarded", None]


def test_prune_keeps_what_failed_and_what_is_open(state: Database) -> None:
    """R50, R125: what was forwarded is kept for 30 days; what was not is never forgotten by age."""
    inbox = SqliteInbox(state, "one", listed_at_once=3)
    inbox.store(Batch([inbound(1), inbound(2), inbound(3), inbound(4, open_=False)]))
    inbox.store(Batch(attempts=[attempt(2, verdict="later"), *ended([2]), *ended([3], "failed")]))
    assert inbox.prune(NOW + 29 * 86400, 0) is None
    assert len(state.rows("SELECT seq FROM inbox")) == 4
    assert inbox.prune(NOW + 5 + 30 * 86400, 0) is None
    assert [row["seq"] for row in state.rows("SELECT seq FROM inbox")] == [1, 3]
    assert [row["inbox_seq"] for row in state.rows("SELECT inbox_seq FROM payloads")] == [1, 3]
    assert [row["inbox_seq"] for row in state.rows("SELECT inbox_seq FROM forwards")] == [3]
    assert [row["event"] for row in state.rows("SELECT event FROM ledger")] == [1, 3]
    assert [row["inbox_seq"] for row in state.rows("SELECT inbox_seq FROM event_ids")] == [1, 3]
    assert inbox.prune(NOW + 3650 * 86400, 0) is None
    assert len(state.rows("SELECT seq FROM inbox")) == 2


def prune(inbox: SqliteInbox, now: float) -> list[int | None]:
    """Prunes all of it; gives how far each piece has come."""
    reached: list[int | None] = [0]
    while (last := reached[-1]) is not None:
        reached.append(inbox.prune(now, last))
    return reached[1:]


def test_inbox_stops_growing(state: Database, tmp_path: Path) -> None:
    """R50: after 30 days each new one takes the place of an old one, in rows and on the disk."""
    inbox = SqliteInbox(state, "one")
    rows, sizes = [], []
    for day in range(40):
        now = NOW + day * 86400
        inbound_events = [
            inbound(day * 1000 + n, open_=False, size=500, at=now) for n in range(100)
        ]
        inbox.store(Batch(inbound_events))
        prune(inbox, now)
        rows.append(state.rows("SELECT COUNT(*) AS n FROM inbox")[0]["n"])
        state.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes.append((tmp_path / "s" / "state.db").stat().st_size)
    assert rows == [min(day, 31) * 100 for day in range(1, 41)]
    assert max(sizes) <= sizes[31] * 1.1


def test_prune_takes_a_bounded_bite(state: Database) -> None:
    """A month's worth of old events does not hold up a delivery: it goes in pieces.

    Those that stay, for they failed, are looked at once and not before each piece.
    """
    inbox = SqliteInbox(state, "one")
    inbox.store(Batch([inbound(n, open_=n < 300) for n in range(600)]))
    inbox.store(Batch(attempts=ended(range(1, 301), "failed")))
    later = NOW + 40 * 86400
    assert prune(inbox, later) == [250, 500, None]
    assert state.rows("SELECT MAX(seq) AS last, COUNT(*) AS n FROM inbox") == [
        {"last": 300, "n": 300}
    ]


@pytest.mark.slow(seconds=2)
def test_a_huge_batch_is_stored(state: Database) -> None:
    """More results than SQLite takes in one statement still go in at once."""
    inbox = SqliteInbox(state, "one")
    inbox.store(Batch([inbound(n) for n in range(5000)]))
    inbox.store(Batch(attempts=ended(range(1, 5001), "failed")))
    assert state.rows("SELECT COUNT(*) AS n FROM forwards") == [{"n": 5000}]
    assert set(outcomes(state)) == {"failed"}


def test_a_store_that_fails_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R50, R70: when the disk is full the sender gets 503 and tries again; later ones are kept."""
    full = threading.Event()
    original = SqliteInbox._write

    def write(
        self: SqliteInbox, tx: Tx, batch: Batch, *, whole: bool = False
    ) -> list[StoreResult | LocalError]:
        if full.is_set():
            raise LocalError("The state database cannot be used: the disk is full.")
        return original(self, tx, batch, whole=whole)

    monkeypatch.setattr(SqliteInbox, "_write", write)
    with TargetServer() as target, listening(tmp_path, target.port) as listener:
        full.set()
        assert listener.send(event()) == 503
        assert listener.rejected(1)[0].reason == "not_stored"
        full.clear()
        assert listener.send(event()) == 200
        listener.forwards(1)
        assert len(target.received) == 1


def test_unverified_events_are_not_kept(tmp_path: Path) -> None:
    """R46, R49: what does not verify leaves no trace in the inbox."""
    with listening(tmp_path) as listener:
        assert listener.send(event(), secret=SECRET + "x") == 400
        listener.rejected(1)
    with Database.open(tmp_path / "state" / "state.db", clock=ManualClock(NOW)) as state:
        assert state.rows("SELECT 1 FROM inbox UNION SELECT 1 FROM payloads") == []


def from_log(number: int, after: int | None, redelivered: int = 0) -> InboundEvent:
    """An event as a log has it at a place of the same number."""
    position = Position(number, f"evt_{number}", after)
    return arrival(event(number), position=position, redelivered=redelivered, targets=(TARGET,))


def test_position_moves_with_what_is_kept_and_survives(tmp_path: Path) -> None:
    """A listener of a log knows in its own inbox how far it has read, in the same transaction."""
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as state:
        inbox = SqliteInbox(state, "one")
        assert inbox.position() is None
        inbox.store(Batch([from_log(3, None), from_log(5, 3)]))
        assert inbox.position() == Position(5, "evt_5")
        inbox.store(Batch([from_log(5, 3)]))
        assert inbox.position() == Position(5, "evt_5")
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as state:
        assert SqliteInbox(state, "one").position() == Position(5, "evt_5")
        assert SqliteInbox(state, "two").position() is None


def test_position_never_passes_an_event_that_was_not_kept(tmp_path: Path) -> None:
    """One that could not be kept is read again, with all behind it, whatever was kept later."""
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as state:
        state.rows(
            "CREATE TRIGGER no BEFORE INSERT ON inbox WHEN NEW.event_id = 'evt_2'"
            " BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        )
        inbox = SqliteInbox(state, "one")
        kept = inbox.store(Batch([from_log(1, None), from_log(2, 1), from_log(3, 2)]))
        assert [isinstance(one, LocalError) for one in kept] == [False, True, False]
        inbox.store(Batch([from_log(4, 3)]))
        assert inbox.position() == Position(1, "evt_1")
        state.rows("DROP TRIGGER no")
        inbox.store(Batch([from_log(2, 1), from_log(3, 2), from_log(4, 3)]))
        assert inbox.position() == Position(4, "evt_4")


def test_how_often_an_event_was_handed_out_is_kept(tmp_path: Path) -> None:
    """It is told to the target also when it is read back, and counted on when it comes again."""
    with Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as state:
        inbox = SqliteInbox(state, "one", retake_failed=True)
        begun(inbox)
        inbox.store(Batch([from_log(1, None, redelivered=2), from_log(2, 1)]))
        assert [one.redelivered for one in inbox.due(TARGET, 0, 256)] == [2, 0]
        inbox.hand_back()
        assert inbox.due(TARGET, 0, 256) == []
        [kept] = inbox.store(Batch([from_log(1, None, redelivered=3)]))
        assert isinstance(kept, StoreResult)
        assert kept.again
        assert [one.redelivered for one in inbox.again(TARGET, NOW, 256).items] == [3]


def test_two_copies_of_a_failed_event_take_it_up_once(state: Database) -> None:
    """`--ack forwarded`: also in the batch that notes its failure; the second waits with it."""
    inbox = SqliteInbox(state, "one", retake_failed=True)
    inbox.store(Batch([inbound(1)]))
    kept = inbox.store(Batch([inbound(1), inbound(1)], ended([1], "failed")))
    assert kept == [
        StoreResult(1, duplicate=False, again=True, open=True),
        StoreResult(1, duplicate=True, again=False, open=True),
    ]
    assert state.rows("SELECT copies FROM inbox") == [{"copies": 1}]
    assert outcomes(state) == [None]
