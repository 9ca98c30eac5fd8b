"""Lines are written together while they come together, in order, and never late."""

import asyncio
import io

import pytest

from svc.cli.events.screen import Gathering


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
        gathering = Gathering()
        first, second = gathering.of(out), gathering.of(err)
        for number in range(3):
            first.write(f"{number}\n")
        second.write("!\n")
        first.write("3\n")
        assert log == []
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.write("4\n")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(print_some())
    assert log == ["0\n1\n2\n", "!\n", "3\n", "4\n"]
    assert (out.getvalue(), err.getvalue()) == ("0\n1\n2\n3\n4\n", "!\n")


def test_line_outside_of_a_loop_is_written_at_once() -> None:
    """What ends a document is written when no loop runs any more."""
    log: list[str] = []
    Gathering().of(Counting(log)).write("]\n")
    assert log == ["]\n"]


def test_trouble_of_the_stream_is_raised_where_it_is_written() -> None:
    """A reader that went away is not swallowed: the loop hears of it."""

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text)

    gathering = Gathering()
    with pytest.raises(BrokenPipeError):
        gathering.of(Closed()).write("x\n")
    gathering.write_out()  # nothing is tried twice
