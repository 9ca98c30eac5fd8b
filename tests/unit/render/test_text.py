"""Text in lines, as wide as a terminal shows it."""

import io
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.render.layout import LineLayout
from svc.render.text import cells, wrap


@given(st.text(max_size=200), st.integers(min_value=1, max_value=60))
@example(text="ord_1\xa0", width=1)
@example(text="日本ord_1abc日", width=4)
@settings(max_examples=examples(2))
def test_wrap_loses_nothing_and_breaks_no_ascii_word(text: str, width: int) -> None:
    """Wrapped lines hold the same characters in the same order."""
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.replace("\t", " ").split())
    for word in text.split():
        if word.isascii() and word.isalnum():
            assert any(word in line for line in lines)
    for line in lines:
        widest = max((cells(part) for part in line.split(" ") if part.isascii()), default=0)
        assert cells(line) <= max(width, widest, 2)


@pytest.mark.parametrize(
    ("width", "row", "note", "wide", "narrow"),
    [
        (10, "four  nine\n", "  a sentence that says\n  much\n", False, True),
        (9, "four\n  nine\n", "  a sentence that says\n  much\n", False, True),
        (23, "four  nine\n", "  a sentence that says\n  much\n", False, True),
        (63, "four  nine\n", "  a sentence that says much\n", False, True),
        (64, "four  nine\n", f"{'':16}a sentence that says much\n", False, False),
        (85, "four  nine\n", f"{'':16}a sentence that says much\n", False, False),
        (86, "four  nine\n", f"{'':16}a sentence that says much\n", True, False),
        (None, "four  nine\n", f"{'':16}a sentence that says much\n", True, False),
    ],
)
def test_lines_fill_a_terminal_to_its_last_column(
    width: int | None, row: str, note: str, wide: bool, narrow: bool
) -> None:
    """What does not fit stands below, further right; a sentence has 20 columns at least."""
    layout = LineLayout(width, color=False, utc=True, tick="ok")
    assert layout.row([("four", ""), ("nine ", "")]) == row
    assert layout.note("a sentence that says much", "") == note
    assert (layout.wide, layout.narrow) == (wide, narrow)
    assert layout.row([("four", ""), ("x" * 300, "")]).count("\n") == (1 if width is None else 2)
    assert layout.row([("a", ""), ("b", ""), ("c" * 3, "")]) == "a  b  ccc\n"


def test_a_line_tells_the_time_of_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With milliseconds, or without; local or UTC."""
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    try:
        for utc, hour in ((True, "01"), (False, "03")):
            layout = LineLayout(80, color=True, utc=utc, tick="ok")
            assert layout.clock(3600.0785) == f"{hour}:00:00.078"
            assert layout.format_brief(3600.9) == f"{hour}:00:00"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert layout.row([("a", "bad"), ("b", "")]) == "\x1b[1;31ma\x1b[0m  b\n"


@pytest.mark.parametrize(
    ("encoding", "tick"), [("utf-8", "✓"), ("UTF8", "✓"), ("latin-1", "ok"), (None, "ok")]
)
def test_a_tick_is_one_where_the_stream_can_write_it(encoding: str | None, tick: str) -> None:
    """Else a word."""
    stream = io.StringIO() if encoding is None else io.TextIOWrapper(io.BytesIO(), encoding)
    assert LineLayout.of(stream, width=80, color=False, utc=False).tick == tick
