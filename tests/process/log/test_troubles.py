"""What goes wrong around a log: no majority, credentials that end, certificates, another server."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from support.listening import TargetServer
from support.servers.certificates import Authority
from support.serving import free_ports
from support.suite.patience import patient
from support.team.log import (
    KEY,
    connect,
    inbound,
    laptop,
    make_streams,
    publish,
    trust_in,
    wait_for,
)
from support.team.servers import Servers, servers
from svc.client.wire.tls import context
from svc.clock import SystemClock
from svc.errors import LocalError, SvcError
from svc.listen.inbox.interfaces import Batch, Position, StoreResult
from svc.listen.log import group, log_cursor
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.inboxes import LogInbox
from svc.listen.log.streams import stream_info

pytestmark = pytest.mark.usefixtures("needed")
SHOP = "SVC_shop_test"


@pytest.mark.slow(seconds=30)
@pytest.mark.limit(120)
def test_without_a_majority_nothing_is_taken(tmp_path: Path) -> None:
    """R51: an error within the time of the service's answer, never a good word; healed, nothing twice."""
    with servers(tmp_path / "log", 3) as running:
        make_streams(running)
        with connect(running) as connection:
            publish(connection, range(5))
            for node in running.nodes[1:]:
                node.kill()
            started = time.monotonic()
            kept = LogInbox(connection, "test", KEY).store(
                Batch([inbound(n) for n in range(5, 10)])
            )
            assert time.monotonic() - started < patient(8)
            assert all(isinstance(one, LocalError) for one in kept)
            for node in running.nodes[1:]:
                node.start()

            def taken() -> bool:
                again = LogInbox(connection, "test", KEY).store(
                    Batch([inbound(n) for n in range(10)])
                )
                return all(isinstance(one, StoreResult) for one in again)

            wait_for(taken, 60)
            held: list[int] = []

            def counted() -> bool:
                with suppress(SvcError):  # a leader that has just changed
                    info = connection.run(stream_info(connection, "test"))
                    held.append(info["state"]["messages"])
                return bool(held)

            wait_for(counted, 60)
    assert held == [10]


@pytest.mark.slow(seconds=20)
@pytest.mark.limit(120)
def test_a_reader_goes_on_although_the_leader_of_its_last_run_has_gone(tmp_path: Path) -> None:
    """The log keeps nothing for it: whichever server answers, it reads from its own position."""
    with servers(tmp_path / "log", 3) as running, TargetServer() as target:
        make_streams(running)
        with connect(running) as connection:
            publish(connection, range(20))
            with laptop(running, tmp_path / "after") as listener:
                listener.events(20)
            found = connection.run(stream_info(connection, "test"))
            [node] = [one for one in running.nodes if one.name == found["cluster"]["leader"]]
            node.kill()
            publish_when_led(connection, range(20, 40))
            with laptop(running, tmp_path / "after", target.port) as listener:
                listener.until(lambda: len(target.ids) == 20)
    assert sorted(target.ids) == sorted(f"evt_{number}" for number in range(20, 40))


def publish_when_led(connection: LogConnection, numbers: Sequence[int]) -> None:
    """Publishes until all are taken: a log whose leader has died takes none for a while."""
    inbox = LogInbox(connection, "test", KEY)

    def taken() -> bool:
        kept = inbox.store(Batch([inbound(number) for number in numbers]))
        return all(isinstance(one, StoreResult) for one in kept)

    wait_for(taken, 60)


def test_log_that_nobody_serves_is_named() -> None:
    """In a few seconds, with the address and the reason."""
    [port] = free_ports(1)
    address = LogAddress.parse(f"nats://127.0.0.1:{port}/shop", "--from")
    with (
        pytest.raises(SvcError, match="connection refused"),
        LogConnection(address, None, seconds=1),
    ):
        pass


@pytest.mark.slow(seconds=8)
def test_log_behind_tls_is_trusted_by_its_certificate_alone(tmp_path: Path) -> None:
    """One that another authority vouches for is refused, before any password is sent."""
    authority = Authority(tmp_path)
    certificate = authority.issue("127.0.0.1")
    tls = f'tls {{ cert_file: "{certificate}", key_file: "{certificate}" }}'
    with servers(tmp_path / "log", more=tls) as running:
        running.scheme = "nats+tls"
        address = LogAddress.parse(running.url(), "--from")
        trusted = context(str(authority.file))
        with LogConnection(address, None, trusted) as connection:
            assert connection.client.version
        with (
            pytest.raises(SvcError, match="certificate is not trusted"),
            LogConnection(address, None, context(None)),
        ):
            pass


class Bug:
    """What a source asks for its position or its target's address, and breaks at."""

    def __init__(self) -> None:
        self.met = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def position(self) -> Position:
        self._loop.call_soon_threadsafe(self.met.set)
        raise RuntimeError("a bug")

    @property
    def host(self) -> str:
        self.met.set()
        raise RuntimeError("a bug")


@pytest.mark.parametrize("shared", [False, True], ids=["own position", "queue of a group"])
def test_what_a_source_has_died_of_comes_out_at_its_stop(shared: bool, server: Servers) -> None:
    """Both sources alike; a task that is only cancelled is no error."""
    trust = trust_in(server)
    queue, cursor = (
        group.ConsumerGroup("ci", "test", 1, trust),
        log_cursor.Cursor("anna", "test", trust),
    )

    async def stopped(connection: LogConnection, bug: Any) -> None:
        read = bug.position if bug else lambda: Position(0, "")
        place = log_cursor.Place(read, lambda _: None)
        of_group = partial(
            group.GroupSource, connection, queue, (bug,) if bug else (), SystemClock()
        )
        own = partial(log_cursor.CursorSource, connection, cursor, place, SystemClock())
        source = (of_group if shared else own)(cast("Any", None), lambda _: None)
        await source.start()
        await (bug.met.wait() if bug else asyncio.sleep(0))
        if bug:
            await asyncio.wait([source.died], timeout=10)
            assert isinstance(source.died.exception(), RuntimeError)
        await source.stop_accepting()
        await source.close()

    async def broken(connection: LogConnection) -> None:
        await stopped(connection, Bug())

    with connect(server) as connection:
        connection.run(group.ensure(connection, queue, {"deliver_policy": "all"}))
        asyncio.run(stopped(connection, None))
        with pytest.raises(RuntimeError, match="a bug"):
            asyncio.run(broken(connection))
