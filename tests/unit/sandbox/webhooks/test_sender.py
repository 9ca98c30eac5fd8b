"""One attempt over a real socket: what is sent, what counts as success, what is never done."""

import asyncio
import socket
import ssl
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.absence import importable
from support.servers.certificates import Authority
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.webhooks.sender import REPLY_READ_MAX, HttpSender, Outgoing, ReceiverReply
from unit.sandbox.lab import (
    Answer,
    Lab,
    ScriptedReceiver,
    add_endpoint,
    after,
    answer_with,
    emit_paid,
    serving,
)

BODY = '{"id":"evt_1","näme":1}'.encode()
HEADERS = (("Content-Type", "application/json; charset=utf-8"), ("User-Agent", "Svc-Webhooks/1.0"))


async def send(
    lab: Lab, receiver: ScriptedReceiver, times: int = 1, deadline: float = 5
) -> list[ReceiverReply]:
    """Sends to the receiver, one after the other, with one sender."""
    sender = HttpSender(deadline)
    async with receiver.listening():
        try:
            outgoing = Outgoing(receiver.url, HEADERS, BODY)
            return [await sender.send(outgoing) for _ in range(times)]
        finally:
            await sender.close()


async def ask(url: str, **options: Any) -> ReceiverReply:
    """One attempt at an address, with a sender of its own."""
    sender = HttpSender(5, **options)
    try:
        return await sender.send(Outgoing(url, HEADERS, BODY))
    finally:
        await sender.close()


