"""What was damaged or written by somebody else: it is set aside and told, and time goes on."""

import logging
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from svc.errors import LocalError
from svc.sandbox.clock import LAST
from svc.sandbox.jobs.handlers import HANDLERS
from svc.sandbox.store import export, sqlite
from svc.sandbox.store.sqlite import SqlRow, Store, Value
from unit.sandbox.lab import BEGAN, Lab


def change_file(lab: Lab, sql: str, *args: Any) -> None:
    with closing(sqlite3.connect(lab.path)) as db, db:
        assert db.execute(sql, args).rowcount > 0
    db.close()


ROWS: dict[str, dict[str, Any]] = {
    "docs": {"id": "we_1", "seq": 1, "mode": "test", "kind": "webhook_endpoint", "status": None}
    | {"created": "2026-10-01T09:00:00Z", "ord": None, "payment": None}
    | {"body": '{"id":"we_1","object":"webhook_endpoint"}'},
    "events": {"seq": 1, "id": "evt_1", "mode": "test", "type": "order.paid", "created": 0}
    | {"body": '{"id":"evt_1"}'},
    "jobs": {"seq": 1, "due": 0, "mode": "test", "name": "webhook.attempt", "subject": "dlv_1"}
    | {"args": "{}", "lane": "we_1"},
    "deliveries": {"seq": 1, "id": "dlv_1", "mode": "test", "event": "evt_1", "type": "order.paid"}
    | {"endpoint": "we_1", "url": "http://a", "attempt": 1, "status": "pending", "due": 0}
    | dict.fromkeys(("started", "code", "error", "ms", "next")),
    "results": {"mode": "test", "key": "k", "fingerprint": "f", "status": 200, "body": "{}"}
    | {"first_used": 0},
    "balances": {"mode": "test", "currency": "EUR", "amount": 5},
    "meta": {"name": "settings_of", "value": '{"ord_1":{"smart_retries":true}}'},
}
MOST = 2**63 - 1
END = 253_402_300_799_999_999  # of the year 9999
FITTING: dict[str, tuple[list[Any], list[Any]]] = {
    **dict.fromkeys(
        "events.created jobs.due deliveries.due deliveries.started deliveries.next "
        "results.first_used".split(),
        ([0, END], [-1, END + 1, 1.0, True]),
    ),
    "balances.currency": (["USD"], [[], 5, None]),
    "balances.amount": ([MOST, -MOST], [MOST + 1, -MOST - 1, 1.0, True, None]),
    "deliveries.code": ([MOST, None], [MOST + 1, "200"]),
    "deliveries.status": (["pending", "succeeded", "failed", "dropped"], ["lost", None]),
    "docs.id": ([], ["we_2"]),
    "docs.kind": ([], ["order"]),
    "docs.created": ([], ["2026-10-01"]),
    "docs.body": ([], ["[]", "{", '{"id":"we_1","object":"webhook_endpoint","amount":NaN}']),
    "docs.mode": (["test", "live"], ["dead"]),
    "events.body": ([], ['{"id":"evt_2"}', '{"id":"evt_1","amount":NaN}', "[]"]),
    "results.body": (["{}"], ["[]", '{"amount":-Infinity}']),
    "jobs.args": (['{"step":1}'], ["[]", "{", "null"]),
    "jobs.name": (["webhook.disable"], ["nobody.can", "payment.settle"]),
    "jobs.lane": (["we_2"], [""]),
    "meta.name": (["something"], ["settings"]),
    "meta.value": (
        ["{}", '{"ord_1":{},"ord_2":{"voucher_days":30}}'],
        [f'{{"ord_1":{one}}}' for one in ('{"smart_retries":1}', "5", "[]", '{"voucher_days":31}')],
    ),
}


def fits(table: str, column: str, value: Any) -> bool:
    """Whether a state with that in one of its rows can be imported."""
    row = {**ROWS[table], column: value}
    tables = {name: [row] if name == table else [] for name in sqlite.DATA}
    state = {"object": "sandbox_state", "format": 1, "tables": tables}
    with closing(Store.open(":memory:")) as store:
        store.begin()
        try:
            export.restore(store, state, HANDLERS.keys() | {"webhook.attempt"})
        except export.StateInvalidError:
            return False
        return True


@pytest.mark.parametrize("place", FITTING)
def test_row_of_an_import_is_one_that_can_be_worked_with(place: str) -> None:
    """Each of its columns: numbers of 64 bits, moments of dates, JSON that an answer can show."""
    table, _, column = place.partition(".")
    assert fits(table, column, ROWS[table][column])
    good, bad = FITTING[place]
    assert [value for value in good if not fits(table, column, value)] == []
    assert [value for value in bad if fits(table, column, value)] == []


def test_pieces_of_an_import_are_no_larger_than_any_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together, whatever table they are of; another import begins anew."""
    monkeypatch.setattr(export, "SANDBOX_EXPORT_MAX", 30)
    upload = export.StateUpload()
    for name in ("a", "b"):
        rows = {"id": "ten"}  # 12 bytes
        counts = [upload.add(name, table, [rows]) for table in ("docs", "jobs")]
        assert counts == [1, 1]
        assert upload.add(name, "jobs", [7777, 77]) == 3
        with pytest.raises(export.StateInvalidError, match="larger than 30 bytes"):
            upload.add(name, "meta", [{}])


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
