"""Builds the HTML elements of the checkout's pages; marks that turn text round are made visible.

The modules that draw pages import `el` and `join` from here.
"""

import re
from typing import Final

from svc.html import Elements

# They turn the order of what stands around them, an amount's too: all that Unicode has.
_DIRECTION_MARKS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _show_direction_marks(text: str) -> str:
    r"""Shows what turns the direction of text, as `\u{202e}`."""
    return _DIRECTION_MARKS.sub(lambda mark: f"\\u{{{ord(mark[0]):x}}}", text)


_ELEMENTS: Final = Elements(_show_direction_marks)
el = _ELEMENTS.el
join = _ELEMENTS.join
