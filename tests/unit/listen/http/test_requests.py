"""The two paths of HTTP reading: the quick one never reads a request in another way than h11."""

from contextlib import suppress

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.listen.http.requests import (
    HttpHead,
    HttpRequest,
    Refused,
    RequestReader,
    build_closing_answer,
    parse_quick_head,
)

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


LINE = b"POST / HTTP/1.1\r\n"
HOST = b"Host: a\r\n"
SLOW = b"TE: x\r\n"  # a field that only h11 reads
LIMIT = 200


def padded(size: int, *lines: bytes) -> bytes:
    """A head of so many bytes."""
    start = b"".join((LINE, HOST, *lines))
    return start + b"A: " + b"x" * (size - len(start) - 7) + b"\r\n\r\n"


def sized(lines: bytes, size: int) -> bytes:
    return LINE + HOST + lines + b"Content-Length: %d\r\n\r\n" % size


def chunked(size: int, *lines: bytes) -> bytes:
    head = b"".join((LINE, HOST, *lines, b"Transfer-Encoding: chunked\r\n\r\n"))
    return head + b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (LINE + HOST + b"\r\n", b""),
        (sized(b"", 2) + b"xx", b"xx"),
        (sized(SLOW, 2) + b"xx", b"xx"),
        (chunked(2), b"xx"),
        (padded(LIMIT), b""),
        (padded(LIMIT + 1), 431),
        (padded(LIMIT, SLOW), b""),
        (padded(LIMIT + 1, SLOW), 431),
        (padded(LIMIT + 4)[:-4], None),
        (padded(LIMIT + 5)[:-4], 431),
        (sized(b"", 10) + b"x" * 10, b"x" * 10),
        (sized(b"", 11), 413),
        (sized(SLOW, 10) + b"x" * 10, b"x" * 10),
        (sized(SLOW, 11), 413),
        (chunked(10), b"x" * 10),
        (chunked(11), 413),
        (chunked(0, b"Content-Length: 0\r\n"), 400),  # smuggling
        (sized(b"Content-Length: 0\r\n", 0), 400),
        (sized(b"content-length: 0\r\n", 0), 400),
        (LINE + b"\r\n", 400),
        (LINE + HOST + HOST + b"\r\n", 400),
        (b"GET nowhere\r\n\r\n", 400),
        (sized(b"Refused: 1\r\n", 2), 403),
        (sized(SLOW + b"Refused: 1\r\n", 2), 403),
        (sized(b"", 2) + b"x", None),
        (sized(SLOW, 2) + b"x", None),
    ],
)
def test_request_is_read_within_its_limits(data: bytes, expected: bytes | int | None) -> None:
    """R57: 200 bytes of head and 10 of body here, by either path; what is not whole yet waits."""

    def check(head: HttpHead) -> None:
        if head.values(b"refused"):
            raise Refused(403)

    for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
        reader = RequestReader(check, LIMIT, 10)
        before, found = reader.started, outcome(reader, pieces)
        # What passed the check is told with its refusal.
        assert found == ((expected, expected == 413) if isinstance(expected, int) else expected)
        assert (before, reader.started or found is not None) == (False, True)
        if found is None:
            assert reader.in_body == (b"\r\n\r\n" in data)


def outcome(reader: RequestReader, pieces: list[bytes]) -> bytes | tuple[int, bool] | None:
    """The body of the request, or its refusal and whether that names a head."""
    try:
        for piece in pieces:
            if (request := reader.feed(piece)) is not None:
                return request.body
    except Refused as refusal:
        return refusal.status, refusal.head is not None
    return None


@pytest.mark.parametrize(
    "lines", [b"", SLOW, b"Expect: 100-continue\r\n", b"Connection: close\r\n"]
)
def test_answer_is_an_empty_one(lines: bytes) -> None:
    """After it the connection carries on, unless the sender said otherwise; 100 goes before it."""
    reader = RequestReader(allow, LIMIT, 10)
    assert reader.feed(sized(lines, 2)) is None
    asks = b"HTTP/1.1 100 \r\n\r\n" if b"100" in lines else b""
    assert (reader.to_send(), reader.to_send()) == (asks, b"")
    assert reader.feed(b"xx") is not None
    said = b"Connection: close\r\n" if b"close" in lines else b""
    whole = b"HTTP/1.1 503 Service Unavailable\r\n%sContent-Length: 0\r\n\r\n"
    sent, carries_on = reader.answer(503)
    assert sorted(sent.split(b"\r\n")) == sorted((whole % said).split(b"\r\n"))
    assert carries_on is (b"close" not in lines)
    assert build_closing_answer(503) == whole % b"Connection: close\r\n"


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
