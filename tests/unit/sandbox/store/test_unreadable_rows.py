"""What was damaged or written by somebody else: it is set aside and told, and time goes on."""

import logging
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from svc.errors import LocalError
from svc.sandbox.clock import LAST
from svc.sandbox.store.sqlite import SqlRow, Store, Value
from unit.sandbox.lab import BEGAN, Lab


def change_file(lab: Lab, sql: str, *args: Any) -> None:
    with closing(sqlite3.connect(lab.path)) as db, db:
        assert db.execute(sql, args).rowcount > 0
    db.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [("due", -(2**62)), ("args", "no JSON"), ("args", "[]")],
)
async def test_an_unreadable_job_holds_up_no_other(
    lab: Lab, caplog: pytest.LogCaptureFixture, column: str, value: Any
) -> None:
    """It is parked, counted and logged; the job behind it runs on time."""
    ran: list[str] = []
    lab.handlers["bell"] = lambda tx, job: ran.append(job.subject + str(job.args or ""))
    async with lab.running() as engine:
        await engine.run("test", lambda tx: tx.schedule(5, "bell", "one"))
        await engine.run("test", lambda tx: tx.schedule(5, "bell", "two"))
    change_file(lab, f"UPDATE jobs SET {column} = ? WHERE subject = 'one'", value)
    with caplog.at_level(logging.WARNING):
        async with lab.running() as engine:
            counts = await engine.runner.advance(to=BEGAN + 10_000_000)
            assert ran == ["two"]
            assert counts.broken == 1
            assert engine.runner.broken == 1
            await engine.run("test", lambda tx: tx.schedule(5, "bell", "three"))
            await engine.runner.advance(to=BEGAN + 20_000_000)
            assert ran == ["two", "three"]
    assert "the job bell of one broke" in caplog.text
    assert "its row cannot be read" in caplog.text


async def test_a_job_behind_the_end_of_dates_is_only_never_done(lab: Lab) -> None:
    """The clock can still be shown, and what is due before it happens."""
    ran: list[str] = []
    lab.handlers["bell"] = lambda tx, job: ran.append(job.subject)
    async with lab.running() as engine:
        await engine.run("test", lambda tx: tx.schedule(5, "bell", "one"))
        await engine.run("test", lambda tx: tx.schedule(9, "bell", "two"))
    change_file(lab, "UPDATE jobs SET due = ? WHERE subject = 'one'", 2**60)
    async with lab.running() as engine:
        await engine.runner.advance(to=BEGAN + 10_000_000)
        assert ran == ["two"]
        assert engine.runner.next_due() == LAST


class Stumbling(Store):
    """Breaks once, when jobs are looked for."""

    stumbled = False

    def all(self, sql: str, *args: Value) -> list[SqlRow]:
        if "FROM jobs WHERE lane = ? AND due <= ?" in sql and not self.stumbled:
            self.stumbled = True
            raise TypeError("a bug")
        return super().all(sql, *args)


async def test_a_runner_that_meets_a_bug_goes_on(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever breaks while it looks for jobs is logged, and it looks again after a second."""
    ran: list[str] = []
    lab.handlers["bell"] = lambda tx, job: ran.append(job.subject)
    async with lab.running(frozen=False, store=Stumbling) as engine:
        await engine.run("test", lambda tx: tx.schedule(0, "bell", "one"))
        for _ in range(20):
            engine.runner.wake()
            await engine.run("test", lambda _: None)
        assert ran == ["one"]
    assert "they could not be looked at" in caplog.text
    assert 1.0 in lab.naps


@pytest.mark.parametrize(
    ("find", "put"),
    [
        ('"now": ', '"now": 1152921504606846976, "was": '),
        ('"now": ', '"now": -1, "was": '),
        ('"now": ', '"now": 1e300, "was": '),
        ('"mode": "frozen"', '"mode": "sideways"'),
        ('"counter": ', '"counter": "x", "was": '),
        ("{", "["),
    ],
)
async def test_a_file_with_an_impossible_clock_is_opened_with_a_clear_error(
    lab: Lab, find: str, put: str
) -> None:
    """Nothing breaks later in its place, and the file is left as it was."""
    async with lab.running():
        pass
    sql = "UPDATE meta SET value = replace(value, ?, ?) WHERE name = 'state'"
    change_file(lab, sql, find, put)
    with pytest.raises(LocalError, match="invalid state of its clock or ids") as caught:
        lab.engine()
    assert lab.path in caught.value.message
    assert "--db" in str(caught.value.hint)
