"""Jobs that share a queue of a log, with a real server."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from support.listening import OK, Received, TargetServer, status_line
from support.servers.certificates import Authority, TlsServer
from support.team.log import connect, job, laptop, make_streams, publish, wait_for
from support.team.servers import Servers, servers
from svc.listen.forward.pump import ForwardOptions
from svc.listen.targets import TargetTrust


def failed(server: Servers) -> list[dict[str, Any]]:
    """What the stream of failures holds."""
    with connect(server) as connection:
        stream = connection.address.name_failed_stream("test")
        last = connection.run(connection.api(f"STREAM.INFO.{stream}"))["state"]["last_seq"]
        asked = [
            connection.request(f"$JS.API.DIRECT.GET.{stream}", b'{"seq":%d}' % seq)
            for seq in range(1, last + 1)
        ]
        return [json.loads(connection.run(one).body) for one in asked]


def pending(server: Servers) -> tuple[int, int]:
    """How many events wait in the queue, and how many are with a job."""
    with connect(server) as connection:
        stream = connection.address.stream("test")
        info = connection.run(connection.api(f"CONSUMER.INFO.{stream}.g_ci"))
        return info["num_pending"], info["num_ack_pending"]


def marks(*targets: TargetServer) -> set[bytes]:
    return {mark for target in targets for one in target.received for mark in _mark(one)}


def _mark(one: Received) -> list[bytes]:
    return one.header("svc-redelivered")


def test_poison_is_put_aside_with_the_targets_answer(server: Servers, tmp_path: Path) -> None:
    """An HTTP error is final: the others go on, and the list of failures says what was answered.

    R129: a laptop's target is asked as well, and only its own inbox knows what that refused.
    """

    def reply(request: Received) -> bytes:
        return status_line(422) if b'"evt_3"' in request.body else OK

    with (
        TargetServer(reply) as target,
        TargetServer(reply) as own,
        connect(server) as connection,
        laptop(server, tmp_path / "own", own.port) as beside,
    ):
        publish(connection, range(6))
        beside.forwards(6)
        with job(server, tmp_path / "a", target.port) as listener:
            listener.forwards(6)
            wait_for(lambda: pending(server) == (0, 0))
    assert sorted(target.ids) == [f"evt_{number}" for number in range(6)]
    [one] = failed(server)
    assert (one["stream_seq"], one["reason"]) == (4, "the target answered 422")


def test_target_that_goes_away_hands_its_events_to_the_others(
    server: Servers, tmp_path: Path
) -> None:
    """What finds it away goes back at once, and comes marked to whoever takes it."""
    with (
        TargetServer() as stays,
        connect(server) as connection,
        job(server, tmp_path / "a", stays.port),
        TargetServer() as leaves,
        job(server, tmp_path / "b", leaves.port) as listener,
    ):
        publish(connection, range(40))
        wait_for(lambda: len(stays.received) + len(leaves.received) >= 40)
        port = leaves.port
        leaves.__exit__()
        publish(connection, range(40, 80))
        wait_for(lambda: {f"evt_{n}" for n in range(80)} <= {*stays.ids, *leaves.ids})
        wait_for(lambda: pending(server) == (0, 0))
        assert port
        assert listener.stop().failed == 0
        leaves.__enter__()
    assert marks(stays, leaves) <= {b"1", b"2", b"3"}  # the same job may find it away once more


def test_what_comes_to_a_job_whose_target_is_away_goes_to_the_next_job(
    server: Servers, tmp_path: Path
) -> None:
    """Events that it had asked for before do not wait for the log to miss them, after 30 s."""
    with TargetServer() as leaves, connect(server) as connection:
        with job(server, tmp_path / "a", leaves.port):
            publish(connection, [0])
            wait_for(lambda: leaves.ids == ["evt_0"])
            leaves.__exit__()
            publish(connection, [1])
            wait_for(lambda: pending(server) == (1, 0) or pending(server) == (0, 1))
            publish(connection, range(2, 7))
            with TargetServer() as stays, job(server, tmp_path / "b", stays.port):
                wait_for(lambda: {f"evt_{n}" for n in range(1, 7)} <= {*stays.ids}, 10)
        leaves.__enter__()


def test_target_that_is_away_for_a_moment_loses_nothing(server: Servers, tmp_path: Path) -> None:
    """R129: it answers 503 or 429, or closes: what it does not take goes back with a delay."""
    began = time.monotonic()

    def reply(request: Received) -> bytes:
        if time.monotonic() - began > 1.2:
            return OK
        return (status_line(503), status_line(429), b"")[
            int(json.loads(request.body)["id"][4:]) % 3
        ]

    with TargetServer(reply) as target, connect(server) as connection:
        publish(connection, range(30))
        with job(server, tmp_path / "a", target.port) as listener:
            listener.forwards(30)
            wait_for(lambda: pending(server) == (0, 0))
            taken = {one.id for one in listener.forwards() if one.status == 200}
            assert listener.stop().failed == 0
    assert taken == {f"evt_{number}" for number in range(30)}
    assert len(target.received) < 60  # 2,000 requests in two seconds, before
    assert failed(server) == []


def test_same_job_takes_up_what_it_left(server: Servers, tmp_path: Path) -> None:
    """What its own inbox has from before is no reason to pass it over."""
    with (
        TargetServer(lambda _: None) as silent,
        TargetServer() as target,
        connect(server) as connection,
    ):
        publish(connection, range(3))
        with job(server, tmp_path / "a", silent.port, forwarding=ForwardOptions(8)):
            wait_for(lambda: len(silent.received) == 3)
        with job(server, tmp_path / "a", target.port):
            wait_for(lambda: len(target.received) == 3)
            wait_for(lambda: pending(server) == (0, 0))
    assert sorted(target.ids) == ["evt_0", "evt_1", "evt_2"]
    assert {mark for one in target.received for mark in _mark(one)} == {b"1"}


def test_target_with_a_certificate_of_its_own_authority_is_not_away(
    server: Servers, tmp_path: Path
) -> None:
    """A job looks whether its target accepts connections; the certificate is the forwarding's."""
    authority = Authority(tmp_path)
    with (
        TlsServer(authority.issue("127.0.0.1")) as target,
        connect(server) as connection,
        job(
            server,
            tmp_path / "a",
            f"https://127.0.0.1:{target.port}",
            trust=TargetTrust(str(authority.file)),
        ) as listener,
    ):
        publish(connection, [1])
        assert [one.status for one in listener.forwards(1)] == [200]


@pytest.mark.slow(seconds=8)
def test_queue_with_copies_gives_at_once_what_went_back(needed: None, tmp_path: Path) -> None:
    """R129: three servers say that a page is whole before its events come; none waits for its lease."""
    began = time.monotonic()

    def reply(_: Received) -> bytes:
        return OK if time.monotonic() - began > 0.7 else status_line(503)

    with servers(tmp_path / "log", 3) as running, TargetServer(reply) as target:
        make_streams(running)
        with connect(running) as connection, job(running, tmp_path / "a", target.port) as listener:
            began = time.monotonic()
            publish(connection, range(20))
            listener.until(lambda: sum(one.status == 200 for one in listener.forwards()) == 20)
