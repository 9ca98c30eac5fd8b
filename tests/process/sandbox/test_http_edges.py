"""The edges of HTTP at a real sandbox: what is no request is answered like what is one."""

import json
import socket

import pytest

from support.running import Sandbox

KEY = b"Authorization: Bearer sk_test_sandbox\r\n"
HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
GET, POST = b"GET /v1/orders HTTP/1.1\r\n", b"POST /v1/orders HTTP/1.1\r\n"
MEGA = 1024**2

NO_REQUESTS = {
    "no Host": GET + KEY + b"\r\n",
    "two Hosts": GET + HOST + HOST + KEY + b"\r\n",
    "two lengths": POST + HOST + KEY + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a negative length": POST + HOST + KEY + b"Content-Length: -2\r\n\r\n{}",
    "a bad chunk": POST + HOST + KEY + JSON + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    "a length and chunks": POST
    + HOST
    + KEY
    + JSON
    + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "no words": b"\0\1\2\r\n\r\n",
}


def answer(sandbox: Sandbox, said: bytes) -> tuple[int, dict[str, str], bytes]:
    """What the sandbox says to some bytes before it closes the connection."""
    with socket.create_connection(("127.0.0.1", sandbox.port), timeout=60) as connection:
        connection.sendall(said)
        with connection.makefile("rb") as heard:
            status = int(heard.readline().split()[1])
            lines = iter(heard.readline, b"\r\n")
            headers = dict(line.decode().strip().lower().split(": ", 1) for line in lines)
            return status, headers, heard.read(int(headers["content-length"]))


@pytest.mark.parametrize("said", [*NO_REQUESTS.values()], ids=[*NO_REQUESTS])
def test_what_is_no_request_is_answered_like_one(sandbox: Sandbox, said: bytes) -> None:
    """400 `http_invalid` with the id and the version that every answer carries."""
    status, headers, body = answer(sandbox, said)
    shown = json.loads(body)
    assert (status, shown["code"]) == (400, "http_invalid")
    assert headers["request-id"] == shown["request_id"].lower()
    assert headers["svc-version"] == "2026-09-01"
    assert headers["connection"] == "close"


def test_a_large_body_that_is_announced_is_not_asked_for(sandbox: Sandbox) -> None:
    """The first line is the refusal and no `100 Continue`."""
    length = b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % (5 * MEGA)
    status, headers, _ = answer(sandbox, POST + HOST + KEY + length)
    assert (status, headers["connection"]) == (413, "close")


def test_who_sends_a_large_body_all_the_same_can_read_the_answer(sandbox: Sandbox) -> None:
    """Five MiB in one go: the answer comes and not a reset."""
    length = b"Content-Length: %d\r\n\r\n" % (5 * MEGA)
    status, _, body = answer(sandbox, POST + HOST + KEY + length + b"x" * (5 * MEGA))
    assert (status, json.loads(body)["code"]) == (413, "request_too_large")


def test_http_1_0_needs_no_host(sandbox: Sandbox) -> None:
    """It knows none; no browser speaks it."""
    status, _, body = answer(sandbox, b"GET /v1/orders HTTP/1.0\r\n" + KEY + b"\r\n")
    assert (status, json.loads(body)["object"]) == (200, "list")


def test_other_names_are_still_refused(sandbox: Sandbox) -> None:
    """With the headers of every answer."""
    for version in (b"1.0", b"1.1"):
        head = b"GET /v1/orders HTTP/" + version + b"\r\nHost: evil.example\r\n"
        status, headers, body = answer(sandbox, head + KEY + b"\r\n")
        assert (status, json.loads(body)["code"]) == (403, "host_not_allowed")
        assert headers["svc-version"] == "2026-09-01"
