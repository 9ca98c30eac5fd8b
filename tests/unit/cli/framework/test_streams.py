"""When a stream is coloured, how wide it is, and whether a person is there."""

import errno
import io
from typing import Any, TextIO

import pytest

from support.on_terminal import TtyStream
from svc.cli.framework.streams import ClosedOutput, Streams


def test_colour_is_asked_for_only_where_it_is_wanted() -> None:
    """R75: NO_COLOR and a pipe leave the terminal as it is."""
    asked: list[object] = []

    def takes_color(stream: TextIO) -> bool:
        asked.append(stream)
        return True

    streams = Streams(io.StringIO(), TtyStream(), io.StringIO())

    def wants(env: dict[str, str], choice: str, stream: TextIO) -> bool:
        return streams.wants_color(env, choice, stream, takes_color)

    assert not wants({"NO_COLOR": "1"}, "auto", streams.stdout)
    assert not wants({}, "auto", streams.stderr)
    assert asked == []
    assert wants({}, "always", streams.stderr)
    assert asked == []
    assert wants({}, "auto", streams.stdout)
    assert wants({"NO_COLOR": "1"}, "always", streams.stdout)
    assert asked == [streams.stdout, streams.stdout]
    assert not wants({"CLICOLOR": "0"}, "auto", streams.stdout)
    assert wants({"CLICOLOR": "1"}, "auto", streams.stdout)


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colour_can_be_forced_into_a_pipe(name: str) -> None:
    """As other programs heed it; 0 and nothing force nothing, NO_COLOR and --color win."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert streams.wants_color({name: "1"}, "auto", streams.stdout)
    assert streams.wants_color({name: "1", "TERM": "dumb"}, "auto", streams.stdout)
    assert not streams.wants_color({name: "0"}, "auto", streams.stdout)
    assert not streams.wants_color({name: ""}, "auto", streams.stdout)
    assert not streams.wants_color({name: "1", "NO_COLOR": "1"}, "auto", streams.stdout)
    assert not streams.wants_color({name: "1"}, "never", streams.stdout)


def test_a_stream_that_is_closed_is_no_persons() -> None:
    """Nor one that the shell closed before; what is written to it is refused."""
    closed, gone = io.StringIO(), None
    closed.close()
    for stream in (closed, gone):
        given: Any = (stream, stream, stream)
        streams = Streams(*given)
        assert {streams.person_reads, streams.person_watches, streams.person_types} == {False}
    assert Streams(TtyStream(), io.StringIO(), TtyStream()).person_answers
    assert not Streams(TtyStream(), TtyStream(), io.StringIO()).person_answers
    with pytest.raises(OSError, match="Bad file descriptor") as refused:
        ClosedOutput().write("x")
    assert refused.value.errno == errno.EBADF


@pytest.mark.parametrize(
    ("given", "columns", "width"),
    [
        ({"COLUMNS": "72"}, 100, 72),
        ({"COLUMNS": "7"}, 100, 20),
        ({"COLUMNS": "wide"}, 100, 100),
        ({}, 19, 20),
        ({}, 0, 80),
        ({}, None, 80),
    ],
)
def test_a_width_that_is_unknown_is_80_columns(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], columns: int | None, width: int
) -> None:
    """And none is less than 20; a terminal without a size says 0."""

    def size(_: int) -> object:
        if columns is None:
            raise OSError(errno.ENOTTY, "no terminal")
        return type("Size", (), {"columns": columns})

    monkeypatch.setattr("os.get_terminal_size", size)
    assert Streams(TtyStream(), TtyStream(), TtyStream()).width(given) == width
