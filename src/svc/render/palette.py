"""The styles of text on a terminal: every escape sequence that svc writes stands here."""

from typing import Final, Literal, TypeAlias

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


def painted(text: str, style: str, *, color: bool = True) -> str:
    """Text in a style, where colour is wanted and there is something to colour."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color and style and text else text
