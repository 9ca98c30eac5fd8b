"""What a connection of the sandbox sends, and when."""

import asyncio

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


def test_what_one_turn_writes_is_one_piece() -> None:
    """An answer's head and body wake the caller once; the next turn's are another piece."""

    async def story() -> list[bytes | str]:
        inner = Noted()
        joined = JoinedWrites(inner, asyncio.get_running_loop())
        for piece in (b"head", b"body"):
            joined.write(piece)
        assert inner.done == []
        await asyncio.sleep(0)
        joined.write(b"more")
        await asyncio.sleep(0)
        return inner.done

    assert asyncio.run(story()) == [b"headbody", b"more"]


def test_what_was_written_goes_before_the_end() -> None:
    """Half an answer that a fault rule cuts off is half an answer, and nothing follows it."""

    async def story(end: str) -> list[bytes | str]:
        inner = Noted()
        joined = JoinedWrites(inner, asyncio.get_running_loop())
        joined.write(b"half")
        getattr(joined, end)()
        joined.write(b"nothing")
        await asyncio.sleep(0)
        return inner.done

    assert asyncio.run(story("close")) == [b"half", "closed"]
    assert asyncio.run(story("abort")) == [b"half", "aborted"]


def test_the_end_of_an_answer_waits_for_no_turn() -> None:
    """The server says it with an empty write."""

    async def story() -> list[bytes | str]:
        inner = Noted()
        joined = JoinedWrites(inner, asyncio.get_running_loop())
        for piece in (b"head", b"body", b""):
            joined.write(piece)
        return inner.done

    assert asyncio.run(story()) == [b"headbody"]
