"""One connection of the receiver, byte by byte and second by second, without a network."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from support.listening import delivery, event
from svc.listen.http.requests import HttpHead, HttpRequest, Refused, build_closing_answer
from svc.listen.receiver.connection import (
    Phase,
    ReceiverConnection,
    ReceiverHooks,
    ReceiverLimits,
)
from svc.listen.receiver.slots import Slots

BODY = event()
WHOLE = delivery(BODY)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
LIMITS = ReceiverLimits()


class FakeTransport(asyncio.Transport):
    """Notes what a connection does with it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.paused = False
        self.ended = ""

    def write(self, data: "bytes | bytearray | memoryview[int]") -> None:
        self.written += bytes(data)

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = "goodbye"

    def abort(self) -> None:
        self.ended = "cut"

    def close(self) -> None:
        self.ended = "finished"

    def take(self) -> bytes:
        """What was written since."""
        written, self.written = self.written, b""
        return written


@dataclass(eq=False)
class ReceiverBench:
    """Connections that share their slots, with the time in hand and all that their hooks hear."""

    slots: Slots = field(default_factory=lambda: Slots(1, 0, 0.25))
    now: float = 0.0
    bodies: list[bytes] = field(default_factory=list)
    answers: list[Callable[[int], None]] = field(default_factory=list)
    refused: list[tuple[int, bool]] = field(default_factory=list)
    bugs: list[Exception] = field(default_factory=list)
    fails: Exception | None = None
    peers: set[ReceiverConnection] = field(default_factory=set)

    def time(self) -> float:
        return self.now

    def connect(self) -> tuple[ReceiverConnection, FakeTransport]:
        hooks = ReceiverHooks(self._check, self._take, self._note_refused, LIMITS)
        connection, transport = ReceiverConnection(hooks, self.slots, self.peers), FakeTransport()
        connection.connection_made(transport)
        return connection, transport

    def _check(self, head: HttpHead) -> None:
        if head.method != b"POST":
            raise Refused(404)

    def _take(self, request: HttpRequest, answer: Callable[[int], None]) -> None:
        if self.fails is not None:
            raise self.fails
        self.bodies.append(request.body)
        self.answers.append(answer)

    def _note_refused(self, status: int, head: HttpHead | None) -> None:
        self.refused.append((status, head is not None))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ReceiverBench:
    """It stands in for the loop, of which a connection asks nothing but the time."""
    made = ReceiverBench()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: made)
    monkeypatch.setattr("svc.listen.receiver.connection.report", made.bugs.append)
    return made


