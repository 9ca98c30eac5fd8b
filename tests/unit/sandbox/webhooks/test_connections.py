"""The connections that webhooks go over: kept, bounded over all receivers, and never mistaken."""

import asyncio
import gc
import ssl
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from support.servers.certificates import Authority
from svc.sandbox.webhooks.sender import HttpSender, Outgoing, ReceiverReply
from unit.sandbox.lab import (
    Lab,
    ScriptedReceiver,
    add_endpoint,
    after,
    answer_with,
    emit_paid,
    serving,
)

BODY = b'{"id":"evt_1"}'
HEADERS = (("Content-Type", "application/json"),)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Story = Callable[[HttpSender, str], Awaitable[list[ReceiverReply]]]


async def one_by_one(sender: HttpSender, url: str) -> list[ReceiverReply]:
    return [await sender.send(Outgoing(url, HEADERS, BODY)) for _ in range(3)]


class Player:
    """A receiver that plays bytes, one answer a request, the last one for ever."""

    def __init__(self, answers: list[bytes], *, hang_up: bool, late: bytes = b"") -> None:
        self._answers = answers
        self._hang_up = hang_up
        self._late = late
        self.opened = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(len(BODY))
                writer.write(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])
                await writer.drain()
                if self._late:
                    await asyncio.sleep(0.02)  # a packet of its own
                    writer.write(self._late)
                if self._hang_up:
                    break
        writer.close()


async def told(
    lab: Lab,
    answers: list[bytes],
    story: Story = one_by_one,
    *,
    hang_up: bool = False,
    late: bytes = b"",
    context: ssl.SSLContext | None = None,
) -> tuple[list[ReceiverReply], int]:
    """Sends to a player; gives the replies and how many connections there were."""
    player = Player(answers, hang_up=hang_up, late=late)
    sender = HttpSender(5)
    async with serving(player.serve, context) as port:
        scheme = "https" if context else "http"
        try:
            return await story(sender, f"{scheme}://127.0.0.1:{port}/"), player.opened
        finally:
            await sender.close()


async def until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110  the receiver tells nobody
        await asyncio.sleep(0)


async def test_connection_is_kept_over_tls(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that somebody vouches for: one handshake for attempts in a row."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue("127.0.0.1"))
    replies, opened = await told(lab, [OK], context=context)
    assert [reply.code for reply in replies] == [200, 200, 200]
    assert opened == 1


async def with_pauses(sender: HttpSender, url: str) -> list[ReceiverReply]:
    replies = []
    for _ in range(3):
        replies.append(await sender.send(Outgoing(url, HEADERS, BODY)))
        await asyncio.sleep(0.05)  # real time, for what comes after the answer to arrive
    return replies


@pytest.mark.parametrize(
    ("hang_up", "late"), [(True, b""), (False, b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n")]
)
async def test_receiver_that_does_not_rest_gets_a_new_connection(
    lab: Lab, hang_up: bool, late: bytes
) -> None:
    """It hangs up without a word, or says what nobody asked: no later attempt runs into that."""
    replies, opened = await told(lab, [OK], with_pauses, hang_up=hang_up, late=late)
    assert [reply.code for reply in replies] == [200, 200, 200]
    assert opened == 3


@pytest.mark.parametrize(
    "more", [b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", b"\r\n", b"garbage"]
)
async def test_bytes_behind_an_answer_are_no_answer(lab: Lab, more: bytes) -> None:
    """What comes behind an answer is never taken for that of the next delivery."""
    replies, opened = await told(lab, [OK + more, OK])
    assert [reply.code for reply in replies] == [200, 200, 200]
    assert opened == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_answer_may_end_the_connection(lab: Lab, answer: bytes) -> None:
    """A receiver that says that it closes is not asked again over the same connection."""
    replies, opened = await told(lab, [answer], hang_up=True)
    assert [reply.accepted for reply in replies] == [True, True, True]
    assert opened == 3


async def test_early_hint_is_not_the_answer(lab: Lab) -> None:
    replies, opened = await told(lab, [b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK])
    assert [reply.code for reply in replies] == [200, 200, 200]
    assert opened == 1


async def test_attempt_that_is_cut_short_as_it_connects_leaves_no_socket(
    receiver: ScriptedReceiver,
) -> None:
    """At whatever turn of the loop its deadline comes, its connection is closed."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sender = HttpSender(5)
        async with receiver.listening():
            for turns in range(12):
                attempt = asyncio.create_task(sender.send(Outgoing(receiver.url, HEADERS, BODY)))
                for _ in range(turns):
                    await asyncio.sleep(0)
                attempt.cancel()
                await asyncio.wait([attempt])
            await sender.close()
        gc.collect()
    assert [str(one.message) for one in told] == []


async def test_connections_are_bounded_over_all_receivers(
    lab: Lab, receiver: ScriptedReceiver
) -> None:
    """More attempts than connections wait for their turn; none is lost, one cut short is let go."""
    gate = asyncio.Event()
    receiver.answers = [after(gate, answer_with(200))]
    sender, hasty = HttpSender(5, connections_max=3), []
    async with receiver.listening():
        urls = [receiver.url, receiver.url.replace("127.0.0.1", "localhost")]
        outgoing = [Outgoing(url, HEADERS, BODY) for url in urls * 5]
        tasks = [asyncio.create_task(sender.send(each)) for each in outgoing]
        await until(lambda: receiver.open_now == 3)
        cut = asyncio.create_task(sender.send(outgoing[0]))
        await asyncio.sleep(0)
        cut.cancel()
        gate.set()
        replies = await asyncio.gather(*tasks)
        hasty.append(await sender.send(outgoing[0]))
        await sender.close()
    assert [reply.code for reply in [*replies, *hasty]] == [200] * 11
    assert receiver.open_most == 3


async def test_attempt_that_is_cut_short_ends_its_connection(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """The late answer to an attempt that was given up is not that of the next one."""
    gate = asyncio.Event()
    receiver.answers = [after(gate, answer_with(500)), answer_with(200)]

    sender = HttpSender(5)
    async with receiver.listening():
        outgoing = Outgoing(receiver.url, HEADERS, BODY)
        first = asyncio.create_task(sender.send(outgoing))
        await until(lambda: receiver.arrivals)
        first.cancel()
        await asyncio.wait([first])
        gate.set()
        assert (await sender.send(outgoing)).code == 200
        await sender.close()
    assert [arrival.connection for arrival in receiver.arrivals] == [1, 2]


async def test_stop_ends_the_connections_that_are_kept(
    lab: Lab, receiver: ScriptedReceiver
) -> None:
    """No receiver goes on waiting for a sandbox that is gone."""
    sender = HttpSender(5)
    async with receiver.listening():
        async with lab.running(sender=sender) as engine:
            await engine.run("test", add_endpoint(receiver.url))
            await engine.run("test", emit_paid)
            await engine.runner.advance(until="idle")
            ((_, kept),) = sender._transport._kept
            assert kept.usable
        assert not kept.usable


async def test_room_of_who_was_cut_short_is_the_next_ones(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """An attempt that is ended just as its turn comes hands it on: nobody waits for ever."""
    gate = asyncio.Event()
    receiver.answers = [after(gate, answer_with(200)), answer_with(200)]
    sender = HttpSender(60, connections_max=1)
    async with receiver.listening():
        outgoing = Outgoing(receiver.url, HEADERS, BODY)
        held, first, second = (asyncio.create_task(sender.send(outgoing)) for _ in range(3))
        await until(lambda: receiver.arrivals)
        gate.set()
        await held
        first.cancel()
        assert (await second).code == 200
        await sender.close()
