r"""JSON text, laid out anew without its values being read: it stays spelled as it was sent.

Numbers, key order and string escapes pass through untouched. Characters that
could act on a terminal are written as `\uXXXX`, which a JSON reader turns back (promise R61).
"""

import re
from collections.abc import Iterator
from typing import Final

from svc.render.text import UNSAFE, is_plain

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\S', re.DOTALL)
_RAW_CONTROL: Final = f"{UNSAFE}|[\t\n]"
_DEEPEST_INDENT: Final = 64  # hostile nesting must not make the output grow with its square
_BASIC_PLANE: Final = 0xFFFF


def indent(text: str, level: int = 0) -> str:
    """Lays JSON text out with two spaces a level; no indent before the first line.

    `level` is the depth of the place where the text goes. No line feed at the end.
    """
    out: list[str] = []
    opened = False
    for piece in _tokens(text):
        closes = piece in "}]"
        level -= closes
        if opened != closes:
            out.append(_line(level))
        opened = piece in "{["
        level += opened
        out.append(_spaced(piece, level))
    return "".join(out)


def _spaced(piece: str, level: int) -> str:
    if piece == ",":
        return f",{_line(level)}"
    return ": " if piece == ":" else piece


def _line(level: int) -> str:
    return "\n" + "  " * min(level, _DEEPEST_INDENT)


def compact(text: str) -> str:
    """Writes JSON text on one line, without the spaces that encoders put between tokens."""
    if ", " not in text and ": " not in text and is_plain(text):
        return text  # already so: an export of 10,000 objects passes here
    return "".join(_tokens(text))


def _tokens(text: str) -> Iterator[str]:
    tokens = (found[0] for found in _TOKEN.finditer(text))
    return tokens if is_plain(text) else map(harmless, tokens)


def harmless(token: str) -> str:
    """Escapes what could act on a terminal inside a JSON string."""
    if is_plain(token):
        return token
    return re.sub(_RAW_CONTROL, lambda found: escaped(found[0]), token)


def escaped(char: str) -> str:
    """Writes one character as a JSON escape, or as two above the basic plane."""
    code = ord(char)
    if code <= _BASIC_PLANE:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