@pytest.mark.parametrize(
    ("sent", "phase", "seconds", "said", "ended"),
    [
        (b"", Phase.SILENT, 5.0, b"", "cut"),
        (WHOLE[:50], Phase.HEAD, 5.0, b"", "cut"),
        (WHOLE[:-5], Phase.BODY, 8.0, build_closing_answer(400), "goodbye"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", Phase.LINGER, 1.0, b"", "cut"),
    ],
    ids=["silence", "head", "body", "goodbye"],
)
def test_each_phase_has_its_time(
    bench: ReceiverBench, sent: bytes, phase: Phase, seconds: float, said: bytes, ended: str
) -> None:
    """R57: to the last moment of it, and not a moment longer."""
    connection, transport = bench.connect()
    if sent:
        bench.now = 100.0
        connection.data_received(sent)
    assert connection.phase is phase
    transport.take()
    before = transport.ended
    connection.expire(bench.now + seconds)
    assert (connection.phase, transport.take(), transport.ended) == (phase, b"", before)
    connection.expire(bench.now + seconds + 0.001)
    assert (connection.phase, transport.take(), transport.ended) == (Phase.LINGER, said, ended)
    assert (connection in bench.peers) == (ended != "cut")
    assert bench.refused == {Phase.BODY: [(400, False)], Phase.LINGER: [(404, False)]}.get(
        phase, []
    )


def test_an_answer_counts_from_the_first_byte_and_the_next_request_from_its_own(
    bench: ReceiverBench,
) -> None:
    """R51: 8.7 s, before the sender gives up; a connection that is kept has a minute."""
    connection, transport = bench.connect()
    connection.data_received(WHOLE[:20])
    bench.now = 4.0
    connection.data_received(WHOLE[20:])
    connection.expire(8.7)
    assert (connection.phase, transport.take(), bench.bodies) == (Phase.ANSWER, b"", [BODY])
    bench.now = 9.0
    connection.expire(9.0)
    assert transport.take().startswith(b"HTTP/1.1 504 ")
    bench.answers[0](200)  # too late
    assert (connection.phase, transport.take(), connection.proven) == (Phase.SILENT, b"", False)
    connection.expire(69.0)
    assert transport.ended == ""
    bench.now = 69.0
    connection.data_received(WHOLE)
    bench.answers[1](200)
    bench.answers[1](500)
    assert (transport.take(), connection.proven) == (OK, True)
    connection.expire(129.0)
    assert transport.ended == ""
    connection.expire(129.1)
    assert transport.ended == "cut"


def test_request_that_waits_for_a_slot_is_kept_as_it_comes(bench: ReceiverBench) -> None:
    """R57: a second; what is more than a head is left with the system until it has its slot."""
    first, second = bench.connect(), bench.connect()
    first[0].data_received(WHOLE[:-5])
    large = delivery(event(2, note="x" * 30_000))
    second[0].data_received(large[:100])
    second[0].data_received(large[100 : 16 * 1024])
    assert (second[0].phase, second[1].paused) == (Phase.WAIT, False)
    second[0].data_received(large[16 * 1024 : 16 * 1024 + 1])
    assert second[1].paused
    second[0].expire(1.0)
    bench.now = 0.5
    first[0].data_received(WHOLE[-5:])
    bench.answers[0](200)
    assert (second[0].phase, second[1].paused) == (Phase.BODY, False)
    second[0].data_received(large[16 * 1024 + 1 :])
    assert bench.bodies == [BODY, event(2, note="x" * 30_000)]
    third, transport = bench.connect()
    third.data_received(WHOLE)
    third.expire(1.5)
    assert third.phase is Phase.WAIT
    third.expire(1.6)
    assert (transport.take(), transport.ended) == (build_closing_answer(503), "goodbye")
    assert bench.refused == [(503, False)]


def test_what_comes_ahead_of_an_answer_is_the_next_request(bench: ReceiverBench) -> None:
    """Up to the size of a head; the rest is left with the system until the answer has gone."""
    connection, transport = bench.connect()
    connection.data_received(WHOLE)
    ahead = delivery(event(2, note="x" * 17_000))
    connection.data_received(ahead[: 16 * 1024])
    assert not transport.paused
    connection.data_received(ahead[16 * 1024 : -5])
    assert (transport.paused, bench.bodies) == (True, [BODY])
    bench.answers[0](200)
    assert (transport.take(), transport.paused, connection.phase) == (OK, False, Phase.BODY)
    connection.data_received(ahead[-5:])
    assert bench.bodies == [BODY, event(2, note="x" * 17_000)]


@pytest.mark.parametrize("sent", [WHOLE, WHOLE[:-5], WHOLE[:20], b""])
def test_sender_that_says_no_more_has_its_answer_all_the_same(
    bench: ReceiverBench, sent: bytes
) -> None:
    """One whose request is not whole has nothing to wait for."""
    connection, transport = bench.connect()
    if sent:
        connection.data_received(sent)
    assert connection.eof_received() is (sent == WHOLE)
    if sent == WHOLE:
        bench.answers[0](200)
        assert (transport.take(), transport.ended) == (OK, "goodbye")
        connection.data_received(WHOLE)
        assert len(bench.bodies) == 1


@pytest.mark.parametrize(
    ("sent", "age", "said"),
    [
        (WHOLE[:20], 3.0, b""),
        (WHOLE[:-5], 3.0, build_closing_answer(503)),
        (WHOLE, 0.0, b""),
    ],
    ids=["head", "body", "whole"],
)
def test_request_that_makes_way_hears_it_where_it_may_come_again(
    bench: ReceiverBench, sent: bytes, age: float, said: bytes
) -> None:
    """R57: what has just begun, or is whole, is none that is unfinished."""
    connection, transport = bench.connect()
    bench.now = 1.0
    connection.data_received(sent)
    bench.now = 1.04
    assert connection.seconds_unfinished() == 0.0
    bench.now = 4.0
    assert connection.seconds_unfinished() == age
    connection.make_way()
    assert (transport.take(), connection.phase) == (said, Phase.LINGER)
    assert bench.refused == [(503, False)] * bool(said)


@pytest.mark.parametrize("lost", ["before", "after"])
def test_answer_to_a_sender_that_is_gone_goes_nowhere(bench: ReceiverBench, lost: str) -> None:
    """And its slot is the next one's."""
    connection, transport = bench.connect()
    connection.data_received(WHOLE)
    waiting, _ = bench.connect()
    waiting.data_received(WHOLE)
    assert waiting.phase is Phase.WAIT
    if lost == "after":
        bench.answers[0](200)
        transport.take()
    connection.connection_lost(None)
    bench.answers[0](200)
    assert (transport.take(), waiting.phase, len(bench.bodies)) == (b"", Phase.ANSWER, 2)
    assert connection not in bench.peers


@pytest.mark.parametrize("error", [KeyError("a bug"), BrokenPipeError()])
def test_error_ends_one_connection_and_only_a_bug_is_reported(
    bench: ReceiverBench, error: Exception
) -> None:
    """R121: that a sender has left is none."""
    connection, transport = bench.connect()
    bench.fails = error
    connection.data_received(WHOLE)
    assert transport.ended == "cut"
    assert bench.bugs == [error] * isinstance(error, KeyError)


def test_sender_that_asks_first_is_told_to_go_on(bench: ReceiverBench) -> None:
    connection, transport = bench.connect()
    connection.data_received(delivery(BODY, Expect="100-continue").removesuffix(BODY))
    assert transport.take() == b"HTTP/1.1 100 \r\n\r\n"
    connection.data_received(BODY)
    assert bench.bodies == [BODY]
    connection.finish()
    assert transport.ended == "finished"
