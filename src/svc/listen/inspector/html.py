"""Markup built from elements: no text acts as markup, and none hides anything (promise R61)."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

from svc.render.text import escape as visible

_NEVER_CLOSED: Final = ("input", "link", "meta")


class Markup(str):
    """Markup that may be sent as it is."""

    __slots__ = ()


Part = str | Markup | None | Iterable["str | Markup | None"]
Attributes = Mapping[str, str | bool | None]

_NONE: Final[Attributes] = {}


def tag(name: str, attributes: Attributes = _NONE, *parts: Part) -> Markup:
    """Makes one element.

    Text is escaped and None left out. An attribute that is True has no value; one that is None or
    False is left out.
    """
    written = "".join(_written(key, value) for key, value in attributes.items())
    if name in _NEVER_CLOSED:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{together(*parts)}</{name}>")


def together(*parts: Part) -> Markup:
    """Puts parts one after the other."""
    return Markup("".join([_plain(part) for part in parts]))


def _plain(part: Part) -> str:
    match part:
        case None:
            return ""
        case Markup():
            return part
        case str():
            return escape(visible(part))
        case _:
            return together(*part)


def _written(key: str, value: str | bool | None) -> str:  # noqa: FBT001  it is a value of markup
    if value is None or value is False:
        return ""
    return f" {key}" if value is True else f' {key}="{escape(visible(value))}"'
