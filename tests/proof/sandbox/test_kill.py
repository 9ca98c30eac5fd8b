"""kill -9 under load, again and again on one file: what was acknowledged is there (promise R82)."""

import json
import os
import random
import signal
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self

import pytest

from support.launching import launch_options
from support.orders import ORDER
from support.sandbox_calls import PAYOUT
from svc.clock import SystemClock
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord

KILLS = 200 if os.environ.get("SVC_TEST_LONG") == "1" else 12  # of the slow run
CALLERS = 4
OWED_AND_PLANNED = (
    "SELECT id FROM deliveries WHERE status = 'pending'",
    "SELECT subject FROM jobs WHERE name LIKE '%attempt'",
    "SELECT id FROM events WHERE type IN ('payout.created', 'order.cancelled')",
    "SELECT event FROM deliveries",
)
HOOK = {"url": "http://127.0.0.1:9/", "events": ["payout.created", "order.cancelled"]}


class SandboxConnection:
    """One kept-alive connection to a sandbox."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path: str, body: Any, key: str) -> tuple[int, bytes, bool]:
        """Status, body, and whether it was a replay."""
        return self._ask("POST", path, json.dumps(body), {"Idempotency-Key": key})

    def get(self, path: str) -> Any:
        status, body, _ = self._ask("GET", path, None, {"Svc-Sandbox": "1"})
        assert status == 200, (path, body)
        return json.loads(body)

    def close(self) -> None:
        self._connection.close()

    def _ask(
        self, method: str, path: str, body: str | None, more: dict[str, str]
    ) -> tuple[int, bytes, bool]:
        headers = {"Authorization": "Bearer sk_test_sandbox", **more}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Idempotent-Replayed") == "true"


@dataclass
class LoggedCall:
    """One POST: what was sent under a key, and the answer if there was one."""

    path: str
    body: Any
    answer: bytes | None = None


@dataclass
class CallLog:
    """What the callers know: every call by its key."""

    calls: dict[str, LoggedCall] = field(default_factory=dict)
    unexpected: list[Any] = field(default_factory=list)

    def made(self, noun: str) -> dict[str, LoggedCall]:
        return {key: call for key, call in self.calls.items() if call.path == f"/v1/{noun}"}


def keep_calling(port: int, name: str, log: CallLog) -> None:
    """Creates payouts and orders and cancels some, until the connection breaks."""
    connection = SandboxConnection(port)
    try:
        for number in range(10**6):
            for path, body in one_of_each(f"{name}-{number}", log):
                key = f"{name}-{number}-{path}"
                call = log.calls[key] = LoggedCall(path, body)
                status, call.answer, replayed = connection.post(path, body, key)
                if status != 200 or replayed:
                    log.unexpected.append((status, call.answer))
    except (OSError, HTTPException):
        connection.close()  # killed: the last call has no answer


def one_of_each(ref: str, log: CallLog) -> Any:
    """Three calls; the last one names the order that the second one made."""
    metadata = {"ref": ref}
    yield "/v1/payouts", {**PAYOUT, "amount": 1000, "metadata": metadata}
    yield "/v1/orders", {**ORDER, "metadata": metadata}
    answer = log.calls[f"{ref}-/v1/orders"].answer
    yield f"/v1/orders/{json.loads(answer or b'')['id']}/cancel", {}


class Rounds:
    """A database file, and rounds of load, kill, check on it."""

    def __init__(self, folder: Path) -> None:
        self._db = folder / "sandbox.db"
        self._options = launch_options(folder / "state", db=str(self._db))
        self._chance = random.Random(7)
        self._alive = False
        self.acknowledged = self.unanswered = self.survived = 0
        self._spent = 0
        self._last: dict[str, str | None] = {"payouts": None, "orders": None}

    def __enter__(self) -> Self:
        self._server = self._started()
        connection = SandboxConnection(self._server.port)
        status, answer, _ = connection.post("/v1/webhook_endpoints", HOOK, "hook")
        assert status == 200, answer
        connection.close()
        return self

    def __exit__(self, *_: object) -> None:
        if self._alive:
            self._kill()

    def one(self, number: int) -> None:
        """Load, kill at a random moment, restart, check everything that this round did."""
        log = CallLog()
        port = self._server.port
        threads = [
            threading.Thread(target=keep_calling, args=(port, f"{number}-{caller}", log))
            for caller in range(CALLERS)
        ]
        for thread in threads:
            thread.start()
        time.sleep(self._chance.uniform(0.005, 0.2))
        self._kill()
        for thread in threads:
            thread.join()
        assert log.unexpected == []
        with closing(sqlite3.connect(self._db)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            owed, jobs, planned, sent = (
                {row[0] for row in database.execute(query)} for query in OWED_AND_PLANNED
            )
            assert owed == jobs  # every attempt has its job, and every job its attempt
            assert planned == sent != set()  # and every event of the endpoint's its delivery
        self._server = self._started()
        connection = SandboxConnection(self._server.port)
        try:
            self._check(connection, log)
        finally:
            connection.close()

    def _started(self) -> RunRecord:
        record = launch.start(self._options, os.environ, SystemClock())
        self._alive = True
        return record

    def _kill(self) -> None:
        self._alive = False
        os.kill(self._server.pid, signal.SIGKILL)
        os.waitpid(self._server.pid, 0)

    def _check(self, connection: SandboxConnection, log: CallLog) -> None:
        for key, call in log.calls.items():
            status, answer, replayed = connection.post(call.path, call.body, key)
            assert status == 200, answer
            if call.answer is not None:  # acknowledged: there, byte for byte
                assert (replayed, answer) == (True, call.answer)
                self.acknowledged += 1
            else:
                self.unanswered += 1
                self.survived += replayed
                call.answer = answer
        self._check_payouts(connection, log.made("payouts"))
        self._check_orders(connection, log)

    def _check_payouts(self, connection: SandboxConnection, calls: dict[str, LoggedCall]) -> None:
        """Each payout once, with its one event, and its cost taken once from the balance."""
        shown = {key: json.loads(call.answer or b"") for key, call in calls.items()}
        payouts = self._fresh(connection, "payouts")
        assert {doc["id"]: doc for doc in payouts} == {doc["id"]: doc for doc in shown.values()}
        assert len(payouts) == len(calls)
        events = self._events(connection, "payout.created", len(payouts))
        assert sorted(doc["id"] for doc in events) == sorted(doc["id"] for doc in payouts)
        self._spent += sum(doc["source_amount"] for doc in payouts)
        balances = connection.get("/_sandbox/balances")["data"]
        left = next(each["amount"] for each in balances if each["currency"] == "USD")
        assert left == 100_000_000 - self._spent
        self._remember("payouts", payouts)

    def _check_orders(self, connection: SandboxConnection, log: CallLog) -> None:
        """Each order once; those whose cancelling was sent are cancelled, with one event."""
        orders = self._fresh(connection, "orders")
        created = [json.loads(call.answer or b"")["id"] for call in log.made("orders").values()]
        assert sorted(doc["id"] for doc in orders) == sorted(created)
        cancelled = {doc["id"] for doc in orders if doc["status"] == "cancelled"}
        asked = {c.path.split("/")[3] for c in log.calls.values() if c.path.endswith("/cancel")}
        assert cancelled == asked
        events = self._events(connection, "order.cancelled", len(cancelled))
        assert sorted(doc["id"] for doc in events) == sorted(cancelled)
        self._remember("orders", orders)

    def _fresh(self, connection: SandboxConnection, noun: str) -> list[Any]:
        """The objects that were made since the last round, newest first."""
        found: list[Any] = []
        more, after = True, ""
        while more:
            page = connection.get(f"/v1/{noun}?limit=100{after}")
            for doc in page["data"]:
                if doc["id"] == self._last[noun]:
                    return found
                found.append(doc)
            more = page["has_more"]
            after = f"&starting_after={found[-1]['id']}" if found else ""
        return found

    def _events(self, connection: SandboxConnection, kind: str, count: int) -> list[Any]:
        """The objects of the newest `count` events of a type."""
        found: list[Any] = []
        after = ""
        while len(found) < count:
            limit = min(100, count - len(found))
            page = connection.get(f"/_sandbox/events?type={kind}&limit={limit}{after}")["data"]
            assert page, f"an event of {kind} is missing"
            found += [event["data"]["object"] for event in page]
            after = f"&starting_after={page[-1]['id']}"
        return found

    def _remember(self, noun: str, docs: list[Any]) -> None:
        if docs:
            self._last[noun] = docs[0]["id"]


@pytest.mark.slow(seconds=10)
def test_many_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    """R82: each acknowledged POST is there once, byte for byte, with its event and its money.

    At 12 random points on one file; at 200 with SVC_TEST_LONG=1.
    """
    with Rounds(tmp_path) as rounds:
        for number in range(KILLS):
            rounds.one(number)
    # Killed in the middle of work, not before or after it.
    assert rounds.acknowledged > KILLS
    assert rounds.unanswered > KILLS
    print(
        f"\n{KILLS} kills: {rounds.acknowledged} acknowledged, all there once; of "
        f"{rounds.unanswered} unanswered {rounds.survived} were carried out"
    )