def test_sending_loads_no_command_line_of_httpx() -> None:
    """Where click is installed httpx would load one, with rich and pygments."""
    code = (
        "import click, sys, svc.sandbox.webhooks.sender;"
        "print(*[name for name, module in sys.modules.items() if module])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "httpx" in loaded
    assert Path(httpx.__file__).with_name("_main.py").is_file()
    assert not loaded & {"httpx._main", *importable(["rich", "pygments"])}


async def test_request_carries_the_bytes_and_headers_given(
    lab: Lab, receiver: ScriptedReceiver
) -> None:
    """The body arrives byte for byte; User-Agent and Content-Type are ours alone."""
    (reply,) = await send(lab, receiver)
    (arrival,) = receiver.arrivals
    assert (reply.code, reply.error, reply.accepted) == (200, None, True)
    assert arrival.body == BODY
    assert arrival.headers["user-agent"] == "Svc-Webhooks/1.0"
    assert arrival.headers["content-type"] == "application/json; charset=utf-8"
    assert arrival.headers["host"] == receiver.url.split("/")[2]


@pytest.mark.parametrize(
    ("code", "accepted"),
    [(200, True), (201, True), (299, True), (301, False), (304, False), (400, False), (500, False)],
)
async def test_only_2xx_is_success(
    lab: Lab, receiver: ScriptedReceiver, code: int, accepted: bool
) -> None:
    """Anything but 2xx is a failure (spec: Delivery and retries)."""
    receiver.answers = [answer_with(code)]
    (reply,) = await send(lab, receiver)
    assert (reply.code, reply.accepted) == (code, accepted)


async def test_redirect_is_not_followed_and_no_cookie_is_kept(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """A receiver can neither send us elsewhere nor mark us (R24, R29)."""
    headers = "Location: /elsewhere\r\nSet-Cookie: a=b\r\n"
    receiver.answers = [answer_with(307, headers), answer_with(200)]
    first, second = await send(lab, receiver, times=2)
    assert (first.code, second.code) == (307, 200)
    assert len(receiver.arrivals) == 2
    assert "cookie" not in receiver.arrivals[1].headers


async def test_proxy_settings_have_no_effect(
    lab: Lab, receiver: ScriptedReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP_PROXY and ALL_PROXY are ignored (R26)."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (reply,) = await send(lab, receiver)
    assert reply.accepted


async def test_silent_receiver_fails_at_the_deadline(
    lab: Lab, receiver: "ScriptedReceiver"
) -> None:
    """No answer within the deadline is a failure without a status."""
    receiver.answers = [after(asyncio.Event(), answer_with(200))]
    (reply,) = await send(lab, receiver, deadline=0.05)
    assert (reply.code, reply.error, reply.accepted) == (None, "timeout", False)
    assert 50 <= reply.ms < 2000


async def test_dripping_receiver_fails_at_the_deadline(
    lab: Lab, receiver: ScriptedReceiver
) -> None:
    """The deadline covers the whole exchange, not each read."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    receiver.answers = [drip]
    (reply,) = await send(lab, receiver, deadline=0.1)
    assert (reply.code, reply.error) == (None, "timeout")


async def test_endless_body_is_ignored_after_64_kib(lab: Lab, receiver: ScriptedReceiver) -> None:
    """A 200 whose body never ends is a success; the rest is not read."""
    written = 0

    async def flood(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            written += 65536

    receiver.answers = [flood]
    (reply,) = await send(lab, receiver)
    assert reply.accepted
    assert REPLY_READ_MAX <= written < 64 * 1024 * 1024


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


async def babble(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH\r\n")
    writer.close()


async def stop_short(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
    writer.close()


@pytest.mark.parametrize("answer", [hang_up, babble, stop_short])
async def test_broken_answer_is_a_failure(
    lab: Lab, receiver: ScriptedReceiver, answer: Answer
) -> None:
    """A closed connection, garbage and half an answer are failures, never exceptions."""
    receiver.answers = [answer]
    (reply,) = await send(lab, receiver)
    assert (reply.code, reply.error, reply.accepted) == (None, "connection_lost", False)


async def test_refused_connection_is_a_failure() -> None:
    """Nobody listens there."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        reply = await ask(f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert reply.error == "connect_failed"


def over_tls(bundle: Path, spoken: list[Any], end: bytes) -> AbstractAsyncContextManager[int]:
    """A receiver that has another protocol to offer; notes which one was agreed on."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(bundle)
    context.set_alpn_protocols(["h2", "http/1.1"])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        spoken.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await reader.readuntil(end)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    return serving(serve, context)


@pytest.mark.parametrize("allowed", [True, False])
async def test_self_signed_receiver_here_is_trusted_where_the_setting_says_so(
    lab: Lab, tmp_path: Path, allowed: bool
) -> None:
    """`allow_self_signed_webhooks` takes the certificate of https on this machine, whoever made it."""
    bundle, spoken = Authority(tmp_path).issue("127.0.0.1", self_signed=True), list[Any]()
    settings = {"allow_self_signed_webhooks": allowed}
    async with (
        over_tls(bundle, spoken, b"}}") as port,
        lab.running(settings=settings) as engine,
    ):
        await engine.run("test", add_endpoint(f"https://localhost:{port}/"))
        event = await engine.run("test", emit_paid)
        (made,) = await engine.resend("test", event)
    assert (made.code, made.error) == ((200, None) if allowed else (None, "tls_failed"))
    assert spoken == (["http/1.1"] if allowed else [])


@pytest.mark.parametrize(
    ("url", "port"), [("http://[::1]/", 80), ("https://[::1]/", 443), ("https://[::1]:80/", 80)]
)
async def test_address_without_a_port_means_that_of_its_scheme(
    url: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []

    async def refuse(host: str, port: int, _: object) -> None:
        asked.append((host, port))
        raise ConnectionRefusedError

    monkeypatch.setattr("svc.sandbox.webhooks.sender.connect", refuse)
    assert (await ask(url)).error == "connect_failed"
    assert asked == [("::1", port)]


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999/", "gopher://localhost/"])
async def test_impossible_address_is_a_failure(url: str) -> None:
    """Whatever was registered, an attempt ends in a reply."""
    assert (await ask(url)).accepted is False


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("localhost:3000", True),
        ("127.0.0.1", True),
        ("[::1]:3000", True),
        ("shop.local", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
    ],
)
def test_a_receiver_is_here_by_its_whole_name(host: str, is_here: bool) -> None:
    """R89: what only begins or ends like this machine's name is another one."""
    assert webhook_endpoints.is_local(f"http://{host}/hooks") is is_here
