"""Styles as escape sequences: ours, and those of a library that knows terminals."""

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from svc.render.style import Line, style_lines

RICH = {
    "": "",
    "title": "bold",
    "head": "dim",
    "label": "dim",
    "hint": "dim",
    "good": "green",
    "waiting": "cyan",
    "attention": "bold magenta",
    "bad": "bold red",
    "quiet": "dim",
    "strong": "bold",
    "section": "bold green",
    "name": "cyan",
    "text": "green",
    "literal": "magenta",
}
SPANS = st.tuples(st.text(alphabet="ab é日😀  ·|", max_size=40), st.sampled_from(sorted(RICH)))


def by_rich(lines: list[Line]) -> str:
    out = StringIO()
    console = Console(
        file=out,
        color_system="standard",
        force_terminal=True,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
        _environ={},
    )
    for line in lines:
        text = Text.assemble(*((part, RICH[style]) for part, style in line))
        console.print(text, soft_wrap=True)
    return out.getvalue()


@given(st.lists(st.lists(SPANS, max_size=5), max_size=4))
def test_styles_are_written_as_rich_writes_them(lines: list[Line]) -> None:
    """R62: byte for byte, wide characters and empty parts too."""
    assert style_lines(lines, color=True) == by_rich(lines)


@given(st.lists(st.lists(SPANS, max_size=5), max_size=4))
def test_without_colour_there_is_nothing_but_text(lines: list[Line]) -> None:
    """R62: no escape character reaches a pipe."""
    assert "\x1b" not in style_lines(lines, color=False)
