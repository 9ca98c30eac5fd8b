"""What a connection of the sandbox sends, and when."""

import asyncio

import pytest

from svc.sandbox.process.serve import JoinedWrites


class Noted(asyncio.Transport):
    """A transport that notes what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.done.append(bytes(data))

    def close(self) -> None:
        self.done.append("closed")

    def abort(self) -> None:
        self.done.append("aborted")

    def is_closing(self) -> bool:
        return bool(self.done) and isinstance(self.done[-1], str)


def test_the_head_of_an_answer_leaves_with_what_follows() -> None:
    """Both wake the caller once; what comes later leaves as it is written."""
    inner = Noted()
    joined = JoinedWrites(inner)
    joined.write(b"HTTP/1.1 200 OK\r\n\r\n")
    assert inner.done == []
    joined.write(b"body")
    joined.write(b"more")
    joined.write(b"")
    assert inner.done == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]


def test_a_head_without_a_body_leaves_at_its_end() -> None:
    """The server says it with an empty write."""
    inner = Noted()
    joined = JoinedWrites(inner)
    joined.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    joined.write(b"")
    assert inner.done == [b"HTTP/1.1 204 No Content\r\n\r\n"]


def test_who_may_go_on_is_told_at_once() -> None:
    """He sends nothing before he knows it."""
    inner = Noted()
    JoinedWrites(inner).write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert inner.done == [b"HTTP/1.1 100 Continue\r\n\r\n"]


@pytest.mark.parametrize(("end", "noted"), [("close", "closed"), ("abort", "aborted")])
def test_what_was_written_goes_before_the_end(end: str, noted: str) -> None:
    """A head that a fault rule cuts off is there, and nothing follows it."""
    inner = Noted()
    joined = JoinedWrites(inner)
    joined.write(b"HTTP/1.1 200 OK\r\n\r\n")
    getattr(joined, end)()
    joined.write(b"nothing")
    assert inner.done == [b"HTTP/1.1 200 OK\r\n\r\n", noted]
