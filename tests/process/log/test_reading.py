"""A listener that reads a log at its own pace, with a real server."""

from pathlib import Path

from support.listening import TargetServer, event
from support.team.log import OWN, connect, laptop, publish
from support.team.servers import Servers
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
