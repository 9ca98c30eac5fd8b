"""Lists: newest first, ties by creation, exact bounds, and no page slower than the first."""

import sqlite3
from functools import partial
from typing import Any

import pytest

from svc.sandbox.store.documents import Doc, DocumentRows
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from unit.sandbox.lab import Lab, new_order

STATUSES = ("requires_payment", "paid", "cancelled")


async def fill(lab: Lab, count: int) -> list[str]:
    """Creates orders of one second; returns their ids, oldest first."""
    async with lab.running() as engine:
        made = []
        for number in range(count):
            create = partial(new_order, status=STATUSES[number % len(STATUSES)])
            doc = await engine.run("test", create)
            made.append(doc["id"])
        return made


def page(tx: Transaction, kind: str = "order", **asked: Any) -> tuple[list[Doc], bool]:
    return tx.page(kind, **asked)


@pytest.mark.parametrize(
    "equals",
    [{}, {"status": "paid"}, {"order": "ord_1"}, {"payment": "pay_1"}],
    ids=["all", "status", "order", "payment"],
)
def test_deep_page_costs_what_the_second_costs(equals: dict[str, str]) -> None:
    """4,000 orders of one second: SQLite works no more for the last page than for the second."""
    store = Store.open(":memory:")
    store.begin()
    for number in range(4000):
        doc = {"id": f"ord_{number}", "object": "order", "created": "2026-10-01T09:00:00Z"}
        extra = {"status": "paid", "order": "ord_1", "payment": "pay_1"}
        DocumentRows(store, "test", {}).add({**doc, **extra})
    store.commit()
    second = steps(store, equals, "ord_3899")
    assert 0.9 * second < steps(store, equals, "ord_300") < 1.1 * second
    store.close()


def steps(store: Store, equals: dict[str, str], after: str | None) -> int:
    """Counts the instructions of SQLite's machine for one page."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    db: sqlite3.Connection = store._db
    db.set_progress_handler(count, 1)
    DocumentRows(store, "test", {}).page("order", equals=equals, limit=100, after=after)
    db.set_progress_handler(None, 0)
    return counted


async def test_modes_never_see_each_other(lab: Lab) -> None:
    """A live object exists in live mode only: get, find, page, save, remove (R86)."""
    async with lab.running() as engine:
        doc = await engine.run("live", new_order)

        def look(tx: Transaction) -> None:
            assert tx.get("order", doc["id"]) is None
            assert tx.find("order") == []
            assert tx.page("order", limit=5) == ([], False)
            assert not tx.remove("order", doc["id"])
            with pytest.raises(KeyError):
                tx.save({**doc, "amount": 1})

        await engine.run("test", look)
        assert engine.read("live", lambda tx: tx.get("order", doc["id"])) == doc


async def test_saved_document_keeps_its_place(lab: Lab) -> None:
    """A change moves an order between filters, not within the list; copies are fresh."""
    made = await fill(lab, 3)
    async with lab.running() as engine:

        def pay(tx: Transaction) -> None:
            doc = tx.get("order", made[0])
            assert doc is not None
            doc["status"] = "paid"
            tx.save(doc)
            doc["amount"] = -1  # the stored one does not follow
            stored = tx.get("order", made[0])
            assert stored is not None
            assert (stored["status"], stored["amount"]) == ("paid", 100)

        await engine.run("test", pay)
        for equals, wanted in (({}, made[::-1]), ({"status": "paid"}, [made[1], made[0]])):
            docs, _ = engine.read("test", partial(page, limit=9, equals=equals))
            assert [doc["id"] for doc in docs] == wanted
