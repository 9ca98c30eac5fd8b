"""One request is written once: what is repeated is recorded, what is not was never sent."""

import asyncio
import select
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
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


class Link:
    """A connection to a target, and what is heard of it."""

    def __init__(self, port: int) -> None:
        self._connection = TargetConnection(targets.Target.parse(str(port)))
        self._replies: asyncio.Queue[TargetReply] = asyncio.Queue()
        self.close = self._connection.close

    def send(self, limit: float = 5.0, *, again: bool = False) -> None:
        once_more = (lambda: REQUEST) if again else None
        self._connection.exchange(REQUEST, limit, self._replies.put_nowait, once_more)

    async def heard(self) -> TargetReply:
        return await self._replies.get()

    async def exchange(self, limit: float = 5.0, *, again: bool = False) -> TargetReply:
        self.send(limit, again=again)
        return await self.heard()


@dataclass
class Kept:
    """A link that is kept open after an exchange, with the server that it leads to."""

    server: socket.socket
    link: Link
    peer: socket.socket


@asynccontextmanager
async def kept() -> AsyncIterator[Kept]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        link = Link(server.getsockname()[1])
        link.send()
        with await accept(server) as peer:
            await answer(peer)
            assert (await link.heard()).status == 200
            yield Kept(server, link, peer)
            link.close()


async def test_kept_connection_that_closes_after_a_while_is_a_recorded_attempt() -> None:
    """R124: it was not idle, and another program may have had the event taken meanwhile."""
    async with kept() as one:
        one.link.send(again=True)
        loop = asyncio.get_running_loop()
        now = loop.time
        loop.time = lambda: now() + 1.5  # type: ignore[method-assign]
        one.peer.close()
        reply = await one.link.heard()
    assert (reply.status, reply.trouble, reply.sent) == (None, "closed", 1)


async def test_connection_that_ended_unnoticed_gets_not_one_byte() -> None:
    """The end has come but the loop has not seen it: the request goes over a new connection."""
    async with kept() as one:
        one.peer.shutdown(socket.SHUT_WR)  # no await follows: only the system knows of it
        one.link.send()
        with await accept(one.server) as second:
            assert await answer(second) == REQUEST
            assert (await one.link.heard()).status == 200
        assert one.peer.recv(4096) == b""


@pytest.mark.parametrize("polls", [True, False], ids=["poll", "as_on_windows"])
async def test_connection_with_an_answer_to_nothing_is_left(
    polls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came unasked must not be taken for the answer to the next request."""
    if not polls:
        monkeypatch.delattr(select, "poll")
    async with kept() as one:
        one.peer.sendall(b"HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n")
        one.link.send()
        with await accept(one.server) as second:
            await answer(second)
            assert (await one.link.heard()).status == 200


async def test_deadlines_hold_for_each_exchange_of_a_link() -> None:
    """One timer serves many exchanges; a shorter limit than the last one's is kept too."""
    loop = asyncio.get_running_loop()
    waited = []
    async with kept() as one:
        for limit in (0.2, 0.1, 0.3):
            started = loop.time()
            assert (await one.link.exchange(limit)).trouble == "timeout"
            waited.append(loop.time() - started - limit)
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


async def test_answer_that_comes_as_the_wait_is_cancelled_is_let_go() -> None:
    """A signal cancels the wait in the very pass of the loop in which the answer is read."""
    troubles: list[dict[str, object]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: troubles.append(context))
    with TargetServer() as target:
        link = TargetConnection(targets.Target.parse(str(target.port)))
        waiting = loop.create_task(exchange_once(link, REQUEST, 5.0))
        tell = link._report

        def cancelled_first(*told: object, **how: object) -> None:
            waiting.cancel()
            tell(*told, **how)  # type: ignore[arg-type]

        link._report = cancelled_first  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0)
    assert troubles == []


async def test_a_bug_in_a_link_is_the_end_of_its_exchange() -> None:
    """R121: told as a connection that closed, so that the lane is free and the event is retried."""

    async def broken(*_: object) -> NoReturn:
        raise KeyError("a bug")

    link = TargetConnection(targets.Target.parse("9"), connect=broken)
    reply = await exchange_once(link, REQUEST, 5.0)
    assert (reply.trouble, reply.error, reply.status) == ("closed", "a bug in svc ended it", None)
