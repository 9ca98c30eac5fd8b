"""Cutting the objects of a page out of its text, so that each stays spelled as it was sent."""

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
# Values are only stepped over: numbers are not converted, so their length does not matter.
_STEP: Final = JSONDecoder(parse_int=str, parse_float=str).raw_decode


def items(text: str) -> Iterator[str]:
    """Yields the text of each element of a list object's `data` array (spec: List object)."""
    at = _data(text)
    while at and text[at] != "]":
        _, end = _STEP(text, at)
        yield text[at:end]
        at = _after_comma(text, end)


def _data(text: str) -> int:
    """Finds the first element's place, or the closing bracket; 0 when there is no array."""
    at = _token(text, _token(text, 0) + 1)
    while text[at] == '"':
        key, at = _STEP(text, at)
        at = _token(text, _token(text, at) + 1)
        if key == "data" and text[at] == "[":
            return _token(text, at + 1)
        _, at = _STEP(text, at)
        at = _after_comma(text, at)
    return 0


def _after_comma(text: str, at: int) -> int:
    at = _token(text, at)
    return _token(text, at + 1) if text[at] == "," else at


def _token(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
