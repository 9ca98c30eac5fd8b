"""The two paths of HTTP reading: the quick one never reads a request in another way than h11."""

from contextlib import suppress

import h11
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.listen.http.requests import HttpHead, HttpRequest, Refused, RequestReader, parse_quick_head

NAMES = st.sampled_from(
    ["Host", "host", "Content-Length", "Transfer-Encoding", "X-A", "Expect", "Connection", "a", "é"]
)
VALUES = st.sampled_from(
    [
        "localhost",
        "5",
        "0",
        "05",
        "5, 5",
        "+5",
        "chunked",
        "close",
        "",
        " x ",
        "a\tb",
        "\x00",
        "\x7f",
        "\xff",
        "a\rb",
    ]
)
ENDS = st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", "\r\n "])
COLONS = st.sampled_from([": ", ":", ":\t", " : "])
LINES = st.lists(st.tuples(NAMES, COLONS, VALUES, ENDS), max_size=6)
FIRST = st.sampled_from(
    [
        "POST /a HTTP/1.1",
        "POST /a HTTP/1.0",
        "post /a HTTP/1.1",
        "POST  /a HTTP/1.1",
        "POST a HTTP/1.1",
        "POST /a b HTTP/1.1",
        "POST /\xff HTTP/1.1",
    ]
)


def allow(_: HttpHead) -> None:
    """Lets every head pass."""


def head_by_h11(data: bytes) -> tuple[bytes, bytes, list[tuple[bytes, bytes]], bytes] | None:
    """Reads one request as h11 does: method, target, headers, body; None if it refuses."""
    wire = h11.Connection(h11.SERVER)
    wire.receive_data(data)
    wire.receive_data(b"")
    try:
        head = wire.next_event()
        body = b""
        while not isinstance(event := wire.next_event(), h11.EndOfMessage):
            body += bytes(event.data) if isinstance(event, h11.Data) else b""
    except h11.RemoteProtocolError:
        return None
    assert isinstance(head, h11.Request)
    return head.method, head.target, list(head.headers), body


@settings(max_examples=examples(3))
@given(first=FIRST, lines=LINES, body=st.binary(max_size=12))
@example(first="POST / HTTP/1.1", lines=[], body=b"")
@example(first="POST / HTTP/1.0", lines=[("Host", ":", "a", "\r\n")], body=b"{}")
@example(first="POST  / HTTP/1.1", lines=[("Host", ":", "a", "\r\n")], body=b"")
@example(
    first="POST / HTTP/1.1",
    lines=[("Host", ":", "a", "\r\n"), ("Content-Length", ":", "1", "\r\n")],
    body=b"xx",
)
@example(
    first="POST / HTTP/1.1",
    lines=[
        ("Host", ":", "a", "\r\n"),
        ("Content-Length", ":", "1", "\r\n"),
        ("Content-Length", ":", "2", "\r\n"),
    ],
    body=b"xx",
)
@example(
    first="POST / HTTP/1.1",
    lines=[
        ("Host", ":", "a", "\r\n"),
        ("Transfer-Encoding", ":", "chunked", "\r\n"),
        ("Content-Length", ":", "2", "\r\n"),
    ],
    body=b"xx",
)
def test_quick_lane_agrees_with_h11(
    first: str, lines: list[tuple[str, str, str, str]], body: bytes
) -> None:
    """R57: whatever the fast path takes, h11 reads with the same head and the same body."""
    text = first + "\r\n" + "".join("".join(line) for line in lines) + "\r\n"
    head = text.encode("latin-1")
    quick = parse_quick_head(head + body)
    if quick is None:
        return
    found, length, offset = quick
    data = head + body.ljust(length, b"x")
    by_h11 = head_by_h11(data[: offset + length])
    assert by_h11 is not None
    method, target, headers, whole = by_h11
    assert (found.method, found.target) == (method, target)
    assert [(name.lower(), value) for name, value in found.headers] == headers
    assert data[offset : offset + length] == whole


def test_quick_lane_takes_the_usual_delivery() -> None:
    """The requests that the service sends do not need the slow lane."""
    data = b"POST /hook/1 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 2\r\nX: y\r\n\r\n{}"
    quick = parse_quick_head(data)
    assert quick is not None
    assert quick[1:] == (2, len(data) - 2)


@settings(max_examples=examples(3))
@given(data=st.binary(max_size=300), cut=st.integers(0, 300))
@example(data=b"", cut=0)
@example(data=b"\r\n\r\n", cut=2)
@example(data=b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", cut=30)
@example(data=b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 200 + b"\r\n\r\n", cut=300)
@example(data=b"GET /" + b"a" * 290, cut=1)
def test_reader_survives_anything(data: bytes, cut: int) -> None:
    """R57: whatever bytes come, in whatever pieces, the reader waits, gives a request or refuses."""
    reader = RequestReader(allow, 1024, 1024)
    with suppress(Refused):
        for piece in filter(None, (data[:cut], data[cut:])):
            if isinstance(reader.feed(piece), HttpRequest):
                return


def test_what_comes_behind_a_request_waits_for_its_answer() -> None:
    """In however many pieces; its number of bytes is told, by which a sender is cut."""
    reader = RequestReader(allow, 1000, 1000)
    one = b"POST /%d HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
    first = reader.feed(one % 1)
    assert first is not None
    assert [reader.hold((one % 2)[:20]), reader.hold((one % 2)[20:])] == [20, len(one % 2)]
    assert reader.answer(200)[1]
    second = reader.next()
    assert second is not None
    assert (first.head.target, second.head.target) == (b"/1", b"/2")
    assert reader.next() is None
