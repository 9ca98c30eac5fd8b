"""Each event goes to each target once, and nothing of it stays behind; on a virtual clock."""

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest

from simulation.listener_world import Event, ListenerWorld, Reaction, tried
from svc.errors import LocalError
from svc.listen.forward.waiting import AWAY, status_for_group
from svc.listen.inbox.inbox import OpenItem
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.records import Forwarded


def test_event_that_is_taken_up_is_not_read_once_more(world: ListenerWorld) -> None:
    """R50: what an earlier run left open is read page by page, and it is on the last of them."""
    crowd = [world.event(number) for number in range(200)]
    target = world.target(3001)
    target.up = False
    before = world.listener()
    before.start()
    world.send(before, *crowd)
    world.loop.run_for(3)
    world.loop.do(before.stop())
    with world.state.write() as tx:
        tx.execute("UPDATE inbox SET outcome = 'failed' WHERE event_id = 'evt_199'")
    target.up = True
    target.script = lambda event, _: Reaction(delay=4 if event is crowd[-1] else 0.1)
    listener = world.listener(ack="forwarded")
    listener.start()
    answers = world.send(listener, crowd[-1])
    world.loop.run_for(5)
    assert (len(tried(target)), answers) == (200, [])
    world.loop.run_for(5)
    assert Counter(tried(target)) == {event.name: 1 for event in crowd}
    assert answers == [200]


def test_copy_of_an_event_that_is_on_its_way_waits_with_it(world: ListenerWorld) -> None:
    """R50: it is not looked up a second time, for whoever has it will end it."""
    event = world.event(1)
    target = world.target(3001, lambda *_: Reaction(delay=2))
    target.up = False
    before = world.listener()
    before.start()
    world.send(before, event)
    world.loop.run_for(1)
    world.loop.do(before.stop())
    target.up = True
    listener = world.listener(ack="forwarded")
    listener.start()
    world.loop.run_for(1)
    looked: list[int] = []
    with patch.object(SqliteInbox, "open_item", lambda _, seq: looked.append(seq)):
        answers = world.send(listener, event)
        world.loop.run_for(0.5)
        assert (answers, looked) == ([], [])
        world.loop.run_for(1)
    assert (answers, tried(target), looked) == ([200], ["evt_1"], [])


def test_sender_of_an_event_that_is_closed_elsewhere_is_answered(world: ListenerWorld) -> None:
    """R51: as soon as its turn comes; somebody has sent it, and nobody will once more."""
    first, second = world.event(1), world.event(2)
    target = world.target(3001, lambda *_: Reaction(delay=5))
    listener = world.listener(ack="forwarded", concurrency=1)
    listener.start()
    answers = world.send(listener, first, second)
    world.loop.run_for(2)
    assert answers == []
    world.replay(listener, second)
    world.loop.run_for(4)
    assert (tried(target), answers) == (["evt_1"], [200, 200])
    assert listener.pipeline is not None
    assert listener.pipeline.idle


def test_suspect_that_is_closed_elsewhere_holds_up_nobody(world: ListenerWorld) -> None:
    """While somebody may have killed the target one goes at a time; these two are sent no more."""
    bad = [world.event(1), world.event(2)]
    target = world.target(
        3001, lambda event, _: Reaction("close") if event in bad else Reaction(delay=1)
    )
    listener = world.listener()
    listener.start()
    world.send(listener, *bad)
    world.loop.run_for(0.5)
    world.replay(listener)
    world.loop.run_for(5)
    others = [world.event(number) for number in range(3, 11)]
    world.send(listener, *others)
    world.loop.run_for(0.5)
    assert sorted(tried(target)) == ["evt_1", "evt_2", "evt_3"]  # which says that it is back
    world.loop.run_for(1)
    assert [one.event for one in target.tries[2:]] == others


def test_target_that_is_away_is_left_alone_for_longer_and_longer(world: ListenerWorld) -> None:
    """`--retry fast`: 1, 2, 4 ... 30 seconds; once it has answered, it begins with one again."""
    target = world.target(3001)
    target.up = False
    listener = world.listener(concurrency=1)
    listener.start()
    world.send(listener, world.event(1))

    def waits() -> list[float]:
        found = [one.retry_in for one in listener.records if isinstance(one, Forwarded)]
        return [round(one or 0) for one in found]

    world.loop.run_for(100)
    assert waits() == [1, 2, 4, 8, 16, 30, 30, 30]
    target.up = True
    world.loop.run_for(30)
    target.up = False
    world.send(listener, world.event(2))
    world.loop.run_for(2)
    assert waits()[8:] == [0, 1, 2]


