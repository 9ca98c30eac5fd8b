"""Group commit: together on disk, apart in failure (R82)."""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from svc.errors import LocalError
from svc.sandbox.resources import api_keys
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.lab import Lab, emit_paid, export, new_order


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts commits."""
    seen: list[str] = []
    commit = Store.commit

    def counted(store: Store) -> None:
        commit(store)
        seen.append("commit")

    monkeypatch.setattr(Store, "commit", counted)
    return seen


@contextmanager
def disk_is_full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No commit succeeds."""

    def full(_: Store) -> None:
        raise LocalError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "commit", full)
        yield


async def test_calls_of_one_turn_share_a_commit(lab: Lab, commits: list[str]) -> None:
    """Two calls that arrive together cost one commit; two in a row cost two."""
    async with lab.running() as engine:
        commits.clear()
        first, second = await asyncio.gather(
            engine.run("test", new_order), engine.run("live", new_order)
        )
        assert first["id"] != second["id"]
        assert commits == ["commit"]
        await engine.run("test", new_order)
        assert commits == ["commit"] * 2


@pytest.mark.parametrize(("known", "turns", "expected"), [(2, 1, 1), (2, 2, 1), (0, 1, 2)])
async def test_group_waits_for_those_on_their_way(
    lab: Lab, commits: list[str], known: int, turns: int, expected: int
) -> None:
    """A request that has begun and comes a turn or two later shares the commit."""
    lab.under_way = known
    async with lab.running() as engine:
        commits.clear()

        async def later() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            await engine.run("test", new_order)

        await asyncio.gather(engine.run("test", new_order), later())
        assert commits == ["commit"] * expected
        assert len(engine.read("test", lambda tx: tx.find("order"))) == 2


async def test_group_does_not_wait_long(lab: Lab, commits: list[str]) -> None:
    """Requests that are held, by a fault rule say, hold nobody else."""
    lab.under_way = 9
    async with lab.running() as engine:
        commits.clear()
        call = asyncio.create_task(engine.run("test", new_order))
        for _ in range(4):  # its own turn, the group's, and two more
            assert not commits
            await asyncio.sleep(0)
        assert commits == ["commit"]
        await call


async def test_lone_call_waits_for_no_turn(lab: Lab, commits: list[str]) -> None:
    """With nobody else on his way there is nobody to share a commit with."""
    lab.under_way = 1
    async with lab.running() as engine:
        commits.clear()
        asyncio.get_running_loop().call_soon(commits.append, "the next turn")
        await engine.run("test", new_order)
        assert commits == ["commit"]
        await asyncio.sleep(0)
        assert commits == ["commit", "the next turn"]
        assert len(engine.read("test", lambda tx: tx.find("order"))) == 1


async def test_lone_call_that_fails_leaves_nothing(lab: Lab, commits: list[str]) -> None:
    """Neither effects nor ids, and nothing is written."""
    lab.under_way = 1
    async with lab.running() as engine:
        commits.clear()

        def fails(tx: Transaction) -> None:
            tx.move_balance("EUR", 5)
            tx.update_settings({"smart_retries": True})
            new_order(tx)
            raise ValueError("no")

        with pytest.raises(ValueError):
            await engine.run("test", fails)
        assert commits == []
        assert engine.settings.current["smart_retries"] is False
        first = await engine.run("test", new_order)
        found = engine.read("test", lambda tx: (tx.balance("EUR"), tx.find("order")))
        assert found == (0, [first])


