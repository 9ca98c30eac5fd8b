"""Builds the HTML elements of the checkout's pages: `el` makes one, `join` puts several together.

Characters that reverse the direction of text are shown as their codes, so that no text of an order
can make an amount look like another one. The modules that draw pages import both from here.
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
