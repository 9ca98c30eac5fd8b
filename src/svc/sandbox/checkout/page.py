"""The frame of every page: head, language switch, answer headers."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from svc.sandbox.checkout.address import ROOT
from svc.sandbox.checkout.html import Child, Html, el, join
from svc.sandbox.checkout.languages import LANGUAGES, Language
from svc.sandbox.checkout.visit import Visit

STYLE: Final = f"{ROOT}/style.css"
ICON: Final = f"{ROOT}/icon.svg"
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def answer(content: Html, status: int = 200) -> Response:
    """A page as it is sent."""
    return Response(
        f"<!doctype html>{content}".encode(errors="replace"),
        status,
        HEADERS,
        "text/html; charset=utf-8",
    )


def redirect(url: str) -> Response:
    """Sends the browser on with a GET; the address is a path of our own."""
    return Response(b"", 303, {**HEADERS, "Location": url})


def page(visit: Visit, title: str, main: Html, *, step: str = "", **query: str) -> Html:
    """A page about an order; `step` and `query` lead to the same page in another language."""
    mode = el("p", el("strong", visit.say(f"{visit.mode}_mode")), _note(visit), class_="mode")
    switch = _switch(visit, step, query)
    header = el("header", el("div", mode, switch, class_="wide"), class_="top")
    return document(visit.language, title, header, main)


def plain_page(language: Language, text: str, note: Child = None) -> Html:
    """A page without an order; `text` is the key of its heading."""
    content = el(
        "section",
        el("h1", language.say(text)),
        el("p", language.say(f"{text}_lead"), class_="lead"),
        class_="card narrow",
    )
    return document(language, language.say(text), None, el("main", content, note))


def document(language: Language, title: str, *content: Child) -> Html:
    """A whole HTML document, without its doctype."""
    head = join(
        (
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("title", title),
            el("link", rel="stylesheet", href=STYLE),
            el("link", rel="icon", href=ICON, type="image/svg+xml"),
        )
    )
    return el("html", el("head", head), el("body", *content), lang=language.tag)


def _note(visit: Visit) -> Child:
    return None if visit.mode == "live" else (" ", el("span", visit.say("no_money")))


def _switch(visit: Visit, step: str, query: Mapping[str, str]) -> Html:
    """Links to the same page in every language; each is named in its own."""

    def link(language: Language) -> Html:
        current = language.tag == visit.language.tag
        return el(
            "a",
            language.name,
            href=visit.address.url(step, **{**query, "lang": language.tag}),
            lang=language.tag,
            hreflang=language.tag,
            aria_current="true" if current else None,
        )

    links = el("ul", [el("li", link(language)) for language in LANGUAGES])
    return el("nav", links, aria_label=visit.say("language"), class_="languages")
