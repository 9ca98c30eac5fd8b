"""The checkout as one ASGI application: routes read a request, ask the rules, answer a page."""

import logging
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from svc.html import stylesheet
from svc.sandbox.checkout import attempt, forms, pages, test_cards
from svc.sandbox.checkout.developer import key_note
from svc.sandbox.checkout.forms import Entries
from svc.sandbox.checkout.languages import ENGLISH, Language, named
from svc.sandbox.checkout.layout import HEADERS, ICON, SCRIPT, STYLE, answer, plain_page, redirect
from svc.sandbox.checkout.pages import end_page
from svc.sandbox.checkout.visit import BANK, CHALLENGE, COMPLETE, ROOT, Address, Visit, visit
from svc.sandbox.engine import Engine
from svc.sandbox.http.exchange import CallerGoneError, Limit, failure, read_body
from svc.sandbox.parameters.bodies import FORM_TYPE, decode_form
from svc.sandbox.parameters.problems import Problem, invalid
from svc.sandbox.reference import methods
from svc.sandbox.store.documents import Doc

_LIMIT: Final = Limit(16 * 1024)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that one of our own pages sent.

    Raises:
        Problem: 403 if another site sent it, 413 or 415 or 400 if it is no form of ours.
    """
    check_origin(request)
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != FORM_TYPE:
        raise Problem(415, "unsupported_media_type", f"Forms are sent as {FORM_TYPE}.")
    tree = decode_form(await read_body(request.scope, request.receive, _LIMIT))
    return {name: text for name, text in tree.items() if isinstance(text, str)}


def check_origin(request: Request) -> None:
    """Refuses what another site's page has the browser send.

    A browser says so in Sec-Fetch-Site. Our pages send no referrer, which makes it write
    `Origin: null`; an older one that knows no Sec-Fetch-Site has to name our own origin.

    Raises:
        Problem: 403 `origin_not_allowed`.
    """
    own = f"{request.url.scheme}://{request.headers.get('host', '')}".lower()
    origin = request.headers.get("origin", "null").lower()
    site = request.headers.get("sec-fetch-site")
    proven = site == "same-origin" and origin == "null"
    if site not in (None, "same-origin") or not (proven or origin == own):
        raise Problem(403, "origin_not_allowed", "Only the checkout's own pages may send this.")


FormFields = dict[str, str]
_ORDER: Final = f"{ROOT}/{{secret}}"
_CARD_ERROR: Final = 402
_NOT_PAYABLE: Final = "order_unexpected_state"


def routes(engine: Engine) -> list[Route]:
    """Every page of the checkout; refusals leave it as Problem (see `pages.Pages`)."""
    checkout = Checkout(engine)
    return [
        _served(STYLE, stylesheet(_text("style.css")), "text/css"),
        _served(ICON, _text("icon.svg"), "image/svg+xml"),
        _served(SCRIPT, _text("card.js"), "text/javascript"),
        Route(_ORDER, checkout.show, methods=["GET"]),
        Route(_ORDER, checkout.pay, methods=["POST"]),
        Route(_ORDER + CHALLENGE, checkout.challenge, methods=["GET"]),
        Route(_ORDER + CHALLENGE, checkout.meet_challenge, methods=["POST"]),
        Route(_ORDER + BANK, checkout.bank, methods=["GET"]),
        Route(_ORDER + BANK, checkout.return_from_bank, methods=["POST"]),
        Route(_ORDER + COMPLETE, checkout.complete, methods=["GET"]),
    ]


class Checkout:
    """The endpoints. An order that is not to be paid any more leads to its last page."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def show(self, request: Request) -> Response:
        """Shows the order and the ways to pay it."""
        here, query = await self._visit(request), request.query_params
        if not here.payable:
            return redirect(here.address.url(COMPLETE))
        draft = pages.fresh(here, query.get("result"), query.get("method"))
        return answer(pages.pay_page(here, draft), scripted=True)

    async def pay(self, request: Request) -> Response:
        """Takes a payment form: pays, or leads to the bank that has to be asked first."""
        form = await form_of(request)
        here = await self._visit(request, form)
        given = forms.read(form, here.today)
        if not here.payable:
            return redirect(here.address.url(COMPLETE))
        if given.method not in here.order["methods"]:
            problem = invalid("method_not_offered", "method", "The order does not offer it.")
            return await self._again(request, form, given, problem)
        if methods.kind(given.method) == "redirect":
            return redirect(here.address.url(BANK, method=given.method))
        absent = forms.absent(given)
        if absent:
            draft = pages.incomplete(here, given, absent)
            return answer(pages.pay_page(here, draft), 400, scripted=True)
        fields = forms.payment_fields(given)
        if attempt.needs_challenge(fields, here.today):
            return redirect(_challenge_url(here, given))
        result = await self._attempt(here, form, fields)
        if isinstance(result, Problem):
            return await self._again(request, form, given, result)
        return redirect(here.address.url(COMPLETE))

    async def challenge(self, request: Request) -> Response:
        """Shows the stand-in for the page of the card's bank."""
        here, query = await self._visit(request), request.query_params
        card = test_cards.challenged_card(query.get("card", ""))
        if card is None or not here.payable:
            return redirect(here.address.url())
        expiry, save = query.get("expiry", ""), query.get("save_card")
        return answer(pages.challenge_page(here, card, expiry, save))

    async def meet_challenge(self, request: Request) -> Response:
        """Takes the shopper's answer to the card's bank."""
        form = await form_of(request)
        here = await self._visit(request, form)
        card = test_cards.challenged_card(form.get("card", ""))
        if card is None:
            return redirect(here.address.url())
        given = forms.filled(forms.read(form, here.today), card, form.get("expiry", ""))
        fields = {**forms.payment_fields(given), "three_ds": form.get("answer", "abandon")}
        return _returned(here, methods.CARD, await self._attempt(here, form, fields))

    async def bank(self, request: Request) -> Response:
        """Shows the stand-in for the page that a redirect method leads to."""
        here = await self._visit(request)
        method = request.query_params.get("method", "")
        offered = method in here.order["methods"] and methods.kind(method) == "redirect"
        if not offered or not here.payable:
            return redirect(here.address.url())
        return answer(pages.bank_page(here, method))

    async def return_from_bank(self, request: Request) -> Response:
        """Takes the shopper's answer to a redirect method."""
        form = await form_of(request)
        here = await self._visit(request, form)
        method = form.get("method", "")
        fields = {"method": method, "outcome": form.get("answer", "abandon")}
        return _returned(here, method, await self._attempt(here, form, fields))

    async def complete(self, request: Request) -> Response:
        """Shows the last page; a debit that the bank rejected leads back to paying."""
        here = await self._visit(request)
        if here.payable:
            return redirect(here.address.url(result=pages.FAILED))
        return answer(end_page(here))

    async def _visit(self, request: Request, form: FormFields | None = None) -> Visit:
        """Looks at the order; a form says itself with which key its page was mounted."""
        query = request.query_params
        address = Address(request.path_params["secret"], query.get("lang"), query.get("key"))
        return await visit(self._engine, address, (form or {}).get("key"))

    async def _attempt(
        self, here: Visit, form: FormFields, fields: dict[str, Any]
    ) -> Doc | Problem:
        return await attempt.attempt(self._engine, here, form.get("total", ""), fields)

    async def _again(
        self, request: Request, form: FormFields, given: Entries, problem: Problem
    ) -> Response:
        """Shows the forms as they were sent, on the order as it is now."""
        here = await self._visit(request, form)
        if not here.payable:  # paid meanwhile: the button was pressed twice, for instance
            return redirect(here.address.url(COMPLETE))
        draft = pages.declined(here, given, problem)
        return answer(pages.pay_page(here, draft), problem.status, scripted=True)


