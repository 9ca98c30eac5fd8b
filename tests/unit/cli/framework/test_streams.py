"""When a stream is coloured."""

import io
from typing import TextIO

import pytest

from support.on_terminal import TtyStream
from svc.cli.framework.streams import Streams


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
