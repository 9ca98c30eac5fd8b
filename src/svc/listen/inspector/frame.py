"""The frame of every page: head, list beside detail, what the keys do."""

from dataclasses import dataclass
from typing import Final

from svc.listen.inspector.markup import Markup, Part, tag, together
from svc.listen.inspector.shown import Times

STYLE: Final = "style.css"
SCRIPT: Final = "script.js"
ICON: Final = "icon.svg"
_KEYS: Final = (
    (("j", "k"), "next, previous"),
    (("Enter",), "open"),
    (("/",), "filter"),
    (("r",), "replay"),
    (("Esc",), "close"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """What all pages of one inspector have in common; `root` is `/TOKEN/`.

    `way` says in words where deliveries go.
    """

    root: str
    mode: str
    way: str
    times: Times

    def url(self, path: str = "", query: str = "", anchor: str = "") -> str:
        """Gives the address of one of our pages."""
        return f"{self.root}{path}{query}{f'#{anchor}' if anchor else ''}"


def document(place: Place, title: str, deliveries: Markup, detail: Markup | None) -> Markup:
    """Makes a whole page; without a detail the list is the page."""
    head = together(
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("meta", {"name": "color-scheme", "content": "light dark"}),
        tag("title", {}, f"{title} · svc inspector"),
        tag("link", {"rel": "stylesheet", "href": place.url(STYLE)}),
        tag("link", {"rel": "icon", "href": place.url(ICON), "type": "image/svg+xml"}),
        tag("script", {"src": place.url(SCRIPT), "defer": True}),
    )
    panes = tag(
        "main",
        {"class": "open" if detail else None, "data-root": place.root},
        deliveries,
        detail or _nothing_chosen(),
    )
    body = tag("body", {}, _top(place), panes, _footer())
    return tag("html", {"lang": "en"}, tag("head", {}, head), body)


def notice(place: Place, title: str, text: str) -> Markup:
    """Makes what stands in place of a detail that cannot be shown."""
    return tag(
        "section",
        {"id": "detail", "aria-labelledby": "detail-title"},
        back(place, ""),
        tag("h2", {"id": "detail-title", "tabindex": "-1"}, title),
        tag("p", {"class": "message", "role": "alert"}, text),
    )


def back(place: Place, query: str) -> Markup:
    """Leads from a detail to the list, where there is no room for both."""
    return tag("a", {"class": "back", "href": place.url("", query)}, "All deliveries")


def fact(name: str, *value: Part) -> Markup:
    """Makes one labelled fact of a `dl`."""
    return tag("div", {}, tag("dt", {}, name), tag("dd", {}, *value))


def _top(place: Place) -> Markup:
    mode = tag("strong", {"class": f"mode {place.mode}"}, f"{place.mode.capitalize()} mode")
    return tag(
        "header",
        {"class": "top"},
        tag("h1", {}, tag("a", {"href": place.root}, "svc inspector")),
        tag("p", {"class": "way"}, mode, " ", tag("span", {}, place.way)),
        tag("p", {"id": "link", "hidden": True}),
    )


def _nothing_chosen() -> Markup:
    return tag(
        "section",
        {"id": "detail", "class": "empty"},
        tag("p", {}, "Choose a delivery to see what it says and what became of it."),
    )


def _footer() -> Markup:
    keys = [
        tag("li", {}, *[tag("kbd", {}, key) for key in names], f" {what}") for names, what in _KEYS
    ]
    return tag("footer", {"id": "keys", "hidden": True}, tag("ul", {"aria-label": "Keys"}, keys))
