"""What a connection of the sandbox sends, and when."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from svc.sandbox.process.protocol import JoinedWrites


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


class OwnTime(asyncio.SelectorEventLoop):
    """A loop whose calls for later are made by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[asyncio.TimerHandle] = []

    def call_later(  # type: ignore[override]  # its callbacks take what they are given
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        self.later.append(asyncio.TimerHandle(delay, callback, args, self, context))
        return self.later[-1]

    def let_pass(self) -> None:
        for handle in self.later:
            if not handle.cancelled():
                handle._run()
        self.later.clear()


def test_what_has_no_end_leaves_after_a_moment() -> None:
    """What is written within it is one piece, what comes later another."""
    inner, loop = Noted(), OwnTime()
    with closing(loop):
        joined = JoinedWrites(inner, loop)
        for piece in (b"head", b"body"):
            joined.write(piece)
        assert inner.done == []
        loop.let_pass()
        joined.write(b"more")
        loop.let_pass()
    assert inner.done == [b"headbody", b"more"]


@pytest.mark.parametrize(("end", "noted"), [("close", "closed"), ("abort", "aborted")])
def test_what_was_written_goes_before_the_end(end: str, noted: str) -> None:
    """Half an answer that a fault rule cuts off is half an answer, and nothing follows it."""
    inner, loop = Noted(), OwnTime()
    with closing(loop):
        joined = JoinedWrites(inner, loop)
        joined.write(b"half")
        getattr(joined, end)()
        joined.write(b"nothing")
        loop.let_pass()
    assert inner.done == [b"half", noted]


def test_the_end_of_an_answer_waits_for_no_moment() -> None:
    """The server says it with an empty write; nothing is left to do later."""
    inner, loop = Noted(), OwnTime()
    with closing(loop):
        joined = JoinedWrites(inner, loop)
        for piece in (b"head", b"body", b""):
            joined.write(piece)
        assert inner.done == [b"headbody"]
        assert all(handle.cancelled() for handle in loop.later)
