"""Putting events into a log as a receiver does, with real servers."""

import asyncio
import json
import time
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from support.clocks import ManualClock
from support.listening import NOW, TargetServer
from support.suite.patience import until
from support.team.log import (
    KEY,
    connect,
    inbound,
    job,
    laptop,
    make_streams,
    publish,
    wait_for,
)
from support.team.servers import Servers, servers
from svc.clock import SystemClock
from svc.errors import LocalError
from svc.listen.inbox.interfaces import Batch, InboundEvent, Oversized, StoreResult
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.log import streams
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import Message
from svc.listen.log.errors import LogRefusal
from svc.listen.log.inboxes import CopiedInbox, LogInbox
from svc.state import Database


def stored(server: Servers, seq: int) -> dict[str, str]:
    """The headers of a message as the log has it."""
    with connect(server) as connection:
        stream = connection.address.stream("test")
        asked = connection.request(
            f"$JS.API.DIRECT.GET.{stream}", json.dumps({"seq": seq}).encode()
        )
        return dict(connection.run(asked).headers)


def count(server: Servers) -> int:
    with connect(server) as connection:
        info = connection.run(streams.stream_info(connection, "test"))
        return int(info["state"]["messages"])


def test_event_is_in_the_log_once_under_its_own_id(server: Servers) -> None:
    """A copy, in the same group, later, or after the server was killed, is the same message."""
    with connect(server) as connection:
        first = publish(connection, [1, 1, 2])
        assert [one.duplicate for one in first] == [False, True, False]
        server.nodes[0].kill()
        server.nodes[0].start()
        again = publish(connection, [2, 1, 3])
    assert [one.duplicate for one in again] == [True, True, False]
    assert count(server) == 3
    headers = stored(server, 1)
    assert headers["Nats-Msg-Id"] == "evt_1"
    assert headers["Svc-Received-At"] == f"{NOW:.3f}"


def test_the_place_before_a_moment_is_where_the_log_ended_then(server: Servers) -> None:
    """Who reads since then goes on behind the last event of before, and knows the log by it."""
    with connect(server) as connection:
        publish(connection, [1, 2, 3])
        ended = connection.run(streams.end_of(connection, "test"))
        moment = time.time() + 0.01
        until(lambda: time.time() > moment + 0.01)
        publish(connection, [4, 5])
        assert connection.run(streams.before(connection, "test", moment)) == ended
        assert connection.run(streams.before(connection, "test", 0.0)).seq == 0
        after = connection.run(streams.before(connection, "test", time.time() + 60))
        assert after == connection.run(streams.end_of(connection, "test"))


@pytest.mark.usefixtures("needed")
def test_event_that_is_too_large_costs_no_other_one(tmp_path: Path) -> None:
    """It alone is refused; its group is kept, the connection lives, and the next one is kept."""
    with servers(tmp_path / "log", payload="200KB") as server:
        make_streams(server)
        with connect(server) as connection:
            inbox = LogInbox(connection, "test", KEY)
            group = [inbound(n, note="x" * 300_000 if n == 7 else "") for n in range(20)]
            kept = inbox.store(Batch(group))
            assert [n for n, one in enumerate(kept) if isinstance(one, Oversized)] == [7]
            assert sum(isinstance(one, StoreResult) for one in kept) == 19
            assert isinstance(inbox.store(Batch([inbound(30)]))[0], StoreResult)
        assert count(server) == 20


@pytest.mark.usefixtures("needed")
def test_full_log_refuses_what_is_new(tmp_path: Path) -> None:
    """Dropping the oldest would lose, in silence, what somebody has not read yet."""
    with servers(tmp_path / "log") as server:
        make_streams(server, max_bytes=50_000)
        with connect(server) as connection:
            kept = LogInbox(connection, "test", KEY).store(
                Batch([inbound(n, note="x" * 5000) for n in range(20)])
            )
        there = [one for one in kept if isinstance(one, StoreResult)]
        full = [one for one in kept if isinstance(one, LocalError)]
        assert there
        assert {one.code for one in full} == {"log_full"}
        assert count(server) == len(there)


