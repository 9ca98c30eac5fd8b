"""Jobs: in order, on time, never twice."""

import asyncio
import logging
from typing import Any

import pytest

from svc.sandbox.clock import micros, parse
from svc.sandbox.jobs.runner import IDLE_JOBS_MAX, pause
from svc.sandbox.store.jobs import Job
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.diary import Diary, plan
from unit.sandbox.lab import BEGAN, Lab, ScriptedReceiver, add_endpoint, answer_with, emit_paid

DAY = 86400
SECOND = 1_000_000


async def test_jobs_run_in_order_and_see_their_own_time(lab: Lab, diary: Diary) -> None:
    """By due moment, then by order of scheduling; each one's now is its due moment."""
    async with lab.running() as engine:
        await engine.run("test", plan((30, "c"), (10, "a"), (20, "b1"), (20, "b2")))
        await engine.run("live", plan((20, "b3")))
        counts = await engine.runner.advance(to=engine.clock.now() + 25 * SECOND)
        assert (counts.jobs, counts.events, counts.deliveries) == (4, 0, 0)
        assert engine.runner.next_due() == micros(parse("2026-10-01T09:00:30Z"))
    assert diary.entries == [
        ("09:00:10", "a", ""),
        ("09:00:20", "b1", ""),
        ("09:00:20", "b2", ""),
        ("09:00:20", "b3", ""),
    ]


async def test_job_that_a_job_schedules_runs_in_its_turn(lab: Lab, diary: Diary) -> None:
    """What a handler schedules counts from its own due moment and falls into the order."""
    async with lab.running() as engine:
        await engine.run("test", lambda tx: tx.schedule(10, "again", "x", every=10))
        await engine.run("test", plan((25, "y")))
        await engine.runner.advance(to=engine.clock.now() + 30 * SECOND)
    assert [entry[:2] for entry in diary.entries] == [
        ("09:00:10", "x"),
        ("09:00:20", "x"),
        ("09:00:25", "y"),
        ("09:00:30", "x"),
    ]


async def test_job_cancelled_by_another_of_the_same_moment_does_not_run(
    lab: Lab, diary: Diary
) -> None:
    """Jobs that share a commit still see each other's effects."""
    async with lab.running() as engine:

        def schedule(tx: Transaction) -> None:
            tx.schedule(5, "stops", "first", victim="second")
            tx.schedule(5, "note", "second")
            tx.schedule(5, "note", "third")

        await engine.run("test", schedule)
        await engine.runner.advance(until="idle")
    assert [entry[1] for entry in diary.entries] == ["first", "third"]


async def test_advance_to_the_next_job_stops_there(lab: Lab, diary: Diary) -> None:
    """`until=next` runs the jobs of the next due moment and leaves the clock at it."""
    async with lab.running() as engine:
        await engine.run("test", plan((10, "a"), (10, "b"), (20, "c")))
        counts = await engine.runner.advance(until="next")
        assert counts.jobs == 2
        assert engine.clock.now() == micros(parse("2026-10-01T09:00:10Z"))
        await engine.runner.advance(until="next")
        counts = await engine.runner.advance(until="next")
        assert counts.jobs == 0
        assert engine.clock.now() == micros(parse("2026-10-01T09:00:20Z"))


@pytest.mark.parametrize(("job", "first"), [(30, "job"), (90, "attempt")])
async def test_next_is_the_earlier_of_jobs_and_webhooks(
    lab: Lab, diary: Diary, receiver: ScriptedReceiver, job: int, first: str
) -> None:
    """A retry after a minute and a job: whichever is earlier is what comes next, and alone."""
    receiver.answers = [answer_with(500)]
    async with receiver.listening(), lab.running() as engine:
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", emit_paid)
        await engine.runner.advance(to=engine.clock.now())
        await engine.run("test", plan((job, "job")))
        assert engine.runner.next_due() == BEGAN + min(job, 60) * SECOND
        await engine.runner.advance(until="next")
        done = ["job"] * len(diary.entries) + ["attempt"] * (len(receiver.arrivals) - 1)
        assert done == [first]


async def test_advance_until_idle_looks_one_year_ahead(lab: Lab, diary: Diary) -> None:
    """A job in 365 days runs, one a second later does not."""
    async with lab.running() as engine:
        await engine.run("test", plan((365 * DAY, "a"), (365 * DAY + 1, "b")))
        await engine.runner.advance(until="idle")
        assert [entry[1] for entry in diary.entries] == ["a"]


async def test_advance_until_idle_ends_after_10000_jobs(lab: Lab, diary: Diary) -> None:
    """A job that always comes back does not run for ever."""
    assert IDLE_JOBS_MAX == 10_000
    async with lab.running() as engine:
        await engine.run("test", lambda tx: tx.schedule(1, "again", "x", every=1))
        counts = await engine.runner.advance(until="idle", idle_jobs_max=50)
        assert counts.jobs == 50


