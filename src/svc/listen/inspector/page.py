"""The frame of the inspector's pages, and functions that make texts safe to show (R39, R45).

`pages` builds the parts of a page; `app` sends the HTML of `document`.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from svc.html import Elements, Markup, MarkupPart
from svc.listen.http.wire import Header
from svc.listen.output_records import name_status
from svc.redaction import redact
from svc.render.human.cells import parse
from svc.render.text import escape as visible

# No text of others acts as markup, and none hides anything (promise R61).
_ELEMENTS: Final = Elements(visible, visible)
el = _ELEMENTS.el
join = _ELEMENTS.join

_RUN_MAX: Final = 1000  # masking takes time by the square of a run's length
_RAW_MAX: Final = 256 * 1024
_RUNS: Final = re.compile(r'([^"\n]+)')
_PRIVATE: Final = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))


def mask(text: str) -> str:
    """Returns one text with its secrets masked, and only the beginning of a very long one.

    The end of a long text is not shown: it may begin in a secret, which could not be recognised.
    """
    if len(text) <= _RUN_MAX:
        return redact(text)
    return f"{redact(text[:_RUN_MAX])} … {len(text) - _RUN_MAX:,} characters left out"


def format_raw(body: bytes) -> str:
    r"""Returns a body as it came, masked; bytes that are no UTF-8 as `\x..`."""
    text = body[:_RAW_MAX].decode("utf-8", "backslashreplace")
    shown = _RUNS.sub(lambda run: mask(run[1]), text)
    rest = len(body) - _RAW_MAX
    return f"{shown}\n… {rest:,} more bytes" if rest > 0 else shown


def header_lines(block: bytes) -> list[Header]:
    """Reads header lines as the inbox keeps them."""
    pairs = [line.partition(b": ") for line in block.split(b"\r\n") if line]
    return [(name, value) for name, _, value in pairs]


def header(pair: Header) -> tuple[str, str]:
    """Returns a header's name and value; credentials are not shown."""
    name, value = (part.decode("latin-1") for part in pair)
    return mask(name), "…" if name.lower() in _PRIVATE else mask(value)


def status_text(status: int | None) -> str:
    """Names an HTTP status; None is an answer that never came."""
    return "No answer" if status is None else name_status(status)


_ZONE_AT: Final = len("2026-10-01 11:00:00.250")


class Times:
    """Writes times in one style, local unless UTC was asked for; all in unix seconds."""

    def __init__(self, *, utc: bool) -> None:
        self._utc = utc

    def full(self, seconds: float) -> str:
        """Date, time of day with milliseconds, and zone: `2026-10-01 11:00:00.250 +02:00`."""
        return f"{self._text(seconds)[:_ZONE_AT]} {self.zone(seconds)}"

    def brief(self, seconds: float, now: float) -> str:
        """The time of day, with the date if it is not today's; its zone stands above the list."""
        day, clock = self._text(seconds)[:_ZONE_AT].split(" ")
        return clock if self._text(now).startswith(day) else f"{day} {clock}"

    def format_said(self, text: str) -> str:
        """A time of the service in the same style; other text stays unchanged."""
        moment = parse(text)
        return text if moment is None else self.full(moment.timestamp())

    def zone(self, seconds: float) -> str:
        """The zone in which a moment is written: `UTC`, or as far as the local one is from it."""
        return "UTC" if self._utc else self._text(seconds)[_ZONE_AT:]

    def _text(self, seconds: float) -> str:
        moment = datetime.fromtimestamp(seconds, UTC)
        return (moment if self._utc else moment.astimezone()).isoformat(" ", "milliseconds")


_NODES_MAX: Final = 2000
_DEPTH_MAX: Final = 24
_OPEN_DEPTH: Final = 3
_TREE_MAX: Final = 256 * 1024

Pairs = list[tuple[str, Any]]


class _Number(str):
    __slots__ = ()


class _JsonObject:
    """An object with its members in order, those that are named twice as well."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs


def tree(body: bytes) -> Markup | None:
    """Draws a payload; None if it is not a JSON object or list, or over 256 KiB."""
    if len(body) > _TREE_MAX:
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
        key = el("span", mask(name), class_="key")
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
        return el("span", mask(value), class_="leaf")
    if isinstance(value, str):
        # As JSON writes it, so that a line feed in a text is not one on the page.
        return el("span", json.dumps(mask(value), ensure_ascii=False), class_="leaf string")
    return el("span", json.dumps(value), class_="leaf")


STYLE: Final = "style.css"
SCRIPT: Final = "script.js"
ICON: Final = "icon.svg"
_CHOOSE: Final = "Choose a delivery to see what it says and what became of it."
_KEYS: Final = (
    (("j", "k"), "next, previous"),
    (("Enter",), "open"),
    (("/",), "filter"),
    (("r",), "replay"),
    (("Esc",), "close"),
)


@dataclass(frozen=True, slots=True)
class PageFrame:
    """What all pages of an inspector share; `root` is `/TOKEN/`, `way` says where deliveries go."""

    root: str
    mode: str
    way: str
    times: Times

    def url(self, path: str = "", query: str = "", anchor: str = "") -> str:
        """Returns the address of one of our pages."""
        return f"{self.root}{path}{query}{f'#{anchor}' if anchor else ''}"


def document(frame: PageFrame, title: str, deliveries: Markup, detail: Markup | None) -> Markup:
    """Makes a whole page; without a detail the list is the page."""
    head = join(
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{title} · svc inspector"),
        el("link", rel="stylesheet", href=frame.url(STYLE)),
        el("link", rel="icon", href=frame.url(ICON), type="image/svg+xml"),
        el("script", src=frame.url(SCRIPT), defer=True),
    )
    mode = el("strong", f"{frame.mode.capitalize()} mode", class_=f"mode {frame.mode}")
    top = el(
        "header",
        el("h1", el("a", "svc inspector", href=frame.root)),
        el("p", mode, " ", el("span", frame.way), class_="way"),
        el("p", id="link", hidden=True),
        class_="top",
    )
    panes = el(
        "main",
        deliveries,
        detail or el("section", el("p", _CHOOSE), id="detail", class_="empty"),
        class_="open" if detail else None,
        data_root=frame.root,
    )
    keys = [el("li", *[el("kbd", key) for key in names], f" {what}") for names, what in _KEYS]
    footer = el("footer", el("ul", keys, aria_label="Keys"), id="keys", hidden=True)
    body = el("body", top, panes, footer)
    return el("html", el("head", head), body, lang="en")


def notice(frame: PageFrame, title: str, text: str) -> Markup:
    """Draws the message in place of a detail that cannot be shown."""
    return detail(frame, "", title, el("p", text, class_="message", role="alert"))


def detail(frame: PageFrame, query: str, title: str, *parts: MarkupPart) -> Markup:
    """Draws a detail beside the list; `query` leads back to it."""
    # Back to the list, where there is no room for both.
    back = el("a", "All deliveries", class_="back", href=frame.url("", query))
    heading = el("h2", title, id="detail-title", tabindex="-1")
    return el("section", back, heading, *parts, id="detail", aria_labelledby="detail-title")


def part(name: str, title: str, *parts: MarkupPart, **attributes: str) -> Markup:
    """Makes a part of a detail with a title of its own."""
    heading = el("h3", title, id=f"{name}-title")
    return el("section", heading, *parts, aria_labelledby=f"{name}-title", **attributes)


def fact(name: str, *value: MarkupPart) -> Markup:
    """Makes one labelled fact of a `dl`."""
    return el("div", el("dt", name), el("dd", *value))
