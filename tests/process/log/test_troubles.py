"""What goes wrong around a log: no majority, credentials that end, certificates, another server."""

import asyncio
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from support.servers.certificates import Authority
from support.suite.patience import patient
from support.team.log import (
    KEY,
    connect,
    inbound,
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
