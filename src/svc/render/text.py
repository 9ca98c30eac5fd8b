"""Makes text safe for a terminal, and measures, wraps and shortens it.

Everything that prints text for people uses it: `human`, `errors`, `layout`, questions and notes of
`cli`, the lines of `svc events listen`.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from svc.redaction import UNSAFE, is_plain, rewrite

if TYPE_CHECKING:
    from svc.render.program_name import ProgramName

_BREAKS: Final = "[\t\n]"


def make_visible(char: str) -> str:
    r"""Escapes one character so that it is visible and has no effect: ESC becomes `\u{1b}`."""
    return f"\\u{{{ord(char):x}}}"


def escape(text: str) -> str:
    """Makes text safe for a terminal; tabs and line feeds stay (promise R61)."""
    if is_plain(text):
        return text
    return rewrite(UNSAFE, make_visible, text)


def one_line(text: str) -> str:
    """Makes text safe and keeps it on one line: tabs and line feeds are shown as well."""
    if is_plain(text):
        return text
    return rewrite(_BREAKS, make_visible, escape(text))


def encodable(text: str, encoding: str, form: Callable[[str], str]) -> str:
    """Escapes the characters that `encoding` does not have, so that writing cannot fail."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(char if _has(encoding, char) else form(char) for char in text)
    return text


def _has(encoding: str, char: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def cells(text: str) -> int:
    """Counts the terminal columns that text takes; East Asian and emoji characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fills text with spaces to `width` columns, on its left when it is `right`-aligned."""
    space = " " * (width - cells(text))
    return space + text if right else text + space


def shorten(text: str, width: int, ellipsis: str) -> str:
    """Cuts text to `width` columns and marks the cut; for prose only, never for ids or amounts."""
    if cells(text) <= width:
        return text
    return _head(text, width - cells(ellipsis)).rstrip() + ellipsis


def _head(text: str, width: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += cells(char)
        if taken > width:
            return text[:index]
    return text


def wrap(text: str, width: int) -> list[str]:
    """Breaks text into lines at spaces.

    A word in ASCII, such as an id, amount or address, is never broken, even if it is wider than
    `width` (promise R63). Text in scripts without spaces is broken.
    """
    lines: list[str] = []
    for paragraph in text.expandtabs(4).split("\n"):
        lines.extend(_wrap_paragraph(paragraph, width))
    return lines


def _wrap_paragraph(text: str, width: int) -> list[str]:
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        for piece in _pieces(word, width):
            joined = f"{line} {piece}" if line else piece
            if line and cells(joined) > width:
                lines.append(line)
                joined = piece
            line = joined
    return [*lines, line]


def _pieces(word: str, width: int) -> list[str]:
    if word.isascii() or cells(word) <= width:
        return [word]
    pieces = [""]
    # What is ASCII between other characters, an id before a no-break space, stays whole, too.
    for token in re.findall(r"[!-~]+|.", word, re.DOTALL):
        if pieces[-1] and cells(pieces[-1] + token) > max(width, 2):
            pieces.append(token)
        else:
            pieces[-1] += token
    return pieces


_INDENT: Final = 4
_KINDS: Final = ("Error", "Warning")  # behind them begins a sentence about a command
# What follows a command that a sentence is about.
_ABOUT: Final = "; | (?:shows|lists|says|writes|starts|ends|does) "
_LABELS: Final = ("Next:", "Then:", "Next page:")  # what follows one is there to be copied


def wrap_message(
    text: str, width: int | None, program_name: "ProgramName | None" = None
) -> list[str]:
    """Wraps one line of text at spaces; further lines are indented by 4.

    Commands in the text begin with `program_name` and are never broken: the text after `Next:`
    stays on its line, and a command at the end of a sentence (`...: svc keys add`) begins on a line
    of its own. No id is broken (promise R63), even if it is wider than `width` columns. Without a
    width, as in a file, the text stays on one line, so that a log can be searched.
    """
    text = text if program_name is None else program_name.within(text)
    if width is None or cells(text) <= width:
        return [text]
    words, command = _split(text, "svc" if program_name is None else program_name.name)
    if command and words.strip() in _LABELS:
        return [text]
    start = len(words) - len(words.lstrip(" "))
    first = wrap(words[start:], max(width - start, 1))[0]
    rest = words[start + len(first) :].strip(" ")
    others = wrap(rest, max(width - _INDENT, 1)) if rest else []
    lines = [f"{'':{start}}{first.rstrip()}", *(f"{'':{_INDENT}}{line}" for line in others)]
    return [*lines, f"{'':{_INDENT}}{command}"] if command else lines


def wrap_beside(text: str, width: int, program_name: "ProgramName | None") -> list[str]:
    """Wraps a sentence as `wrap_message` does, without an indent, for a column of its own."""
    text = text if program_name is None else program_name.within(text)
    words, command = _split(text, "svc" if program_name is None else program_name.name)
    if not command or cells(text) <= width:
        return wrap(text, width)
    return [*wrap(words, width), command]


def _split(text: str, program: str) -> tuple[str, str]:
    """Splits a sentence from the command at its end."""
    for command in (f"{program} ", f'eval "$({program} '):
        before, colon, after = text.rpartition(f": {command}")
        if colon and not (before in _KINDS or re.search(_ABOUT, after)):
            return f"{before}:", f"{command}{after}"
    return text, ""


_BASIC_PLANE: Final = 0xFFFF


def escape_json(char: str) -> str:
    """Writes one character as a JSON escape, or as two escapes above the basic plane."""
    code = ord(char)
    if code <= _BASIC_PLANE:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
