"""The client of a log, over a library that does not always keep its word."""

import asyncio
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from svc.errors import AuthError
from svc.listen.log import client as module
from svc.listen.log.address import LogAddress
from svc.listen.log.client import LogClient, LogLoop
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials
from svc.listen.log.errors import LogDown

if TYPE_CHECKING:
    from nats.aio.msg import Msg


def test_limit_holds_where_a_fake_opening_swallows_its_cancellation() -> None:
    """nats-py does so when a server hangs up in that very moment: it was waited for without end."""

    class Swallowing(LogClient):
        async def _open(self, seconds: float) -> None:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(seconds + 0.01)

    address = LogAddress.parse("nats://127.0.0.1:1/shop", "--from")
    client = Swallowing(address, Credentials.parse("anna:pw", "test"), None)
    with pytest.raises(LogDown) as caught:
        asyncio.run(asyncio.wait_for(client.get_ready(0.1), 20))
    assert caught.value.retryable


INFO = {"server_id": "a", "version": "2.11.0", "proto": 1, "headers": True, "max_payload": 1 << 21}


class SlowServer:
    """As much of a server as a client connects to: a message waits for the pong that follows it."""

    def __init__(self) -> None:
        self.asked, self.pongs = asyncio.Event(), asyncio.Event()
        self.pings = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"INFO " + json.dumps(INFO).encode() + b"\r\n")
        while line := await reader.readline():
            verb = line.split()[0]
            if verb == b"PING":
                self.pings += 1
                if self.pings == 3:  # the first connects, the second subscribes
                    self.asked.set()
                    await self.pongs.wait()
                    writer.write(b"PONG\r\nMSG news 1 2\r\nhi\r\n")
                else:
                    writer.write(b"PONG\r\n")
        writer.close()


def test_a_late_pong_ends_neither_reading_nor_the_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """nats-py logs a traceback and reads no more when the waiter for a pong has gone."""
    monkeypatch.setattr(module, "_PONG_SECONDS", 0.02)

    async def play() -> bytes:
        slow, heard = SlowServer(), asyncio.Queue[bytes]()
        async with await asyncio.start_server(slow.serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            address = LogAddress.parse(f"nats://127.0.0.1:{port}/shop", "--from")
            client = LogClient(address, Credentials.parse("anna:pw", "test"), None)

            async def got(message: "Msg") -> None:
                heard.put_nowait(message.data)

            await client.subscribe("news", got, 5)
            nats = await client.get_ready(5)
            doubt = asyncio.create_task(client._look_at(nats))
            await slow.asked.wait()
            nats.stats["in_bytes"] += 1  # something else still comes, so the connection is kept
            await doubt
            slow.pongs.set()
            try:
                return await asyncio.wait_for(heard.get(), 10)
            finally:
                await client.close()

    with asyncio.Runner(loop_factory=LogLoop) as runner:
        assert runner.run(play()) == b"hi"
    assert capsys.readouterr().err == ""


class AnsweringServer:
    """As much of a server as a client asks for a page: it sends `answers`, one after the other.

    A number among them is a pause in seconds; None has it hang up. `greeted` counts its clients.
    """

    def __init__(self, *answers: bytes | float | None) -> None:
        self._answers = answers
        self.greeted = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.greeted += 1
        writer.write(b"INFO " + json.dumps(INFO).encode() + b"\r\n")
        number = b""
        while line := await reader.readline():
            verb, *words = line.split()
            if verb == b"PING":
                writer.write(b"PONG\r\n")
            elif verb == b"SUB":
                number = words[-1]
            elif verb == b"PUB" and not await self._answer(writer, words[1], number):
                break
        writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, inbox: bytes, number: bytes) -> bool:
        for one in self._answers:
            if isinstance(one, float):
                await asyncio.sleep(one)
            elif one is None:
                return False
            elif one.startswith(b"-ERR"):
                writer.write(one)
            else:
                head, body = one.split(b"\r\n\r\n")
                sizes = (len(head) + 4, len(head) + 4 + len(body))
                writer.write(b"HMSG %s %s %d %d\r\n%s\r\n" % (inbox, number, *sizes, one))
        return True


def asked(*answers: bytes | float | None, most: int = 9, seconds: float = 5.0) -> list[bytes]:
    """The bodies of what a client gathers from such a server."""

    async def play() -> list[bytes]:
        serve = AnsweringServer(*answers).serve
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            address = LogAddress.parse(f"nats://127.0.0.1:{port}/shop", "--from")
            client = LogClient(address, Credentials.parse("anna:pw", "test"), None)
            try:
                return [one.data for one in await client.gather("a", b"{}", seconds, most=most)]
            finally:
                await client.close()

    with asyncio.Runner(loop_factory=LogLoop) as runner:
        return runner.run(play())


STORED, HEARTBEAT, END = (
    b"NATS/1.0\r\nNats-Sequence: 1\r\n\r\nhi",
    b"NATS/1.0 100 Idle Heartbeat\r\n\r\n",
    b"NATS/1.0 204 EOB\r\n\r\n",
)


def test_answers_are_gathered_up_to_the_one_that_says_it_is_the_last() -> None:
    assert asked(STORED, HEARTBEAT, STORED, END, STORED) == [b"hi", b"hi", b""]


