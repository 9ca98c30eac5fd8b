"""Markup built from elements: every text is escaped unless it is markup already."""

import re
from collections.abc import Iterable
from html import escape
from typing import Final

_VOID: Final = frozenset({"input", "link", "meta"})
# They turn the order of what stands around them, an amount's too.
_DIRECTION_MARKS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Html(str):
    """Markup that may be sent as it is."""

    __slots__ = ()


Child = str | Html | None | Iterable["str | Html | None"]
Attribute = str | int | bool | None


def el(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    r"""One element.

    Strings are escaped, and what turns the direction of text is shown as `\u{202e}`; None is left
    out, lists are joined. An attribute that is True has no value, one that is None or False is left
    out; `for_` and `class_` lose their mark, `aria_label` becomes `aria-label`.
    """
    opening = f"<{name}{''.join(map(_attribute, attributes, attributes.values()))}>"
    if name in _VOID:
        return Html(opening)
    return Html(f"{opening}{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Html:
    """Markup of several children, one after the other."""
    return Html("".join(map(_markup, children)))


def _markup(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(_DIRECTION_MARKS.sub(_visible, child))
    return join(child)


def _visible(mark: re.Match[str]) -> str:
    return f"\\u{{{ord(mark[0]):x}}}"


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{escape(str(value))}"'
