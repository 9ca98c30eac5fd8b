"""A reset of the engine: everything goes, or nothing."""

import pytest

from svc.sandbox.store.transaction import Transaction
from unit.sandbox.diary import Diary, plan
from unit.sandbox.lab import Kit, Lab


def test_reset_drops_everything_and_fills_anew(lab: Lab, kit: Kit, diary: Diary) -> None:
    """Objects, jobs, balances, settings and the frozen clock are gone; the fixture ran."""

    async def story() -> None:
        async with lab.running() as engine:
            asked: list[str | None] = []

            def fixture(test: Transaction, live: Transaction, name: str | None) -> None:
                asked.append(name)
                test.set_balance("EUR", 1)
                live.set_balance("EUR", 2)

            engine._fixture = fixture
            await engine.run("test", plan((10, "a")))
            doc = await engine.run("test", kit.new_order)
            await engine.run("test", lambda w: w.update_settings({"country": "DE"}))
            await engine.reset(fixture="demo")
            assert asked == ["demo"]
            assert engine.clock.mode == "realtime"
            assert engine.runner.next_due() is None
            assert engine.settings["country"] == "US"
            assert await engine.read("test", lambda w: w.get("order", doc["id"])) is None
            assert await engine.read("test", lambda w: w.balance("EUR")) == 1
            assert await engine.read("live", lambda w: w.balance("EUR")) == 2

    lab.play(story)


def test_refused_reset_changes_nothing(lab: Lab, kit: Kit) -> None:
    """A fixture that does not exist: state, clock and ids are as before."""

    async def story() -> None:
        async with lab.running() as engine:

            def refuse(test: Transaction, live: Transaction, name: str | None) -> None:
                raise LookupError(name)

            engine._fixture = refuse
            doc = await engine.run("test", kit.new_order)
            with pytest.raises(LookupError):
                await engine.reset(seed=9, fixture="nothing")
            assert engine.clock.mode == "frozen"
            assert await engine.read("test", lambda w: w.get("order", doc["id"])) == doc
            assert (await engine.run("test", kit.new_order))["id"] != doc["id"]

    lab.play(story)
