"""JSON in colours, for a terminal: names, texts and the words null, true and false."""

import re
from typing import Final

from svc.render.palette import painted

_TOKEN: Final = re.compile(r'("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|\b(null|true|false)\b')


def highlighted(text: str) -> str:
    """Paints JSON text, whole tokens of it; taken without colours it is what it was."""
    return _TOKEN.sub(_painted, text)


def _painted(found: re.Match[str]) -> str:
    name, words, literal = found.groups()
    if name is not None:
        return painted(name, "name")
    return painted(words, "text") if words is not None else painted(literal, "literal")