@pytest.mark.slow(seconds=5)
def test_copy_lies_on_the_own_disk_before_the_log_has_it(server: Servers, tmp_path: Path) -> None:
    """What was withheld stays there alone; a sender's retry finds its copy and is published."""
    with (
        Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as state,
        connect(server) as connection,
    ):
        copy = SqliteInbox(state, "one")
        inbox = CopiedInbox(copy, LogInbox(connection, "test", KEY))
        withheld = InboundEvent(inbound(2, livemode=True).delivery, "withheld")
        server.nodes[0].kill()
        [lost] = inbox.store(Batch([inbound(1)]))
        assert isinstance(lost, LocalError)
        server.nodes[0].start()
        first, live, third = inbox.store(Batch([inbound(1), withheld, inbound(3)]))
        assert isinstance(first, StoreResult)
        assert isinstance(live, StoreResult)
        assert isinstance(third, StoreResult)
        assert (first.duplicate, first.open, third.duplicate) == (False, False, False)
        rows = state.rows("SELECT event_id, outcome FROM inbox ORDER BY seq")
    assert [(row["event_id"], row["outcome"]) for row in rows] == [
        ("evt_1", "unrouted"),
        ("evt_2", "withheld"),
        ("evt_3", "unrouted"),
    ]
    assert count(server) == 2


def test_what_is_published_again_later_is_marked_and_forwarded_once_by_a_laptop(
    tmp_path: Path, needed: None
) -> None:
    """R124: the log knows ids for two minutes, here for a tenth of a second; the inboxes know the rest."""
    with (
        servers(tmp_path / "log") as running,
        TargetServer() as own,
        TargetServer() as shared,
        Database.open(tmp_path / "r" / "state.db", clock=SystemClock()) as state,
    ):
        make_streams(running, duplicate_window=100_000_000)
        with connect(running) as connection:
            log = LogInbox(connection, "test", KEY)
            received = CopiedInbox(SqliteInbox(state, "receiver"), log)
            with laptop(running, tmp_path / "a", own.port):
                with job(running, tmp_path / "b", shared.port):
                    assert isinstance(received.store(Batch([inbound(1)]))[0], StoreResult)
                    log.store(Batch([attempt(2, 1), attempt(3, 3)]))
                    wait_for(lambda: len(shared.received) == 3 and len(own.received) == 3)
                time.sleep(0.2)
                with job(running, tmp_path / "c", shared.port):  # it knows no id
                    received.store(Batch([inbound(1)]))
                    log.store(Batch([attempt(2, 2)]))
                    wait_for(lambda: len(shared.received) == 5)
                assert count(running) == 5
    assert sorted(own.ids) == ["evt_1", "evt_2", "evt_3"]
    marked: dict[str, list[bool]] = {}
    for one in shared.received:
        again = bool(one.header("svc-redelivered"))
        marked.setdefault(json.loads(one.body)["id"], []).append(again)
    assert marked == {"evt_1": [False, True], "evt_2": [False, True], "evt_3": [True]}


def attempt(number: int, attempts: int) -> InboundEvent:
    """An event as the service delivers it at an attempt."""
    plain = inbound(number)
    lines = plain.delivery.headers + b"Svc-Delivery-Attempt: %d\r\n" % attempts
    return replace(plain, delivery=replace(plain.delivery, headers=lines))


def test_an_id_that_is_on_its_way_is_tried_again() -> None:
    """10158: two receivers at the same moment; soon it is a duplicate, and no 503."""
    in_process = LogRefusal(409, 10158, "message id already in process")

    class FakeConnection:
        """Refuses as a server does that has not stored the first one yet."""

        address = LogAddress.parse("nats://127.0.0.1/shop", "--to")
        client = SimpleNamespace(max_payload=1 << 20)
        asked = 0

        def run(self, call: Coroutine[Any, Any, Any]) -> Any:
            return asyncio.run(call)

        async def request(self, *_: Any) -> Message:
            self.asked += 1
            if self.asked < 3:
                raise in_process
            return Message("", "", {}, b'{"seq": 7, "duplicate": true}')

    [kept] = LogInbox(cast("Any", FakeConnection()), "test", KEY).store(Batch([inbound(1)]))
    assert kept == StoreResult(7, True, again=False, open=False)