def _challenge_url(here: Visit, given: Entries) -> str:
    """The challenge's address. Only test cards have one, so none shows a shopper's number."""
    card = test_cards.card_of_number(given.plain_number)
    save = "on" if given.save_card else None
    return here.address.url(
        CHALLENGE, card=card.tag if card else None, expiry=given.expiry, save_card=save
    )


def _returned(here: Visit, method: str, result: Doc | Problem) -> Response:
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


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _served(path: str, content: str, media_type: str) -> Route:
    async def endpoint(_: Request) -> Response:
        return Response(content, headers=HEADERS, media_type=media_type)

    return Route(path, endpoint, methods=["GET"])


_log: Final = logging.getLogger(__name__)
_NOT_FOUND: Final = 404
_KEY_CODES: Final = frozenset(
    {"api_key_expired", "api_key_invalid", "api_key_missing", "publishable_key_required"}
)


class CheckoutApp:
    """Serves everything below `/checkout/`."""

    def __init__(self, engine: Engine) -> None:
        self._router = Router(routes(engine), redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._router(scope, receive, send)
        except CallerGoneError:
            return
        except Problem as problem:
            await _refusal(scope, problem)(scope, receive, send)
        except HTTPException as error:
            unrouted = Problem(error.status_code, "endpoint_unknown", error.detail)
            await _refusal(scope, unrouted)(scope, receive, send)
        except Exception as error:  # noqa: BLE001  a page in the shopper's language, whatever broke
            _log.exception("a %s of the checkout broke", scope["method"])
            page = answer(plain_page(_language(scope), "broken"), failure(error).status)
            await page(scope, receive, send)


def _refusal(scope: Scope, problem: Problem) -> Response:
    """A plain page; what a developer did wrong with the key is told to the developer."""
    language = _language(scope)
    if problem.code in _KEY_CODES:  # no 401: the browser would ask for a password
        return answer(plain_page(language, "refused", key_note(problem.message)), 403)
    text = "missing_page" if problem.status == _NOT_FOUND else "refused"
    return answer(plain_page(language, text), problem.status)


def _language(scope: Scope) -> Language:
    """The language that the address asks for: no order says another."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("lang", [""])
    return named(asked[0]) or ENGLISH
