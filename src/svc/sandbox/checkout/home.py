"""The page at `/` of a sandbox: what this is, its public keys and cards, and where to go on.

`checkout.app` serves it to a browser that opens the sandbox's address.
"""

from typing import Final

from svc.html import Markup, MarkupPart
from svc.sandbox.checkout import catalogue
from svc.sandbox.checkout.html import el, join
from svc.sandbox.checkout.languages import ENGLISH
from svc.sandbox.checkout.layout import document
from svc.service.facts import API_ROOT, SANDBOX_KEYS, SANDBOX_ROOT

HOME: Final = "/"
_TITLE: Final = "The order service, as a sandbox"
_KEYS: Final = {
    "secret_test": "Secret, test mode",
    "publishable_test": "Publishable, test mode",
    "restricted_test": "Restricted to reading, test mode",
    "secret_live": "Secret, the sandbox's own live mode",
    "publishable_live": "Publishable, the sandbox's own live mode",
}
_COMMANDS: Final = {
    "svc orders list": "What is there",
    "svc sandbox trigger order.paid": "An order that is paid, with all that it needs",
    "svc sandbox checkout ORDER": "The page on which a shopper pays an order",
    "svc events listen --forward-to 3000": "Webhooks, verified and forwarded to your program",
    "svc sandbox requests --follow": "What your program asks, as it comes",
    "svc sandbox advance 3d": "Three days later, with all that falls due",
    "svc help sandbox": "All the rest",
}


def home_page(address: str) -> Markup:
    """The page of a sandbox at an address."""
    curl = f"curl -u {SANDBOX_KEYS['secret_test']}: {address}{API_ROOT}/orders"
    where = ("The whole service runs on this machine, at ", el("code", address))
    page = el(
        "section",
        el("h1", _TITLE),
        el("p", *where, ". No money moves, and nothing here is anybody's.", class_="lead"),
        _section("Try it", _pairs({curl: "Without svc", **_COMMANDS})),
        _keys(),
        _test_cards(),
        _api(address),
        class_="card home",
    )
    return document(ENGLISH, _TITLE, el("main", page))


def _keys() -> Markup:
    hint = el("p", "Everybody has these; they are of use on no other service.", class_="hint")
    keys = _pairs({SANDBOX_KEYS[name]: words for name, words in _KEYS.items()})
    more = el("p", "Those in use: ", el("code", "svc sandbox keys list"), class_="hint")
    return _section("Keys", hint, keys, more)


def _test_cards() -> Markup:
    rule = "Any expiry date to come and any code of three digits, of Amex four."
    groups = [
        join(el("h3", name), _pairs({card.spaced: card.label for card in group}))
        for name, group in catalogue.CARDS.items()
    ]
    return _section("Test cards", el("p", rule, class_="hint"), groups)


def _api(address: str) -> Markup:
    link = el("a", "Its OpenAPI document", href=f"{SANDBOX_ROOT}/openapi.json")
    script = el("code", f'<script src="{address}/checkout.js"></script>')
    mount = el("p", "The checkout in a page of your own: ", script, class_="hint")
    return _section("The API", el("p", link, ", as this sandbox has it."), mount)


def _section(title: str, *content: MarkupPart) -> Markup:
    return el("section", el("h2", title), *content)


def _pairs(rows: dict[str, str]) -> Markup:
    shown = [el("div", el("dt", el("code", text)), el("dd", words)) for text, words in rows.items()]
    return el("dl", shown, class_="pairs")
