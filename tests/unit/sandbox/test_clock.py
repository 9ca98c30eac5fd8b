"""The sandbox's clock: it stands, runs, is set, and never goes back."""

from support.clocks import ManualClock
from svc.sandbox.clock import VirtualClock, micros, parse
from unit.sandbox.diary import Diary, plan
from unit.sandbox.lab import Lab

DAY = 86400
SECOND = 1_000_000


def test_frozen_clock_stands_still_and_survives_a_restart(lab: Lab) -> None:
    """Real time passes, also while the sandbox is down; the frozen clock does not move."""

    async def story() -> int:
        async with lab.running() as engine:
            lab.real.advance(500)
            now = engine.clock.now()
            if now == micros(parse("2026-10-01T09:00:00Z")):
                await engine.runner.advance(to=now + 7 * SECOND)
            return now

    assert lab.play(story) == micros(parse("2026-10-01T09:00:00Z"))
    lab.real.advance(DAY)
    assert lab.play(story) == micros(parse("2026-10-01T09:00:07Z"))


def test_realtime_keeps_its_distance_over_a_restart(lab: Lab) -> None:
    """Realtime is the real clock plus what was advanced, whether the sandbox ran or not."""

    async def first() -> None:
        async with lab.running(frozen=False) as engine:
            await engine.runner.advance(to=engine.clock.now() + 100 * SECOND)
            lab.real.advance(5)
            assert engine.clock.now() == micros(parse("2026-10-01T09:01:45Z"))

    async def second() -> None:
        async with lab.running() as engine:
            assert engine.clock.mode == "realtime"
            assert engine.clock.now() == micros(parse("2026-10-01T10:01:45Z"))

    lab.play(first)
    lab.real.advance(3600)
    lab.play(second)


def test_thawed_clock_runs_on_from_where_it_stood(lab: Lab) -> None:
    """Frozen to realtime: no jump in either direction."""

    async def story() -> None:
        async with lab.running() as engine:
            lab.real.advance(1000)
            await engine.set_clock("realtime")
            assert engine.clock.now() == micros(parse("2026-10-01T09:00:00Z"))
            lab.real.advance(3)
            assert engine.clock.now() == micros(parse("2026-10-01T09:00:03Z"))

    lab.play(story)


def test_clock_set_forward_runs_the_jobs_on_the_way(lab: Lab, diary: Diary) -> None:
    """Freezing at a later moment lands on it exactly and skips no job."""

    async def story() -> None:
        async with lab.running(frozen=False) as engine:
            await engine.run("test", plan((60, "a")))
            target = micros(parse("2026-10-02T00:00:00Z"))
            await engine.set_clock("frozen", target)
            assert engine.clock.now() == target

    lab.play(story)
    assert diary.entries == [("09:01:00", "a", "")]


def test_clock_never_goes_back_when_the_real_one_does() -> None:
    """The machine's clock is set back an hour: the sandbox's goes on from where it is."""
    real = ManualClock(1_000_000.0)
    clock = VirtualClock(real)
    before = clock.now()
    real.advance(-3600)
    assert clock.now() == before
    real.advance(10)
    assert clock.now() == before + 10 * SECOND
    saved = clock.dump()
    real.advance(-DAY)
    later = VirtualClock(real)
    later.load(saved)
    assert later.now() == before + 10 * SECOND
