"""The receiver's door and limits: who may send, how much, for how long."""

import resource
import socket
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from support.listening import (
    RunningListener,
    delivery,
    event,
    listening,
    read_answer,
    status,
    talk,
)
from support.suite.patience import patient
from svc.errors import LocalError
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.receiver.server import bind, make_path

BODY = event()
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


def test_new_path_is_128_bits_of_chance() -> None:
    """R56: the path is /hook/ and 32 hex digits, and no two are alike."""
    paths = {make_path() for _ in range(100)}
    assert len(paths) == 100
    assert all(len(path) == len("/hook/") + 32 for path in paths)


def test_bind_takes_loopback_only() -> None:
    """R55: the listening address is 127.0.0.1; a taken port is one clear line."""
    with bind() as bound:
        address, port = bound.getsockname()
        assert address == "127.0.0.1"
        with pytest.raises(LocalError, match=f"Port {port} .* cannot be used: address already"):
            bind(port)


REFUSED = [
    pytest.param(delivery(BODY, Host="evil.example"), 421, id="other-host"),
    pytest.param(delivery(BODY, Host="127.0.0.1.evil.example"), 421, id="host-with-our-prefix"),
    pytest.param(delivery(BODY, Host="0.0.0.0"), 421, id="any-address"),
    pytest.param(delivery(BODY, Origin="http://localhost"), 403, id="origin"),
    pytest.param(delivery(BODY, Origin="null"), 403, id="null-origin"),
    pytest.param(delivery(BODY).replace(b"POST", b"GET", 1), 404, id="get"),
    pytest.param(delivery(BODY).replace(b"POST", b"OPTIONS", 1), 404, id="options"),
    pytest.param(delivery(BODY).replace(b"/hook/0", b"/hook/1", 1), 404, id="other-path"),
    pytest.param(delivery(BODY).replace(b" HTTP", b"?x=1 HTTP", 1), 404, id="query"),
    pytest.param(delivery(BODY).replace(b"/hook", b"//hook", 1), 404, id="double-slash"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, id="root"),
    pytest.param(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", 404, id="http-1.0"),
    pytest.param(delivery(BODY, Host=""), 400, id="no-host"),
    pytest.param(delivery(BODY).replace(b"Host:", b"Host: a\r\nHost:", 1), 400, id="two-hosts"),
    pytest.param(
        # Well-formed either way, so that nothing but the two of them is wrong.
        delivery(BODY, Transfer_Encoding="chunked").removesuffix(BODY) + CHUNKED,
        400,
        id="length-and-chunks",
    ),
    pytest.param(delivery(BODY, Transfer_Encoding="gzip", Content_Length=""), 501, id="coding"),
    pytest.param(
        delivery(BODY).replace(b"\r\nContent-Length", b"\r\nContent-Length: 5\r\nContent-Length"),
        400,
        id="two-lengths",
    ),
    pytest.param(
        delivery(BODY).replace(b"\r\n\r\n", b"\r\ncontent-length : 5\r\n\r\n"),
        400,
        id="spaced-name",
    ),
    pytest.param(delivery(BODY, Content_Length="-1"), 400, id="negative-length"),
    pytest.param(delivery(BODY, Content_Length="1e3"), 400, id="strange-length"),
    pytest.param(delivery(BODY, Content_Length="1048577"), 413, id="announced-too-large"),
    pytest.param(delivery(BODY, Content_Length="300000000"), 413, id="announced-300-mb"),
    pytest.param(delivery(BODY, X_Long="x" * 16384), 431, id="head-too-large"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, id="tls"),
    pytest.param(b"nonsense\r\n\r\n", 400, id="nonsense"),
]


@pytest.mark.parametrize(("request_bytes", "expected"), REFUSED)
def test_strangers_are_turned_away(request_bytes: bytes, expected: int, tmp_path: Path) -> None:
    """R55, R56, R57: the right status, an empty body, nothing kept, no payload told."""
    with listening(tmp_path) as listener:
        answer = talk(listener.port, request_bytes)
        assert status(answer) == expected
        assert answer.partition(b"\r\n\r\n")[2] == b""
        assert b"Access-Control" not in answer
        assert listener.send(BODY) == 200
        summary = listener.stop()
    assert summary.received == 1
    assert summary.refused + summary.rejected == 1
    assert [one.reason for one in listener.rejected()] == ["body_too_large"] * (expected == 413)


def test_all_unknown_paths_get_the_same_answer(tmp_path: Path) -> None:
    """R56: a wrong path and a wrong method on the right path cannot be told apart."""
    wrong_path = delivery(BODY).replace(b"/hook/0", b"/hook/1", 1)
    wrong_method = delivery(BODY).replace(b"POST", b"PUT", 1)
    with listening(tmp_path) as listener:
        assert talk(listener.port, wrong_path) == talk(listener.port, wrong_method)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:1", "localhost", "LOCALHOST:80", "[::1]:3", "t.example"]
)
def test_hosts_that_are_ours_are_served(host: str, tmp_path: Path) -> None:
    """R55: loopback names, with any port, and the stated name of the tunnel."""
    with listening(tmp_path, hosts=("t.example",)) as listener:
        assert listener.send(BODY, Host=host) == 200


# Of a machine that is so busy that a sender takes a minute.
SLOW = ReceiverLimits(
    wait_seconds=60, contended_seconds=60, head_seconds=60, body_seconds=60, answer_seconds=60
)


def connect(listener: RunningListener) -> socket.socket:
    return socket.create_connection(("127.0.0.1", listener.port), 60)


