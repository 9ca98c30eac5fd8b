"""Requests that never end: a 4xx in time, and a closed connection (never a hang)."""

import asyncio
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from support.launching import launch_options
from support.suite.patience import WAIT_SECONDS, slowed
from svc.clock import SystemClock
from svc.sandbox.http.exchange import HttpReply, refusal
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.process import launch
from svc.sandbox.process.serve import HEAD_SECONDS, DeadlineProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
KEY = b"Authorization: Bearer sk_test_sandbox\r\n"
BEGUN = b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
LENGTH = [(b"content-length", b"2")]


async def hello(_: Any, __: Any, send: Any) -> None:
    """An application that answers late enough for a head's time to be over."""
    await asyncio.sleep(0.05)
    await send({"type": "http.response.start", "status": 200, "headers": LENGTH})
    await send({"type": "http.response.body", "body": b"ok"})


def refused(problem: Problem) -> HttpReply:
    """How the application would answer."""
    return refusal(problem, "req_1")


def spoken(*said: bytes, silence: int = 60, head: float = HEAD_SECONDS, app: Any = hello) -> bytes:
    """What a server answers to bytes until it closes; it has the first before it gets the next."""

    async def talk() -> bytes:
        config = uvicorn.Config(app, log_config=None, timeout_keep_alive=silence)
        config.load()
        server = await asyncio.get_running_loop().create_server(
            lambda: DeadlineProtocol(config, ServerState(), {}, refuse=refused, head_seconds=head),
            "127.0.0.1",
            0,
        )
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            for part in said:
                writer.write(part)
                await asyncio.sleep(0.1)
            return await asyncio.wait_for(reader.read(), WAIT_SECONDS)
        finally:
            writer.close()
            await writer.wait_closed()
            server.close()
            await server.wait_closed()

    return asyncio.run(talk())


@pytest.mark.parametrize("before", [(), (HEAD + b"\r\n",)], ids=["first", "after an answer"])
def test_half_a_head_is_refused(before: tuple[bytes, ...]) -> None:
    """408 in the error shape, also on a connection that has served a request."""
    answered = spoken(*before, HEAD[:20], head=0.02)
    head, _, body = answered.rpartition(b"\r\n\r\n")
    assert head.count(b"HTTP/1.1 200 ") == len(before)
    assert b"HTTP/1.1 408 Request Timeout\r\n" in head
    assert b"connection: close" in head
    assert json.loads(body)["code"] == "request_timeout"


def test_answer_may_take_longer_than_a_head() -> None:
    """The time for a head ends with the head, in however many pieces it came."""
    answered = spoken(HEAD[:20], HEAD[20:] + b"Connection: close\r\n\r\n", head=0.25)
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert answered.endswith(b"ok")


@pytest.mark.parametrize("body", [b"", b"{}", b"{"], ids=["none", "whole", "half"])
def test_server_tells_how_far_a_body_has_come(body: bytes) -> None:
    """What a whole body needs no time limit for (`AsgiRequest.read`), as a public name of uvicorn's."""
    told = []

    async def app(_: Any, receive: Any, send: Any) -> None:
        told.append(receive.__self__.more_body)
        await hello(_, receive, send)

    length = (
        b"Connection: close\r\nContent-Length: 2\r\n\r\n" if body else b"Connection: close\r\n\r\n"
    )
    assert spoken(HEAD + length + body, app=app).endswith(b"ok")
    assert told == [body == b"{"]


def test_silent_connection_ends_as_an_idle_one() -> None:
    """Who never says a word is let go without one."""
    assert spoken(silence=0) == b""


STALLED = {
    "half a head": HEAD,
    "an API body": b"POST /v1/orders HTTP/1.1\r\nHost: localhost\r\n" + KEY + BEGUN,
    "a control's body": b"POST /_sandbox/settings HTTP/1.1\r\nHost: localhost\r\n"
    b"Svc-Sandbox: 1\r\n" + BEGUN,
    "a payment's body": b"POST /_sandbox/checkout/pay HTTP/1.1\r\nHost: localhost\r\n"
    b"Svc-Sandbox: 1\r\nAuthorization: Bearer pk_test_sandbox\r\n" + BEGUN,
}


@pytest.mark.slow(seconds=12)
def test_every_stalled_request_is_answered(tmp_path: Path) -> None:
    """The real process: 408 after ten seconds, whatever part of a request it waits for."""
    options = launch_options(tmp_path / "state")
    record = launch.start(options, os.environ, SystemClock())
    begun = time.monotonic()
    lines = {name: socket.create_connection(("127.0.0.1", record.port), 20) for name in STALLED}
    try:
        for name, line in lines.items():
            line.sendall(STALLED[name])
        for name, line in lines.items():
            with line.makefile("rb") as file:
                answered = file.read()  # up to the close
            assert answered.startswith(b"HTTP/1.1 408 "), name
            assert b'"code":"request_timeout"' in answered.replace(b'": "', b'":"'), name
        assert 9 < time.monotonic() - begun < slowed(15)
    finally:
        for line in lines.values():
            line.close()
        launch.stop(options.folder, record, SystemClock())
