"""What a million orders ask of the store: no query reads all of them, and no start does."""

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

from svc.sandbox.store import deliveries, events, jobs
from svc.sandbox.store.documents import DocumentRows
from svc.sandbox.store.export import dump
from svc.sandbox.store.ids import IdSource
from svc.sandbox.store.sqlite import TABLES, Store
from unit.sandbox.lab import Lab, export, new_order

# Each is read to the end of a page by its order.
GROWING: Final = re.compile(r"SCAN (docs|events|jobs|deliveries|results)\b|USE TEMP B-TREE")


def doc(number: int, **more: str) -> dict[str, Any]:
    when = f"2026-10-01T09:00:{number:02d}Z"
    return {"id": f"ord_{number}", "object": "order", "created": when, "status": "paid", **more}


@contextmanager
def trace_statements() -> Iterator[tuple[Store, sqlite3.Connection, set[str]]]:
    """An empty store, its connection, and the statements that it is asked from now on."""
    asked = set[str]()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for table in TABLES:
            connection.execute(table)
        connection.set_trace_callback(asked.add)
        yield Store(connection, ":memory:"), connection, asked


def read_documents(store: Store) -> None:
    """What nouns ask for, page by page."""
    rows = DocumentRows(store, "test", {})
    for number in range(3):
        rows.add(doc(number))
    rows.save(doc(1, order="ord_0", payment="pay_1"))
    for equals in ({}, {"status": "paid"}, {"order": "ord_0"}, {"payment": "pay_1"}):
        rows.page("order", equals=equals, limit=2)
        rows.page("order", equals=equals, limit=2, after="ord_2")
        rows.page("order", equals=equals, bounds={"gte": "2026"}, limit=2)
    rows.find("order", status="paid")


def read_events(store: Store) -> None:
    """What the runner and the controls ask for."""
    ids = IdSource(1, lambda count: b"\0" * count)
    made = events.insert(store, ids, "test", 5, "order.paid", None, doc(1))
    for kind in (None, "order.paid"):
        events.page(store, "test", 6, event_type=kind, limit=2, after=None)
        events.page(store, "test", 6, event_type=kind, limit=2, after=made["id"])
    deliveries.queue(store, ids, "test", (made["id"], "order.paid"), ("we_1", "http://a"), 7, {})
    deliveries.page(store, "test", equals={"event": made["id"]}, limit=2, after=None)
    deliveries.page(store, "test", equals={}, limit=2, after=None)
    deliveries.drop(store, "we_1", made["id"])
    jobs.next_due(store, jobs.MAIN, [1]), jobs.due(store, jobs.MAIN, 9, 2, [1])
    jobs.cancel(store, "test", "payment.settle", "pay_1")


def test_no_query_reads_what_is_kept() -> None:
    """Lists, filters, jobs, deliveries and what goes after its time are found by an index."""
    with trace_statements() as (store, connection, asked):
        store.sequence = 0  # as a start takes it from what was saved
        store.begin()
        read_documents(store)
        read_events(store)
        store.commit()
        connection.set_trace_callback(None)
        wrong = [
            f"{row[3]}: {statement}"
            for statement in asked
            if statement.split(" ")[0] in ("SELECT", "UPDATE", "DELETE")
            for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
            if GROWING.search(row[3])
            and "ORDER BY seq LIMIT" not in statement
            # The deliveries of one event are a few.
            and not ("TEMP B-TREE" in row[3] and "event = " in statement)
        ]
        assert wrong == []


def test_an_export_needs_no_room_of_its_own_to_sort() -> None:
    """Each table is read in the order of its key."""
    with trace_statements() as (store, connection, asked):
        assert b"".join(dump(store)).endswith(b'"balances":[]}}')
        connection.set_trace_callback(None)
        plans = [
            row[3]
            for statement in asked
            if "ORDER BY" in statement
            for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]
        assert len(plans) >= 7
        assert [step for step in plans if "FOR ORDER BY" in step] == []


async def test_a_start_takes_the_count_of_documents_from_what_was_saved(lab: Lab) -> None:
    """A start that looks for the newest one reads through all of them; an older file is counted."""

    async def made() -> int:
        async with lab.running() as engine:
            await engine.run("test", new_order)
            tables = (await export(engine))["tables"]
            return max(int(row["seq"]) for row in tables["docs"])

    first = await made()
    assert await made() == first + 1
    with closing(sqlite3.connect(lab.path)) as file, file:
        file.execute("UPDATE docs SET seq = 90 WHERE seq = 1")
    assert await made() == 90  # told, not looked for
    with closing(sqlite3.connect(lab.path)) as file, file:
        file.execute(
            "UPDATE meta SET value = json_remove(value, '$.sequence') WHERE name = 'state'"
        )
    assert await made() == 91


async def test_who_reads_does_not_wait_for_an_export(lab: Lab) -> None:
    """It shows one moment: who writes waits until it is written down, and nobody else does."""
    async with lab.running() as engine:
        before = await engine.run("test", new_order)
        taking = asyncio.ensure_future(export(engine))
        for _ in range(3):
            await asyncio.sleep(0)
        writing = asyncio.ensure_future(engine.run("test", new_order))
        found = engine.read("test", lambda tx: tx.find("order"))
        assert (found, writing.done(), taking.done()) == ([before], False, False)
        shown = [row["id"] for row in (await taking)["tables"]["docs"]]
        after = await writing
        assert (before["id"] in shown, after["id"] in shown) == (True, False)
