"""JSON in colours."""

import io
import re
from typing import Any

import pytest

from support.on_terminal import TtyStream
from svc.render.output import Output
from svc.render.style import highlight
from unit.render.samples import NOW

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


@pytest.mark.parametrize("stream", [TtyStream(), io.StringIO()], ids=["terminal", "file"])
def test_only_a_terminal_gets_colour(stream: io.StringIO) -> None:
    """R75: a program that reads JSON gets JSON."""
    told: Any = {"width": 80, "now": lambda: NOW, "color": True}
    output = Output(format="json", stdout=stream, stderr=io.StringIO(), **told)
    output.value({"paid": True})
    said = '{\n  "paid": true\n}\n'
    assert stream.getvalue() == (highlight(said) if stream.isatty() else said)
