"""What a target's bytes are read as: whole, in pieces, at their limits, and where they end early."""

import pytest

from svc.listen.http.answers import AnswerReader, TargetAnswer, UnreadableAnswer

MIB = 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"\r\n2\r\nok\r\n0\r\n\r\n"
END = b""  # the target has closed the connection


def read(*pieces: bytes) -> TargetAnswer | str | None:
    """Feeds pieces until there is an answer, or a reason why there is none."""
    reader = AnswerReader()
    assert not reader.started
    try:
        for piece in pieces:
            if (answer := reader.feed(piece)) is not None:
                return answer
            assert reader.started
    except UnreadableAnswer as error:
        return str(error)
    return reader.status_so_far()


@pytest.mark.parametrize(
    ("data", "status", "body", "reusable"),
    [
        (HEAD + LENGTH + b"\r\nok", 200, b"ok", True),
        (b"HTTP/1.1 599\r\n" + LENGTH + b"\r\nok", 599, b"ok", True),
        (HEAD + b"Content-Length: 0\r\n\r\n", 200, b"", True),
        (HEAD + LENGTH + b"Connection: Keep-Alive\r\n\r\nok", 200, b"ok", True),
        (HEAD + LENGTH + b"Connection: close\r\n\r\nok", 200, b"ok", False),
        (b"HTTP/1.0 200 OK\r\n" + LENGTH + b"\r\nok", 200, b"ok", False),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, b"ok", True),
        (HEAD + CHUNKED + CHUNKS, 200, b"ok", True),
        (HEAD + CHUNKED + LENGTH + CHUNKS, 200, b"ok", True),  # chunks count where both are said
        (b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", 304, b"", True),
        (b"HTTP/1.1 100 Go\r\n\r\n" + HEAD + LENGTH + b"\r\nok", 200, b"ok", True),
    ],
)
def test_answer_is_whole_in_however_many_pieces(
    data: bytes, status: int, body: bytes, reusable: bool
) -> None:
    """And the connection carries the next request unless it says otherwise."""
    expected = TargetAnswer(status, body, reusable)
    assert read(data) == expected
    assert read(*(data[at : at + 1] for at in range(len(data)))) == expected
    assert read(data[:-1]) != expected


@pytest.mark.parametrize("head", [HEAD + LENGTH + b"\r\nok", HEAD + CHUNKED + CHUNKS])
def test_connection_that_says_more_than_was_asked_carries_nothing_else(head: bytes) -> None:
    """What came behind an answer would be taken for the next one."""
    assert read(head + b"H") == TargetAnswer(200, b"ok", reusable=False)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([HEAD + b"\r\nok", END], TargetAnswer(200, b"ok", reusable=False)),  # it ends with the end
        ([HEAD + LENGTH + b"\r\no", END], TargetAnswer(200, b"o", reusable=False)),
        ([HEAD + CHUNKED + b"\r\n2\r\no"], TargetAnswer(200, b"o", reusable=False)),
        ([HEAD + LENGTH], None),
        ([HEAD, LENGTH + b"\r\n"], TargetAnswer(200, b"", reusable=False)),
        ([b"HTTP/1.1 100 Go\r\n\r\n"], None),
        ([HEAD, END], "the connection was closed before a whole answer"),
        ([b"HTTP/1.1 100 Go\r\n\r\n", END], "the connection was closed before a whole answer"),
        (
            [b"HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"],
            "the answer asks for another protocol (101)",
        ),
        ([b"SSH-2.0-OpenSSH\r\n\r\n"], "the answer is no HTTP: illegal status line"),
        ([HEAD + b"A: " + b"x" * (65_536 - 20)], None),
        ([HEAD + b"A: " + b"x" * (65_536 - 19)], "the answer's head is over 64 KiB"),
        ([HEAD + b"Content-Length: %d\r\n\r\n" % (MIB + 1)], "the answer is over 1 MiB"),
        (
            [HEAD + CHUNKED + b"\r\n%x\r\n" % (MIB + 1) + b"x" * (MIB + 1)],
            "the answer is over 1 MiB",
        ),
    ],
)
def test_where_an_answer_ends_early(
    pieces: list[bytes], expected: TargetAnswer | str | None
) -> None:
    """A status counts once its head is whole; else it is said why there is none."""
    assert read(*pieces) == expected


@pytest.mark.parametrize("size", [4095, 4096, 4097, MIB])
def test_beginning_of_a_body_is_kept(size: int) -> None:
    """4 KiB of it, however it is framed; the rest is read and let go."""
    expected = TargetAnswer(200, b"x" * min(size, 4096), reusable=True)
    assert read(HEAD + b"Content-Length: %d\r\n\r\n" % size + b"x" * size) == expected
    chunk = b"%x\r\n%s\r\n"
    parts = [HEAD + CHUNKED + b"\r\n", chunk % (7, b"x" * 7), chunk % (size - 7, b"x" * (size - 7))]
    assert read(*parts, b"0\r\n\r\n") == expected
