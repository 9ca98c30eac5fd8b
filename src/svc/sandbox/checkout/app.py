"""The routes of the checkout page: reads each request, applies the rules, answers with a page.

`svc.sandbox.app` passes it the requests of browsers; `attempt` pays and `pages` draws.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from svc.html import stylesheet
from svc.sandbox.checkout import attempt, catalogue, forms, pages
from svc.sandbox.checkout.developer import why_note
from svc.sandbox.checkout.forms import Entries
from svc.sandbox.checkout.home import HOME, home_page
from svc.sandbox.checkout.languages import ENGLISH, find_language
from svc.sandbox.checkout.layout import (
    ICON,
    OUTCOME,
    SCRIPT,
    STYLE,
    answer,
    build_plain_page,
    policy,
    protect,
    redirect,
)
from svc.sandbox.checkout.pages import end_page
from svc.sandbox.checkout.visit import BANK, CHALLENGE, COMPLETE, ROOT, Address, Visit, visit
from svc.sandbox.engine import Engine
from svc.sandbox.http.exchange import AsgiRequest, HttpReply, Limit
from svc.sandbox.http.routes import RouteTable
from svc.sandbox.parameters.bodies import FORM_TYPE, decode_form
from svc.sandbox.parameters.problems import Problem, build_invalid
from svc.sandbox.reference import methods
from svc.sandbox.resources.operation import ID
from svc.sandbox.store.documents import Doc

MOUNT: Final = "/checkout.js"
FormFields = dict[str, str]
PageAct: TypeAlias = Callable[[AsgiRequest, str], Awaitable[HttpReply]]
_LIMIT: Final = Limit(16 * 1024)
_ORDER: Final = f"{ROOT}/{ID}"
_UNAUTHORIZED: Final = 401
_CARD_ERROR: Final = 402
_NOT_FOUND: Final = 404
_SERVER_ERROR: Final = 500
_NOT_PAYABLE: Final = "order_unexpected_state"
_CARRIED: Final[tuple[str, ...]] = ("expiry", "save_card", "saved")


def form_of(request: AsgiRequest) -> FormFields:
    """The fields of a form that one of our own pages sent.

    Raises:
        Problem: 403 if another site sent it, 413 or 415 or 400 if it is no form of ours.
    """
    check_origin(request)
    media = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if media != FORM_TYPE:
        raise Problem(415, "unsupported_media_type", f"Forms are sent as {FORM_TYPE}.")
    tree = decode_form(request.content)
    return {name: text for name, text in tree.items() if isinstance(text, str)}


def check_origin(request: AsgiRequest) -> None:
    """Refuses what another site's page has the browser send.

    A browser says so in Sec-Fetch-Site. Our pages send no referrer, which makes it write
    `Origin: null`; an older one that knows no Sec-Fetch-Site has to name our own origin.

    Raises:
        Problem: 403 `origin_not_allowed`.
    """
    own = f"{request.scheme}://{request.header('host') or ''}".lower()
    origin = (request.header("origin") or "null").lower()
    site = request.header("sec-fetch-site")
    proven = site == "same-origin" and origin == "null"
    if site not in (None, "same-origin") or not (proven or origin == own):
        raise Problem(403, "origin_not_allowed", "Only the checkout's own pages may send this.")


class Checkout:
    """Answers the requests for pages; an order that cannot be paid any more shows its last page."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        every: tuple[tuple[str, str, PageAct], ...] = (
            ("GET", HOME, self.home),
            ("GET", STYLE, _file(stylesheet(_text("style.css")), "text/css")),
            ("GET", ICON, _file(_text("icon.svg"), "image/svg+xml")),
            ("GET", SCRIPT, _file(_text("card.js"), "text/javascript")),
            ("GET", OUTCOME, _file(_text("outcome.js"), "text/javascript")),
            ("GET", MOUNT, _file(_text("checkout.js"), "text/javascript")),
            ("GET", _ORDER, self.show),
            ("POST", _ORDER, self.pay),
            ("GET", _ORDER + CHALLENGE, self.challenge),
            ("POST", _ORDER + CHALLENGE, self.meet_challenge),
            ("GET", _ORDER + BANK, self.bank),
            ("POST", _ORDER + BANK, self.return_from_bank),
            ("GET", _ORDER + COMPLETE, self.complete),
        )
        self._routes: RouteTable[PageAct] = RouteTable(every)

    # --- as a room of the sandbox -----------------------------------------------------------------

    async def answer(self, request: AsgiRequest) -> HttpReply:
        """A page, under the policy that its address asks for."""
        await request.read(_LIMIT)
        method = "GET" if request.method == "HEAD" else request.method
        page, secret = self._routes.find(method, request.path)
        return protect(await page(request, secret), policy(request.fields))

    def refuse(self, problem: Problem, request: AsgiRequest) -> HttpReply:
        """A plain error page; mistakes in the address are explained to the developer."""
        query, status = request.fields, problem.status
        text = {_NOT_FOUND: "missing_page"}.get(status, "refused")
        page = build_plain_page(
            find_language(query.get("lang")) or ENGLISH,
            "broken" if status >= _SERVER_ERROR else text,
            why_note(problem),
        )
        # No 401: the browser would ask for a password.
        reply = answer(page, 403 if status == _UNAUTHORIZED else status)
        return protect(reply, policy(query))

    # --- pages ------------------------------------------------------------------------------------

    async def home(self, request: AsgiRequest, _: str) -> HttpReply:
        """Shows the page at `/`: what a sandbox is, its keys and test cards."""
        # Of the socket, for a Host may say anything.
        host, port = request.scope.get("server") or ("127.0.0.1", None)
        shown = f"[{host}]" if ":" in host else host
        colon = "" if port is None else f":{port}"
        return answer(home_page(f"{request.scheme}://{shown}{colon}"))

    async def show(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Shows the order and the ways to pay it."""
        here, query = self._visit(request, secret), request.fields
        if not here.payable:
            return redirect(here.address.url(COMPLETE))
        draft = pages.start_draft(here, query.get("result"), query.get("method"))
        return answer(pages.pay_page(here, draft))

    async def pay(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Handles a payment form: pays, or leads to the bank that asks the shopper first."""
        form = form_of(request)
        here = self._visit(request, secret)
        given = forms.read(form, here.today)
        if not here.payable:
            return redirect(here.address.url(COMPLETE))
        if not here.offers(given.method, given.saved):
            problem = build_invalid("method_not_offered", "method", "The order does not offer it.")
            return await self._show_again(request, secret, given, problem)
        if methods.kind(given.method) == "redirect":
            return redirect(here.address.url(BANK, method=given.method))
        absent = forms.find_absent(given)
        if absent:
            return answer(pages.pay_page(here, pages.draft_incomplete(here, given, absent)), 400)
        fields, number = forms.payment_fields(given), forms.number_of(here, given)
        if attempt.needs_challenge(number, fields, here.today):
            return redirect(_challenge_url(here, given))
        result = await self._attempt(here, form, fields)
        if isinstance(result, Problem):
            return await self._show_again(request, secret, given, result)
        return redirect(here.address.url(COMPLETE))

    async def challenge(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Shows the stand-in for the page of the card's bank."""
        here, query = self._visit(request, secret), request.fields
        card = catalogue.find_challenged(query.get("card", ""))
        if card is None or not here.payable:
            return redirect(here.address.url())
        carried = {name: query[name] for name in _CARRIED if name in query}
        return answer(pages.challenge_page(here, card, carried))

    async def meet_challenge(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Handles the shopper's answer to the card's bank."""
        form = form_of(request)
        here = self._visit(request, secret)
        card = catalogue.find_challenged(form.get("card", ""))
        if card is None:
            return redirect(here.address.url())
        given = forms.fill_card(forms.read(form, here.today), card, form.get("expiry", ""))
        if forms.number_of(here, given) != card.number:  # a saved card that is not this one
            return redirect(here.address.url())
        fields = {**forms.payment_fields(given), "three_ds": form.get("answer", "abandon")}
        return _redirect_from_bank(here, methods.CARD, await self._attempt(here, form, fields))

    async def bank(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Shows the stand-in for the page that a redirect method leads to."""
        here = self._visit(request, secret)
        method = request.fields.get("method", "")
        if not (here.payable and here.offers(method) and methods.kind(method) == "redirect"):
            return redirect(here.address.url())
        return answer(pages.bank_page(here, method))

    async def return_from_bank(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Handles the shopper's answer to a redirect method."""
        form = form_of(request)
        here = self._visit(request, secret)
        method = form.get("method", "")
        fields = {"method": method, "outcome": form.get("answer", "abandon")}
        return _redirect_from_bank(here, method, await self._attempt(here, form, fields))

    async def complete(self, request: AsgiRequest, secret: str) -> HttpReply:
        """Returns to the shop, or shows the last page; a rejected debit leads back to paying."""
        here = self._visit(request, secret)
        if here.payable:
            return redirect(here.address.url(result=pages.FAILED))
        back = here.address.build_return_url(here.order)
        return answer(end_page(here)) if back is None else redirect(back)

    def _visit(self, request: AsgiRequest, secret: str) -> Visit:
        return visit(self._engine, Address.of(secret, request.fields))

    async def _attempt(
        self, here: Visit, form: FormFields, fields: dict[str, Any]
    ) -> Doc | Problem:
        return await attempt.attempt(self._engine, here, form.get("total", ""), fields)

    async def _show_again(
        self, request: AsgiRequest, secret: str, given: Entries, problem: Problem
    ) -> HttpReply:
        """Shows the forms as they were sent, on the order as it is now."""
        here = self._visit(request, secret)
        if not here.payable:  # paid meanwhile: the button was pressed twice, for instance
            return redirect(here.address.url(COMPLETE))
        return answer(
            pages.pay_page(here, pages.draft_declined(here, given, problem)), problem.status
        )


def _challenge_url(here: Visit, given: Entries) -> str:
    """The challenge's address. Only test cards have one, so none shows a shopper's number."""
    card = catalogue.CARDS_BY_NUMBER.get(forms.number_of(here, given))
    return here.address.url(
        CHALLENGE,
        card=card.tag if card else None,
        expiry=given.expiry,
        save_card="on" if given.save_card else None,
        saved=given.saved or None,
    )


def _redirect_from_bank(here: Visit, method: str, result: Doc | Problem) -> HttpReply:
    """Leads on from a bank's page."""
    if not isinstance(result, Problem):
        left = result["order"]["status"] == "requires_payment"
        word = pages.ABANDONED if left else None
    elif result.code == attempt.TOTAL_CHANGED:
        word = pages.CHANGED
    elif result.status == _CARD_ERROR:
        word = pages.FAILED
    elif result.code == _NOT_PAYABLE:
        word = None
    else:
        raise result
    if word is None:
        return redirect(here.address.url(COMPLETE))
    return redirect(here.address.url(result=word, method=method))


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _file(content: str, media_type: str) -> PageAct:
    async def page(*_: object) -> HttpReply:
        return HttpReply(200, content.encode(), media_type=f"{media_type}; charset=utf-8")

    return page
