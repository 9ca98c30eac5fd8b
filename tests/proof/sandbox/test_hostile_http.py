"""Whatever comes over a real socket: a 4xx in time, never a 500, never a hang, and life goes on.

What a body or a parameter may be is the subject of `parameters/test_violations.py` and
`parameters/test_bodies.py`; here it is what costs time and room, and what is no request.
"""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from support.launching import launched
from support.suite.patience import patient

MIB = 1024 * 1024
SECONDS = 5.0  # for an answer
KEY = b"Authorization: Bearer sk_test_sandbox\r\n"
FORM = b"application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A sandbox process for all of it: what one request breaks, the next one shows."""
    with launched(tmp_path_factory.mktemp("state")) as record:
        yield record.port


def spoken(port: int, sent: bytes) -> tuple[int, bytes, bytes]:
    """Sends bytes on a connection of their own; the first answer's status, head and body.

    Status 0 is a reset: whoever still sends when the answer comes may lose it on the way.
    """
    begun, most = time.monotonic(), patient(SECONDS)
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=most) as connection:
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(sent)
        with suppress(ConnectionResetError):
            while not complete(received) and (part := connection.recv(65536)):
                received += part
    assert time.monotonic() - begun < most
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]) if received else 0, head, body


def complete(received: bytes) -> bool:
    head, found, body = received.partition(b"\r\n\r\n")
    lengths = [n for n in head.lower().split(b"\r\n") if n.startswith(b"content-length:")]
    return bool(found and lengths) and len(body) >= int(lengths[0].split(b":")[1])


def request(
    body: bytes,
    kind: bytes = b"application/json",
    path: bytes = b"/v1/orders",
    more: bytes = b"",
    length: int = 0,
) -> bytes:
    head = b"POST " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + KEY + more
    size = b"Content-Length: %d\r\n" % (length or len(body))
    return head + b"Content-Type: " + kind + b"\r\n" + size + b"\r\n" + body


def chunked(parts: list[bytes]) -> bytes:
    head = b"POST /v1/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n" + KEY
    head += b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def nested(opening: bytes, closing: bytes, depth: int) -> bytes:
    return b'{"a":' + opening * depth + closing * depth + b"}"


def get(target: bytes, key: bytes = KEY) -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + key + b"\r\n"


DEEP = (100_000, 500_000)
MANY_ONCE = b",".join(b'"a%d":1' % n for n in range(50_000))
UNKNOWN, NO_NUMBER = (400, "parameter_unknown"), (400, "parameter_invalid_integer")
MISSING, NO_BODY = (400, "parameter_missing"), (400, "body_invalid")
LARGE, NOTHING = (413, "request_too_large"), (404, "resource_missing")
STRANGER = b"Authorization: Bearer " + b"x" * 32_000 + b"\r\n"
READABLE = {
    "a byte over 1 MiB": (request(b" " * (MIB + 1)), LARGE),
    "10 MiB": (request(b" " * 10 * MIB), LARGE),
    "2 MiB in chunks": (chunked([b" " * 65536] * 32), LARGE),
    "5 MiB that are announced": (
        request(b"", more=b"Expect: 100-continue\r\n", length=5 * MIB),
        LARGE,
    ),
    "1 MiB of brackets": (request(b"[" * MIB), NO_BODY),
    "1 MiB of digits": (request(b'{"amount":' + b"9" * (MIB - 11) + b"}"), NO_BODY),
    "1 MiB of ampersands": (request(b"&" * MIB, FORM), MISSING),
    "1 MiB of one name": (request(b"a" * MIB, FORM), UNKNOWN),
    "100,000 names": (request(b"&".join(b"a%d=1" % n for n in range(100_000)), FORM), UNKNOWN),
    "100,000 items": (request(b"items[]=&" * 100_000, FORM), MISSING),
    "50,000 members": (request(b"{" + MANY_ONCE + b"}"), UNKNOWN),
    **{f"{n:,} lists deep": (request(nested(b"[", b"]", n)), NO_BODY) for n in DEEP},
    "100,000 objects deep": (request(b'{"a":' * 100_001), NO_BODY),
    "an exponent beyond all floats": (request(b'{"amount":1e999999,"currency":"EUR"}'), NO_NUMBER),
    "a duplicate key behind 50,000 others": (request(b"{" + MANY_ONCE + b',"a49999":1}'), NO_BODY),
    "a key of 32 KiB": (get(b"/v1/orders", STRANGER), (401, "api_key_invalid")),
    "a path of 32 KiB": (get(b"/v1/orders/" + b"a" * 32_000), NOTHING),
    "a query of 32 KiB": (get(b"/v1/orders?" + b"a" * 32_000), UNKNOWN),
    "another name": (
        get(b"/v1/orders").replace(b"127.0.0.1", b"evil.example"),
        (403, "host_not_allowed"),
    ),
}


