"""A JSON payload as a tree that folds; numbers keep the sender's spelling."""

import json
from typing import Any, Final

from svc.html import Markup
from svc.listen.inspector.page import el, join, masked

_NODES_MAX: Final = 2000
_DEPTH_MAX: Final = 24
_OPEN_DEPTH: Final = 3
_BODY_MAX: Final = 256 * 1024

Pairs = list[tuple[str, Any]]


class _Number(str):
    __slots__ = ()


class _JsonObject:
    """An object with its members in order, those that are named twice as well."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs


def tree(body: bytes) -> Markup | None:
    """Draws a payload; None if it is no JSON object or list, or over 256 KiB."""
    if len(body) > _BODY_MAX:
        return None
    try:
        value = json.loads(
            body,
            object_pairs_hook=_JsonObject,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
        )
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, _JsonObject | list):
        return None
    return _Drawing().members(value, 0)


class _Drawing:
    def __init__(self) -> None:
        self._left = _NODES_MAX

    def members(self, value: _JsonObject | list[Any], depth: int) -> Markup:
        if isinstance(value, _JsonObject):
            pairs: Pairs = value.pairs
        else:
            pairs = [(str(index), item) for index, item in enumerate(value)]
        shown = []
        for index, (name, item) in enumerate(pairs):
            if self._left <= 0:
                shown.append(el("li", f"{len(pairs) - index:,} more: see Raw", class_="more"))
                break
            self._left -= 1
            shown.append(el("li", self._member(name, item, depth)))
        return el("ul", shown, class_="tree")

    def _member(self, name: str, value: Any, depth: int) -> Markup:
        key = el("span", masked(name), class_="key")
        if not isinstance(value, _JsonObject | list):
            return join(key, ": ", _leaf(value))
        size = len(value.pairs) if isinstance(value, _JsonObject) else len(value)
        left, right = "{}" if isinstance(value, _JsonObject) else "[]"
        if not size:
            return join(key, f": {left}{right}")
        if depth >= _DEPTH_MAX:
            return join(key, ": ", el("span", "deeper: see Raw", class_="more"))
        count = el("span", f" {left}{size}{right}", class_="count")
        return el(
            "details",
            el("summary", key, count),
            self.members(value, depth + 1),
            open=depth + 1 < _OPEN_DEPTH,
        )


def _leaf(value: Any) -> Markup:
    if isinstance(value, _Number):
        return el("span", masked(value), class_="leaf")
    if isinstance(value, str):
        # As JSON writes it, so that a line feed in a text is not one on the page.
        return el("span", json.dumps(masked(value), ensure_ascii=False), class_="leaf string")
    return el("span", json.dumps(value), class_="leaf")
