"""The client of a log, over a library that does not always keep its word."""

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from svc.listen.log import client as module
from svc.listen.log.address import LogAddress
from svc.listen.log.client import LogClient, LogLoop
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


INFO = {"server_id": "a", "version": "2.11.0", "proto": 1, "headers": True, "max_payload": 1 << 20}


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
