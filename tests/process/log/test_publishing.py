"""Putting events into a log as a receiver does, with real servers."""

import json
import threading
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import NOW
from support.team.log import KEY, ORIGIN, arrival, connect, make_streams, publish
from support.team.servers import Servers, servers
from svc.errors import LocalError
from svc.listen.inbox.inbox import Arrival, Batch, Kept, Oversized
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.log import streams
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


def test_two_receivers_of_one_event_make_one_message(server: Servers) -> None:
    """The sender's copy may come to the other receiver, at the same moment."""
    kept: list[Kept] = []

    def receive() -> None:
        with connect(server) as connection:
            kept.extend(publish(connection, range(50)))

    both = [threading.Thread(target=receive) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert count(server) == 50
    assert sum(one.duplicate for one in kept) == 50


@pytest.mark.usefixtures("needed")
def test_event_that_is_too_large_costs_no_other_one(tmp_path: Path) -> None:
    """It alone is refused; its group is kept, the connection lives, and the next one is kept."""
    with servers(tmp_path / "log", payload="200KB") as server:
        make_streams(server)
        with connect(server) as connection:
            inbox = LogInbox(connection, "test", KEY)
            group = [arrival(n, note="x" * 300_000 if n == 7 else "") for n in range(20)]
            kept = inbox.store(Batch(group))
            assert [n for n, one in enumerate(kept) if isinstance(one, Oversized)] == [7]
            assert sum(isinstance(one, Kept) for one in kept) == 19
            assert isinstance(inbox.store(Batch([arrival(30)]))[0], Kept)
        assert count(server) == 20


@pytest.mark.parametrize("event_type", ["a..b", "", ".", "x" * 128, "order paid", "*", ">"])
def test_every_type_finds_its_way(server: Servers, event_type: str) -> None:
    """What is no good subject is kept under another one; nothing of it is lost."""
    with connect(server) as connection:
        [kept] = publish(connection, [1], event_type=event_type)
        assert kept.seq == 1
        subject = connection.address.subject("test", event_type)
    assert subject == f"svc.shop.test.{'x' * 128 if event_type[:1] == 'x' else '_'}"


@pytest.mark.usefixtures("needed")
def test_full_log_refuses_what_is_new(tmp_path: Path) -> None:
    """Dropping the oldest would lose, in silence, what somebody has not read yet."""
    with servers(tmp_path / "log") as server:
        make_streams(server, max_bytes=50_000)
        with connect(server) as connection:
            kept = LogInbox(connection, "test", KEY).store(
                Batch([arrival(n, note="x" * 5000) for n in range(20)])
            )
        there = [one for one in kept if isinstance(one, Kept)]
        full = [one for one in kept if isinstance(one, LocalError)]
        assert there
        assert {one.code for one in full} == {"log_full"}
        assert count(server) == len(there)


@pytest.mark.slow(seconds=5)
def test_nothing_is_kept_while_the_log_is_away(server: Servers) -> None:
    """Every arrival gets an error in time for the service's answer, never a good word."""
    with connect(server) as connection:
        server.nodes[0].kill()
        inbox = LogInbox(connection, "test", KEY)
        kept = inbox.store(Batch([arrival(n) for n in range(3)]))
        assert {getattr(one, "code", None) for one in kept} == {"log_unavailable"}
        server.nodes[0].start()
        again = inbox.store(Batch([arrival(n) for n in range(3)]))
        assert all(isinstance(one, Kept) for one in again)
    assert count(server) == 3


@pytest.mark.slow(seconds=5)
def test_copy_lies_on_the_own_disk_before_the_log_has_it(server: Servers, tmp_path: Path) -> None:
    """What was withheld stays there alone; a sender's retry finds its copy and is published."""
    with (
        Database.open(tmp_path / "s" / "state.db", clock=ManualClock(NOW)) as state,
        connect(server) as connection,
    ):
        copy = SqliteInbox(state, "one")
        inbox = CopiedInbox(copy, LogInbox(connection, "test", KEY))
        withheld = Arrival(arrival(2, livemode=True).delivery, "withheld")
        server.nodes[0].kill()
        [lost] = inbox.store(Batch([arrival(1)]))
        assert isinstance(lost, LocalError)
        server.nodes[0].start()
        first, live, third = inbox.store(Batch([arrival(1), withheld, arrival(3)]))
        assert isinstance(first, Kept)
        assert isinstance(live, Kept)
        assert isinstance(third, Kept)
        assert (first.duplicate, first.open, third.duplicate) == (False, False, False)
        rows = state.rows("SELECT event_id, outcome FROM inbox ORDER BY seq")
    assert [(row["event_id"], row["outcome"]) for row in rows] == [
        ("evt_1", "unrouted"),
        ("evt_2", "withheld"),
        ("evt_3", "unrouted"),
    ]
    assert count(server) == 2


def test_streams_are_made_once_and_what_differs_is_said(server: Servers) -> None:
    """Making them again changes nothing; it shows what somebody has changed."""
    with connect(server) as connection:
        wanted = streams.events_stream(connection.address, "test", ORIGIN, 1, 1 << 30, KEY)
        assert connection.run(streams.make(connection, wanted)) == streams.Made(made=False)
        other = {**wanted, "max_bytes": 1 << 20, "discard": "old"}
        connection.run(connection.api(f"STREAM.UPDATE.{wanted['name']}", other))
        differs = connection.run(streams.make(connection, wanted)).differs
    assert {one.field: one.found for one in differs} == {"max_bytes": 1 << 20, "discard": "old"}
