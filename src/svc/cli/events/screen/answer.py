"""Shortens a target's answer to a few words: a page's title or text, the message of a JSON error.

`lines` prints them behind a forward that failed.
"""

import json
import re
from typing import Any, Final

_PAGE: Final = re.compile(r"(?is)<(?:!doctype html|html|head|body|title|h1|pre|p)\b")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)(?:</title|$)")
_BODY: Final = re.compile(r"(?is)<(?:body|h1|pre|p)\b.*")
_UNSEEN: Final = re.compile(
    r"(?is)<(script|style|head|title|svg)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)"
)
_BREAK: Final = re.compile(
    r"(?i)<(?:br|/?(?:p|h[1-6]|li|div|pre|tr|table|ul|ol|center|hr))\b[^>]*>"
)
_TAG: Final = re.compile(r"(?s)<[^>]*(?:>|$)")
_VAGUE: Final = ("", "error", "internal server error", "server error")
_SAYING: Final = ("message", "detail", "error", "error_description", "title", "reason")


def words_of(reply: bytes) -> str:
    """Returns in one line what an answer says: a page's title or text, a JSON error's message."""
    text = reply.decode("utf-8", "replace").strip()
    if _PAGE.search(text[:1024]):
        return _words_of_page(text)
    if text.startswith("{") and (said := _message_of(text)):
        text = said
    lines = text.splitlines()
    return lines[0].rstrip() if lines else ""


def _words_of_page(text: str) -> str:
    title = _TITLE.search(text)
    said = _strip_markup(title[1]) if title else ""
    if said.lower() not in _VAGUE:
        return said
    body = _BODY.search(text)
    visible = _BREAK.sub("\n", _UNSEEN.sub(" ", body[0] if body else text))
    lines = [line for line in map(_strip_markup, visible.splitlines()) if line]
    telling = [line for line in lines if line.lower() not in _VAGUE]
    return next(iter([*telling, *lines]), said)


def _strip_markup(markup: str) -> str:
    from html import unescape

    return " ".join(unescape(_TAG.sub(" ", markup)).split())


def _message_of(text: str) -> str:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    while isinstance(found, dict):
        found = next((found[name] for name in _SAYING if name in found), "")
    return found if isinstance(found, str) else ""
