"""Lines are written together while they come together, in order, and never late."""

import asyncio
import io

import pytest

from svc.cli.events.screen import PassWriter


class Counting(io.StringIO):
    """A stream that counts how often it was written to."""

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log

    def write(self, text: str) -> int:
        self.log.append(text)
        return super().write(text)


def test_lines_of_one_pass_are_one_write_in_order() -> None:
    """Two streams keep the order between them; a later pass writes anew."""
    log: list[str] = []
    out, err = Counting(log), Counting(log)

    async def print_some() -> None:
        writer = PassWriter()
        for number in range(3):
            writer.write(out, f"{number}\n")
        assert log == []
        writer.write(err, "!\n")
        writer.write(out, "3\n")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        writer.write(out, "4\n")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(print_some())
    assert log == ["0\n1\n2\n", "!\n", "3\n", "4\n"]
    assert (out.getvalue(), err.getvalue()) == ("0\n1\n2\n3\n4\n", "!\n")


def test_line_outside_of_a_loop_is_written_at_once() -> None:
    """What ends a document is written when no loop runs any more."""
    log: list[str] = []
    PassWriter().write(Counting(log), "]\n")
    assert log == ["]\n"]


def test_trouble_of_the_stream_is_raised_where_it_is_written() -> None:
    """A reader that went away is not swallowed: the loop hears of it."""

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text)

    writer = PassWriter()
    with pytest.raises(BrokenPipeError):
        writer.write(Closed(), "x\n")
    writer.flush()  # nothing is tried twice
