"""The floor of `bench_log.py slept`: reads a log by nats-py and posts each event as it is.

    python tests/benchmarks/log_floor.py SERVER PORT

It asks for the same pages as a laptop does, from the second event on, and posts over eight
connections. It checks, keeps, signs and prints nothing. It runs until it is killed.
"""

import asyncio
import json
import sys
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

LANES = 8
PAGE = 256
STREAM = "SVC_shop_test"
SUBJECTS = "svc.shop.test.>"


class Poster:
    """Sends requests over the connections that are idle; the rest wait."""

    def __init__(self) -> None:
        self.idle: list[asyncio.Transport] = []
        self.waiting: deque[bytes] = deque()
        self.room = asyncio.Event()

    def post(self, body: bytes) -> None:
        self.waiting.append(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        if self.idle:
            self.idle.pop().write(self.waiting.popleft())

    def free(self, transport: asyncio.Transport) -> None:
        """Uses a connection whose request was answered for the next one."""
        if self.waiting:
            transport.write(self.waiting.popleft())
        else:
            self.idle.append(transport)
        if len(self.waiting) <= PAGE:
            self.room.set()


class PostingLane(asyncio.Protocol):
    """One connection of a poster, whose target answers a request in one piece."""

    def __init__(self, poster: Poster) -> None:
        self._poster = poster

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._poster.free(transport)

    def data_received(self, data: bytes) -> None:
        assert data.startswith(b"HTTP/1.1 200"), data
        self._poster.free(self._transport)


async def read_page(client: "Client", seq: int) -> "list[Msg]":
    """A page of the log from a number on; what the server says at its end is its last message."""
    page: list[Msg] = []
    whole: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def took(message: "Msg") -> None:
        page.append(message)
        if "Status" in (message.headers or {}):
            whole.set_result(None)

    answers = await client.subscribe(client.new_inbox(), cb=took)
    asked = {"seq": seq, "batch": PAGE, "next_by_subj": SUBJECTS}
    payload = json.dumps(asked).encode()
    await client.publish(f"$JS.API.DIRECT.GET.{STREAM}", payload, reply=answers.subject)
    await whole
    await answers.unsubscribe()
    return page


async def read_and_post(server: str, port: int) -> None:
    """Posts all that the log has."""
    import nats

    client, poster, seq = await nats.connect(server), Poster(), 2
    for _ in range(LANES):
        await asyncio.get_running_loop().create_connection(
            lambda: PostingLane(poster), "127.0.0.1", port
        )
    while len(page := await read_page(client, seq)) > 1:
        for one in page[:-1]:
            poster.post(one.data)
        seq += len(page) - 1
        if len(poster.waiting) > PAGE:
            poster.room.clear()
            await poster.room.wait()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(read_and_post(sys.argv[1], int(sys.argv[2])))