def test_no_more_answers_are_gathered_than_were_asked_for() -> None:
    assert asked(STORED, HEARTBEAT, STORED, STORED, most=2) == [b"hi", b"hi"]


def test_each_answer_has_its_own_time() -> None:
    """A page that comes slowly is whole all the same."""
    assert asked(STORED, 0.5, HEARTBEAT, 0.5, END, seconds=0.9) == [b"hi", b""]


def test_answer_that_does_not_come_is_told() -> None:
    with pytest.raises(LogDown, match="did not answer in time"):
        asked(STORED, HEARTBEAT, seconds=0.2)


def test_answers_are_not_waited_for_once_the_connection_has_ended() -> None:
    started = time.monotonic()
    with pytest.raises(LogDown, match="the connection is closed"):
        asked(STORED, 0.05, None, seconds=60.0)
    assert time.monotonic() - started < 30


def test_a_right_that_lacks_is_told_to_whoever_waits_for_the_answer() -> None:
    """At once, and with the name as it was asked for: a server tells it in lower case, or aside."""
    refused = b"-ERR 'Permissions Violation for Publish to \"%s\"'\r\n"
    with pytest.raises(AuthError, match="its user anna publish to a") as caught:
        asked(refused % b"b", refused % b"A", seconds=60.0)
    assert caught.value.code == "log_right_missing"
    with pytest.raises(LogDown, match="the connection is closed"):
        asked(refused % b"b", None, seconds=60.0)


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (["Authorization Violation"], "log_credentials_refused", "its user anna: .* are not taken"),
        (["User Authentication Expired"], "log_credentials_refused", "have expired"),
        (["Authorization Violation", "odd"], "log_credentials_refused", "are not taken"),
        (
            ["Authentication Timeout"],
            "log_unavailable",
            "cannot be reached: Authentication Timeout",
        ),
        (["first", "second"], "log_unavailable", "cannot be reached: second"),
        ([], "log_unavailable", "it does not answer"),
    ],
)
def test_a_log_that_is_not_reached_is_told_by_the_last_word_of_a_server(
    said: list[str], code: str, words: str
) -> None:
    """But of a stranger it says so, whatever comes after that."""

    async def play() -> None:
        client = LogClient(
            LogAddress.parse("nats://127.0.0.1:1/shop", "--from"),
            Credentials.parse("anna:pw", "test"),
            None,
        )
        for one in said:
            await client._errors(Exception(f"nats: {one}"))
        await client.get_ready(0)

    with pytest.raises((AuthError, LogDown), match=words) as caught:
        asyncio.run(play())
    assert caught.value.code == code


def test_each_loss_and_return_is_told_once_and_the_next_server_is_tried_first() -> None:
    """Servers that do not answer are passed over; nothing is told of what was closed on purpose."""
    states: list[str | None] = []
    first, second = AnsweringServer(None), AnsweringServer(STORED, END)

    async def play() -> int:
        async with (
            await asyncio.start_server(first.serve, "127.0.0.1", 0) as one,
            await asyncio.start_server(second.serve, "127.0.0.1", 0) as other,
        ):
            ports = [1, *(it.sockets[0].getsockname()[1] for it in (one, other))]
            hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
            address = LogAddress.parse(f"nats://{hosts}/shop", "--from")
            client = LogClient(address, Credentials.parse("anna:pw", "test"), None)
            client.on_state_change = states.append
            with pytest.raises(LogDown, match="the connection is closed"):
                await client.gather("a", b"{}", 5, most=9)
            assert not client.is_connected
            assert len(await client.gather("a", b"{}", 5, most=9)) == 2
            assert (client.is_connected, client.version) == (True, "2.11.0")
            assert client.max_payload == INFO["max_payload"]
            await client.close()
            return client.generation

    with asyncio.Runner(loop_factory=LogLoop) as runner:
        assert runner.run(play()) == 2
    lost, back = states
    assert lost is not None
    assert "cannot be reached" in lost
    assert back is None
    assert (first.greeted, second.greeted) == (1, 1)


def test_a_state_without_a_leader_is_asked_for_again_within_the_time_of_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such a question is never answered: the next one is, by the leader that was elected."""
    pauses, times = list[float](), list[float]()

    async def silent(_: LogConnection, verb: str, *, seconds: float) -> None:
        times.append(seconds)
        raise LogDown(verb)

    async def sleep(seconds: float) -> None:
        pauses.append(round(seconds, 1))

    monkeypatch.setattr(LogConnection, "api", silent)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    unconnected = LogConnection.__new__(LogConnection)
    with pytest.raises(LogDown):
        asyncio.run(unconnected.info("STREAM.INFO.shop"))
    assert (times, pauses) == ([1.0, 1.5, 2.5], [1.0, 1.5])


@pytest.mark.parametrize(
    "lines",
    [
        STORED[10:-4],
        b"",
        b"A: 1\r\nA: 2\r\nB:x:y\r\nC\r\n: nameless\r\n\r\nD:\r\nE: \xff\xe4\xb8 \r\n",
        b"a b: 1\r\na\tb: 1\r\n a\t: 1\r\na\x1cb: 1\r\n\xe4: 1\r\na\n b: 1\r\nF: 1\n 2\r\n\x85: 1",
    ],
)
def test_headers_are_read_as_nats_py_reads_them(lines: bytes) -> None:
    from nats.aio.client import Client

    assert module.parse_headers(lines) == Client._parse_header_lines(lines)
