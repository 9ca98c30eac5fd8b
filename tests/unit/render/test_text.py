"""Text in lines, as wide as a terminal shows it."""

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


@pytest.mark.parametrize(("width", "row"), [(10, "four  nine\n"), (9, "four\n  nine\n")])
def test_a_line_is_filled_to_its_last_column(width: int, row: str) -> None:
    """One column less, and the second cell stands below the first."""
    layout = LineLayout(width, color=False, utc=True, tick="ok")
    assert layout.row([("four", ""), ("nine", "")]) == row
