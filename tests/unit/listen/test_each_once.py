"""Each event goes to each target once, and nothing of it stays behind; on a virtual clock."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import pytest

from simulation.listener_world import Event, ListenerWorld, Reaction, tried
from svc.errors import LocalError
from svc.listen.forward.pending_acks import AWAY, status_for_group
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.output_records import Forwarded, StoreState, TargetAway


def test_event_that_is_taken_up_is_not_read_once_more(world: ListenerWorld) -> None:
    """R50: what an earlier run left open is read page by page, and it is on the last of them."""
    crowd = [world.event(number) for number in range(200)]
    target = world.target(3001)
    target.up = False
    before = world.started()
    world.send(before, *crowd, then=3)
    world.loop.do(before.stop())
    with world.state.write() as tx:
        tx.execute("UPDATE ledger SET state = 5 WHERE event = 200")
    target.up = True
    target.script = lambda event, _: Reaction(delay=4 if event is crowd[-1] else 0.1)
    listener = world.started(ack="forwarded")
    answers = world.send(listener, crowd[-1], then=3.5)
    assert (len(tried(target)), answers) == (200, [])
    world.loop.run_for(5)
    assert Counter(tried(target)) == {event.name: 1 for event in crowd}
    assert answers == [200]


def test_copy_of_an_event_that_is_on_its_way_waits_with_it(world: ListenerWorld) -> None:
    """R50: it is not looked up a second time, for whoever has it will end it."""
    event = world.event(1)
    target = world.target(3001, lambda *_: Reaction(delay=2))
    target.up = False
    before = world.started()
    world.send(before, event, then=1)
    world.loop.do(before.stop())
    target.up = True
    listener = world.started(ack="forwarded")
    world.loop.run_for(1)
    answers = world.send(listener, event, then=0.5)
    assert answers == []
    world.loop.run_for(1)
    assert (answers, tried(target)) == ([200], ["evt_1"])


def test_sender_of_an_event_that_is_closed_elsewhere_is_answered(world: ListenerWorld) -> None:
    """R51: within its nine seconds, and with 200 when it comes again: somebody has sent it."""
    first, second = world.event(1), world.event(2)
    target = world.target(3001, lambda *_: Reaction(delay=5))
    listener = world.started(ack="forwarded", concurrency=1)
    answers = world.send(listener, first, second, then=2)
    assert answers == []
    world.replay(listener, second)
    world.loop.run_for(7)
    assert (tried(target), answers) == (["evt_1"], [200, 504])
    later = world.send(listener, second, then=0.1)
    assert (tried(target), later) == (["evt_1"], [200])
    assert listener.pipeline is not None
    assert listener.pipeline.idle


def test_target_that_is_away_is_tried_as_soon_as_its_port_opens(world: ListenerWorld) -> None:
    """`--retry fast`: one line, a look at its port each second, a line each 30 s, no request."""
    target = world.target(3001)
    target.up = False
    listener = world.started(concurrency=1)
    world.send(listener, world.event(1), world.event(2), then=100.3)
    told = [one for one in listener.records if isinstance(one, Forwarded)]
    assert [(one.status, one.error, one.retry_in) for one in told] == [
        (None, "connection refused", 1.0)
    ]
    away = [one for one in listener.records if isinstance(one, TargetAway)]
    assert [(one.events, one.reason, round(one.seconds), one.next_in) for one in away] == [
        (2, "connection refused", seconds, None) for seconds in (30, 60, 90)
    ]
    target.up = True
    world.loop.run_for(1.1)
    assert tried(target) == ["evt_1", "evt_2"]
    assert [one.redelivered for one in target.tries] == [0, 0]
    world.loop.run_for(60)
    assert len([one for one in listener.records if isinstance(one, TargetAway)]) == 3


def test_answer_that_was_under_way_brings_no_target_back(world: ListenerWorld) -> None:
    """A server that ends after its last answers is away, and told so, until its port opens."""
    target = world.target(
        3001, lambda event, _: Reaction(delay=0.5 if event.name == "evt_1" else 0)
    )
    listener = world.started(concurrency=2)
    world.send(listener, world.event(1), then=0.1)
    target.up = False
    world.send(listener, world.event(2), then=31)
    told = [one.status for one in listener.records if isinstance(one, Forwarded)]
    away = [one.seconds for one in listener.records if isinstance(one, TargetAway)]
    assert (told, [round(seconds) for seconds in away]) == ([None, 200], [30])
    target.up = True
    world.loop.run_for(1.1)
    assert tried(target) == ["evt_1", "evt_2"]


def test_kill_marks_what_was_under_way_and_little_else(world: ListenerWorld) -> None:
    """R124: what waits for a slow target was not sent; a mark on all of it would tell nothing."""
    target = world.target(3001, lambda *_: Reaction(delay=2.0))
    listener = world.started(concurrency=4)
    world.send(listener, *[world.event(number) for number in range(200)])
    for seconds in (5.0, 1.0, 0.001):
        world.loop.run_for(seconds)
        listener.lose()
        listener.start()
    target.script = lambda *_: Reaction()
    world.loop.run_for(60)
    first: dict[str, int] = {}
    again = []
    for one in target.tries:
        again += [one.redelivered] if one.event.name in first else []
        first.setdefault(one.event.name, one.redelivered)
    assert (len(first), len(again) > 4, all(again)) == (200, True, True)
    assert sum(map(bool, first.values())) <= 3 * 2 * 4


def test_kill_marks_nothing_that_waited_for_its_turn(world: ListenerWorld) -> None:
    """R124: with `--ordered` what waits for an older event of its object was not sent."""
    target = world.target(3001, lambda *_: Reaction(delay=0.5))
    listener = world.started(ordered=True)
    world.send(listener, *[world.event(number, "ord_1") for number in range(10)])
    for _ in range(2):  # each time in the middle of an attempt: of the third, then of the fifth
        world.loop.run_for(1.2)
        listener.lose()
        listener.start()
    world.loop.run_for(60)
    told = [(one.event.name, one.redelivered) for one in target.tries]
    assert told == [
        *(("evt_0", 0), ("evt_1", 0), ("evt_2", 0), ("evt_2", 1), ("evt_3", 0), ("evt_4", 0)),
        *((f"evt_{number}", int(number == 4)) for number in range(4, 10)),
    ]


@pytest.mark.parametrize("ordered", [False, True])
def test_what_was_sent_by_a_killed_run_is_marked_after_a_change_of_order(
    world: ListenerWorld, ordered: bool
) -> None:
    """R124: whether it then waits for its turn, or no longer does."""
    target = world.target(3001, lambda *_: Reaction("hang"))
    first = world.started(ordered=not ordered)
    world.send(first, *[world.event(number, "ord_1") for number in range(3)], then=1)
    first.lose()
    sent = {one.event.name for one in target.tries}
    assert sent == ({"evt_0", "evt_1", "evt_2"} if ordered else {"evt_0"})
    target.script = lambda *_: Reaction()
    second = world.started(ordered=ordered)
    world.loop.run_for(10)
    told = {one.event.name: one.redelivered for one in target.tries if one.listener is second}
    assert told == {f"evt_{number}": int(f"evt_{number}" in sent) for number in range(3)}


def test_forwards_that_cannot_be_noted_are_told(world: ListenerWorld) -> None:
    """R121: a disk that is full stops forwarding: once it is said, also where no delivery comes."""
    world.target(3001, lambda *_: Reaction(delay=1.0))
    listener = world.started()
    world.send(listener, *[world.event(number) for number in range(1, 20)], then=0.5)
    world.full_spans.append((0.9, 30.0))
    world.loop.run_for(25)
    told = [one.reason for one in listener.records if isinstance(one, StoreState)]
    assert told == ["The disk is full."]
    world.loop.run_for(10)
    told = [one.reason for one in listener.records if isinstance(one, StoreState)]
    assert told == ["The disk is full.", None]
    assert set(world.outcomes(listener).values()) == {"forwarded"}


def test_events_that_cannot_be_read_are_told(world: ListenerWorld) -> None:
    """R121: the store says once why nothing is forwarded, and once that it goes on."""
    target = world.target(3001)
    listener = world.listener()
    busy = LocalError("The state database is busy.")
    with patch.object(SqliteInbox, "due", side_effect=busy):
        listener.start()
        first = world.send(listener, world.event(1), then=5)
        second = world.send(listener, world.event(2))  # that it is kept says nothing of that
        world.loop.run_for(5)
        assert (first, second, tried(target)) == ([200], [200], [])
        told = [one.reason for one in listener.records if isinstance(one, StoreState)]
        assert told == ["The state database is busy."]
    world.loop.run_for(2)
    told = [one.reason for one in listener.records if isinstance(one, StoreState)]
    assert tried(target) == ["evt_1", "evt_2"]
    assert told == ["The state database is busy.", None]


def test_unfit_target_is_probed_by_one_lane(world: ListenerWorld) -> None:
    """It accepts and closes: 500 events cost some dozens of attempts, until it answers."""
    target = world.target(3001, lambda *_: Reaction("close"))
    listener = world.started()
    events = [world.event(number) for number in range(500)]
    world.send(listener, *events, then=60)
    assert len(target.tries) <= 32
    target.script = lambda *_: Reaction()
    world.loop.run_for(40)
    assert world.outcomes(listener) == {event.name: "forwarded" for event in events}
    again = [one for one in target.tries if one.heard == 200 and one.redelivered]
    assert 0 < len(again) <= 16


def test_first_success_makes_due_what_failed_with_the_target(world: ListenerWorld) -> None:
    """An hour of 503 from a proxy is not followed by an hour of waiting."""
    target = world.target(3001, lambda *_: Reaction(status=503))
    listener = world.started(concurrency=2)
    world.send(listener, *[world.event(number) for number in range(20)], then=3600)
    target.script = lambda *_: Reaction()
    tries = len(target.tries)
    world.send(listener, world.event(99), then=1)
    names = tried(target)[tries:]
    assert names[0] == "evt_99"
    assert names[1:] == [f"evt_{number}" for number in range(20)]  # in order


def test_event_that_fails_alone_keeps_to_its_schedule(world: ListenerWorld) -> None:
    """Others that succeed meanwhile do not have it tried at each of their successes."""
    bad = world.event(0)
    target = world.target(3001, lambda event, _: Reaction(status=500 if event is bad else 200))
    listener = world.started()
    world.send(listener, bad)
    for number in range(1, 200):
        world.send(listener, world.event(number), then=0.5)
    at = [one.at for one in target.tries if one.event is bad]
    assert [round(after - one) for one, after in pairwise(at)] == [2, 10, 60]


def test_end_waits_for_what_is_under_way_and_no_longer(world: ListenerWorld) -> None:
    """R78: an answer that comes within the grace counts, and nothing is waited for after it."""
    world.target(3001, lambda *_: Reaction(delay=0.2))
    listener = world.started()
    world.send(listener, world.event(1), then=0.1)
    began = world.loop.time()
    assert world.loop.do(listener.stop()) == 0
    assert world.loop.time() - began < 0.2
    assert world.outcomes(listener) == {"evt_1": "forwarded"}


def test_nothing_is_begun_after_the_end(world: ListenerWorld) -> None:
    """R78: what waits while the last answer comes in stays for the next run."""
    target = world.target(3001, lambda *_: Reaction(delay=0.2))
    listener = world.started(concurrency=1)
    world.send(listener, world.event(1), world.event(2), then=0.1)
    assert world.loop.do(listener.stop()) == 1
    world.loop.run_for(5)
    assert tried(target) == ["evt_1"]
    assert world.outcomes(listener) == {"evt_1": "forwarded", "evt_2": None}


def test_event_that_no_target_wants_is_no_pending_one(world: ListenerWorld) -> None:
    """What counts at the end is what somebody has still to get, whatever was kept."""
    target = world.target(3001)
    target.up = False
    listener = world.started(f"order.*={target.url}")
    wanted: list[Event] = [world.event(1), world.event(2)]
    world.send(listener, *wanted, world.event(3, type_="payout.paid"), then=3)
    assert world.loop.do(listener.stop()) == 2


def test_what_is_pending_is_known_although_the_state_database_is_busy(world: ListenerWorld) -> None:
    """R78: the end of a listener says how much it leaves, as far as it knows."""

    def busy(_: SqliteInbox, targets: list[str]) -> int:
        raise LocalError("busy", code="database_busy")

    world.target(3001, lambda *_: Reaction("hang"))
    listener = world.started()
    world.send(listener, world.event(1), world.event(2), then=0.5)
    with patch.object(SqliteInbox, "count", busy):
        assert world.loop.do(listener.stop()) == 2


def test_event_whose_sender_no_longer_waits_is_not_sent_for_it(world: ListenerWorld) -> None:
    """R51: with no time left it is answered as late, and a target gets nothing."""
    target = world.target(3001, lambda *_: Reaction("hang"))
    listener = world.started(ack="forwarded", concurrency=1)
    answers = world.send(listener, world.event(1), world.event(2), then=9)
    assert answers == [504, 504]
    assert tried(target) == ["evt_1"]
    assert world.outcomes(listener) == {"evt_1": "failed", "evt_2": "failed"}


@pytest.mark.parametrize(("up", "status"), [(True, 503), (False, 503), (True, 422)])
def test_event_that_others_may_have_is_handed_back_where_the_target_is_away(
    world: ListenerWorld, up: bool, status: int
) -> None:
    """Those who share a queue get it then; it is neither forwarded nor failed here."""
    target = world.target(3001, lambda *_: Reaction(status=status))
    target.up = up
    refused = status == 422
    listener = world.listener(ack="forwarded", retry="off")
    listener.plan = replace(listener.plan, verdict=status_for_group)
    listener.start()
    answers = world.send(listener, world.event(1), then=1)
    assert listener.pipeline is not None
    progress = listener.pipeline.progress
    assert answers == [422 if refused else AWAY]
    assert world.outcomes(listener) == {"evt_1": "failed" if refused else "returned"}
    assert len(progress.failed) == int(refused)


def test_sender_that_cannot_be_answered_costs_no_lane(world: ListenerWorld) -> None:
    """R121, `--ack forwarded`: twenty senders that are gone, eight lanes, and the next one gets 200."""
    world.target(3001)
    listener = world.started(ack="forwarded")
    world.loop.run_for(0.1)

    def gone(_: int) -> None:
        raise ConnectionResetError

    assert listener.pipeline is not None
    pending_acks = listener.pipeline.ingest.pending_acks
    for number in range(20):
        event = world.event(number)
        world.loop.call_soon(pending_acks.start, (event.name, event.body), gone)
        world.send(listener, event, then=0.5)
    answers = world.send(listener, world.event(99), then=1)
    world.loop.trouble.clear()
    assert answers == [200]
    assert set(world.outcomes(listener).values()) == {"forwarded"}