async def test_lone_call_learns_that_its_commit_failed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: the call fails, nothing happened, and the next one works."""
    lab.under_way = 1
    async with lab.running() as engine:
        with disk_is_full(monkeypatch), pytest.raises(LocalError, match="disk full"):
            await engine.run("test", new_order)
        assert engine.read("test", lambda tx: tx.find("order")) == []
        await engine.run("test", new_order)


@pytest.mark.parametrize("alone", [True, False])
async def test_call_that_hides_a_lost_transaction_is_no_success(lab: Lab, *, alone: bool) -> None:
    """SQLite gave it up and the call went on all the same: what it did is on no disk."""
    lab.under_way = int(alone)
    async with lab.running() as engine:

        def loses(tx: Transaction) -> object:
            new_order(tx)
            tx.store.rollback()
            return "done"

        calls: list[Callable[[Transaction], object]] = [loses] if alone else [new_order, loses]
        *made, lost = await asyncio.gather(
            *(engine.run("test", call) for call in calls), return_exceptions=True
        )
        assert isinstance(lost, LocalError)
        assert engine.read("test", lambda tx: tx.find("order")) == made
        await engine.run("test", new_order)


async def test_lone_call_takes_an_open_group_along(lab: Lab, commits: list[str]) -> None:
    """What a job has begun is on disk with it, and a failure takes back its own part only."""
    async with lab.running() as engine:
        commits.clear()

        def fails(tx: Transaction) -> None:
            new_order(tx)
            raise ValueError("no")

        job = asyncio.create_task(engine.run("test", new_order))
        await asyncio.sleep(0)
        lab.under_way = 1
        with pytest.raises(ValueError):
            await engine.run("test", fails)
        assert commits == ["commit"]
        assert [(await job)["id"]] == [
            one["id"] for one in engine.read("test", lambda tx: tx.find("order"))
        ]


async def test_call_returns_only_after_its_commit(lab: Lab, commits: list[str]) -> None:
    """Nobody is told of an effect that is not on disk (R82)."""
    async with lab.running() as engine:
        commits.clear()

        async def call(name: str) -> None:
            await engine.run("test", new_order)
            commits.append(name)

        await asyncio.gather(call("a"), call("b"))
        assert commits == ["commit", "a", "b"]


async def test_failed_calls_leave_the_file_as_if_they_had_never_been(lab: Lab) -> None:
    """What came before in the group stays, with the same numbers (R82)."""

    def works(tx: Transaction) -> None:
        tx.move_balance("EUR", 1)
        emit_paid(tx)
        tx.schedule(60, "none", "ord_1")
        tx.put_result(f"k{tx.balance('EUR')}", "print", 200, b"{}")

    def fails(tx: Transaction) -> None:
        works(tx)
        tx.update_settings({"smart_retries": True})
        raise ValueError("no")

    def looks_and_fails(tx: Transaction) -> None:
        tx.balance("EUR")
        tx.new_id("ord_")  # which the next call has in its place
        raise ValueError("no")

    async def left_by(*calls: Callable[[Transaction], None]) -> object:
        async with lab.running(path=":memory:") as engine:
            runs = (engine.run("test", call) for call in calls)
            outcomes = await asyncio.gather(*runs, return_exceptions=True)
            failed = [isinstance(outcome, ValueError) for outcome in outcomes]
            assert failed == [call is not works for call in calls]
            assert engine.settings.current["smart_retries"] is False
            state = await export(engine)
            return state["tables"]

    mixed = (fails, works, looks_and_fails, works, fails, fails, works, fails)
    assert await left_by(*mixed) == await left_by(works, works, works)


async def test_refusals_share_the_commit_of_their_neighbours(lab: Lab, commits: list[str]) -> None:
    """A call that fails before it changes anything costs the others nothing; one after it, a commit."""
    async with lab.running() as engine:

        def refuse(tx: Transaction) -> None:
            tx.new_id("ord_")
            raise ValueError

        def fail(tx: Transaction) -> None:
            new_order(tx)
            raise ValueError

        for call, expected in ((refuse, 1), (fail, 2)):
            commits.clear()
            calls = (new_order, call, new_order, call)
            runs = (engine.run("test", each) for each in calls)
            outcomes = await asyncio.gather(*runs, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [dict, ValueError] * 2
            assert len(commits) == expected
        assert len(engine.read("test", lambda tx: tx.find("order"))) == 4


async def test_reset_shares_its_transaction_with_nobody(lab: Lab, commits: list[str]) -> None:
    """It may be a million rows long: as a part among others each page would be copied."""
    async with lab.running() as engine:
        commits.clear()
        await asyncio.gather(engine.run("test", new_order), engine.reset())
        assert commits == ["commit"] * 2
        assert engine.read("test", lambda tx: tx.find("order")) == []


async def test_read_does_not_show_what_is_not_on_disk(lab: Lab, commits: list[str]) -> None:
    """A read that comes while a call waits for its group answers at once, without it."""
    async with lab.running() as engine:
        commits.clear()

        async def look() -> None:
            found = engine.read("test", lambda tx: len(tx.find("order")))
            commits.append(f"saw {found}")

        await asyncio.gather(engine.run("test", new_order), look())
        assert commits == ["saw 0", "commit"]
        await look()
        assert commits[-1] == "saw 1"


async def test_failed_commit_fails_every_call_of_the_group(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk at the commit: all calls learn of it, none happened, the next one works."""
    async with lab.running() as engine:
        await engine.run("test", lambda tx: tx.set_balance("EUR", 1))
        with disk_is_full(monkeypatch):
            outcomes = await asyncio.gather(
                engine.run("test", lambda tx: tx.set_balance("EUR", 2)),
                engine.run("test", lambda tx: tx.update_settings({"country": "DE"})),
                engine.run("test", new_order),
                return_exceptions=True,
            )
        assert [type(outcome) for outcome in outcomes] == [LocalError] * 3
        assert engine.read("test", lambda tx: tx.balance("EUR")) == 1
        assert engine.settings.current["country"] == "US"
        assert engine.read("test", lambda tx: tx.find("order")) == []
        await engine.run("test", new_order)


