"""Writing parsed values as JSON, numbers spelled as they were read."""

import json
from decimal import Decimal
from typing import Final

from svc.render.json_text import harmless

_quote: Final = json.JSONEncoder(ensure_ascii=False).encode


class _Raw(str):
    """A piece of JSON that is ready."""

    __slots__ = ()


def dump(value: object) -> str:
    """Writes one value as compact JSON.

    Numbers that carry their spelling (a `text` attribute, or `Decimal`) keep it. Characters that
    could act on a terminal are escaped (promise R61). Raises TypeError for what JSON has no form
    for.
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
        pieces += [_Raw(f"{comma}{_string(str(key))}:"), value]
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
        return _string(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float | Decimal):
        return number(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def number(value: float | Decimal) -> str:
    """Writes a number as it was spelled; null for what is none in JSON (NaN, Infinity)."""
    spelled = getattr(value, "text", None)
    if isinstance(spelled, str):
        return spelled
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else "null"
    if isinstance(value, int):
        return int.__repr__(value)
    return float.__repr__(value) if value - value == 0 else "null"


def _string(text: str) -> str:
    return harmless(_quote(text))
