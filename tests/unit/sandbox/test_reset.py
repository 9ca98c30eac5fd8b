"""A reset of the engine: everything goes, or nothing."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from svc.errors import LocalError
from svc.sandbox.engine import Engine
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.diary import Diary, plan
from unit.sandbox.lab import Lab, add_endpoint, export, new_order


async def test_reset_drops_everything_and_fills_anew(lab: Lab, diary: Diary) -> None:
    """Objects, jobs, balances, settings and the frozen clock are gone; the fixture ran."""
    async with lab.running() as engine:
        asked: list[str | None] = []

        def fixture(test: Transaction, live: Transaction, name: str | None) -> None:
            asked.append(name)
            test.set_balance("EUR", 1)
            live.set_balance("EUR", 2)

        engine._fixture = fixture
        await engine.run("test", plan((10, "a")))
        doc = await engine.run("test", new_order)
        await engine.run("test", lambda w: w.update_settings({"country": "DE"}))
        await engine.reset(fixture="demo")
        assert asked == ["demo"]
        assert engine.clock.mode == "realtime"
        assert engine.runner.next_due() is None
        assert engine.settings.current["country"] == "US"
        assert engine.read("test", lambda w: w.get("order", doc["id"])) is None
        assert engine.read("test", lambda w: w.balance("EUR")) == 1
        assert engine.read("live", lambda w: w.balance("EUR")) == 2


async def test_reset_lets_go_of_endpoints_that_are_gone(lab: Lab) -> None:
    """A sandbox that many tests share is emptied thousands of times."""
    async with lab.running() as engine:
        for _ in range(3):
            await engine.run("test", add_endpoint("http://127.0.0.1:9/"))
            await engine.runner.advance(to=engine.clock.now())
            await engine.reset()
        assert len(engine.runner._lanes) <= 1  # that of jobs


async def test_refused_reset_changes_nothing(lab: Lab) -> None:
    """A fixture that does not exist: state, clock and ids are as before."""
    async with lab.running() as engine:

        def refuse(test: Transaction, live: Transaction, name: str | None) -> None:
            raise LookupError(name)

        engine._fixture = refuse
        doc = await engine.run("test", new_order)
        with pytest.raises(LookupError):
            await engine.reset(seed=9, fixture="nothing")
        assert engine.clock.mode == "frozen"
        assert engine.read("test", lambda w: w.get("order", doc["id"])) == doc
        assert (await engine.run("test", new_order))["id"] != doc["id"]


async def test_refused_reset_is_nothing_to_who_comes_meanwhile(lab: Lab) -> None:
    """A call of the same turn has the present clock, and its id is the present seed's next."""
    async with lab.running() as engine:

        def refuse(test: Transaction, live: Transaction, name: str | None) -> None:
            raise LookupError(name)

        engine._fixture = refuse
        state = await export(engine)
        refused, doc = await asyncio.gather(
            engine.reset(seed=9, fixture="nothing"),
            engine.run("test", new_order),
            return_exceptions=True,
        )
        assert isinstance(refused, LookupError)
        await engine.restore(state)
        assert await engine.run("test", new_order) == doc


def fill_disk_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next commit fails."""
    commit = Store.commit

    def full_once(_: Store) -> None:
        monkeypatch.setattr(Store, "commit", commit)
        raise LocalError("disk full")

    monkeypatch.setattr(Store, "commit", full_once)


async def test_reset_that_cannot_be_saved_takes_no_ids_back(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who calls right after its commit failed keeps his id to himself."""
    async with lab.running() as engine:

        async def next_turn() -> object:
            await asyncio.sleep(0)
            return await engine.run("test", new_order)

        fill_disk_once(monkeypatch)
        lost, _ = await asyncio.gather(engine.reset(seed=9), next_turn(), return_exceptions=True)
        assert isinstance(lost, LocalError)
        await engine.run("test", new_order)
        assert len(engine.read("test", lambda tx: tx.find("order"))) == 2


@pytest.mark.parametrize("saved", [False, True])
async def test_what_is_made_after_a_lost_reset_is_listed_behind_what_was_before(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, *, saved: bool
) -> None:
    """All of it is of one second: only the sequence in which it was made tells it apart."""
    async with lab.running() as engine:

        def refuse(test: Transaction, live: Transaction, name: str | None) -> None:
            raise LookupError(name)

        made = [await engine.run("test", new_order) for _ in range(3)]
        if saved:
            fill_disk_once(monkeypatch)
        else:
            engine._fixture = refuse
        with pytest.raises((LookupError, LocalError)):
            await engine.reset(fixture="nothing")
        made += [await engine.run("test", new_order) for _ in range(2)]
        assert engine.read("test", lambda tx: tx.find("order")) == made


async def test_export_in_the_middle_of_calls_can_be_restored(lab: Lab) -> None:
    """The ids go on behind those of the calls that it shows."""
    async with lab.running() as engine:
        doc, state = await asyncio.gather(engine.run("test", new_order), export(engine))
        following = await engine.run("test", new_order)
        await engine.restore(state)
        assert engine.read("test", lambda tx: tx.find("order")) == [doc]
        assert await engine.run("test", new_order) == following


@pytest.mark.parametrize("take", [export, Engine.reset])
async def test_writers_without_end_hold_up_nobody_who_wants_it_whole(
    lab: Lab, take: Callable[[Engine], Awaitable[object]]
) -> None:
    """Of all who wait for a commit they come first, and begin the next transaction each time."""
    lab.under_way = 2
    async with lab.running() as engine:
        over = asyncio.Event()

        async def write() -> None:
            while not over.is_set():
                await engine.run("test", new_order)

        writers = [asyncio.create_task(write()) for _ in range(2)]
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(60):
                await take(engine)
        finally:
            over.set()
            await asyncio.gather(*writers)
