"""CSV cells: quoted by RFC 4180, harmless in a spreadsheet and reversible (promise R64)."""

import re
from typing import Final

from svc.render.text import UNSAFE, is_plain, visible

# What begins a formula for a spreadsheet, in full width as well, and behind blanks, which some
# take away. A cell begins at the text's start, and where one that parts cells by semicolons or tabs
# would begin another.
_MARKS: Final = r"=+\-@\uff1d\uff0b\uff0d\uff20"
_MARK: Final = re.compile(rf"[{_MARKS}\t\r]")
_BEGINS: Final = r"(?:^|(?<=[;\t\r\n]))"
_FORMULA: Final = re.compile(rf"{_BEGINS}(?='*[^\S\t\r\n]*[{_MARKS}])|^(?='*[\t\r])")
_DEFUSED: Final = re.compile(rf"{_BEGINS}'(?='*[^\S\t\r\n]*[{_MARKS}])|^'(?='*[\t\r])")
_SHOWN: Final = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
_NEEDS_QUOTES: Final = re.compile(r'[",\n]|^\s|\s$')


def cell(text: str, *, raw: bool = False) -> str:
    r"""Prepares one text cell: no formula starts in it and no control character is in it.

    What would start a formula gets a `'` in front, unless `raw`. Characters that could act on
    a terminal are written as `\u{..}` (promise R61). `restore` undoes both.
    """
    if not raw and _MARK.search(text):
        text = _FORMULA.sub("'", text)
    if is_plain(text) and r"\u{" not in text:
        return text
    text = text.replace(r"\u{", r"\u{5c}u{")  # so that text which looks like ours comes back
    return re.sub(UNSAFE, lambda found: visible(found[0]), text)


def restore(text: str, *, raw: bool = False) -> str:
    """Gives back the text that `cell` was given (promise R64)."""
    text = _SHOWN.sub(_char, text)
    return text if raw else _DEFUSED.sub("", text)


def _char(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= 0x10FFFF else found[0]  # noqa: PLR2004  the last code point


def row(cells: list[str]) -> str:
    """Joins cells to one line with its end (RFC 4180)."""
    return ",".join(map(_quoted, cells)) + "\r\n" if cells != [""] else '""\r\n'


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