@pytest.mark.parametrize("name", READABLE)
def test_hostile_request_is_refused_in_the_error_shape(port: int, name: str) -> None:
    """HTTP that can be read gets its 4xx with type, code and message, and in time."""
    sent, refusal = READABLE[name]
    answered, _, body = spoken(port, sent)
    shown = json.loads(body)
    assert (answered, shown["code"]) == refusal
    assert shown["message"]
    assert shown["request_id"].startswith("req_")
    assert_alive(port)


GET, POST = b"GET /v1/orders HTTP/1.1\r\n", b"POST /v1/orders HTTP/1.1\r\n"
HOST, JSON = b"Host: 127.0.0.1\r\n", b"Content-Type: application/json\r\n"
CHUNKED = POST + HOST + KEY + JSON + b"Transfer-Encoding: chunked\r\n"
NO_REQUESTS = {
    "no Host": GET + KEY + b"\r\n",
    "two Hosts": GET + HOST + HOST + KEY + b"\r\n",
    "two lengths": POST + HOST + KEY + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a negative length": POST + HOST + KEY + b"Content-Length: -2\r\n\r\n{}",
    "a bad chunk": CHUNKED + b"\r\nzz\r\n{}\r\n",
    "a length and chunks": CHUNKED + b"Content-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "no words": b"\0\1\2\r\n\r\n",
    "no version": b"GET /v1/orders\r\n\r\n",
    "a NUL in a header": GET + HOST + b"A: \x00\r\n\r\n",
    "a header of 1 MiB": GET + HOST + b"A: " + b"a" * MIB,
    "100,000 header lines": GET + HOST + b"A: a\r\n" * 100_000,
    "a request line of 1 MiB": b"GET /" + b"a" * MIB,
}


@pytest.mark.parametrize("name", NO_REQUESTS)
def test_what_is_no_request_is_answered_like_one(port: int, name: str) -> None:
    """400 `http_invalid` with the id and the version that every answer carries, and the end.

    Of what is large the answer may be lost on its way.
    """
    status, head, body = spoken(port, NO_REQUESTS[name])
    if status or len(NO_REQUESTS[name]) < MIB // 2:
        shown = json.loads(body)
        assert (status, shown["code"]) == (400, "http_invalid")
        lines = head.decode().lower().split("\r\n")
        own = f"request-id: {shown['request_id'].lower()}"
        assert {own, "svc-version: 2026-09-01", "connection: close"} <= set(lines)
    assert_alive(port)


def test_http_1_0_needs_no_host(port: int) -> None:
    """It knows none; no browser speaks it. Another name is refused there too."""
    old = b"GET /v1/orders HTTP/1.0\r\n" + KEY
    assert spoken(port, old + b"\r\n")[0] == 200
    assert spoken(port, old + b"Host: evil.example\r\n\r\n")[0] == 403


CONTROLS = (b"/_sandbox/settings", b"/_sandbox/clock/advance", b"/_sandbox/import")
PAYING = b"/_sandbox/checkout/pay"


@pytest.mark.parametrize("path", [*CONTROLS[:2], PAYING])
def test_control_takes_at_most_a_mebibyte(port: int, path: bytes) -> None:
    """413 as in the API; only a state to import may be larger."""
    status, _, said = spoken(port, as_control(b" " * (MIB + 1), path))
    assert (status, json.loads(said)["code"]) == (413, "request_too_large")


def test_state_to_import_may_be_large(port: int) -> None:
    """What `export` gives is more than a mebibyte soon."""
    status, _, said = spoken(
        port, as_control(b" " * (4 * MIB) + b'{"object":"nothing"}', CONTROLS[2])
    )
    assert (status, json.loads(said)["code"]) == (400, "state_invalid")


def as_control(body: bytes, path: bytes) -> bytes:
    """A control call; with a publishable key, which only the checkout looks at."""
    asked = request(body, path=path, more=b"Svc-Sandbox: 1\r\n")
    return asked.replace(b"sk_test_sandbox", b"pk_test_sandbox", 1)


def assert_alive(port: int) -> None:
    """A well-behaved caller is served, and nothing has been made meanwhile."""
    status, _, body = spoken(port, get(b"/v1/orders"))
    assert (status, json.loads(body)["data"]) == (200, [])