def test_one_connection_carries_many_deliveries(tmp_path: Path) -> None:
    """Keep-alive: requests on one connection, also sent ahead, are answered in order."""
    with listening(tmp_path) as listener, connect(listener) as peer:
        for number in range(3):
            peer.sendall(delivery(event(number)))
            assert status(read_answer(peer)) == 200
        chunked = delivery(event(8), Transfer_Encoding="chunked", Content_Length="")
        chunked = chunked.removesuffix(event(8)) + b"%x\r\n" % len(event(8)) + event(8)
        peer.sendall(delivery(event(7)) + chunked + b"\r\n0\r\n\r\n" + delivery(event(9)))
        answers = b""
        while answers.count(b"200 OK") < 3:
            answers += peer.recv(4096)
        assert [one.id for one in listener.events(6)] == [f"evt_{n}" for n in (0, 1, 2, 7, 8, 9)]


def test_close_is_honoured(tmp_path: Path) -> None:
    """Connection: close and HTTP/1.0 end the connection after the answer."""
    old = delivery(event(2)).replace(b"HTTP/1.1", b"HTTP/1.0")
    for data in (delivery(event(1), Connection="close"), old):
        with listening(tmp_path) as listener, connect(listener) as peer:
            peer.sendall(data)
            assert status(read_answer(peer)) == 200
            assert peer.recv(1) == b""


SHORT = ReceiverLimits(head_seconds=0.2, body_seconds=0.3, kept_seconds=0.2, linger_seconds=0.1)


def test_dripping_head_is_cut_all_the_same(tmp_path: Path) -> None:
    """R57: a byte now and then does not move the deadline."""
    with listening(tmp_path, limits=SHORT) as listener, connect(listener) as peer:
        started = time.monotonic()
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(peer, delivery(BODY, X_Pad="x" * 5000))
        assert time.monotonic() - started < patient(2)


def drip(peer: socket.socket, data: bytes) -> None:
    for byte in data:
        peer.send(bytes([byte]))
        time.sleep(0.02)


def test_33_senders_at_work_are_too_many(tmp_path: Path) -> None:
    """R57: 32 requests are served at once; the next one waits for a moment and then gets 503."""
    half = delivery(BODY)[:-5]
    limits = replace(SLOW, wait_seconds=0.2)
    with listening(tmp_path, limits=limits) as listener, ExitStack() as open_ones:
        peers = [open_ones.enter_context(connect(listener)) for _ in range(32)]
        for peer in peers:
            peer.sendall(half)
        assert status(talk(listener.port, delivery(event(2)))) == 503
        for peer in peers:
            peer.sendall(BODY[-5:])
            assert status(read_answer(peer)) == 200
            peer.close()
        assert listener.send(event(3)) == 200


@pytest.mark.parametrize("held", [64, 128])
def test_held_bodies_keep_no_delivery_out(held: int, tmp_path: Path) -> None:
    """R57: who knows the path and begins bodies without end gives way; he hears 503."""
    with listening(tmp_path) as listener, ExitStack() as open_ones:
        peers = [open_ones.enter_context(connect(listener)) for _ in range(held)]
        for number, peer in enumerate(peers):
            peer.sendall(delivery(event(number + 100), Content_Length="1000000"))
        started = time.monotonic()
        assert listener.send(BODY) == 200
        assert time.monotonic() - started < patient(1)
        assert status(read_answer(peers[0])) == 503
        assert [one.id for one in listener.events(1)] == ["evt_1"]


def test_a_sender_that_is_known_waits_for_no_held_body(tmp_path: Path) -> None:
    """R57: eight kept connections that brought a delivery are served beside strangers that hold all."""
    limits = replace(SLOW, wait_seconds=0.1)
    with listening(tmp_path, limits=limits) as listener, ExitStack() as open_ones:
        known = [open_ones.enter_context(connect(listener)) for _ in range(9)]
        for number, peer in enumerate(known):
            peer.sendall(delivery(event(number)))
            assert status(read_answer(peer)) == 200
        for _ in range(33):
            stranger = open_ones.enter_context(connect(listener))
            stranger.sendall(delivery(BODY, Content_Length="1000000"))
        assert status(read_answer(stranger)) == 503
        for peer in known[:-1]:
            peer.sendall(delivery(event(20))[:-5])
        assert status(talk(listener.port, delivery(event(21)))) == 503  # so they are read by now
        known[-1].sendall(delivery(event(22))[:-5])
        assert status(read_answer(known[-1])) == 503
        for peer in known[:-1]:
            peer.sendall(event(20)[-5:])
            assert status(read_answer(peer)) == 200


def test_at_the_limit_of_sockets_who_was_silent_longest_gives_way(tmp_path: Path) -> None:
    """R57: a connection with a request under way is not cut for one that comes."""
    limits = replace(SLOW, sockets=3)
    with listening(tmp_path, limits=limits) as listener, ExitStack() as open_ones:
        at_work = open_ones.enter_context(connect(listener))
        at_work.sendall(delivery(event(1))[:-5])
        assert listener.send(event(2)) == 200  # so what came before is read as well
        silent, known = (open_ones.enter_context(connect(listener)) for _ in range(2))
        known.sendall(delivery(event(3)))
        assert status(read_answer(known)) == 200
        assert listener.send(event(4)) == 200
        assert silent.recv(1) == b""
        at_work.sendall(event(1)[-5:])
        known.sendall(delivery(event(5)))
        assert [status(read_answer(peer)) for peer in (at_work, known)] == [200, 200]


def test_a_thousand_idle_sockets_keep_no_delivery_out(tmp_path: Path) -> None:
    """R58: with 1,000 silent connections open a good event is answered within 1 s."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    peers: list[socket.socket] = []
    try:
        with listening(tmp_path) as listener:
            peers.extend(connect(listener) for _ in range(1000))
            started = time.monotonic()
            assert listener.send(BODY) == 200
            assert time.monotonic() - started < patient(1)
    finally:
        for peer in peers:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
