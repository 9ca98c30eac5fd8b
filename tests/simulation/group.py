"""Histories of jobs that share a queue of a log: `python -m simulation.group --seeds 0..10000`."""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Final

from simulation import listener
from simulation.group_world import Handout, SimGroupQueue, SimJob
from simulation.listener_world import (
    Event,
    ListenerWorld,
    Reaction,
    Try,
    wipe,
)
from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.log.streams import ACK_SECONDS
from svc.service.facts import WEBHOOK_RETRY_WINDOW_SECONDS
from svc.state import Database

SECONDS: Final = 40.0  # in which everything goes wrong that goes wrong
_HEALED: Final = (30.0, 300.0, 3600.0, 40_000.0)
_AWAY: Final = (Reaction(status=503), Reaction(status=429), Reaction("close"), Reaction("hang"))
_REFUSALS: Final = (422, 404, 500)


@dataclass
class GroupHistory:
    """A history that has ended, for whoever judges it."""

    world: ListenerWorld
    queue: SimGroupQueue
    jobs: list[SimJob] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    refused: dict[Event, int] = field(default_factory=dict)
    troubled: list[tuple[float, float]] = field(default_factory=list)  # when the log was away


def play(seed: int, state: Database) -> GroupHistory:
    """Draws one history and plays it to its end, when all has been well for hours."""
    wipe(state)
    rng, world = Random(seed), ListenerWorld(state)
    played = GroupHistory(world, SimGroupQueue(world, rng))
    _draw_jobs(played, rng)
    _draw_events(played, rng)
    _draw_troubles(played, rng)
    for job in played.jobs:
        job.start()
    world.loop.run_for(SECONDS)
    for job in played.jobs:
        job.fill_disk(full=False)
        job.start()
    for seconds in _HEALED:
        world.loop.run_for(seconds)
        if len(played.queue.ended) == len(played.events):
            break
    for job in played.jobs:
        world.loop.do(job.stop())
    return played


def _draw_jobs(played: GroupHistory, rng: Random) -> None:
    shared = rng.random() < 0.3
    for number in range(rng.choice((1, 2, 2, 3))):
        port = 3001 if shared else 3001 + number
        if f"http://localhost:{port}" not in played.world.targets:
            played.world.target(port, _script(played, rng))
        concurrency = rng.choice((1, 2, 8))
        played.jobs.append(SimJob(played.queue, f"job {number}", port, concurrency))


def _script(played: GroupHistory, rng: Random) -> Callable[[Event, int], Reaction]:
    """A target that is away at times, each time in one way; what it refuses it always refuses."""
    times = [(at := rng.uniform(0, 35), at + rng.uniform(0.1, 20), rng.choice(_AWAY))
             for _ in range(rng.choice((0, 0, 1, 2)))]  # fmt: skip
    delay = rng.choice((0.005, 0.05, 0.4, 7.0))

    def react(event: Event, _: int) -> Reaction:
        now = played.world.loop.time()
        for start, end, how in times:
            if start <= now < min(end, SECONDS):
                return how
        status = played.refused.get(event, 200)
        return Reaction(status=status, delay=delay)

    return react


def _draw_events(played: GroupHistory, rng: Random) -> None:
    at_once = rng.random() < 0.4
    for number in range(rng.randint(2, 14)):
        event = played.world.event(number)
        played.events.append(event)
        if rng.random() < 0.1:
            played.refused[event] = rng.choice(_REFUSALS)
        at = rng.uniform(0, 1 if at_once else 35)
        played.world.loop.call_at(at, played.queue.publish, event)


def _draw_troubles(played: GroupHistory, rng: Random) -> None:
    def during(most: float, begin: Callable[[], None], end: Callable[[], None]) -> float:
        at = rng.uniform(0, 35)
        after = min(at + rng.uniform(0.1, most), SECONDS)
        played.world.loop.call_at(at, begin)
        played.world.loop.call_at(after, end)
        played.troubled.append((at, after))
        return at

    if rng.random() < 0.3:
        during(15, played.queue.fall, played.queue.rise)
    quiet = len(played.troubled)
    for target in played.world.targets.values():
        if rng.random() < 0.3:
            during(15, target.stop, target.start)
    for job in played.jobs:
        if rng.random() < 0.25:
            during(10, lambda job=job: job.fill_disk(full=True),  # type: ignore[misc]
                   lambda job=job: job.fill_disk(full=False))  # type: ignore[misc]  # fmt: skip
        for _ in range(rng.choice((0, 0, 1, 2))):
            during(8, job.lose if rng.random() < 0.5 else _stop(job), job.start)
    del played.troubled[quiet:]