async def test_advance_counts_the_events_of_its_jobs(lab: Lab) -> None:

    def pay(tx: Transaction, job: Job) -> None:
        emit_paid(tx)
        emit_paid(tx)

    lab.handlers["pay"] = pay
    async with lab.running() as engine:
        await engine.run("test", add_endpoint("http://127.0.0.1:9/"))
        await engine.run("test", lambda tx: tx.schedule(5, "pay", "x"))
        counts = await engine.runner.advance(to=engine.clock.now() + 10 * SECOND)
        assert (counts.jobs, counts.events, counts.deliveries) == (1, 2, 2)


async def test_due_jobs_run_by_themselves_in_realtime(lab: Lab, diary: Diary) -> None:
    """The runner sleeps exactly until the next job, and is woken by an earlier one."""

    async def turn() -> None:
        for _ in range(20):
            await asyncio.sleep(0.001)

    async with lab.running(frozen=False) as engine:
        await turn()
        assert lab.naps[-1:] == [None]
        await engine.run("test", plan((50, "later")))
        await turn()
        assert lab.naps[-1] == 50.0
        await engine.run("test", plan((5, "sooner")))
        await turn()
        assert lab.naps[-1] == 5.0
        lab.real.advance(5)
        engine.runner.wake()
        await turn()
        assert [entry[1] for entry in diary.entries] == ["sooner"]
        assert lab.naps[-1] == 45.0


async def test_jobs_missed_while_down_run_at_the_start_in_order(lab: Lab, diary: Diary) -> None:
    """Each sees its own due moment, as if the sandbox had been up."""
    async with lab.running(frozen=False) as engine:
        await engine.run("test", plan((20, "b"), (10, "a"), (2 * DAY, "c")))
    lab.real.advance(DAY)
    async with lab.running() as engine:
        await engine.runner.advance(to=engine.clock.now())
    assert [entry[:2] for entry in diary.entries] == [("09:00:10", "a"), ("09:00:20", "b")]


async def test_job_whose_handler_breaks_is_tried_again_by_an_advance(
    lab: Lab, diary: Diary, caplog: pytest.LogCaptureFixture
) -> None:
    """It sees its own due moment then, too, and is counted until it went through."""
    with caplog.at_level(logging.ERROR, logger="svc.sandbox.store.jobs"):
        async with lab.running() as engine:
            await engine.run("test", lambda tx: tx.schedule(5, "breaks", "x"))
            assert (await engine.runner.advance(until="idle")).broken == 1
            assert (engine.runner.broken, engine.runner.next_due()) == (1, None)
            assert (await engine.runner.advance(to=engine.clock.now())).broken == 1
            lab.handlers["breaks"] = diary.note
            counts = await engine.runner.advance(to=engine.clock.now())
            assert (counts.jobs, counts.broken, engine.runner.broken) == (1, 0, 0)
    assert [entry[:2] for entry in diary.entries] == [("09:00:05", "x")]
    assert "the job breaks of x broke" in caplog.text


async def test_job_whose_handler_breaks_is_tried_again_every_minute(
    lab: Lab, diary: Diary, caplog: pytest.LogCaptureFixture
) -> None:
    """Without anybody's doing; its cause stands in the log once, and what came of it."""

    async def looked(engine: Any) -> None:
        engine.runner.wake()
        for _ in range(10):
            await asyncio.sleep(0)

    with caplog.at_level(logging.WARNING, logger="svc.sandbox.store.jobs"):
        async with lab.running(frozen=False) as engine:
            await engine.run("test", lambda tx: tx.schedule(0, "breaks", "x"))
            await engine.run("test", plan((70, "later")))
            for seconds in (0, 59, 1):
                lab.real.advance(seconds)
                await looked(engine)
            lab.handlers["breaks"] = diary.note
            lab.real.advance(61)
            await looked(engine)
            assert engine.runner.broken == 0
    assert sorted(entry[1] for entry in diary.entries) == ["later", "x"]
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert 60.0 in lab.naps


async def test_job_whose_handler_breaks_is_kept_over_a_restart(
    lab: Lab, diary: Diary, caplog: pytest.LogCaptureFixture
) -> None:
    """Its effects are taken back, the others run, time goes on; a new start tries it again."""
    with caplog.at_level(logging.CRITICAL, logger="svc.sandbox.store.jobs"):
        async with lab.running() as engine:
            await engine.run("test", lambda tx: tx.schedule(5, "breaks", "x"))
            await engine.run("test", plan((5, "a"), (6, "b")))
            counts = await engine.runner.advance(until="idle")
            assert (counts.jobs, counts.broken) == (2, 1)
            assert engine.read("test", lambda tx: tx.balance("EUR")) == 0
    lab.handlers["breaks"] = diary.note
    async with lab.running() as engine:
        await engine.runner.advance(to=engine.clock.now())
    assert [entry[1] for entry in diary.entries] == ["a", "b", "x"]
    assert diary.entries[-1][0] == "09:00:05"


async def test_pause_ends_by_time_or_by_waking() -> None:
    """The one place that really waits."""
    woken = asyncio.Event()
    await pause(woken, 0.01)
    assert not woken.is_set()
    asyncio.get_running_loop().call_soon(woken.set)
    await asyncio.wait_for(pause(woken, None), 60)
