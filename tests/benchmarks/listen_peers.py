"""Peers of `svc events listen` and local stand-ins for the services that push to them.

`stripe listen` asks for a session over HTTP and gets its events as frames of a websocket; `smee`
reads server-sent events. Neither is given anything that it would not get from its own service.
"""

import asyncio
import base64
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HANDSHAKE = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
PONG = b"\x8a\x00"
PACE_SECONDS = 0.005


def found() -> dict[str, list[str]]:
    """Gives the commands of peers: from STRIPE=... and SMEE=..., else from a node_modules."""
    given = {name: os.environ.get(name.upper(), "").split() for name in PEERS}
    return {name: command for name in PEERS if (command := given[name] or installed(name))}


def installed(name: str) -> list[str]:
    """A peer of a node_modules here or in a folder above.

    Where a package brings a program, the program itself: what its script costs is not measured.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        modules = folder / "node_modules"
        for found in (*modules.glob(f"@{name}/cli-*/bin/{name}"), modules / ".bin" / name):
            if found.exists():
                return [str(found)]
    return []


@contextmanager
def running(name: str, command: list[str], push: str, target: str, folder: str) -> Iterator[int]:
    """A peer that forwards from the stand-in at port `push` to the one at port `target`."""
    url = f"http://127.0.0.1:{target}/hook"
    service = f"http://127.0.0.1:{push}"
    env = {"PATH": os.environ["PATH"], "HOME": folder, "STRIPE_CLI_TELEMETRY_OPTOUT": "1"}
    env["HTTPS_PROXY"] = "http://127.0.0.1:9"  # they look for new versions of themselves
    with Path(folder, "out.txt").open("w") as out:
        process = subprocess.Popen(
            [*command, *PEERS[name](service, url)],
            env=env,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def stripe_options(service: str, url: str) -> list[str]:
    key = "sk_test_0123456789abcdef"
    return [
        "listen",
        "--api-key",
        key,
        "--api-base",
        service,
        "--forward-to",
        url,
        "--all-snapshot",
    ]


def smee_options(service: str, url: str) -> list[str]:
    return ["--url", f"{service}/channel", "--target", url]


PEERS: dict[str, Callable[[str, str], list[str]]] = {
    "stripe": stripe_options,
    "smee": smee_options,
}


def as_frame(event: dict[str, Any], headers: dict[str, str]) -> bytes:
    """One event as Stripe's service pushes it."""
    event = event | {"created": 1_790_000_000, "api_version": "2026-08-26"}
    said = {
        "type": "webhook_event",
        "webhook_id": "wh_1",
        "webhook_conversation_id": "wc_1",
        "event_payload": json.dumps(event, separators=(",", ":")),
        "http_headers": headers,
        "endpoint": {"api_version": None},
    }
    text = json.dumps(said).encode()
    return b"\x81\x7e" + len(text).to_bytes(2, "big") + text


def as_message(event: dict[str, Any], headers: dict[str, str]) -> bytes:
    """One event as smee's service pushes it."""
    said = {name.lower(): value for name, value in headers.items()} | {"body": event, "query": {}}
    return b"id: 1\ndata: " + json.dumps(said).encode() + b"\n\n"


class PushProtocol(asyncio.Protocol):
    """Answers a peer's first requests; `opened` hears of the connection that takes events."""

    def __init__(self, opened: Callable[[asyncio.Transport], None]) -> None:
        self._opened = opened
        self._data = b""
        self._frames = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._frames:
            if data[0] == 0x89:  # a ping; the acknowledgements of events need no answer
                self._transport.write(PONG)
            return
        self._data += data
        head, end, _ = self._data.partition(b"\r\n\r\n")
        if end:
            self._data = b""
            self._answer(head.decode())

    def _answer(self, head: str) -> None:
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        lower = {name.lower(): value for name, value in fields.items()}
        if "sec-websocket-key" in lower:
            digest = hashlib.sha1((lower["sec-websocket-key"] + HANDSHAKE).encode()).digest()
            self._frames = True
            self._transport.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Protocol: stripecli-devproxy-v1\r\n"
                b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
            )
            self._opened(self._transport)
        elif "text/event-stream" in lower.get("accept", ""):
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                b"event: ready\ndata: {}\n\n"
            )
            self._opened(self._transport)
        else:
            self._transport.write(_json_answer(self._session(lower.get("host", ""))))

    def _session(self, host: str) -> dict[str, Any]:
        return {
            "websocket_url": f"ws://{host}/subscribe",
            "websocket_id": "ws_1",
            "websocket_authorized_feature": "webhooks",
            "reconnect_delay": 3600,
            "secret": "whsec_benchmark",
            "default_version": "2026-08-26",
            "latest_version": "2026-08-26",
        }


def _json_answer(value: dict[str, Any]) -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


async def push(
    kind: str, pace: str, events: Iterator[tuple[dict[str, Any], dict[str, str]]]
) -> None:
    """Prints its port, then ready once a peer has connected, and pushes when it is told to."""
    loop = asyncio.get_running_loop()
    shape = as_frame if kind == "stripe" else as_message
    waiting = [shape(event, headers) for event, headers in events]
    opened: asyncio.Future[asyncio.Transport] = loop.create_future()
    server = await loop.create_server(lambda: PushProtocol(opened.set_result), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    transport = await opened
    await asyncio.sleep(0.5)  # a peer says that it is ready only to people
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    if pace == "paced":
        sent = []
        for data in waiting:
            sent.append(time.perf_counter())
            transport.write(data)
            await asyncio.sleep(PACE_SECONDS)
        print(*sent, flush=True)
    else:
        transport.writelines(waiting)
    await asyncio.Event().wait()