async def test_refused_call_keeps_its_answer_when_its_group_cannot_be_saved(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bad request beside a write on a full disk is told what is wrong with it, not of the disk."""
    async with lab.running() as engine:
        with disk_is_full(monkeypatch):

            def refuse(tx: Transaction) -> None:
                assert tx.find("order") == [], "what was lost is not seen"
                raise ValueError("no")

            outcomes = await asyncio.gather(
                engine.run("test", lambda tx: tx.set_balance("EUR", 2)),
                engine.run("test", refuse),
                engine.run("test", lambda _: "nothing to save"),
                return_exceptions=True,
            )
        assert [type(outcome) for outcome in outcomes] == [LocalError, ValueError, str]
        assert engine.read("test", lambda tx: tx.balance("EUR")) == 0


async def test_cancelled_caller_does_not_disturb_the_group(lab: Lab) -> None:
    """A client that goes away before the commit leaves its neighbours' answers alone."""
    async with lab.running() as engine:
        gone = asyncio.create_task(engine.run("test", new_order))
        stays = asyncio.create_task(engine.run("test", new_order))
        await asyncio.sleep(0)
        gone.cancel()
        await stays
        assert len(engine.read("test", lambda tx: tx.find("order"))) == 2


async def test_what_is_kept_in_memory_is_what_is_stored(lab: "Lab") -> None:
    """What every request asks for is read once, and anew when it changed or was taken back."""
    async with lab.running() as engine:
        key = await engine.run("test", lambda tx: api_keys.create(tx, {"type": "secret"}))

        def known(tx: Transaction) -> object:
            found = api_keys.find(tx, key["secret"])
            return found and found["expires_at"]

        def roll(tx: Transaction) -> None:
            api_keys.roll(tx, tx.stored("api_key", key["id"]), {})
            assert known(tx)

        def refused(tx: Transaction) -> None:
            roll(tx)
            raise ValueError

        assert engine.read("test", known) is None
        with pytest.raises(ValueError):
            await engine.run("test", refused)
        assert engine.read("test", known) is None
        await engine.run("test", roll)
        assert engine.read("test", known)
        assert engine.read("live", lambda tx: api_keys.find(tx, key["secret"])) is None
        await engine.reset(seed=7)
        assert engine.read("test", lambda tx: api_keys.find(tx, key["secret"])) is None


async def test_what_was_removed_is_no_longer_known(lab: "Lab") -> None:
    """A removed key is refused at once, and its text may be another's from then on."""
    async with lab.running() as engine:
        key = await engine.run("test", lambda tx: api_keys.create(tx, {"type": "secret"}))
        assert engine.read("test", lambda tx: api_keys.find(tx, key["secret"]))

        def remove(tx: Transaction) -> None:
            assert tx.remove("api_key", key["id"])
            assert api_keys.find(tx, key["secret"]) is None

        await engine.run("test", remove)
        await engine.run("test", lambda tx: api_keys.register(tx, key["secret"], "restricted"))
        found = engine.read("test", lambda tx: api_keys.find(tx, key["secret"]))
        assert found is not None
        assert found["type"] == "restricted"


def make_call(number: int, kind: str) -> Callable[[Transaction], tuple[str, int]]:
    """A call that makes an order, and ends as its kind says; `refuse` changes nothing first."""

    def call(tx: Transaction) -> tuple[str, int]:
        drawn = tx.new_id("ord_")
        if kind == "refuse":
            raise ValueError(drawn)
        tx.move_balance("EUR", 1)
        order = new_order(tx)
        tx.put_result(f"k{number}", "print", 200, b"{}")
        if kind == "fail":
            raise ValueError(drawn)
        if kind == "lose":
            tx.store.rollback()
        return order["id"], number

    return call


@pytest.mark.parametrize("seed", range(12))
async def test_each_call_of_any_group_is_done_once_or_not_at_all(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever fails beside it, and though the disk be full now and then (R82)."""
    draw, commit = random.Random(seed), Store.commit

    def fill_up_sometimes(store: Store) -> None:
        if seed % 2 and draw.random() < 0.3:
            raise LocalError("disk full")
        commit(store)

    async with lab.running() as engine:
        monkeypatch.setattr(Store, "commit", fill_up_sometimes)
        done: list[tuple[str, int]] = []
        numbers = count()
        for _ in range(4):
            kinds = draw.choices(["ok", "refuse", "fail", "lose"], [4, 1, 1, 1], k=8)
            runs = [engine.run("test", make_call(next(numbers), kind)) for kind in kinds]
            outcomes = await asyncio.gather(*runs, return_exceptions=True)
            for kind, outcome in zip(kinds, outcomes, strict=True):
                expected = {"ok": tuple, "lose": LocalError}.get(kind, ValueError)
                is_full = kind == "ok" and seed % 2 and isinstance(outcome, LocalError)
                assert is_full or isinstance(outcome, expected)
            done += [outcome for outcome in outcomes if isinstance(outcome, tuple)]
        monkeypatch.undo()

        def look(tx: Transaction) -> tuple[int, set[str], list[int]]:
            orders = {order["id"] for order in tx.find("order")}
            kept = [each for each in range(next(numbers)) if tx.get_result(f"k{each}")]
            return tx.balance("EUR"), orders, kept

        ids, kept = {identity for identity, _ in done}, [number for _, number in done]
        assert engine.read("test", look) == (len(done), ids, kept)
        assert len(ids) == len(done)
