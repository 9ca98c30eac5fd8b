"""Printing never stops receiving: lines of a pass together, in order, and what nobody reads."""

import asyncio
import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.suite.patience import WAIT_SECONDS, patient
from svc.cli.events.screen import streams as printing
from svc.cli.events.screen.streams import Printing, UnwrittenOutput
from svc.cli.framework.streams import Streams
from svc.errors import LocalError

LINE = "x" * 999 + "\n"


class CountedWrites(io.StringIO):
    """A stream that counts how often it was written to."""

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log

    def write(self, text: str) -> int:
        self.log.append(text)
        return super().write(text)


def printing_to(
    folder: Path, out: Any, err: Any, *, lossless: bool = True
) -> tuple[Printing, list[Exception]]:
    return Printing(Streams(io.StringIO(), out, err), folder, lossless), []


async def test_lines_of_one_pass_are_one_write_in_order(tmp_path: Path) -> None:
    """Two streams keep the order between them; a later pass writes anew."""
    log: list[str] = []
    printed, failures = printing_to(tmp_path, CountedWrites(log), CountedWrites(log))
    out, err = printed.streams.stdout, printed.streams.stderr
    gathered: list[str] = []
    printed.soon(lambda: gathered.append("at once"))
    printed.start(failures.append)
    printed.soon(lambda: gathered.append("later"))
    assert gathered == ["at once"]
    for number in range(3):
        assert out.write(f"{number}\n") == 2
    assert log == []
    err.write("!\n")
    out.write("3\n")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    out.write("4\n")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log == ["0\n1\n2\n", "!\n", "3\n", "4\n"]
    assert gathered == ["at once", "later"]


def test_line_outside_of_a_loop_is_written_at_once(tmp_path: Path) -> None:
    """What is said before the loop runs, or after it, needs none."""
    log: list[str] = []
    printed, _ = printing_to(tmp_path, CountedWrites(log), CountedWrites(log))
    printed.streams.stdout.write("]\n")
    assert log == ["]\n"]
    assert printed.end() is printed.real


async def test_trouble_of_the_stream_ends_the_listener_once(tmp_path: Path) -> None:
    """A reader that went away is told to whoever runs the loop, and nothing is tried twice."""

    class ReaderLeft(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text)

    printed, failures = printing_to(tmp_path, ReaderLeft(), io.StringIO())
    printed.start(failures.append)
    for _ in range(2):
        printed.streams.stdout.write("x\n")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert [type(error) for error in failures] == [BrokenPipeError]


@pytest.fixture
def pipe() -> Iterator[tuple[int, io.TextIOWrapper]]:
    """A pipe that nobody reads yet."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        yield reading, stream
    os.close(reading)


def read_now(reading: int, count: int) -> str:
    """Reads so many lines, however long that takes."""
    data = b""
    end = time.monotonic() + WAIT_SECONDS
    while data.count(b"\n") < count and time.monotonic() < end:
        data += os.read(reading, 1 << 16)
    return data.decode()


@pytest.mark.parametrize("way", ["anew", "thread"])
def test_data_is_written_in_order_however_late_it_is_read(
    way: str, pipe: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R122: 2 MB that no one reads stop nothing; then all of it is there, also where a thread writes.

    That it does on macOS and Windows, and for a terminal of somebody else.
    """
    if way == "thread":
        monkeypatch.setattr(printing, "open_outlet", lambda _: None)
    reading, stream = pipe
    printed, failures = printing_to(tmp_path, stream, io.StringIO())
    lines = [f"{number:0999}\n" for number in range(2000)]

    async def story() -> str:
        printed.start(failures.append)
        started = time.monotonic()
        for line in lines:
            printed.streams.stdout.write(line)
            await asyncio.sleep(0)
            assert time.monotonic() - started < patient(10)
        read = asyncio.create_task(asyncio.to_thread(read_now, reading, len(lines)))
        assert await printed.finish(lambda: False) == 0
        return await read

    text = asyncio.run(story())
    assert text == "".join(lines)
    assert (failures, printed.end()) == ([], printed.real)
    assert [*tmp_path.iterdir()] == []  # the file had no name


def test_what_is_not_read_is_given_up_when_a_signal_came(
    pipe: tuple[int, io.TextIOWrapper], tmp_path: Path
) -> None:
    """R122, R78: and what is said afterwards waits for no reader either."""
    _, stream = pipe
    errors = io.StringIO()
    printed, failures = printing_to(tmp_path, stream, errors)
    asked: list[str] = []

    def is_hurried() -> bool:
        asked.append("still\n")
        printed.streams.stderr.write(asked[-1])
        return True

    async def story() -> int:
        printed.start(failures.append)
        for _ in range(200):
            printed.streams.stdout.write(LINE)
            await asyncio.sleep(0)
        return await printed.finish(is_hurried)

    started = time.monotonic()
    assert asyncio.run(story()) > 100
    assert errors.getvalue() == "".join(asked)
    assert printed.streams.stdout.encoding == stream.encoding
    assert printed.end() is printed.streams
    printed.streams.stdout.write(LINE)
    assert time.monotonic() - started < patient(5)


def test_what_is_said_outside_of_a_loop_waits_for_its_reader(
    pipe: tuple[int, io.TextIOWrapper], tmp_path: Path
) -> None:
    """More than a pipe holds is written whole."""
    reading, stream = pipe
    printed, _ = printing_to(tmp_path, stream, io.StringIO())
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(read_now(reading, 200)), daemon=True)
    reader.start()
    for _ in range(200):
        printed.streams.stdout.write(LINE)
    assert printed.end() is printed.real
    reader.join()
    assert read == [LINE * 200]


def drained(output: UnwrittenOutput) -> str:
    text = b""
    while head := output.head():
        text += head[:700]
        output.note_taken(len(head[:700]))
    return text.decode()


def test_lines_for_people_are_dropped_and_counted(tmp_path: Path) -> None:
    """R122: the first ones stay, the count stands behind them, and later ones are shown again."""
    output = UnwrittenOutput(None, memory_bytes=3000)
    for _ in range(1234):
        output.add(LINE.encode())
    assert drained(output) == LINE * 3 + "... 1,231 lines not shown: the screen was paused\n"
    output.add(b"again\n")
    assert (drained(output), bool(output)) == ("again\n", False)


def fill(output: UnwrittenOutput) -> None:
    for _ in range(10):
        output.add(LINE.encode())


@pytest.mark.parametrize(
    "full",
    [
        pytest.param({"file_bytes": 4000}, id="limit"),
        pytest.param({"open_file": "full"}, id="disk"),
    ],
)
def test_data_without_room_anywhere_ends_the_listener(full: dict[str, Any], tmp_path: Path) -> None:
    """R122: exit 10, with what to do; nothing is dropped in silence."""

    def open_full() -> Any:
        return Path("/dev/full").open("wb", buffering=0)

    def open_file() -> Any:
        return (tmp_path / "rest").open("w+b", buffering=0)

    opened: Callable[[], Any] = open_full if full.pop("open_file", None) else open_file
    output = UnwrittenOutput(opened, memory_bytes=2000, **full)
    with pytest.raises(LocalError, match="reads the output, and there is no more room") as caught:
        fill(output)
    assert caught.value.code == "output_not_read"
    output.close()
