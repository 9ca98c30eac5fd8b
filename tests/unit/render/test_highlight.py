"""JSON in colours."""

import re

import pytest

from svc.render.style import highlight

TEXT = """{
  "a\\"b": "c: \\"null\\"",
  "n": 1.50,
  "x": [null, true, false, "true"]
}"""


def test_each_kind_of_token_has_a_style() -> None:
    """A name, a text, a word; numbers and signs are plain, and a word inside a text is text."""
    shown = highlight(TEXT)
    assert '\x1b[36m"a\\"b"\x1b[0m: \x1b[32m"c: \\"null\\""\x1b[0m' in shown
    assert '\x1b[36m"n"\x1b[0m: 1.50,' in shown
    assert "[\x1b[35mnull\x1b[0m, \x1b[35mtrue" in shown
    assert '\x1b[32m"true"\x1b[0m]' in shown


@pytest.mark.parametrize("text", [TEXT, "[]\n", '{"a":"b","c":null}\n', '"a"', "12"])
def test_nothing_but_colour_is_added(text: str) -> None:
    """Without it the text is what it was."""
    assert re.sub(r"\x1b\[[0-9;]*m", "", highlight(text)) == text
