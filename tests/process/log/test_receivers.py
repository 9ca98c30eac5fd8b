"""Receivers as the service meets them: two of one event, a full log, none that answers, too large."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.listening import SECRET, TargetServer, event
from support.suite.patience import patient
from support.team.log import connect, laptop, make_streams, wait_for
from support.team.members import Member
from support.team.servers import Servers, servers
from svc.listen.log.streams import stream_info
from svc.signature import header_value

pytestmark = pytest.mark.usefixtures("needed")
Begin = Callable[..., Member]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a receiver that is ready, and ends it with the test."""
    started: list[Member] = []

    def begun(url: str, *more: str, name: str = "receiver") -> Member:
        argv = ("events", "receive", "--to", url, "--tunnel", "none", *more)
        started.append(Member(tmp_path / name, argv))
        started[-1].start()
        wait_for(lambda: bool(started[-1].ready))
        return started[-1]

    yield begun
    for one in started:
        one.kill()


def deliver(receiver: Member, body: bytes, **headers: str) -> int:
    """Sends one delivery as the service does; gives the answer's status."""
    port, path = receiver.door
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        value = header_value(body, [SECRET], int(time.time()))
        signed = {"Svc-Signature": value, "Svc-Delivery-Attempt": "1", **headers}
        connection.request("POST", path, body, signed)
        return connection.getresponse().status


def messages(running: Servers) -> int:
    with connect(running) as connection:
        return int(connection.run(stream_info(connection, "test"))["state"]["messages"])


@pytest.mark.slow(seconds=5)
def test_two_receivers_of_one_event_make_one_message(
    server: Servers, begin: Begin, tmp_path: Path
) -> None:
    """R50: both answer 200, one of them has the duplicate; no stranger's mark goes through."""
    both = [begin(server.url(), name=f"receiver-{number}") for number in range(2)]
    answers: list[int] = []
    threads = [
        threading.Thread(
            target=lambda one=one: answers.append(
                deliver(one, event(1), **{"Svc-Redelivered": "7", "Nats-Msg-Id": "evt_other"})
            )
        )
        for one in both
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200, 200]
    wait_for(lambda: sum(len(one.told("event")) for one in both) == 2)
    told = [record["duplicate"] for one in both for record in one.told("event")]
    assert sorted(told) == [False, True]
    assert messages(server) == 1
    with TargetServer() as target, laptop(server, tmp_path / "a", target.port) as listener:
        listener.forwards(1)
    assert target.ids == ["evt_1"]
    assert target.received[0].header("svc-redelivered") == []


@pytest.mark.slow(seconds=15)
def test_receiver_answers_in_time_though_no_server_does(server: Servers, begin: Begin) -> None:
    """R51: 503 within 9 s; when the server is back, the event is taken, once."""
    receiver = begin(server.url())
    assert deliver(receiver, event(1)) == 200
    server.nodes[0].kill()
    started = time.monotonic()
    assert deliver(receiver, event(2)) == 503
    assert time.monotonic() - started < patient(9)
    server.nodes[0].start()
    wait_for(lambda: deliver(receiver, event(2)) == 200)
    assert messages(server) == 2


@pytest.mark.effect_of("events receive", "--max-body")
@pytest.mark.slow(seconds=5)
def test_event_that_is_too_large_for_the_log_is_answered_413(tmp_path: Path, begin: Begin) -> None:
    """It alone is refused, at the start already where it could come, and the next one is kept."""
    with servers(tmp_path / "log", payload="200KB") as running:
        make_streams(running)
        receiver = begin(running.url(), "--max-body", "128KiB")
        assert deliver(receiver, event(1, note="x" * 140_000)) == 413
        assert deliver(receiver, event(2, note="x" * 120_000)) == 200
        assert messages(running) == 1
        large = Member(tmp_path / "large", ("events", "receive", "--to", running.url()))
        large.start()
        assert large.process is not None
        assert large.process.wait() == 2
        assert "max_payload" in large.errors