def _stop(job: SimJob) -> Callable[[], None]:
    return lambda: None if not job.runs else _begin(job)


def _begin(job: SimJob) -> None:
    job.world.loop.create_task(job.stop())


# --- what must be true ----------------------------------------------------------------------------


def problems(played: GroupHistory) -> Iterator[str]:
    """Gives every rule that a history breaks, in words."""
    tries: dict[Event, list[Try]] = {}
    for target in played.world.targets.values():
        for one in target.tries:
            tries.setdefault(one.event, []).append(one)
    given: dict[Event, list[Handout]] = {}
    for each in played.queue.given:
        given.setdefault(each.event, []).append(each)
    if played.world.loop.trouble:
        yield f"raised: {played.world.loop.trouble[0]}"
    for event in played.events:
        its = sorted(tries.get(event, ()), key=lambda one: one.at)
        yield from _ends(played, event, its)
        yield from _marks(event, its, given.get(event, []))
        yield from _pace(played, event, given.get(event, []))
        yield from _doubles(played, event, its)


def _ends(played: GroupHistory, event: Event, tries: list[Try]) -> Iterator[str]:
    """Each is taken, or put aside for what a healthy target has answered (R129)."""
    ended = played.queue.ended.get(event)
    heard = {one.heard for one in tries}
    if ended is None:
        yield f"{event.name} is lost: {sorted(map(str, heard))}"
    elif ended == "taken":
        if 200 not in heard and not any(one.heard is None for one in tries):
            yield f"{event.name} is acknowledged, and no target took it"
    else:
        status = played.refused.get(event)
        if ended != f"the target answered {status}" or status not in heard:
            yield f"{event.name} was put aside: {ended}; targets said {sorted(map(str, heard))}"


def _marks(event: Event, tries: list[Try], given: list[Handout]) -> Iterator[str]:
    """What may come twice says so, and what was given once does not (R124)."""
    for one in tries[1:]:
        if not one.redelivered:
            yield f"{event.name} comes again at {one.at:.3f} and does not say so"
    if tries and tries[0].redelivered and len(given) < 2:
        yield f"{event.name} says that it came before"


def _pace(played: GroupHistory, event: Event, given: list[Handout]) -> Iterator[str]:
    """No event is used up by a target, or a job's disk, that is away: it comes back with a delay."""
    for before, after in pairwise(given):
        ended = [at for at in before.job.ended_at if before.at <= at <= after.at]
        if after.at - before.at < 0.9 and not ended:
            yield f"{event.name} was given again after {after.at - before.at:.3f} s"


def _doubles(played: GroupHistory, event: Event, tries: list[Try]) -> Iterator[str]:
    """What a target took comes again only where the log may not have heard of it."""
    for before, after in pairwise(tries):
        if before.heard != 200:
            continue
        died = any(before.at <= at <= after.at for at in before.listener.ended_at)  # type: ignore[attr-defined]
        deaf = any(
            start - FORWARD_SECONDS <= before.heard_at <= end for start, end in played.troubled
        )
        unheard = after.at - before.heard_at >= ACK_SECONDS / 2  # each word is lost now and then
        if not died and not deaf and not unheard:
            yield f"{event.name} again at {after.at:.3f} after a target took it at {before.heard_at:.3f}"


def judged(first: int, last: int) -> list[tuple[int, list[str]]]:
    """Plays the histories of some seeds; gives those that broke a rule."""
    return listener.judged(first, last, play, problems)


def aside_after(state: Database) -> float:
    """Plays a target that closes on one event for ever; gives when that was put aside, in seconds."""
    wipe(state)
    world = ListenerWorld(state)
    queue = SimGroupQueue(world, Random(1))
    world.target(3001, lambda *_: Reaction("close"))
    job = SimJob(queue, "job", 3001, 8)
    queue.publish(world.event(1))
    job.start()
    while not queue.ended:
        world.loop.run_for(3600)
        assert world.loop.time() < 2 * WEBHOOK_RETRY_WINDOW_SECONDS
    ended = queue.given[-1].at
    world.loop.do(job.stop())
    world.close()
    return ended


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0..10000", metavar="A..B")
    first, _, last = parser.parse_args().seeds.partition("..")
    found = judged(int(first), int(last))
    for seed, texts in found:
        print(f"seed {seed}: {'; '.join(texts)[:600]}")
    print(f"{len(found)} of {int(last) - int(first)} histories broke a rule")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
