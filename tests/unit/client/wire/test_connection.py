"""The wire against a server that misbehaves, on real sockets."""

import gzip
import socket
import time
import tracemalloc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from support.calls import orders, refunds
from support.clocks import ManualClock
from support.serving import free_port
from support.suite.patience import patient
from svc.base_url import BaseUrl
from svc.client.call import Call
from svc.client.client import Client
from svc.client.exchange import BODY_MAX, Collector, Trouble, WireBroken
from svc.client.wire.connection import Connection
from svc.clock import SystemClock
from svc.errors import ApiError, NetworkError, OutcomeUnknown
from unit.client.wire.sending import POST, ended

pytestmark = pytest.mark.smoke

if TYPE_CHECKING:
    from support.servers.misbehaving import ScriptedServer

    Connect = Callable[..., Client]


GET = refunds.retrieve("rf_1")
REFUND = {"id": "rf_1", "object": "refund", "amount": 100}


def test_a_request_is_exactly_what_was_prepared(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """Spec, Authentication and Versioning: host, key, version, key of the request and body."""
    server.play(server.reply(200, REFUND, {"Request-Id": "req_1"}))
    client = connect(server.url, api_version="2026-03-01", new_key=lambda: "key-1")
    reply = client.send(POST)
    assert (reply.data, reply.request_id, reply.attempts) == (REFUND, "req_1", 1)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/refunds HTTP/1.1"
    assert lines[1] == f"Host: 127.0.0.1:{server.port}"
    assert lines[2] == "Authorization: Bearer sk_test_canary"
    assert "Svc-Version: 2026-03-01" in lines
    assert "Idempotency-Key: key-1" in lines
    assert "Accept-Encoding: identity" in lines
    assert not any(line.lower().startswith(("cookie", "connection")) for line in lines)
    assert body == b'{"payment":"pay_1","amount":100}'


def test_basic_auth_is_the_key_without_a_password(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """Spec, Authentication 2."""
    server.play(server.reply(200, REFUND))
    connect(server.url, auth="basic").send(GET)
    assert b"Authorization: Basic c2tfdGVzdF9jYW5hcnk6\r\n" in server.requests[0]


def test_attempts_are_byte_identical(server: "ScriptedServer", connect: "Connect") -> None:
    """R1: whatever happens in between, the same bytes go out."""
    server.play(
        server.reset(),
        server.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"),
        server.reply(500, {"message": "x"}),
        server.reply(200, REFUND, {"Idempotent-Replayed": "true"}),
    )
    reply = connect(server.url).send(POST)
    assert (reply.attempts, reply.replayed) == (4, True)
    assert len(server.requests) == 4
    assert len(set(server.requests)) == 1


def test_a_reset_before_reading_is_tried_again(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """Reset before the request is read, then one object."""
    server.play(server.reset_unread(), server.reply(200, REFUND))
    assert connect(server.url).send(POST).attempts == 2
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "name",
    ["close", "reset", "truncated", "garbage", "half a head", "no status", "bad chunk", "101"],
)
def test_no_definite_answer_is_unknown(
    name: str, server: "ScriptedServer", connect: "Connect"
) -> None:
    """R10: four identical attempts, then exit 7 with the key; a GET ends with 8."""
    step = {
        "close": server.close(),
        "reset": server.reset(),
        "truncated": server.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":"rf_1"}'),
        "garbage": server.raw(b"\x00\x01\x02 nonsense\r\n\r\n"),
        "half a head": server.raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
        "no status": server.raw(b"HTTP/1.1\r\n\r\n"),
        "bad chunk": server.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"),
        "101": server.raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    }[name]
    server.play(step)
    unknown = ended(connect(server.url, new_key=lambda: "key-1"), POST)
    assert isinstance(unknown, OutcomeUnknown)
    assert (int(unknown.exit_code), unknown.idempotency_key) == (7, "key-1")
    assert len(server.requests) == 4
    assert len(set(server.requests)) == 1
    failed = ended(connect(server.url), GET)
    assert isinstance(failed, NetworkError)
    assert len(server.requests) == 8


@pytest.mark.parametrize("call", [POST, GET])
def test_a_hanging_server_is_cut_at_the_deadline(
    call: Call, server: "ScriptedServer", connect: "Connect", stopwatch: Callable[[], float]
) -> None:
    """R9: one attempt takes all the time there is, and not a second more."""
    server.play(server.hang())
    error = ended(connect(server.url, SystemClock(), deadline_seconds=1), call)
    assert 1 <= stopwatch() < patient(2)
    assert int(error.exit_code) == (7 if call is POST else 8)
    assert len(server.requests) == 1


@pytest.mark.parametrize("where", ["head", "body", "chunks", "endless informational"])
def test_a_dripping_server_is_cut_at_the_deadline(
    where: str, server: "ScriptedServer", connect: "Connect", stopwatch: Callable[[], float]
) -> None:
    """R9: the limit is total, not one for each read."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    drips = {
        "head": server.drip(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 99, 0.02),
        "body": _after(server, head, b" "),
        "chunks": _after(server, chunked, b"1\r\n \r\n"),
        "endless informational": server.drip(b"HTTP/1.1 100 Continue\r\n\r\n", 0.001),
    }
    server.play(drips[where])
    error = ended(connect(server.url, SystemClock(), deadline_seconds=1), POST)
    assert 1 <= stopwatch() < patient(2)
    assert isinstance(error, OutcomeUnknown)


def _after(server: "ScriptedServer", head: bytes, data: bytes) -> Callable[[socket.socket], bool]:
    drip = server.drip(data, 0.02)

    def step(sock: socket.socket) -> bool:
        sock.sendall(head)
        return drip(sock)

    return step


@pytest.mark.parametrize(
    "bomb",
    [
        b"HTTP/1.1 200 OK\r\nX-Bomb: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Bomb: aaaaaaaa\r\n" * 10_000 + b"\r\n",
    ],
    ids=["one of 1 MB", "10,000"],
)
def test_header_bombs_are_cut(bomb: bytes, server: "ScriptedServer", connect: "Connect") -> None:
    """Exit 7 for a POST, 8 for a GET."""
    server.play(server.raw(bomb))
    assert isinstance(ended(connect(server.url), POST), OutcomeUnknown)
    assert isinstance(ended(connect(server.url), GET), NetworkError)


def test_a_gzip_bomb_is_cut(server: "ScriptedServer", connect: "Connect") -> None:
    """R20: the cap is on the decoded body; one attempt, unknown."""
    bomb = gzip.compress(b"0" * (BODY_MAX * 4))
    server.play(server.reply(200, bomb, {"Content-Encoding": "gzip"}))
    error = ended(connect(server.url), POST)
    assert isinstance(error, OutcomeUnknown)
    assert "over 1 MiB" in error.message
    assert len(server.requests) == 1


def test_a_page_over_the_cap_is_cut(server: "ScriptedServer", connect: "Connect") -> None:
    """R20: 16 MiB of a decoded page, and not a byte more."""
    page = b'{"object":"list","data":[],"has_more":false}'.ljust(16 * 1024 * 1024 + 1)
    server.play(server.reply(200, gzip.compress(page), {"Content-Encoding": "gzip"}))
    assert "over 16 MiB" in str(ended(connect(server.url), refunds.list()))


def test_a_gzip_bomb_is_not_unpacked() -> None:
    """R20: what goes over the cap is never in memory."""
    bomb = gzip.compress(bytes(BODY_MAX * 4))
    collector = Collector(200, (("content-encoding", "gzip"),))
    tracemalloc.start()
    try:
        with pytest.raises(WireBroken):
            collector.add(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < BODY_MAX * 3


def test_an_overlong_body_is_not_even_read(server: "ScriptedServer", connect: "Connect") -> None:
    """R20: a length over the cap is believed."""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {BODY_MAX + 1}\r\n\r\n".encode()
    server.play(server.raw(head, keep=True))
    assert isinstance(ended(connect(server.url), GET), NetworkError)


def test_an_endless_chunked_body_is_cut(server: "ScriptedServer", connect: "Connect") -> None:
    """R20: without a length the bytes are counted."""
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.play(server.raw(head + chunk * 18))
    assert "over 1 MiB" in ended(connect(server.url), POST).message


@pytest.mark.slow
def test_a_body_at_the_cap_is_read(server: "ScriptedServer", connect: "Connect") -> None:
    """R20, R99: an object may have 1 MiB, a page 16 MiB."""
    text = b'{"id":"rf_1","object":"refund"}'
    server.play(server.reply(200, text + b" " * (1024 * 1024 - len(text))))
    assert connect(server.url).send(GET).data["id"] == "rf_1"
    text = b'{"object":"list","data":[],"has_more":false}'
    server.play(server.reply(200, text + b" " * (BODY_MAX - len(text))))
    assert connect(server.url).send(refunds.list()).data["data"] == []


def test_gzip_is_read_although_nobody_asked(server: "ScriptedServer", connect: "Connect") -> None:
    """A proxy may compress against our wish."""
    body = gzip.compress(b'{"id":"rf_1","object":"refund"}', mtime=0)
    server.play(server.reply(200, body, {"Content-Encoding": "gzip"}))
    assert connect(server.url).send(GET).data["id"] == "rf_1"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(b'{"id":"rf_1","object":"refund"}', mtime=0)[:-6], "gzip"),
        (b"no gzip", "gzip"),
        (gzip.compress(b'{"id":"rf_1","object":"refund"}', mtime=0) + b"more", "gzip"),
        (b'{"id":"rf_1","object":"refund"}', "br"),
        (b'{"id":"rf_1","object":"refund"}', "gzip, gzip"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_no_answer(
    body: bytes, encoding: str, server: "ScriptedServer", connect: "Connect"
) -> None:
    """R14: cut or foreign compression is unknown for a POST."""
    server.play(server.reply(200, body, {"Content-Encoding": encoding}))
    assert isinstance(ended(connect(server.url), POST), OutcomeUnknown)


@pytest.mark.parametrize("encoding", ["identity", "br", "gzip"])
def test_an_errors_status_counts_whatever_its_body(
    encoding: str, server: "ScriptedServer", connect: "Connect"
) -> None:
    """Ten megabytes of nonsense in any encoding are one line and the right exit."""
    body = b"\x1b[2J[/foo] no\n" * 750_000
    server.play(server.reply(405, body, {"Content-Encoding": encoding}))
    error = ended(connect(server.url), POST)
    assert isinstance(error, ApiError)
    assert (error.status, int(error.exit_code), error.outcome) == (405, 3, "refused")
    assert error.message.isprintable()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "taken"), [(b'{"id":"rf_1","object":"refund"}', True), (b'{"id":"rf_1"', False)]
)
def test_a_body_that_ends_with_the_connection(
    body: bytes, taken: bool, server: "ScriptedServer", connect: "Connect"
) -> None:
    """Without a length it counts only if it is whole JSON."""
    server.play(server.raw(b"HTTP/1.1 200 OK\r\n\r\n" + body))
    client = connect(server.url)
    if taken:
        assert client.send(POST).data["id"] == "rf_1"
    else:
        assert isinstance(ended(client, POST), OutcomeUnknown)
        assert len(server.requests) == 4


def test_an_answer_before_the_body_was_read_counts(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """A server may refuse a request early; its answer is definite."""

    def refuse(sock: socket.socket) -> bool:
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n")
        return False

    server.play(refuse)
    error = ended(connect(server.url), POST)
    assert isinstance(error, ApiError)
    assert error.status == 413


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int, server: "ScriptedServer", connect: "Connect") -> None:
    """R24: neither the key nor the body goes anywhere else."""
    server.play(server.reply(status, b"", {"Location": f"{server.url}/v1/elsewhere"}))
    error = ended(connect(server.url), POST)
    assert isinstance(error, OutcomeUnknown)
    assert "/v1/elsewhere" in error.message
    assert len(server.requests) == 1


def test_a_connection_is_kept_for_the_next_call(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """Paging and batches use one connection."""
    server.play(server.reply(200, REFUND))
    client = connect(server.url)
    for _ in range(3):
        client.send(GET)
        client.send(POST)
    assert server.connections == 1
    assert len(server.requests) == 6


@pytest.mark.parametrize("call", [GET, POST])
def test_a_closed_connection_is_replaced(
    call: Call, server: "ScriptedServer", connect: "Connect"
) -> None:
    """A kept connection that the server closed meanwhile costs no attempt."""
    server.play(server.reply(200, REFUND, keep=False))
    client = connect(server.url)
    client.send(GET)
    time.sleep(0.05)  # until the close has arrived; nothing can be waited for
    assert client.send(call).attempts == 1
    assert server.connections == 2


def test_an_old_connection_is_not_used_for_a_post(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """A POST does not meet a server that is about to drop an idle connection; a GET may."""
    clock = ManualClock()
    server.play(server.reply(200, REFUND))
    client = connect(server.url, clock)
    client.send(GET)
    clock.advance(5.0)
    client.send(GET)
    assert server.connections == 1
    clock.advance(5.0)
    client.send(POST)
    assert server.connections == 2


def test_a_get_on_a_connection_that_dies_goes_again(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """A kept connection that is closed just as a GET uses it is replaced without an attempt."""
    server.play(server.reply(200, REFUND), server.close(), server.reply(200, REFUND))
    client = connect(server.url)
    client.send(GET)
    assert client.send(GET).attempts == 1
    assert server.connections == 2


def test_a_post_on_a_connection_that_dies_is_an_attempt(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """R10: a POST that was sent and lost is never sent again silently, and keeps its key."""
    server.play(server.reply(200, REFUND), server.close(), server.reply(200, REFUND))
    client = connect(server.url)
    client.send(GET)
    assert client.send(POST).attempts == 2
    assert server.requests[1] == server.requests[2]


def test_bytes_beyond_an_answer_are_no_answer(server: "ScriptedServer", connect: "Connect") -> None:
    """What a server says unasked is never read as the answer to the next request."""
    extra = b'HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{"id":"rf_6","object":"refund"}'
    whole = b'HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{"id":"rf_1","object":"refund"}'
    server.play(server.raw(whole + extra, keep=True), server.raw(whole, keep=True))
    client = connect(server.url)
    client.send(GET)
    assert client.send(GET).data["id"] == "rf_1"
    assert server.connections == 2


def test_hostile_surroundings_have_no_effect(
    server: "ScriptedServer", connect: "Connect", monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """R26, R29: no proxy variable, netrc or cookie touches a request to this machine."""
    proxy = f"http://127.0.0.1:{free_port()}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login evil password evil\n")
    server.play(server.reply(200, REFUND, {"Set-Cookie": "a=b"}))
    client = connect(server.url)
    client.send(GET)
    client.send(GET)
    assert b"Authorization: Bearer sk_test_canary\r\n" in server.requests[1]
    assert b"evil" not in server.requests[1]
    assert b"ookie" not in server.requests[1]


def test_an_interrupt_closes_the_connection(
    server: "ScriptedServer", connect: "Connect", monkeypatch: pytest.MonkeyPatch
) -> None:
    """R78: Ctrl-C in an exchange leaves no socket behind and is not swallowed."""
    closed: list[Connection] = []
    plain = Connection.close

    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    def close(line: Connection) -> None:
        closed.append(line)
        plain(line)

    monkeypatch.setattr(Connection, "_read", interrupt)
    monkeypatch.setattr(Connection, "close", close)
    server.play(server.reply(200, REFUND))
    with pytest.raises(KeyboardInterrupt):
        connect(server.url).send(POST)
    assert len(closed) == 1


def test_the_troubles_are_told_apart(server: "ScriptedServer", connect: "Connect") -> None:
    """The message says what happened on the wire."""
    for step, trouble in (
        (server.close(), Trouble.CLOSED),
        (server.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), Trouble.TRUNCATED),
        (server.raw(b"SSH-2.0-x\r\n\r\n"), Trouble.GARBLED),
    ):
        server.play(step)
        assert trouble.value in ended(connect(server.url), GET).message


def test_a_base_path_stands_before_the_api(server: "ScriptedServer", connect: "Connect") -> None:
    """R25: a gateway may serve the API below a path of its own."""
    server.play(server.reply(200, {"object": "list", "data": [], "has_more": False}))
    url = str(BaseUrl.parse(f"{server.url}/gateway/"))
    connect(url).send(orders.list({"limit": 2}))
    assert server.requests[0].startswith(b"GET /gateway/v1/orders?limit=2 HTTP/1.1\r\n")


def test_a_server_that_closes_after_each_answer_costs_one_further_attempt_at_most(
    server: "ScriptedServer", connect: "Connect"
) -> None:
    """It does not say so; after the first time every request gets a connection of its own."""
    answer = server.reply(200, REFUND, keep=False)
    server.play(answer)
    client = connect(server.url)
    attempts = [client.send(POST).attempts for _ in range(12)]
    assert sum(attempts) <= 13
    assert attempts[2:] == [1] * 10
