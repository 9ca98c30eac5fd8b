"""What accidents and strangers do to a log: silence, no TLS, twins, queues that are deleted."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.listening import TargetServer, arrival, event
from support.running import Sandbox, Svc
from support.servers.accepting import OneByOne
from support.servers.relays import Relay
from support.suite.patience import slowed
from support.team.log import KEY, connect, inbound, job, laptop, publish, trust_in, wait_for
from support.team.servers import Servers, servers
from svc.client.wire.tls import context
from svc.errors import SvcError
from svc.listen.inbox.interfaces import Batch, StoreResult
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials
from svc.listen.log.errors import LogDown
from svc.listen.log.group import ConsumerGroup, ensure
from svc.listen.log.inboxes import LogInbox
from svc.listen.output_records import LogState

pytestmark = pytest.mark.usefixtures("needed")


class RelayedLog(Servers):
    """A log by another way."""

    def __init__(self, port: int) -> None:
        super().__init__([])
        self._port = port

    @property
    def hosts(self) -> str:
        return f"127.0.0.1:{self._port}"


@pytest.mark.slow(seconds=20)
@pytest.mark.limit(90)
def test_receiver_drops_a_connection_on_which_nothing_comes(server: Servers) -> None:
    """The other end has vanished without a word: a firewall, a laptop's sleep; not for 30 s."""
    with Relay(server.nodes[0].port) as relay, connect(RelayedLog(relay.port)) as connection:
        inbox = LogInbox(connection, "test", KEY)
        assert isinstance(inbox.store(Batch([inbound(1)]))[0], StoreResult)
        relay.forget()
        answers: list[object] = []
        while not answers or not isinstance(answers[-1], StoreResult):
            answers += inbox.store(Batch([inbound(2)]))
            assert len(answers) < 6
    with connect(server) as direct:
        assert [one.duplicate for one in publish(direct, [1, 2, 3])] == [True, True, False]


@pytest.mark.slow(seconds=20)
@pytest.mark.limit(90)
def test_laptop_drops_a_connection_on_which_nothing_comes(server: Servers, tmp_path: Path) -> None:
    with (
        connect(server) as direct,
        Relay(server.nodes[0].port) as relay,
        TargetServer() as target,
        laptop(RelayedLog(relay.port), tmp_path / "a", target.port) as listener,
    ):
        publish(direct, [1])
        listener.forwards(1)
        relay.forget()
        publish(direct, range(2, 12))
        listener.until(lambda: len(listener.told(LogState)) == 2)
        listener.until(lambda: len(target.received) == 11)
        down, up = listener.told(LogState)
    # In time, or at all: as a request or the look at the connection noticed it first.
    assert re.search(r"it (did|does) not answer", down.reason or "")
    assert up.reason is None
    assert up.time - down.time < slowed(15)
    assert sorted(target.ids) == sorted(f"evt_{number}" for number in range(1, 12))


@contextmanager
def told_to(server: Servers) -> Iterator[tuple[int, bytearray]]:
    """A way to the server on which everything is heard that is sent to it."""
    heard = bytearray()

    def pass_on(came: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", server.nodes[0].port)) as onward:
            came.sendall(onward.recv(4096))
            came.settimeout(1)
            with suppress(TimeoutError):
                heard.extend(came.recv(4096))

    with OneByOne(pass_on) as way:
        yield way.port, heard


def test_no_password_goes_to_a_server_without_tls(server: Servers) -> None:
    """R40: whoever stands in between could take the TLS out of a greeting, and read the password."""
    with told_to(server) as (port, heard):
        address = LogAddress.parse(f"nats+tls://127.0.0.1:{port}/shop", "--from")
        user = Credentials.parse("anna:kQ7zXw2TrLm", "test")
        with (
            pytest.raises(SvcError, match="it offers no TLS"),
            LogConnection(address, user, context(None), seconds=2),
        ):
            pass
    assert bytes(heard) == b""


@pytest.mark.slow(seconds=10)
def test_queue_that_is_deleted_is_told_and_goes_on_when_it_is_there(
    server: Servers, tmp_path: Path
) -> None:
    """Where another one begins is for whoever deleted it to say; nobody waits in silence."""
    with TargetServer() as target, connect(server) as connection:
        publish(connection, range(3))
        with job(server, tmp_path / "a", target.port) as listener:
            listener.forwards(3)
            stream = connection.address.stream("test")
            connection.run(connection.api(f"CONSUMER.DELETE.{stream}.g_ci"))
            [down] = listener.told(LogState, 1)
            publish(connection, range(3, 6))
            later = {"deliver_policy": "by_start_sequence", "opt_start_seq": 4}
            connection.run(
                ensure(connection, ConsumerGroup("ci", "test", 8, trust_in(server)), later)
            )
            listener.forwards(6)
            assert [one.reason is None for one in listener.told(LogState, 2)] == [False, True]
    assert down.reason == "The log has no group ci."
    assert sorted(target.ids) == [f"evt_{number}" for number in range(6)]


def test_two_readers_of_one_name_have_all_of_it(server: Servers, tmp_path: Path) -> None:
    """The log keeps nothing for a reader: two machines with one name take nothing from each other."""
    wanted = sorted(f"evt_{number}" for number in range(30))
    with (
        connect(server) as connection,
        TargetServer() as one,
        TargetServer() as two,
        laptop(server, tmp_path / "a", one.port, name="eva"),
        laptop(server, tmp_path / "b", two.port, name="eva"),
    ):
        publish(connection, range(30))
        wait_for(lambda: sorted(one.ids) == wanted and sorted(two.ids) == wanted)


@pytest.mark.parametrize(
    "argv",
    [
        ("log", "status", "--from", "nats+tls://log.example.com/shop"),
        ("log", "login", "nats+tls://log.example.com/shop"),
    ],
)
def test_without_a_keyring_the_variable_for_a_log_is_named(
    argv: tuple[str, ...], svc: Svc, sandbox: Sandbox
) -> None:
    done = svc("events", *argv, stdin="anna:pw")
    assert done.code == 4
    assert "SVC_LOG_CREDENTIALS" in done.error["message"]
    assert "SVC_API_KEY" not in done.error["message"]


def test_server_that_is_too_slow_for_a_user_does_not_refuse_it(tmp_path: Path) -> None:
    """Its word for a client that is late sounds like one for a stranger: it is tried again."""
    more = "authorization { timeout: 0.000001, users = [ { user: anna, password: pw } ] }\n"
    with servers(tmp_path / "log", more=more) as running:
        address = LogAddress.parse(running.url(), "--from")
        user = Credentials.parse("anna:pw", "test")
        with pytest.raises(LogDown), LogConnection(address, user, seconds=1):
            pass


def test_header_that_a_publisher_made_up_reaches_no_target(server: Servers, tmp_path: Path) -> None:
    """R52, R108: what a receiver would not have passed on is not passed on from a log either."""
    body = event(1)
    lines = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nCookie: a=b\r\n"
    with connect(server) as connection, TargetServer() as target:
        made_up = arrival(body, lines + b"Svc-Event-Id: evt_2\r\n", 1.0)
        LogInbox(connection, "test", KEY).store(Batch([made_up]))
        with laptop(server, tmp_path / "a", target.port) as listener:
            listener.forwards(1)
    [got] = target.received
    assert got.body == body
    assert got.header("content-type") == [b"application/json"]
    for name in ("transfer-encoding", "cookie", "svc-event-id"):
        assert got.header(name) == []
