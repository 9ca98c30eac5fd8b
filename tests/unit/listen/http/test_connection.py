"""One request is written once: what is repeated is recorded, what is not was never sent."""

import asyncio
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from support.listening import OK, Received, TargetServer, event, listening
from support.suite.patience import patient
from svc.listen import targets
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.retry import RetryMode
from svc.listen.http.connection import TargetConnection, TargetReply, exchange_once

REQUEST = b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nhi"


class Closing(TargetServer):
    """A target that reads a request and closes the connection where its answer is empty."""

    answers: list[bytes]

    def _answer(self, peer: socket.socket, data: bytes) -> bytes:
        before = len(self.received)
        rest = super()._answer(peer, data)
        if len(self.received) > before and self.answers[-1] == b"":
            with suppress(OSError):  # the other end may be gone by now
                peer.shutdown(socket.SHUT_RDWR)
        return rest


def closing(answers: list[bytes]) -> Closing:
    """A target that gives these answers, one after the other; an empty one closes instead."""
    left = list(answers)
    target = Closing()
    target.answers = []

    def reply(_: Received) -> bytes:
        target.answers.append(left.pop(0) if left else OK)
        return target.answers[-1]

    target.reply = reply
    return target


@pytest.mark.parametrize("retry", ["off", "fast"])
def test_request_that_a_kept_connection_swallowed_goes_once_more_on_a_new_one(
    retry: RetryMode, tmp_path: Path
) -> None:
    """R124: no failure of the target; that it read the first one cannot be ruled out, so it says so."""
    forwarding = ForwardOptions(1, retry=retry)
    with (
        closing([OK, b"", OK]) as target,
        listening(tmp_path, target.port, forwarding=forwarding) as listener,
    ):
        listener.send(event(1))
        listener.forwards(1)
        listener.send(event(2))
        told = listener.forwards(2)
    assert [(one.id, one.status, one.attempt) for one in told] == [
        ("evt_1", 200, 1),
        ("evt_2", 200, 1),
    ]
    assert target.ids == ["evt_1", "evt_2", "evt_2"]
    assert [one.header("Svc-Redelivered") for one in target.received] == [[], [], [b"1"]]


def test_request_that_a_new_connection_swallowed_is_a_recorded_attempt(tmp_path: Path) -> None:
    """The target read it and closed, twice: nothing repeats unseen."""
    with (
        closing([OK, b"", b"", OK]) as target,
        listening(tmp_path, target.port, forwarding=ForwardOptions(1, retry="off")) as listener,
    ):
        listener.send(event(1))
        listener.forwards(1)
        listener.send(event(2))
        told = listener.forwards(2)
        time.sleep(0.1)
    assert [(one.id, one.status, one.attempt) for one in told][1:] == [("evt_2", None, 1)]
    assert target.ids == ["evt_1", "evt_2", "evt_2"]


@pytest.mark.parametrize(("last", "status"), [(OK, 200), (b"", None)], ids=["taken", "closed"])
def test_both_requests_of_an_exchange_are_counted(last: bytes, status: int | None) -> None:
    """R124: what comes after it says how often the target may have had the event."""

    async def talk(port: int) -> list[TargetReply]:
        link = TargetConnection(targets.Target.parse(str(port)))
        replies: asyncio.Queue[TargetReply] = asyncio.Queue()
        heard = []
        for _ in range(2):
            link.exchange(REQUEST, 5.0, replies.put_nowait, lambda: REQUEST)
            heard.append(await replies.get())
        link.close()
        return heard

    with closing([OK, b"", last]) as target:
        first, second = asyncio.run(talk(target.port))
    assert [(one.status, one.sent) for one in (first, second)] == [(200, 1), (status, 2)]


class MovedLoop(asyncio.SelectorEventLoop):
    """A loop whose time can be moved on."""

    moved = 0.0

    def time(self) -> float:
        return super().time() + self.moved


def test_kept_connection_that_closes_after_a_while_is_a_recorded_attempt() -> None:
    """R124: it was not idle, and another program may have had the event taken meanwhile."""

    async def talk(server: socket.socket) -> TargetReply:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MovedLoop)
        link = TargetConnection(targets.Target.parse(str(server.getsockname()[1])))
        replies: asyncio.Queue[TargetReply] = asyncio.Queue()
        exchange(link, replies.put_nowait)
        peer = await accept(server)
        await answer(peer)
        await replies.get()
        link.exchange(REQUEST, 5.0, replies.put_nowait, lambda: REQUEST)
        loop.moved = 1.5
        peer.close()
        reply = await replies.get()
        link.close()
        return reply

    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        asyncio.Runner(loop_factory=MovedLoop) as runner,
    ):
        reply = runner.run(talk(server))
    assert (reply.status, reply.trouble, reply.sent) == (None, "closed", 1)


