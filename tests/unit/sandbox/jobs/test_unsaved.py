"""What an advance does where something cannot be saved: it ends there, and says so."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from svc.errors import LocalError
from svc.sandbox.clock import SECOND
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store.sqlite import DISK_FULL, Store
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.diary import Diary, plan
from unit.sandbox.lab import BEGAN, Lab, ScriptedReceiver, add_endpoint, answer_with, emit_paid

Fill = Callable[..., None]


@pytest.fixture
def fill(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fill]:
    """Fills the disk: after so many commits none can be saved; with None there is room again."""
    commit, left = Store.commit, [-1]

    def limited(store: Store) -> None:
        if left[0] == 0:
            raise LocalError("The disk is full.", code=code[0])
        left[0] -= 1
        commit(store)

    code: list[str | None] = [DISK_FULL]
    monkeypatch.setattr(Store, "commit", limited)

    def fill(after: int | None, why: str | None = DISK_FULL) -> None:
        left[0], code[0] = -1 if after is None else after, why

    yield fill
    fill(None)


async def refused(engine_advance: object) -> str:
    async with asyncio.timeout(60):
        with pytest.raises(Problem) as caught:
            await engine_advance  # type: ignore[misc]
    assert (caught.value.status, caught.value.code) == (507, "storage_full")
    return caught.value.message


async def test_nothing_is_sent_where_nothing_can_be_saved(
    lab: Lab, diary: Diary, receiver: ScriptedReceiver, fill: Fill
) -> None:
    """Neither job nor attempt is begun, the clock stays, and the answer may say so."""
    async with receiver.listening(), lab.running() as engine:
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", plan((5, "a")))
        await engine.run("test", lambda tx: tx.update_settings({"webhook_delivery": "manual"}))
        await engine.run("test", emit_paid)
        fill(0)
        message = await refused(engine.runner.advance(to=BEGAN + 3600 * SECOND))
        assert "The clock stands at 2026-10-01T09:00:00Z; nothing was done." in message
        assert (receiver.arrivals, diary.entries) == ([], [])
        assert engine.clock.now() == BEGAN
        fill(None)
        counts = await engine.runner.advance(to=BEGAN + 3600 * SECOND)
        assert (counts.jobs, counts.deliveries, counts.broken) == (1, 1, 0)


async def test_nothing_is_sent_until_there_is_room(
    lab: Lab, receiver: ScriptedReceiver, fill: Fill
) -> None:
    """After an answer was lost neither time nor a resend nor an advance sends anything more."""
    async with receiver.listening(), lab.running() as engine:
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", lambda tx: tx.update_settings({"webhook_delivery": "manual"}))
        events = [await engine.run("test", emit_paid) for _ in range(12)]
        fill(1)
        await refused(engine.runner.advance(to=BEGAN))
        sent = len(receiver.arrivals)
        assert 0 < sent < 12
        message = await refused(engine.runner.advance(to=BEGAN))
        assert message.endswith("; nothing was done. Free some space, and advance again.")
        with pytest.raises(LocalError):
            await engine.resend("test", events[0])
        engine.runner.holds_webhooks = lambda: False
        for _ in range(3):
            engine.runner.wake()
            await asyncio.sleep(0.02)
        assert len(receiver.arrivals) == sent
        fill(None)
        await engine.runner.advance(to=BEGAN)
        assert len(receiver.arrivals) == sent + 12


async def test_attempt_whose_answer_is_lost_is_made_again_at_its_moment(
    lab: Lab, receiver: ScriptedReceiver, fill: Fill
) -> None:
    """The clock stands before it, and those that follow count from the moment that it shows."""
    receiver.answers = [answer_with(500)]
    async with receiver.listening(), lab.running() as engine:
        receiver.engine = engine
        await engine.run("test", add_endpoint(receiver.url))
        await engine.run("test", emit_paid)
        await engine.runner.advance(to=BEGAN)
        fill(1)  # the commit with which the advance begins
        message = await refused(engine.runner.advance(to=BEGAN + 3600 * SECOND))
        assert "The clock stands at 2026-10-01T09:00:00Z; jobs done: 0" in message
        assert "made again for their answers could not be saved: 1." in message
        assert (engine.clock.now(), engine.runner.broken) == (BEGAN, 0)
        assert engine.runner.next_due() == BEGAN + 60 * SECOND
        fill(None)
        await engine.runner.advance(to=BEGAN + 700 * SECOND)
        assert [hook.at for hook in receiver.arrivals] == [0, 60, 60, 660]
        ids = [hook.headers["svc-delivery-id"] for hook in receiver.arrivals]
        assert ids[1] == ids[2]
        assert len(set(ids)) == 3


async def test_clock_stands_at_the_last_moment_that_was_saved(
    lab: Lab, diary: Diary, fill: Fill
) -> None:
    """The jobs before it are done and stay so, also for a restart; the others are done later."""
    async with lab.running() as engine:
        await engine.run("test", plan((10, "a"), (20, "b"), (30, "c")))
        fill(3)  # the beginning, a and b
        message = await refused(engine.runner.advance(until="idle"))
        assert "The clock stands at 2026-10-01T09:00:20Z; jobs done: 2" in message
        assert engine.clock.now() == BEGAN + 20 * SECOND
        fill(None)
    async with lab.running() as engine:
        assert engine.clock.now() == BEGAN + 20 * SECOND
        counts = await engine.runner.advance(until="idle")
        assert counts.jobs == 1
    done = [entry[:2] for entry in diary.entries]
    assert done == [("09:00:10", "a"), ("09:00:20", "b"), ("09:00:30", "c"), ("09:00:30", "c")]


async def test_clock_itself_may_be_what_cannot_be_saved(lab: Lab, fill: Fill) -> None:
    """No job is due: it was not turned and not stopped, and another file trouble says so as well."""
    async with lab.running(frozen=False) as engine:
        fill(1)
        await refused(engine.set_clock("frozen", BEGAN + 60 * SECOND))
        assert (engine.clock.mode, engine.clock.now()) == ("realtime", BEGAN)
        fill(1, None)
        with pytest.raises(LocalError):
            await engine.set_clock("frozen", BEGAN + 60 * SECOND)
        assert (engine.clock.mode, engine.clock.now()) == ("realtime", BEGAN)


async def test_job_that_cannot_be_saved_stops_those_of_its_moment(
    lab: Lab, diary: Diary, fill: Fill
) -> None:
    """More than fit a commit: those of the first are done, and no third group is begun."""

    def many(tx: Transaction) -> None:
        for number in range(500):
            tx.schedule(5, "note", str(number))

    async with lab.running() as engine:
        await engine.run("test", many)
        fill(2)  # the beginning and the first 200
        await refused(engine.runner.advance(until="idle"))
        begun = {entry[1] for entry in diary.entries}
        assert len(begun) == 400
        assert engine.clock.now() == BEGAN + 5 * SECOND
        fill(None)
        diary.entries.clear()
        assert (await engine.runner.advance(until="idle")).jobs == 300
        assert len(diary.entries) == 300
