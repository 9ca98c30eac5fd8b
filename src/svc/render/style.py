"""Cells, lines and styles of human output, with every escape sequence that svc writes (R62).

`human`, `errors`, `layout` and the help pages colour their text with it.
"""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from datetime import tzinfo

Style: TypeAlias = Literal[
    "",
    "title",
    "head",
    "label",
    "hint",
    "good",
    "waiting",
    "attention",
    "bad",
    "quiet",
    "strong",
    "section",
    "name",
    "text",
    "literal",
]

# The basic colours only: the terminal's owner has chosen them to suit a dark or a light ground.
# Yellow is left out, since most light themes make it unreadable.
_BOLD: Final = "1"
_DIM: Final = "2"
_CODES: Final[dict[str, str]] = {
    "": "",
    "title": _BOLD,
    "head": _DIM,
    "label": _DIM,
    "hint": _DIM,
    "good": "32",
    "waiting": "36",
    "attention": "1;35",
    "bad": "1;31",
    "quiet": _DIM,
    "strong": _BOLD,
    "section": "1;32",
    "name": "36",
    "text": "32",
    "literal": "35",
}


def paint(text: str, style: str, *, color: bool = True) -> str:
    """Wraps text in the escape sequences of a style; empty text and `color=False` stay as is."""
    code = _CODES[style]  # a style that there is none of is no plain one
    return f"\x1b[{code}m{text}\x1b[0m" if color and code and text else text


_PART: Final = r'("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|\b(null|true|false)\b'


def highlight(text: str) -> str:
    """Colours the tokens of JSON text; without the escape sequences the text is unchanged."""
    return re.sub(_PART, _paint_token, text)


def _paint_token(found: re.Match[str]) -> str:
    name, words, literal = found.groups()
    if name is not None:
        return paint(name, "name")
    return paint(words, "text") if words is not None else paint(literal, "literal")


Span = tuple[str, Style]
Line = list[Span]


class Screen(NamedTuple):
    """The properties of the output that formatting depends on.

    Attributes:
        width: in columns.
        utc: whether times are shown in UTC.
        now: the service's clock, in Unix seconds.
        here: this machine's clock, which dates local records, in Unix seconds.
        zone: the time zone to show; None for that of the machine.
        ellipsis: marks shortened prose.
    """

    width: int
    utc: bool
    now: Callable[[], float]
    here: Callable[[], float]
    zone: "tzinfo | None"
    ellipsis: str


class Cell(NamedTuple):
    """One formatted value.

    Attributes:
        listed, brief: shorter forms for tables; empty where there are none.
        hint: follows the value where there is room.
        whole: the cell is never cut or wrapped (promise R63).
        right: the column is aligned to the right.
        money: the column is aligned by the digits of the amount.
        urgent: the hint matters more than the exact value: `listed` and `brief` contain the hint,
            and the hint alone is the shortest form.
    """

    text: str
    style: Style = ""
    listed: str = ""
    brief: str = ""
    hint: str = ""
    whole: bool = False
    right: bool = False
    money: bool = False
    urgent: bool = False

    def forms(self) -> list[str]:
        """The forms of the value that are not empty, longest first."""
        last = self.hint if self.urgent else ""
        return [form for form in (self.text, self.listed, self.brief, last) if form]


def indent(lines: list[Line], by: int) -> list[Line]:
    """Moves lines to the right by a number of columns; empty lines stay empty."""
    return [[(" " * by, ""), *line] if line else line for line in lines]


def style_lines(lines: Iterable[Line], *, color: bool) -> str:
    """Joins lines to text that ends in a line feed; the text has escape sequences if `color`."""
    return "".join(
        "".join(paint(text, style, color=color) for text, style in line) + "\n" for line in lines
    )
