"""Formats and writes JSON with the original spelling of every value.

Numbers, key order and string escapes stay unchanged. Characters that could control a terminal are
written as JSON escapes (promise R61).

The JSON printers (`json_format`, `errors`, `output`) and the CSV cells use it.
"""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from svc.redaction import UNSAFE, is_plain, rewrite
from svc.render.text import escape_json

if TYPE_CHECKING:  # of the service no number comes as one
    from decimal import Decimal

# Possessive: a string's escapes are never gone back over, so that nothing is kept of each of them.
TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]+|\S', re.DOTALL)
_RAW_CONTROL: Final = f"{UNSAFE}|[\t\n]"
_DEEPEST_INDENT: Final = 64  # hostile nesting must not make the output grow with its square


def indent(text: str, level: int = 0) -> str:
    """Indents JSON text by two spaces a level, but not its first line; adds no final line feed.

    `level` is the depth at which the text is inserted.
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
        out.append(f",{_line(level)}" if piece == "," else ": " if piece == ":" else piece)
    return "".join(out)


def _line(level: int) -> str:
    return "\n" + "  " * min(level, _DEEPEST_INDENT)


def compact(text: str) -> str:
    """Writes JSON text on one line, without spaces between tokens."""
    if ", " not in text and ": " not in text and is_plain(text):
        return text  # already so: an export of 10,000 objects passes here
    return "".join(_tokens(text))


def _tokens(text: str) -> Iterator[str]:
    tokens = (found[0] for found in TOKEN.finditer(text))
    return tokens if is_plain(text) else map(escape_token, tokens)


def escape_token(token: str) -> str:
    """Escapes the characters of a JSON string that could control a terminal."""
    if is_plain(token):
        return token
    return rewrite(_RAW_CONTROL, escape_json, token)


_quote: Final = json.JSONEncoder(ensure_ascii=False).encode


class _Raw(str):
    """A piece of encoded JSON."""

    __slots__ = ()


def dump(value: object) -> str:
    """Encodes a value as compact JSON.

    Numbers with a `text` attribute, and `Decimal`, keep their spelling. Characters that could
    control a terminal are escaped (promise R61). Raises TypeError for a value that JSON does not
    have.
    """
    out: list[str] = []
    waiting: list[object] = [value]  # a stack of our own: deep nesting must not end the program
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Raw):
            out.append(item)
        elif isinstance(item, dict):
            waiting.extend(reversed(_object(item)))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(_array(item)))
        else:
            out.append(scalar(item))
    return "".join(out)


def _object(item: dict[object, object]) -> list[object]:
    pieces: list[object] = [_Raw("{")]
    for key, value in item.items():
        comma = "," if len(pieces) > 1 else ""
        pieces += [_Raw(f"{comma}{_format_string(str(key))}:"), value]
    return [*pieces, _Raw("}")]


def _array(item: list[object] | tuple[object, ...]) -> list[object]:
    pieces: list[object] = [_Raw("[")]
    for value in item:
        if len(pieces) > 1:
            pieces.append(_Raw(","))
        pieces.append(value)
    return [*pieces, _Raw("]")]


def scalar(value: object) -> str:
    """Writes one string, number, boolean or null as JSON."""
    if isinstance(value, str):
        return _format_string(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return number(value)
    from decimal import Decimal

    if isinstance(value, Decimal):
        return number(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def number(value: "float | Decimal") -> str:
    """Encodes a number in its original spelling; NaN and Infinity as null."""
    spelled = getattr(value, "text", None)
    if isinstance(spelled, str):
        return spelled
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0 else "null"
    return str(value) if value.is_finite() else "null"


def _format_string(text: str) -> str:
    return escape_token(_quote(text))
