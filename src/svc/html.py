"""Builds HTML for svc's own web pages: elements with escaped text, and a common stylesheet.

Used by the two local web servers: the sandbox's checkout page (`sandbox.checkout`) and the
inspector of `svc events listen --inspect` (`listen.inspector`).
"""

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
    """Makes elements; `texts` first rewrites each text, `values` each attribute's value.

    The inspector and the checkout page have characters shown by them that act without being seen.
    """

    def __init__(
        self, texts: Callable[[str], str], values: Callable[[str], str] = lambda value: value
    ) -> None:
        self._texts = texts
        self._values = values

    def el(self, name: str, /, *parts: MarkupPart, **attributes: Attribute) -> Markup:
        """Builds one element of a name, with its parts inside.

        Texts are escaped, None is left out, lists are joined. An attribute that is True has no
        value, one that is None or False is left out; `for_` and `class_` lose their mark,
        `aria_label` becomes `aria-label`.
        """
        written = "".join(map(self._attribute, attributes, attributes.values()))
        if name in _VOID:
            return Markup(f"<{name}{written}>")
        return Markup(f"<{name}{written}>{self.join(*parts)}</{name}>")

    def join(self, *parts: MarkupPart) -> Markup:
        """Joins several parts, one after the other."""
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


_PALETTE: Final = (  # a colour's name, the colour in the light and in the dark
    ("page", "#f5f6f8", "#0f1115"),
    ("surface", "#ffffff", "#181b21"),
    ("text", "#16191d", "#eceef1"),
    ("soft", "#565f6b", "#a6afbb"),
    ("line", "#dfe3e9", "#2c323b"),
    ("edge", "#858e9b", "#737d8b"),
    ("accent", "#1f4fd1", "#94b5ff"),
    ("accent-hover", "#173fae", "#b3caff"),
    ("on-accent", "#ffffff", "#0b1938"),
    ("tint", "#eef3ff", "#1c2740"),
    ("bad", "#b3261e", "#ffb3aa"),
    ("bad-tint", "#fdefee", "#3a1f1d"),
    ("good", "#12703f", "#85d8a8"),
    ("good-tint", "#e6f5ec", "#17301f"),
)


def stylesheet(own: str) -> str:
    """The stylesheet of a page: the rules that all of svc's pages share, then its `own` rules."""
    light, dark = ("".join(f"--{row[0]}:{row[one]};" for row in _PALETTE) for one in (1, 2))
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        "*,::before,::after{box-sizing:border-box}\n"
        "html{text-size-adjust:100%;-webkit-text-size-adjust:100%}\n" + own
    )
