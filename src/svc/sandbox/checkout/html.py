"""Builds the HTML elements of the checkout's pages: `el` makes one, `join` puts several together.

Characters that reverse the direction of text are shown as their codes, so that no text of an order
can make an amount look like another one. The modules that draw pages import both from here.
"""

import re
from typing import Final

from svc.html import Elements

# They turn the order of what stands around them, an amount's too: all that Unicode has.
_DIRECTION_MARKS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# A mark is shown as its code, such as `\u{202e}`.
_ELEMENTS: Final = Elements(
    lambda text: _DIRECTION_MARKS.sub(lambda mark: f"\\u{{{ord(mark[0]):x}}}", text)
)
el = _ELEMENTS.el
join = _ELEMENTS.join
