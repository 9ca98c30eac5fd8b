"""Senders that mean harm, against the listener as a process: what they cost and whom they delay."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from support.kills.killable import child, resident
from support.listening import (
    TargetServer,
    delivery,
    event,
    listening,
    read_answer,
    status,
    talk,
)
from support.suite.patience import patient

MEGABYTE = b"x" * (1 << 20)
LARGE = 300


def good(port: int, number: int) -> float:
    """Delivers an event that verifies and gives the seconds until it was answered 200."""
    started = time.monotonic()
    assert status(talk(port, delivery(event(number), now=int(time.time())))) == 200
    return time.monotonic() - started


def announced() -> bytes:
    return delivery(b"", Content_Length=str(LARGE << 20), now=int(time.time()))


def chunked() -> bytes:
    return delivery(b"", Transfer_Encoding="chunked", Content_Length="", now=int(time.time()))


def pour(port: int, head: bytes, piece: bytes, statuses: list[int]) -> None:
    """Sends a head and then megabytes, whatever is answered, until nobody takes them any more."""
    with socket.create_connection(("127.0.0.1", port), 60) as peer:
        with suppress(OSError):
            peer.sendall(head)
            for _ in range(LARGE):
                peer.sendall(piece)
        with suppress(OSError):
            statuses.append(status(read_answer(peer)))


BODIES = [
    pytest.param(announced, b"%b", id="announced"),
    # That endless chunks are cut is proved quickly in test_listen_receiver.
    pytest.param(chunked, b"100000\r\n%b\r\n", id="chunks", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("head", "shape"), BODIES)
def test_body_of_300_mb_costs_nothing_and_delays_nobody(
    head: Callable[[], bytes], shape: bytes, tmp_path: Path
) -> None:
    """R57: while eight senders pour, good events take under 1 s; memory stays flat."""
    statuses: list[int] = []
    with (
        TargetServer() as target,
        child(tmp_path / "s" / "state.db", target.port) as (process, port),
    ):
        good(port, 0)
        before = resident(process.pid)
        pouring = [
            threading.Thread(target=pour, args=(port, head(), shape % MEGABYTE, statuses))
            for _ in range(8)
        ]
        for sender in pouring:
            sender.start()
        waits = [good(port, number) for number in range(1, 20)]
        for sender in pouring:
            sender.join()
        assert max(waits) < patient(1)
        assert resident(process.pid) - before < 20
    assert set(statuses) <= {0, 413}  # 0: cut before the sender came to read


@pytest.mark.parametrize("many", [500, pytest.param(10_000, marks=pytest.mark.slow(seconds=40))])
def test_hostile_requests_in_between_cost_no_memory(many: int, tmp_path: Path) -> None:
    """R58: 500 bad requests, or 10,000: no crash, flat memory, good ones within a second."""
    now = int(time.time())
    bad = [
        delivery(event(), secret="whsec_other", now=now),
        delivery(event(note="x" * 100_000), secret="whsec_other", now=now),
        delivery(event(), Host="evil.example", now=now),
        delivery(event(), Svc_Signature="v1=," * 900, now=now),
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x00\xff" * 50 + b"\r\n\r\n",
    ]
    half = delivery(event(), now=now)[:200]
    with (
        TargetServer() as target,
        child(tmp_path / "s" / "state.db", target.port) as (process, port),
    ):
        for number in range(100):
            assert status(talk(port, bad[number % len(bad)])) >= 400
        before = resident(process.pid)
        waits = []
        for number in range(many):
            assert status(talk(port, bad[number % len(bad)])) >= 400
            if number % 100 == 0:
                with socket.create_connection(("127.0.0.1", port), 60) as peer:
                    peer.sendall(half)
                waits.append(good(port, number))
        assert max(waits) < patient(1)
        assert resident(process.pid) - before < 20


@pytest.mark.slow
def test_real_limit_of_a_hanging_target(tmp_path: Path) -> None:
    """R51: 504 after 8 s and before 9, to the first copy and to those that wait for it."""
    answers: list[tuple[int, float]] = []
    with (
        TargetServer(lambda _: None) as target,
        listening(tmp_path, target.port, ack="forwarded") as listener,
    ):
        started = time.monotonic()

        def send(pause: float) -> None:
            time.sleep(pause)
            answers.append((listener.send(event()), time.monotonic() - started))

        senders = [threading.Thread(target=send, args=(pause,)) for pause in (0.0, 0.5, 3.0, 6.0)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        assert len(target.received) == 1
        assert [code for code, _ in answers] == [504] * 4
        assert all(7.9 <= seconds < patient(9) for _, seconds in answers), answers
        assert listener.forwards(1)[0].error == "no answer in time"
