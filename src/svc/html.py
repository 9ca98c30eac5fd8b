"""Markup built from elements: every text is escaped unless it is markup already."""

from collections.abc import Callable, Iterable
from html import escape
from typing import Final

_VOID: Final = frozenset({"input", "link", "meta"})


class Markup(str):
    """Markup that may be sent as it is."""

    __slots__ = ()


MarkupPart = str | Markup | None | Iterable["str | Markup | None"]
Attribute = str | int | bool | None


class Elements:
    """Makes elements whose texts, and whose attributes' values, are first made fit to be seen."""

    def __init__(
        self, texts: Callable[[str], str], values: Callable[[str], str] = lambda value: value
    ) -> None:
        self._texts = texts
        self._values = values

    def el(self, name: str, /, *parts: MarkupPart, **attributes: Attribute) -> Markup:
        """One element.

        Texts are escaped, None is left out, lists are joined. An attribute that is True has no
        value, one that is None or False is left out; `for_` and `class_` lose their mark,
        `aria_label` becomes `aria-label`.
        """
        written = "".join(map(self._attribute, attributes, attributes.values()))
        if name in _VOID:
            return Markup(f"<{name}{written}>")
        return Markup(f"<{name}{written}>{self.join(*parts)}</{name}>")

    def join(self, *parts: MarkupPart) -> Markup:
        """Several parts, one after the other."""
        return Markup("".join(map(self._markup, parts)))

    def _markup(self, part: MarkupPart) -> str:
        if part is None:
            return ""
        if isinstance(part, Markup):
            return part
        return escape(self._texts(part)) if isinstance(part, str) else self.join(*part)

    def _attribute(self, name: str, value: Attribute) -> str:
        if value is None or value is False:
            return ""
        plain = name.rstrip("_").replace("_", "-")
        return f" {plain}" if value is True else f' {plain}="{escape(self._values(str(value)))}"'
