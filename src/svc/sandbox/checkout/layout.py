"""The frame that all checkout pages share, and the summary of the order.

`pages` and `home` draw inside of it; `app` sends the documents with the headers of `protect`.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from svc.html import Markup, MarkupPart
from svc.sandbox.checkout.html import el, join
from svc.sandbox.checkout.languages import LANGUAGES, Language
from svc.sandbox.checkout.visit import ROOT, Address, Visit
from svc.sandbox.http.exchange import HttpReply
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources.landed_cost_quotes import value_of
from svc.sandbox.store.documents import Doc

STYLE: Final = f"{ROOT}/style.css"
ICON: Final = f"{ROOT}/icon.svg"
SCRIPT: Final = f"{ROOT}/card.js"
OUTCOME: Final = f"{ROOT}/outcome.js"
_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)


def policy(query: Mapping[str, str]) -> str:
    """The Content-Security-Policy of a page, from the parameters of its address.

    The page may run our own scripts, and send its forms to us or on to `return_url`. Only `parent`,
    the page of the shop that mounted it, may show it in a frame.
    """
    try:
        address = Address.of("", query)
    except Problem:
        address = Address("")
    back = urlsplit(address.return_url or "")
    forms = f"'self' {back.scheme}://{back.netloc}" if back.netloc else "'self'"
    frames = address.parent or "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        f"form-action {forms}; frame-ancestors {frames}; base-uri 'none'"
    )


def protect(reply: HttpReply, policy: str) -> HttpReply:
    """Adds the headers of every page: the content policy, no caching, no referrer."""
    return reply.with_headers(("Content-Security-Policy", policy), *_HEADERS)


def answer(content: Markup, status: int = 200) -> HttpReply:
    """A page as it is sent."""
    body = f"<!doctype html>{content}".encode(errors="replace")
    return HttpReply(status, body, media_type="text/html; charset=utf-8")


def redirect(url: str) -> HttpReply:
    """Sends the browser on with a GET."""
    return HttpReply(303, b"", (("Location", url),))


def page(visit: Visit, title: str, main: Markup, *, step: str = "", **query: str) -> Markup:
    """A page about an order; `step` and `query` lead to the same page in another language."""
    mode = el("p", el("strong", visit.say(f"{visit.mode}_mode")), _note(visit), class_="mode")
    switch = _switch(visit, step, query)
    header = el("header", el("div", mode, switch, class_="wide"), class_="top")
    return document(visit.language, title, header, main)


def build_plain_page(language: Language, text: str, note: MarkupPart = None) -> Markup:
    """A page without an order; `text` is the key of its heading."""
    content = card(language.say(text), language.say(f"{text}_lead"))
    return document(language, language.say(text), None, el("main", content, note))


def card(heading: str, lead: str, *more: MarkupPart, sign: MarkupPart = None) -> Markup:
    """The one narrow card of a page: its heading, what that means, and what else there is."""
    title = el("h1", heading)
    return el("section", sign, title, el("p", lead, class_="lead"), *more, class_="card narrow")


def hint(text: str) -> Markup:
    """A line in small print."""
    return el("p", text, class_="hint")


def document(language: Language, title: str, *content: MarkupPart) -> Markup:
    """A whole HTML document, without its doctype."""
    head = join(
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("link", rel="stylesheet", href=STYLE),
        el("link", rel="icon", href=ICON, type="image/svg+xml"),
    )
    return el("html", el("head", head), el("body", *content), lang=language.tag)


def _note(visit: Visit) -> MarkupPart:
    return None if visit.mode == "live" else (" ", el("span", visit.say("no_money")))


def _switch(visit: Visit, step: str, query: Mapping[str, str]) -> Markup:
    """Links to the same page in every language; each is named in its own."""

    def link(language: Language) -> Markup:
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


_SHOWN: Final = 4  # items before the rest is folded away


def summary(visit: Visit) -> Markup:
    """The breakdown of an order's total."""
    return el(
        "section",
        el("h2", visit.say("summary"), id="summary"),
        _items(visit),
        el("dl", _rows(visit), class_="totals"),
        hint(_charges_note(visit)),
        _destination(visit),
        aria_labelledby="summary",
        class_="summary",
    )


def _items(visit: Visit) -> MarkupPart:
    items = [_item(visit, item) for item in visit.order["items"]]
    shown = el("ul", items[:_SHOWN], class_="items")
    rest = items[_SHOWN:]
    if not rest:
        return shown
    label = visit.say("all_items", count=str(len(rest)))
    return shown, el("details", el("summary", label), el("ul", rest, class_="items"))


def _item(visit: Visit, item: Doc) -> Markup:
    quantity, price = item["quantity"], item["unit_amount"]
    each = f"{quantity:d} \N{MULTIPLICATION SIGN} {visit.money(price)}" if quantity > 1 else None
    name = el("span", el("bdi", item["name"]), el("small", each) if each else None)
    return el("li", name, el("span", visit.money(quantity * price), class_="amount"))


def _rows(visit: Visit) -> list[Markup]:
    order, charges = visit.order, visit.order["landed_cost"]
    value = value_of(order["items"])
    surplus = order["amount"] - value
    rows = [_row(visit, "goods", value)]
    if surplus:
        rows.append(_row(visit, "shipping" if surplus > 0 else "discount", surplus))
    if _collects_charges(order):
        rows += [_row(visit, name, charges[name]) for name in ("duty", "vat")]
        if charges["fees"]:
            rows.append(_row(visit, "fees", charges["fees"]))
    total = (visit.say("total"), " ", el("span", order["currency"], class_="hint"))
    return [*rows, _line(total, visit.total, class_="total")]


def _row(visit: Visit, text: str, amount: int) -> Markup:
    return _line(visit.say(text), visit.money(amount))


def _line(label: MarkupPart, amount: str, class_: str | None = None) -> Markup:
    return el("div", el("dt", label), el("dd", amount, class_="amount"), class_=class_)


def _collects_charges(order: Doc) -> bool:
    """Returns whether import charges are part of the total (setting `collect_landed_cost`)."""
    return bool(order["amount_total"] - order["amount"] == order["landed_cost"]["total"])


def _charges_note(visit: Visit) -> str:
    charges = visit.order["landed_cost"]
    if charges["guaranteed"] and not charges["total"]:
        return visit.say("no_charges")
    if not _collects_charges(visit.order):
        return visit.say("not_included", amount=visit.money(charges["total"]))
    return visit.say("guaranteed" if charges["guaranteed"] else "estimated")


def _destination(visit: Visit) -> Markup:
    shipping = visit.order["shipping"]
    town = " ".join(filter(None, (shipping.get("postal_code"), shipping.get("city"))))
    names = ("name", "line1", "line2")
    lines = [*(shipping.get(name) for name in names), town, shipping.get("state")]
    address = [part for part in (*lines, shipping["country"]) if part]
    return el(
        "p",
        el("span", visit.say("deliver_to"), class_="hint"),
        " ",
        el("bdi", ", ".join(address)),
        class_="destination",
    )
