"""A listener that reads a log at its own pace, with a real server."""

import json
from pathlib import Path

import pytest

from support.listening import TargetServer, event
from support.team.log import OWN, connect, laptop, publish, wait_for
from support.team.servers import Servers
from svc.listen.output_records import LogState, Missed
from svc.signature import verify


def test_laptop_gets_all_in_order_signed_with_its_own_secret(
    server: Servers, tmp_path: Path
) -> None:
    """R52's exception: what was published reaches the target, verifiable today, each once."""
    with connect(server) as connection:
        first = publish(connection, range(300))
        assert [one.seq for one in first] == list(range(1, 301))
        with TargetServer() as target, laptop(server, tmp_path / "a", target.port) as listener:
            listener.forwards(300)
            assert [one.id for one in listener.events(300)] == [f"evt_{n}" for n in range(300)]
            publish(connection, [300])
            listener.forwards(301)
            [newest] = [one for one in target.received if one.body == event(300)]
    verify(newest.body, newest.header("svc-signature"), [OWN], int(listener.records[-1].time))
    assert sorted(target.ids) == sorted(f"evt_{number}" for number in range(301))
    assert not [one for one in target.received if one.header("svc-redelivered")]


def test_laptop_goes_on_where_it_was(server: Servers, tmp_path: Path) -> None:
    """What came while it slept comes when it is back; nothing comes twice."""
    with connect(server) as connection, TargetServer() as target:
        publish(connection, range(10))
        with laptop(server, tmp_path / "a", target.port) as listener:
            listener.forwards(10)
        publish(connection, range(10, 30))
        with laptop(server, tmp_path / "a", target.port) as listener:
            listener.forwards(20)
    assert sorted(target.ids) == sorted(f"evt_{number}" for number in range(30))


def test_events_that_are_too_old_are_missed_aloud(server: Servers, tmp_path: Path) -> None:
    """What the log has dropped for its age is counted and said, never passed over in silence."""
    with connect(server) as connection, TargetServer() as target:
        publish(connection, range(4))
        with laptop(server, tmp_path / "a", target.port) as listener:
            listener.forwards(4)
        stream = connection.address.stream("test")
        config = connection.run(connection.api(f"STREAM.INFO.{stream}"))["config"]
        publish(connection, range(4, 10))
        aged = {**config, "max_age": 10**9, "duplicate_window": 10**9}
        connection.run(connection.api(f"STREAM.UPDATE.{stream}", aged))

        def gone() -> bool:
            return not connection.run(connection.api(f"STREAM.INFO.{stream}"))["state"]["messages"]

        wait_for(gone)
        back = {**config, "duplicate_window": 10**11}
        connection.run(connection.api(f"STREAM.UPDATE.{stream}", back))
        with laptop(server, tmp_path / "a", target.port) as listener:
            listener.told(Missed, 1)
            server.nodes[0].kill()  # reading begins anew before anything has come
            server.nodes[0].start()
            listener.told(LogState, 2)
            publish(connection, range(20, 22))
            listener.forwards(2)
            [missed] = listener.told(Missed, 1)
    assert missed.events == 6
    assert json.loads(json.dumps(missed.to_dict()))["record"] == "missed"
    assert sorted(target.ids) == sorted(f"evt_{n}" for n in (0, 1, 2, 3, 20, 21))


def test_what_a_filter_leaves_out_is_not_told_as_missed(server: Servers, tmp_path: Path) -> None:
    """The numbers in between are other events, which nobody has dropped."""
    only = ("svc.shop.test.refund.created",)
    with (
        connect(server) as connection,
        TargetServer() as target,
        laptop(server, tmp_path / "a", target.port, filters=only) as listener,
    ):
        publish(connection, range(4))
        publish(connection, [4], event_type="refund.created")
        listener.forwards(1)
        assert not listener.told(Missed)
    assert target.ids == ["evt_4"]


@pytest.mark.slow(seconds=8)
def test_listener_outlives_its_log(server: Servers, tmp_path: Path) -> None:
    """A log that is away is told once, tried again, and told when it is back."""
    with TargetServer() as target, laptop(server, tmp_path / "a", target.port) as listener:
        with connect(server) as connection:
            publish(connection, range(3))
        listener.forwards(3)
        server.nodes[0].kill()
        [down] = listener.told(LogState, 1)
        assert down.reason
        server.nodes[0].start()
        with connect(server) as connection:
            publish(connection, range(3, 6))
        listener.forwards(6)
        assert [one.reason is None for one in listener.told(LogState, 2)] == [False, True]
    assert sorted(target.ids) == sorted(f"evt_{number}" for number in range(6))
