"""The two paths of an answer: the quick one never reads it, nor says a request, otherwise than h11."""

from itertools import pairwise
from unittest.mock import patch

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.client.exchange import Headers, WireRequest
from svc.client.wire import http
from svc.client.wire.http import HttpExchange, NotHttp

GET = WireRequest("GET", "/v1/orders/ord_1", (("Host", "api.example"), ("Accept", "*/*")))
POST = WireRequest("POST", "/v1/orders", (("Host", "x"), ("Content-Length", "2")), b"{}")
USUAL = (
    b"HTTP/1.1 200 OK\r\ndate: Mon, 02 Nov 2026 10:00:00 GMT\r\nserver: x\r\ncontent-length: 2\r\n"
    b"content-type: application/json\r\nrequest-id: req_1\r\n\r\n{}"
)

_LINES = st.sampled_from(
    (
        *(b"HTTP/1.1 200 OK", b"HTTP/1.1 404", b"HTTP/1.1 404 ", b"HTTP/1.0 200 OK"),
        *(b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 x", b"HTTP/1.1 100 Continue", b"HTTP/1.1 600"),
        *(b"HTTP/1.1  200 OK", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000", b"http/1.1 200 OK", b""),
        *(b"HTTP/1.1 200 \xe9", b"HTTP/1.1 200 a\x00b", b"HTTP/1.1 200 a\nb: c", b"HTTP/1.1 199 x"),
        *(b"HTTP/1.1 +20 x", b"HTTP/1.1\t200 OK", b" HTTP/1.1 200 OK", b"HTTP/1.1 101 x"),
    )
)
_FIELDS = st.sampled_from(
    (
        *(b"Content-Length: 2", b"content-length:2", b"Content-Length: 02", b"Content-Length: +2"),
        *(
            b"Content-Length: 2, 2",
            b"Content-Length: 3",
            b"Content-Length: ",
            b"Content-Length:\t2 ",
        ),
        *(
            b"Content-Length: 1_0",
            b"Content-Length : 2",
            b"Content-Length: \xb2",
            b"Content-Length",
        ),
        *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity", b"Connection: close"),
        *(b"Connection: keep-alive", b"Connection: Close, x", b"connection:", b"Upgrade: h2c"),
        *(
            b"X: a",
            b"X: a\tb",
            b"X: \xe9",
            b"X: a\x01b",
            b"X: a\rb",
            b"X: a\nY: b",
            b" folded",
            b": x",
        ),
        *(b"X y: a", b"\xe9: a", b"X:", b"X: a\x00", b"X: \x7f", b"\tContent-Length: 2", b"A: b\r"),
    )
)
_BODIES = st.sampled_from((b"{}", b"", b"{", b"{}x", b"2\r\n{}\r\n0\r\n\r\n", USUAL, b"\r\n"))
_ANSWERS = st.builds(  # most are nearly good: what differs is one thing
    lambda line, sound, fields, body: b"\r\n".join((line, *sound, *fields, b"", body)),
    st.just(b"HTTP/1.1 200 OK") | _LINES,
    st.sampled_from(([b"Content-Length: 2"], [b"Content-Length: 2"], [])),
    st.lists(_FIELDS, max_size=2),
    _BODIES,
)

Outcome = tuple[int, Headers, bytes, bool] | str


def outcome(request: WireRequest, parts: list[bytes], *, ends: bool = True) -> Outcome:
    """What one exchange makes of an answer that comes in these parts, and then ends or stays."""
    exchange = HttpExchange(request)
    exchange.encode()
    coming = iter((*parts, b"") if ends else parts)
    try:
        while (head := exchange.head()) is None:
            exchange.feed(next(coming))
        body = b""
        while True:
            while (piece := exchange.piece()) is None:
                exchange.feed(next(coming))
            if not piece:
                return (*head, body, exchange.is_clean())
            body += piece
    except NotHttp:
        return "no answer"
    except StopIteration:
        return "waits"


@settings(max_examples=examples(4))
@given(answer=_ANSWERS, cuts=st.lists(st.integers(0, 120), max_size=3), ends=st.booleans())
@example(answer=USUAL, cuts=[], ends=True)
@example(answer=USUAL, cuts=[17, 90], ends=True)
@example(answer=USUAL.replace(b"\r\n", b"\n"), cuts=[], ends=False)
@example(answer=USUAL.replace(b"\r\n\r\n", b"\r\n\n"), cuts=[20], ends=False)
@example(answer=b"\x15\x03\x01\x00\x02\x02\x46", cuts=[], ends=False)
def test_the_quick_lane_reads_what_h11_reads(answer: bytes, cuts: list[int], ends: bool) -> None:
    """R14, R93: status, headers, body, and whether another answer may follow on the same line.

    Of a server that keeps the line open no lane waits for bytes that the other does not need.
    """
    edges = [0, *sorted(cuts), len(answer)]
    parts = [part for a, b in pairwise(edges) if (part := answer[a:b])]
    quick = outcome(GET, parts, ends=ends)
    with patch.object(http, "_encode_request", lambda _: None):  # h11 from the first byte
        assert quick == outcome(GET, parts, ends=ends)


_TEXTS = st.text(st.sampled_from("aA0 -:\r\n\t\x00é"), max_size=4)


@settings(max_examples=examples(4))
@given(
    method=st.sampled_from(("GET", "POST", "DELETE", "CONNECT", "get", "G T")),
    target=st.sampled_from(("/v1/orders", "/v1 /", "/\r\n", "/é", "", "/a?b=%20")),
    headers=st.lists(st.tuples(st.sampled_from(("X", "host", "Content-Length")) | _TEXTS, _TEXTS)),
    body=st.sampled_from((b"", b"{}")),
    length=st.sampled_from(("2", "0", "02", None)),
)
@example(method="POST", target="/v1/orders", headers=[], body=b"{}", length="2")
def test_the_quick_lane_says_what_h11_says(
    method: str, target: str, headers: list[tuple[str, str]], body: bytes, length: str | None
) -> None:
    """R1, R25: the same bytes, and none of what h11 would refuse to send."""
    framing = [] if length is None else [("Content-Length", length)]
    request = WireRequest(method, target, (("Host", "x"), *framing, *headers), body)
    quick = http._encode_request(request)
    if quick is not None:
        assert quick == http._start_parser(request)[1]


@pytest.mark.parametrize("request_", [GET, POST], ids=["GET", "POST"])
def test_the_usual_needs_no_slow_lane(request_: WireRequest) -> None:
    """What the service answers is read, and what is sent is said, without h11."""
    refuse = AssertionError("h11 was asked")
    with patch.object(h11, "Connection", side_effect=refuse):
        found = outcome(request_, [USUAL])
    assert found[0] == 200
    assert found[2:] == (b"{}", True)