def exchange(link: TargetConnection, heard: Callable[[TargetReply], None]) -> None:
    link.exchange(REQUEST, 5.0, heard)


def test_connection_that_ended_unnoticed_gets_not_one_byte() -> None:
    """The end has come but the loop has not seen it: the request goes over a new connection."""

    async def talk(server: socket.socket) -> tuple[bytes, bytes]:
        link = TargetConnection(targets.Target.parse(str(server.getsockname()[1])))
        replies: asyncio.Queue[TargetReply] = asyncio.Queue()
        exchange(link, replies.put_nowait)
        first = await accept(server)
        await answer(first)
        assert (await replies.get()).status == 200
        first.shutdown(socket.SHUT_WR)  # no await follows: only the system knows of it
        exchange(link, replies.put_nowait)
        second = await accept(server)
        written = await answer(second)
        assert (await replies.get()).status == 200
        unread = first.recv(4096)
        for one in (first, second):
            one.close()
        link.close()
        return unread, written

    with socket.create_server(("127.0.0.1", 0)) as server:
        unread, written = asyncio.run(talk(server))
    assert unread == b""
    assert written == REQUEST


@pytest.mark.parametrize("polls", [True, False], ids=["poll", "as_on_windows"])
def test_connection_with_an_answer_to_nothing_is_left(
    polls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came unasked must not be taken for the answer to the next request."""
    if not polls:
        monkeypatch.delattr(select, "poll")

    async def talk(server: socket.socket) -> int | None:
        link = TargetConnection(targets.Target.parse(str(server.getsockname()[1])))
        replies: asyncio.Queue[TargetReply] = asyncio.Queue()
        exchange(link, replies.put_nowait)
        first = await accept(server)
        await answer(first)
        await replies.get()
        first.sendall(b"HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n")
        exchange(link, replies.put_nowait)
        second = await accept(server)
        await answer(second)
        status = (await replies.get()).status
        for one in (first, second):
            one.close()
        link.close()
        return status

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert asyncio.run(talk(server)) == 200


def test_deadlines_hold_for_each_exchange_of_a_link() -> None:
    """One timer serves many exchanges; a shorter limit than the last one's is kept too."""

    async def talk(server: socket.socket) -> list[float]:
        loop = asyncio.get_running_loop()
        link = TargetConnection(targets.Target.parse(str(server.getsockname()[1])))
        replies: asyncio.Queue[TargetReply] = asyncio.Queue()
        exchange(link, replies.put_nowait)
        peer = await accept(server)
        await answer(peer)
        await replies.get()
        waited = []
        for limit in (0.2, 0.1, 0.3):
            started = loop.time()
            link.exchange(REQUEST, limit, replies.put_nowait)
            reply = await replies.get()
            assert reply.trouble == "timeout"
            waited.append(loop.time() - started - limit)
        peer.close()
        link.close()
        return waited

    with socket.create_server(("127.0.0.1", 0)) as server:
        waited = asyncio.run(talk(server))
    assert all(-0.002 <= late < patient(0.5) for late in waited), waited


async def accept(server: socket.socket) -> socket.socket:
    server.setblocking(False)
    peer, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(server), 60)
    peer.setblocking(True)
    return peer


async def answer(peer: socket.socket) -> bytes:
    """Reads one request of a known size, and answers it; in a thread, for the socket blocks."""
    peer.settimeout(60)

    def read() -> bytes:
        data = b""
        while len(data) < len(REQUEST) and (more := peer.recv(4096)):
            data += more
        peer.sendall(OK)
        return data

    return await asyncio.to_thread(read)


def test_answer_that_comes_as_the_wait_is_cancelled_is_let_go() -> None:
    """A signal cancels the wait in the very pass of the loop in which the answer is read."""
    troubles: list[dict[str, object]] = []

    async def talk(target: TargetServer) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: troubles.append(context))
        link = TargetConnection(targets.Target.parse(str(target.port)))
        waiting = loop.create_task(exchange_once(link, REQUEST, 5.0))
        tell = link._report

        def cancelled_first(*told: object, **how: object) -> None:
            waiting.cancel()
            tell(*told, **how)  # type: ignore[arg-type]

        link._report = cancelled_first  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with TargetServer() as target:
        asyncio.run(talk(target))
    assert troubles == []


def test_a_bug_in_a_link_is_the_end_of_its_exchange() -> None:
    """R121: told as a connection that closed, so that the lane is free and the event is retried."""

    async def broken(*_: object) -> NoReturn:
        raise KeyError("a bug")

    async def talk() -> TargetReply:
        link = TargetConnection(targets.Target.parse("9"), connect=broken)
        return await exchange_once(link, REQUEST, 5.0)

    reply = asyncio.run(talk())
    assert (reply.trouble, reply.error, reply.status) == ("closed", "a bug in svc ended it", None)