def test_end_waits_for_what_is_under_way_and_no_longer(world: ListenerWorld) -> None:
    """R78: an answer that comes within the grace counts, and nothing is waited for after it."""
    world.target(3001, lambda *_: Reaction(delay=0.2))
    listener = world.listener()
    listener.start()
    world.send(listener, world.event(1))
    world.loop.run_for(0.1)
    began = world.loop.time()
    assert world.loop.do(listener.stop()) == 0
    assert world.loop.time() - began < 0.2
    assert world.outcomes(listener) == {"evt_1": "forwarded"}


def test_nothing_is_begun_after_the_end(world: ListenerWorld) -> None:
    """R78: what waits while the last answer comes in stays for the next run."""
    target = world.target(3001, lambda *_: Reaction(delay=0.2))
    listener = world.listener(concurrency=1)
    listener.start()
    world.send(listener, world.event(1), world.event(2))
    world.loop.run_for(0.1)
    assert world.loop.do(listener.stop()) == 1
    world.loop.run_for(5)
    assert tried(target) == ["evt_1"]
    assert world.outcomes(listener) == {"evt_1": "forwarded", "evt_2": None}


def test_nothing_is_looked_for_after_the_end(world: ListenerWorld) -> None:
    """R78: what was being taken up while the state database was busy waits for the next run."""
    looked: list[int] = []

    def busy(_: SqliteInbox, seq: int) -> OpenItem | None:
        looked.append(seq)
        raise LocalError("busy", code="database_busy")

    event = world.event(1)
    world.target(3001, lambda _, number: Reaction(status=503 if number == 1 else 200))
    listener = world.listener(ack="forwarded")
    listener.start()
    world.send(listener, event)
    world.loop.run_for(1)
    with patch.object(SqliteInbox, "open_item", busy):
        world.send(listener, event)
        world.loop.run_for(3)
        assert len(looked) > 1
        assert listener.pipeline is not None
        assert not listener.pipeline.idle
        assert world.loop.do(listener.stop()) == 1
        found = len(looked)
        world.loop.run_for(10)
        assert len(looked) == found


def test_event_that_no_target_wants_is_no_pending_one(world: ListenerWorld) -> None:
    """What counts at the end is what somebody has still to get, whatever was kept."""
    target = world.target(3001)
    target.up = False
    listener = world.listener(f"order.*={target.url}")
    listener.start()
    wanted: list[Event] = [world.event(1), world.event(2)]
    world.send(listener, *wanted, world.event(3, type_="payout.paid"))
    world.loop.run_for(3)
    assert world.loop.do(listener.stop()) == 2


def test_what_is_pending_is_known_although_the_state_database_is_busy(world: ListenerWorld) -> None:
    """R78: the end of a listener says how much it leaves, as far as it knows."""

    def busy(_: SqliteInbox, seq: int) -> dict[str, int]:
        raise LocalError("busy", code="database_busy")

    world.target(3001, lambda *_: Reaction("hang"))
    listener = world.listener()
    listener.start()
    world.send(listener, world.event(1), world.event(2))
    world.loop.run_for(0.5)
    with patch.object(SqliteInbox, "open_types", busy):
        assert world.loop.do(listener.stop()) == 2


def test_event_whose_sender_no_longer_waits_is_not_sent_for_it(world: ListenerWorld) -> None:
    """R51: with no time left it is answered as late, and a target gets nothing."""
    target = world.target(3001, lambda *_: Reaction("hang"))
    listener = world.listener(ack="forwarded", concurrency=1)
    listener.start()
    answers = world.send(listener, world.event(1), world.event(2))
    world.loop.run_for(9)
    assert answers == [504, 504]
    assert tried(target) == ["evt_1"]
    assert world.outcomes(listener) == {"evt_1": "failed", "evt_2": "failed"}


@pytest.mark.parametrize("up", [True, False])
def test_event_that_others_may_have_is_handed_back_where_the_target_is_away(
    world: ListenerWorld, up: bool
) -> None:
    """Those who share a queue get it then; it is neither forwarded nor failed here."""
    target = world.target(3001, lambda *_: Reaction(status=503))
    target.up = up
    listener = world.listener(ack="forwarded", retry="off")
    listener.plan = replace(listener.plan, verdict=status_for_group)
    listener.start()
    answers = world.send(listener, world.event(1))
    world.loop.run_for(1)
    assert listener.pipeline is not None
    progress = listener.pipeline.progress
    assert answers == [503 if up else AWAY]
    assert world.outcomes(listener) == {"evt_1": "failed" if up else "returned"}
    assert len(progress.failed) == int(up)
