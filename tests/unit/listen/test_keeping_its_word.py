"""What a listener owes each event, on a virtual clock with the real inbox."""

from collections import Counter

import pytest

from simulation.listener_world import (
    Event,
    ListenerWorld,
    Reaction,
    SimListener,
    SimTarget,
    tried,
)
from support.listening import outcomes
from svc.listen.http.connection import TargetReply
from svc.listen.inbox.history import InboxHistory, InboxScope
from svc.listen.progress import Until


def test_a_restart_tries_at_once_what_waits_for_its_time(world: ListenerWorld) -> None:
    """R50: what could not be forwarded is when the target, or the listener, is back."""
    target = world.target(3001, lambda _, number: Reaction(status=503 if number < 5 else 200))
    listener = world.started()
    world.send(listener, world.event(1))
    world.loop.run_for(100)  # the fifth attempt comes ten minutes after the fourth
    assert len(target.tries) == 4
    world.loop.do(listener.stop())
    listener.start()
    world.loop.run_for(1)
    assert world.outcomes(listener) == {"evt_1": "forwarded"}
    assert [one.redelivered for one in target.tries] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("ordered", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_event_that_crashes_its_target_takes_no_other_with_it(
    world: ListenerWorld, ordered: bool
) -> None:
    """Who was under way with it at a crash is tried again; it alone keeps failing."""
    killer = world.event(3)

    def script(event: Event, number: int) -> Reaction:
        return Reaction("crash", delay=0.02, down=0.5) if event is killer else Reaction(delay=0.1)

    target = world.target(3001, script)
    listener = world.started(ordered=ordered)
    events = [killer if number == 3 else world.event(number) for number in range(8)]
    world.send(listener, *events, then=300)
    outcomes = world.outcomes(listener)
    assert outcomes.pop("evt_3") is None
    assert set(outcomes.values()) == {"forwarded"}
    assert tried(target).count("evt_3") <= 32  # not more than every ten seconds
    world.loop.run_for(4 * 86_400)
    assert world.outcomes(listener)["evt_3"] == "failed"  # its three days are over


@pytest.mark.parametrize("restarted", [False, True])
def test_an_objects_turn_is_kept_while_its_event_waits(
    world: ListenerWorld, restarted: bool
) -> None:
    """`--ordered --retry real`: after a 503 the later state waits, also over a restart."""
    first = world.event(1, "ord_same")
    target = world.target(
        3001,
        lambda event, number: Reaction(status=503 if event is first and number < 3 else 200),
    )
    listener = world.started(retry="real", ordered=True)
    world.send(listener, first, world.event(2, "ord_same"), world.event(3), then=1)
    assert sorted(tried(target)) == ["evt_1", "evt_3"]
    if restarted:
        world.loop.do(listener.stop())
        listener.start()
    world.loop.run_for(3600)
    same = [name for name in tried(target) if name != "evt_3"]
    assert same == ["evt_1", "evt_1", "evt_1", "evt_2"]


def waiting(world: ListenerWorld, count: int) -> tuple[SimTarget, SimListener]:
    """A listener with so many events for a target that is away."""
    target = world.target(3001)
    target.up = False
    listener = world.started()
    world.send(listener, *[world.event(number) for number in range(count)], then=5)
    return target, listener


@pytest.mark.parametrize("count", [20, 640])
def test_what_was_closed_elsewhere_is_not_sent(world: ListenerWorld, count: int) -> None:
    """Events that waited are looked at again; nothing spins, and nothing counts as pending."""
    target, listener = waiting(world, count)
    world.replay(listener)
    target.up = True
    world.loop.run_for(60)
    assert tried(target) == []
    calls = world.loop.calls
    world.loop.run_for(60)
    assert world.loop.calls == calls
    world.send(listener, world.event(9999), then=5)
    assert tried(target) == ["evt_9999"]
    assert world.loop.do(listener.stop()) == 0


def test_an_event_that_failed_and_comes_again_is_sent_again_and_ends(world: ListenerWorld) -> None:
    """Once it has, nothing of it is left to wait for."""
    event = world.event(1)
    world.target(3001, lambda _, number: Reaction(status=500 if number == 1 else 200))
    listener = world.started(retry="off", ack="forwarded")
    for outcome in ("failed", "forwarded"):
        world.send(listener, event, then=5)
        assert world.outcomes(listener) == {"evt_1": outcome}
        assert listener.pipeline is not None
        assert listener.pipeline.idle


def test_a_target_that_took_an_event_elsewhere_does_not_get_it(world: ListenerWorld) -> None:
    """What one of two targets took by a replay is still sent to the other, and to it alone."""
    one, two = world.target(3001), world.target(3002)
    one.up = two.up = False
    listener = world.started()
    world.send(listener, world.event(1), then=5)
    archive = InboxHistory(world.state, InboxScope("", "", None))
    archive.note_replays(1, [(one.url, world.now(), TargetReply(1.0, 200))], taken=True)
    one.up = two.up = True
    world.loop.run_for(60)
    assert (tried(one), tried(two)) == ([], ["evt_1"])
    assert world.outcomes(listener) == {"evt_1": "forwarded"}


@pytest.mark.parametrize("noticed", [True, False])
def test_events_of_a_sandbox_that_was_reset_are_new(world: ListenerWorld, noticed: bool) -> None:
    """R50: ids are given anew: another body is another event, also while the old one waits."""
    target, listener = waiting(world, 3)
    if noticed:
        world.reset(listener)
    again = [world.event(number, generation=1) for number in range(3)]
    answers = world.send(listener, *again, *again, then=5)
    assert answers == [200] * 6
    target.up = True
    world.loop.run_for(60)
    new = [one.event for one in target.tries if one.event.generation == 1]
    assert Counter(new) == Counter(again)
    assert len(target.tries) == (3 if noticed else 6)
    assert world.loop.do(listener.stop()) == 0
    assert (
        outcomes(world.state) == (["reset"] if noticed else ["forwarded"]) * 3 + ["forwarded"] * 3
    )


@pytest.mark.parametrize("how", ["reset", "replay"])
def test_what_was_closed_while_it_waits_holds_no_turn(world: ListenerWorld, how: str) -> None:
    """`--ordered --retry real`: nobody waits hours for an event that is not sent any more."""
    old = world.event(1, "ord_same")
    target = world.target(3001, lambda event, _: Reaction(status=503 if event is old else 200))
    listener = world.started(retry="real", ordered=True)
    parked = world.event(2, "ord_same")
    world.send(listener, old, parked)
    world.loop.run_for(2000)  # the fourth attempt comes an hour after the third
    if how == "reset":
        world.reset(listener)
    else:
        world.replay(listener, old)
    tries = len(target.tries)
    world.loop.run_for(30)
    new = world.event(2, "ord_same", generation=1)
    world.send(listener, new, then=5)
    left = [new] if how == "reset" else [parked, new]
    assert [one.event for one in target.tries[tries:]] == left


def test_what_waits_is_looked_at_for_each_that_comes(world: ListenerWorld) -> None:
    """`--ordered`: it was still open for the second of its object, and is closed for the third."""
    old, second, third = (world.event(number, "ord_same") for number in (1, 2, 3))
    target = world.target(3001, lambda event, _: Reaction(status=503 if event is old else 200))
    listener = world.started(retry="real", ordered=True)
    world.send(listener, old, then=5)
    world.send(listener, second, then=5)
    assert tried(target) == ["evt_1"]
    world.replay(listener, old)
    world.send(listener, third, then=5)
    assert tried(target) == ["evt_1", "evt_2", "evt_3"]


def test_copies_of_both_runs_of_a_sandbox_are_known(world: ListenerWorld) -> None:
    """Within one group, too: each body is forwarded once."""
    target = world.target(3001)
    listener = world.started(ack="forwarded")
    old, new = world.event(1), world.event(1, generation=1)
    answers = world.send(listener, old, new, old, new, then=5)
    later = world.send(listener, new, old, then=5)
    assert answers + later == [200] * 6
    assert Counter(one.event for one in target.tries) == {old: 1, new: 1}


def test_until_counts_distinct_events(world: ListenerWorld) -> None:
    """`--until TYPE:2 --ack forwarded`: one event that fails three times is one event."""
    world.target(3001, lambda *_: Reaction(status=500))
    listener = world.listener(ack="forwarded")
    object.__setattr__(listener.plan, "until", Until("order.paid", 2))
    listener.start()
    pipeline = listener.pipeline
    assert pipeline is not None
    for _ in range(3):
        world.send(listener, world.event(1), then=5)
    assert pipeline.progress.reached is False
    world.send(listener, world.event(2), then=5)
    assert pipeline.progress.reached is True


def test_restarts_spend_no_attempts_of_the_services_schedule(world: ListenerWorld) -> None:
    """`--retry real`: the next attempt falls when the last one says, not at each start."""
    target = world.target(3001, lambda *_: Reaction(status=503))
    listener = world.started(retry="real")
    world.send(listener, world.event(1))
    world.loop.run_for(400)  # the fourth attempt comes half an hour after the third
    before = len(target.tries)
    for _ in range(15):
        world.loop.do(listener.stop())
        listener.start()
        world.loop.run_for(5)
    assert len(target.tries) == before
    world.loop.run_for(4 * 86_400)
    world.loop.do(listener.stop())
    gaps = [after.at - one.at for one, after in zip(target.tries, target.tries[1:], strict=False)]
    target.tries.clear()
    listener.start()
    world.send(listener, world.event(2))
    world.loop.run_for(4 * 86_400)
    undisturbed = [one.at - target.tries[0].at for one in target.tries]
    assert len(gaps) + 1 == len(undisturbed)
    assert sum(gaps) == pytest.approx(undisturbed[-1], abs=1)


def test_a_targets_final_answer_is_kept(world: ListenerWorld) -> None:
    """What one target refused for good it does not get at each restart while another is away."""
    refuses = world.target(3001, lambda *_: Reaction(status=422))
    away = world.target(3002)
    away.up = False
    listener = world.listener()
    for _ in range(4):
        listener.start()
        if listener.run == 1:
            world.send(listener, world.event(1))
        world.loop.run_for(5)
        world.loop.do(listener.stop())
    assert tried(refuses) == ["evt_1"]
    away.up = True
    listener.start()
    world.loop.run_for(60)
    assert (tried(refuses), tried(away)) == (["evt_1"], ["evt_1"])
    assert world.outcomes(listener) == {"evt_1": "failed"}


def test_a_sender_that_comes_late_hears_of_every_target(world: ListenerWorld) -> None:
    """R51: what one target refused before anybody waited is not answered 200 for the other's sake."""
    refuses = world.target(3001, lambda *_: Reaction(status=422))
    away = world.target(3002)
    away.up = False
    before = world.started()
    world.send(before, world.event(1), then=5)
    world.loop.do(before.stop())
    away.up = True
    listener = world.started(ack="forwarded")
    answers = world.send(listener, world.event(1), then=5)
    assert answers == [502]
    assert (tried(refuses), tried(away)) == (["evt_1"], ["evt_1"])


def test_a_sender_whose_wait_is_over_may_come_again(world: ListenerWorld) -> None:
    """`--ack forwarded`: an event that was closed elsewhere, unsent, is answered when it comes."""
    world.target(3001, lambda *_: Reaction("hang"))
    listener = world.started(ack="forwarded", concurrency=1)
    world.send(listener, *[world.event(number) for number in range(600)], then=5)
    world.replay(listener)
    world.loop.run_for(60)
    answers = world.send(listener, world.event(599), then=5)
    assert answers == [200]


def test_a_crowded_object_is_passed_over(world: ListenerWorld) -> None:
    """`--ordered`: 700 events of one object before a hanging target hold up no other object."""
    target = world.target(
        3001,
        lambda event, _: Reaction("hang") if event.object_id == "ord_slow" else Reaction(),
    )
    listener = world.started(ordered=True)
    slow = [world.event(number, "ord_slow") for number in range(700)]
    world.send(listener, *slow, world.event(1000, "ord_quick"), then=2)
    assert "evt_1000" in tried(target)
    assert listener.pipeline is not None
    idle = [listener.pipeline.idle]
    assert world.loop.do(listener.pipeline.dispatcher.pending()) == 700
    target.script = lambda *_: Reaction()
    world.loop.run_for(60)
    came = [one.event for one in target.tries if one.event.object_id == "ord_slow"]
    assert came == [slow[0], *slow]  # no answer came to the first one
    assert [*idle, listener.pipeline.idle] == [False, True]
    assert world.loop.do(listener.pipeline.dispatcher.pending()) == 0


def test_events_that_wait_for_their_turn_wait_in_the_ledger(world: ListenerWorld) -> None:
    """However many events of one object come, memory holds the one whose turn it is."""
    world.target(3001, lambda *_: Reaction("hang"))
    listener = world.started(ordered=True)
    world.send(listener, *[world.event(number, "ord_slow") for number in range(2000)], then=5)
    assert listener.pipeline is not None
    [pump] = listener.pipeline.dispatcher._pumps.values()
    assert len(pump.held) == 1


def test_targets_that_hang_are_ended_all_at_once(world: ListenerWorld) -> None:
    """R78: six targets cost no more time at the end than one."""
    for port in range(3001, 3007):
        world.target(port, lambda *_: Reaction("hang"))
    listener = world.started()
    world.send(listener, world.event(1), then=1)
    before = world.loop.time()
    assert world.loop.do(listener.stop()) == 1
    assert world.loop.time() - before < 0.9


def test_the_sender_of_an_event_that_was_not_kept_is_told(world: ListenerWorld) -> None:
    """Of a group of 32 one is answered 503 and comes again; 31 are answered 200."""
    target = world.target(3001)
    listener = world.started()
    with world.state.write() as tx:
        tx.execute(
            "CREATE TRIGGER odd BEFORE INSERT ON inbox WHEN NEW.event_id = 'evt_7'"
            " BEGIN SELECT RAISE(ABORT, 'odd'); END"
        )
    answers = world.send(listener, *[world.event(number) for number in range(32)], then=5)
    assert sorted(answers) == [200] * 31 + [503]
    assert len(tried(target)) == 31
