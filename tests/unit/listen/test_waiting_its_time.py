"""What waits, waits as long as it must and no longer; on a virtual clock with the real inbox."""

from collections.abc import Callable
from itertools import pairwise
from unittest.mock import patch

import pytest

from simulation.listener_world import ListenerWorld, Reaction, SimListener, SimTarget, tried
from svc.errors import LocalError
from svc.listen.inbox.interfaces import Retries
from svc.listen.inbox.sqlite import SqliteInbox

BUSY_TIMES = 4


@pytest.fixture
def away(world: ListenerWorld) -> tuple[SimTarget, SimListener]:
    """A target that was away while an event came, and the listener that has it."""
    target = world.target(3001)
    target.up = False
    listener = world.started()
    world.send(listener, world.event(1), then=5)
    target.up = True
    return target, listener


def busy_for(times: int) -> tuple[Callable[..., Retries], list[float]]:
    """A look at what is due that finds the state database busy so often; and when it looked."""
    looked: list[float] = []
    look = SqliteInbox.again

    def again(inbox: SqliteInbox, target: str, now: float, more: int) -> Retries:
        looked.append(now)
        if len(looked) <= times:
            raise LocalError("busy", code="database_busy")
        return look(inbox, target, now, more)

    return again, looked


def test_less_than_a_second_of_waiting_is_waited_out(world: ListenerWorld) -> None:
    """`--retry real`: half a second before its time an event is not sent by a restart."""
    target = world.target(3001, lambda _, number: Reaction(status=503 if number == 1 else 200))
    listener = world.started(retry="real")
    world.send(listener, world.event(1), then=59.5)
    world.loop.do(listener.stop())
    listener.start()
    world.loop.run_for(0.3)
    assert tried(target) == ["evt_1"]
    world.loop.run_for(0.5)
    assert tried(target) == ["evt_1", "evt_1"]
    assert target.tries[1].at - target.tries[0].at == pytest.approx(60, abs=0.1)


def test_what_was_due_while_the_machine_slept_is_tried_soon(world: ListenerWorld) -> None:
    """A lid closed over night: an hour's wait is over when it is opened, not an hour later."""
    target = world.target(3001, lambda _, number: Reaction(status=503 if number < 6 else 200))
    listener = world.started()
    world.send(listener, world.event(1), then=700)
    assert len(target.tries) == 5  # the next one is to come in an hour
    awake = world.now
    with patch.object(world, "now", lambda: awake() + 8 * 3600):
        world.loop.run_for(61)
    assert [one.heard for one in target.tries] == [503] * 5 + [200]


def test_what_is_handed_over_is_not_read_from_the_ledger(world: ListenerWorld) -> None:
    """The newest event goes to its target from memory where nothing older is ready."""
    target = world.target(3001)
    listener = world.started()
    world.loop.run_for(0.1)
    read: list[int] = []
    with patch.object(SqliteInbox, "due", lambda *_: read.append(1)):
        world.send(listener, *[world.event(number) for number in range(40)], then=0.9)
    assert len(tried(target)) == 40
    assert read == []


def test_a_busy_state_database_is_asked_once_a_second(
    world: ListenerWorld, away: tuple[SimTarget, SimListener]
) -> None:
    """An event that waited is looked at before it is sent, with a pause after each failure."""
    target, listener = away
    look, looked = busy_for(BUSY_TIMES)
    with patch.object(SqliteInbox, "again", look):
        began = world.loop.time()
        world.loop.run_for(60)
    gaps = [after - one for one, after in pairwise(looked)][:BUSY_TIMES]
    assert gaps == [pytest.approx(1, abs=0.01)] * BUSY_TIMES
    assert target.tries[0].at - began > BUSY_TIMES
    assert world.outcomes(listener) == {"evt_1": "forwarded"}


def test_the_end_does_not_wait_for_a_busy_state_database(
    world: ListenerWorld, away: tuple[SimTarget, SimListener]
) -> None:
    """R78: what was to be looked at before it is sent is left to the next run."""
    target, listener = away
    look, looked = busy_for(60)
    with patch.object(SqliteInbox, "again", look):
        world.loop.run_for(30)
        assert looked
        began = world.loop.time()
        assert world.loop.do(listener.stop()) == 1
        assert world.loop.time() - began < 5
    assert tried(target) == []


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
    listener = world.started(ordered=True, ack="forwarded")
    world.send(listener, *crowd, then=1.9)
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
    listener = world.started(ordered=True)
    world.send(listener, *crowd, then=2)
    world.replay(listener, *crowd[1:])
    target.script = lambda *_: Reaction()
    world.loop.run_for(60)
    assert [one.event for one in target.tries] == [crowd[0]] * 2
    assert listener.pipeline is not None
    assert listener.pipeline.idle
    assert world.loop.do(listener.stop()) == 0
