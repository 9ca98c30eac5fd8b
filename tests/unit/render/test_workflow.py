"""What a workflow runner would take for a command is text, however it comes in pieces."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.render.csv_format import restore
from svc.render.text import escape_json, make_visible
from svc.render.writer import Workflow

PIECES = st.lists(st.text(alphabet=":#[] \t\n\rx\u00a0\u3000", max_size=6), max_size=8)


def runner_reads(text: str) -> list[str]:
    """The lines that GitHub's runner takes for commands: it trims them first."""
    lines = re.split(r"[\r\n]", text)
    return [line for line in lines if line.strip().startswith("::") or "##[" in line]


@pytest.mark.parametrize(
    "text",
    [
        *("::stop-commands::x", "ok\n::add-mask::a", "  \t::warning::", "\u00a0::x"),
        *("\u3000\u2003::x", "a\r::x", "a ##[add-mask]b", "##[stop-commands]t", "\n\n::x"),
    ],
)
def test_a_command_becomes_text(text: str) -> None:
    """R107: it is shown as it was written but for one character, and CSV gives it back."""
    assert runner_reads(text)
    shown = Workflow(make_visible).through(text)
    assert runner_reads(shown) == []
    assert restore(shown, raw=True) == text


@given(PIECES)
@example(pieces=[":", ":", "error::x"])
@example(pieces=["a ##", "[error]x"])
@example(pieces=["\r", "::stop-commands::t"])
@example(pieces=["fine\n", " \t", ":", ":add-mask::x"])
def test_pieces_make_no_command_either(pieces: list[str]) -> None:
    """R107: a table's cells and a stream's lines are written one after the other."""
    workflow = Workflow(make_visible)
    shown = "".join(workflow.through(piece) for piece in pieces)
    assert runner_reads(shown) == []
    assert restore(shown, raw=True) == "".join(pieces)


@pytest.mark.parametrize("text", ["a::b", "x ::b", ": :", "#[x", "# #[", "sha::\n: x"])
def test_all_else_stays_as_it_is(text: str) -> None:
    """Only what a runner would act on is changed."""
    assert Workflow(make_visible).through(text) == text
    workflow = Workflow(make_visible)
    assert "".join(map(workflow.through, text)) == text


def test_json_is_lossless() -> None:
    """In JSON, where a line begins with no colon, the old mark is written as JSON's own escape."""
    data = {"note": "##[add-mask]x ::y\n::z"}
    shown = Workflow(escape_json).through(json.dumps(data))
    assert runner_reads(shown) == []
    assert json.loads(shown) == data
