"""The page at `/`: what this is, the keys and cards that everybody has, and where to go on."""

from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from svc.html import Markup, MarkupPart
from svc.sandbox.checkout import test_cards
from svc.sandbox.checkout.html import el, join
from svc.sandbox.checkout.languages import ENGLISH
from svc.sandbox.checkout.layout import answer, document
from svc.sandbox.parameters.problems import Problem
from svc.service.facts import API_ROOT, SANDBOX_KEYS

HOME: Final = "/"
_TITLE: Final = "The order service, as a sandbox"
_METHODS: Final = ("GET", "HEAD")
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


def home_page(address: str, described: str) -> Markup:
    """The page of a sandbox at an address; `described` is the path of its OpenAPI document."""
    curl = f"curl -u {SANDBOX_KEYS['secret_test']}: {address}{API_ROOT}/orders"
    page = el(
        "section",
        el("h1", _TITLE),
        _lead(address),
        _section("Try it", _pairs({curl: "Without svc", **_COMMANDS})),
        _keys(),
        _test_cards(),
        _api(described),
        class_="card home",
    )
    return document(ENGLISH, _TITLE, el("main", page))


def _lead(address: str) -> Markup:
    where = ("The whole service runs on this machine, at ", el("code", address))
    return el("p", *where, ". No money moves, and nothing here is anybody's.", class_="lead")


def _keys() -> Markup:
    hint = el("p", "Everybody has these; they are of use on no other service.", class_="hint")
    keys = _pairs({SANDBOX_KEYS[name]: words for name, words in _KEYS.items()})
    more = el("p", "Those in use: ", el("code", "svc sandbox keys list"), class_="hint")
    return _section("Keys", hint, keys, more)


def _test_cards() -> Markup:
    rule = "Any expiry date to come and any code of three digits, of Amex four."
    groups = [_cards(name, group) for name, group in test_cards.CARDS.items()]
    return _section("Test cards", el("p", rule, class_="hint"), groups)


def _api(described: str) -> Markup:
    link = el("a", "Its OpenAPI document", href=described)
    return _section("The API", el("p", link, ", as this sandbox has it."))


def _cards(name: str, group: tuple[test_cards.TrialCard, ...]) -> Markup:
    return join(el("h3", name), _pairs({card.spaced: card.label for card in group}))


def _section(title: str, *content: MarkupPart) -> Markup:
    return el("section", el("h2", title), *content)


def _pairs(rows: dict[str, str]) -> Markup:
    shown = [el("div", el("dt", el("code", text)), el("dd", words)) for text, words in rows.items()]
    return el("dl", shown, class_="pairs")


class HomePage:
    """Serves that page and nothing else."""

    def __init__(self, described: str) -> None:
        self._described = described

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _METHODS:
            allowed = {"Allow": ", ".join(_METHODS)}
            raise Problem(405, "method_not_allowed", "This page is only read.", headers=allowed)
        response: Response = answer(home_page(_address(scope), self._described))
        await response(scope, receive, send)


def _address(scope: Scope) -> str:
    """Where the sandbox listens: of the socket, for a Host may say anything."""
    host, port = scope.get("server") or ("127.0.0.1", None)
    shown = f"[{host}]" if ":" in host else host
    return f"{scope['scheme']}://{shown}{'' if port is None else f':{port}'}"
