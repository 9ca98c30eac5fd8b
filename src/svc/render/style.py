"""What human output is made of, and its styles: every escape sequence that svc writes (R62)."""

import re
from collections.abc import Callable, Iterable
from datetime import tzinfo
from typing import Final, Literal, NamedTuple, TypeAlias

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
    """Text in a style, where colour is wanted and there is something to colour."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color and style and text else text


_PART: Final = r'("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|\b(null|true|false)\b'


def highlight(text: str) -> str:
    """Paints JSON text, whole tokens of it; taken without colours it is what it was."""
    return re.sub(_PART, _paint_token, text)


def _paint_token(found: re.Match[str]) -> str:
    name, words, literal = found.groups()
    if name is not None:
        return paint(name, "name")
    return paint(words, "text") if words is not None else paint(literal, "literal")


Span = tuple[str, Style]
Line = list[Span]


class Screen(NamedTuple):
    """The place where people read: `width` in columns, `now` in epoch seconds.

    `here` is this machine's clock, by which its own records are dated; `now` is the service's.
    `zone` is the local time zone, None for the machine's. `ellipsis` marks shortened prose.
    """

    width: int
    utc: bool
    now: Callable[[], float]
    here: Callable[[], float]
    zone: tzinfo | None
    ellipsis: str


class Cell(NamedTuple):
    """One value as it reads.

    `listed` and `brief` are its shorter forms for tables. `hint` is said after it where there is
    room; the hint of an `urgent` cell is worth more than the exact form of the value: its shorter
    forms hold it. A `whole` cell is never cut or wrapped (promise R63). `money` lines up by its
    figures.
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
        """The value as it can be written, longest first."""
        last = self.hint if self.urgent else ""
        return [form for form in (self.text, self.listed, self.brief, last) if form]


def indent(lines: list[Line], by: int) -> list[Line]:
    """Moves lines to the right; empty ones stay empty."""
    return [[(" " * by, ""), *line] if line else line for line in lines]


def style_lines(lines: Iterable[Line], *, color: bool) -> str:
    """Joins lines to text that ends in a line feed; there is no ESC in it unless `color`."""
    return "".join(
        "".join(paint(text, style, color=color) for text, style in line) + "\n" for line in lines
    )
