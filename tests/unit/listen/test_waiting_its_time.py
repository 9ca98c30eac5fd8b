"""What waits, waits as long as it must and no longer; on a virtual clock with the real inbox."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from simulation.listener_world import ListenerWorld, Reaction, SimListener, SimTarget, tried
from svc.errors import LocalError
from svc.listen.inbox.inbox import OpenItem
from svc.listen.inbox.sqlite import SqliteInbox

BUSY_TIMES = 4


@pytest.fixture
def away(world: ListenerWorld) -> tuple[SimTarget, SimListener]:
    """A target that was away while an event came, and the listener that has it."""
    target = world.target(3001)
    target.up = False
    listener = world.listener()
    listener.start()
    world.send(listener, world.event(1))
    world.loop.run_for(5)
    target.up = True
    return target, listener


def busy_for(times: int) -> tuple[Callable[[Any, int], OpenItem | None], list[int]]:
    """A look at one event that finds the state database busy so often; and what was looked at."""
    looked: list[int] = []
    look = SqliteInbox.open_item

    def open_item(inbox: SqliteInbox, seq: int) -> OpenItem | None:
        looked.append(seq)
        if len(looked) <= times:
            raise LocalError("busy", code="database_busy")
        return look(inbox, seq)

    return open_item, looked


def test_less_than_a_second_of_waiting_is_waited_out(world: ListenerWorld) -> None:
    """`--retry real`: half a second before its time an event is not sent by a restart."""
    target = world.target(3001, lambda _, number: Reaction(status=503 if number == 1 else 200))
    listener = world.listener(retry="real")
    listener.start()
    world.send(listener, world.event(1))
    world.loop.run_for(59.5)
    world.loop.do(listener.stop())
    listener.start()
    world.loop.run_for(0.3)
    assert tried(target) == ["evt_1"]
    world.loop.run_for(0.5)
    assert tried(target) == ["evt_1", "evt_1"]
    assert target.tries[1].at - target.tries[0].at == pytest.approx(60, abs=0.1)


def test_what_need_not_wait_is_sent_as_it_was_read(world: ListenerWorld) -> None:
    """No event is read a second time on its way, now or when it was left by an earlier run."""
    target = world.target(3001)
    listener = world.listener()
    look, looked = busy_for(0)
    with patch.object(SqliteInbox, "open_item", look):
        listener.start()
        world.send(listener, *[world.event(number) for number in range(40)])
        world.loop.run_for(0.9)
        target.up = False
        world.send(listener, *[world.event(number) for number in range(40, 60)])
        world.loop.do(listener.stop())
        target.up = True
        looked.clear()
        listener.start()
        world.loop.run_for(0.9)
    assert len(tried(target)) == 60
    assert looked == []


def test_a_busy_state_database_is_asked_once_a_second(
    world: ListenerWorld, away: tuple[SimTarget, SimListener]
) -> None:
    """An event that waited is looked at before it is sent, with a pause after each failure."""
    target, listener = away
    look, looked = busy_for(BUSY_TIMES)
    with patch.object(SqliteInbox, "open_item", look):
        began = world.loop.time()
        world.loop.run_for(60)
    assert len(looked) == BUSY_TIMES + 1
    assert target.tries[0].at - began > BUSY_TIMES
    assert world.outcomes(listener) == {"evt_1": "forwarded"}


def test_the_end_does_not_wait_for_a_busy_state_database(
    world: ListenerWorld, away: tuple[SimTarget, SimListener]
) -> None:
    """R78: what was to be looked at before it is sent is left to the next run."""
    target, listener = away
    look, looked = busy_for(60)
    with patch.object(SqliteInbox, "open_item", look):
        world.loop.run_for(30)
        assert looked
        began = world.loop.time()
        assert world.loop.do(listener.stop()) == 1
        assert world.loop.time() - began < 5
    assert tried(target) == []


def test_an_event_that_is_taken_up_again_waits_for_a_busy_state_database(
    world: ListenerWorld,
) -> None:
    """`--ack forwarded`: what failed and comes again is looked up, with the same pauses."""
    target = world.target(3001, lambda _, number: Reaction(status=503 if number == 1 else 200))
    listener = world.listener(ack="forwarded")
    listener.start()
    world.send(listener, world.event(1))
    world.loop.run_for(1)
    look, looked = busy_for(BUSY_TIMES)
    with patch.object(SqliteInbox, "open_item", look):
        began = world.loop.time()
        answers = world.send(listener, world.event(1))
        world.loop.run_for(BUSY_TIMES + 1)
    assert answers == [200]
    assert looked[:BUSY_TIMES] == [1] * BUSY_TIMES
    assert len(looked) <= BUSY_TIMES + 2
    assert target.tries[1].at - began > BUSY_TIMES


def test_what_one_target_refused_is_told_although_the_other_has_passed_it_over(
    world: ListenerWorld,
) -> None:
    """`--ordered --ack forwarded`: the sender hears the worst of both, whichever ends last."""
    crowd = [world.event(number, "ord_same") for number in range(700)]
    slow = world.target(3001, lambda event, _: Reaction(delay=2 if event is crowd[0] else 0.0001))
    quick = world.target(
        3002,
        lambda event, _: Reaction(status=422 if event is crowd[-1] else 200, delay=0.0001),
    )
    listener = world.listener(ordered=True, ack="forwarded")
    listener.start()
    world.send(listener, *crowd)
    world.loop.run_for(1.9)
    assert tried(slow) == ["evt_0"]
    assert tried(quick)[-1] == "evt_699"  # it has ended there, and is passed over at the other
    world.loop.run_for(6)
    told = {event.name: status for event, status, _ in listener.answers}
    assert [one.event for one in slow.tries] == [one.event for one in quick.tries] == crowd
    assert told == {event.name: 200 for event in crowd} | {"evt_699": 502}


def test_a_passed_over_event_that_is_closed_elsewhere_leaves_nothing_behind(
    world: ListenerWorld,
) -> None:
    """`--ordered`: hundreds of events that a replay has sent are not pending, now or at the end."""
    crowd = [world.event(number, "ord_same") for number in range(700)]
    target = world.target(3001, lambda *_: Reaction("hang"))
    listener = world.listener(ordered=True)
    listener.start()
    world.send(listener, *crowd)
    world.loop.run_for(2)
    world.replay(listener, *crowd[1:])
    target.script = lambda *_: Reaction()
    world.loop.run_for(60)
    assert [one.event for one in target.tries] == crowd[:1]
    assert listener.pipeline is not None
    assert listener.pipeline.idle
    assert listener.pipeline.dispatcher._tickets == {}
    assert world.loop.do(listener.stop()) == 0
