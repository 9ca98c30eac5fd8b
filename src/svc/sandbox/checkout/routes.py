"""The checkout's routes: each reads the request, asks the rules, and answers with a page."""

from importlib.resources import files
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from svc.sandbox import methods
from svc.sandbox.checkout import attempt, entries, pay_page, stand_ins, trials
from svc.sandbox.checkout.address import BANK, CHALLENGE, COMPLETE, ROOT, Address
from svc.sandbox.checkout.ending import end_page
from svc.sandbox.checkout.entries import Entries
from svc.sandbox.checkout.incoming import form_of
from svc.sandbox.checkout.page import HEADERS, ICON, STYLE, answer, redirect
from svc.sandbox.checkout.visit import Visit, visit
from svc.sandbox.documents import Doc
from svc.sandbox.engine import Engine
from svc.sandbox.problems import Problem, invalid

Form = dict[str, str]
_ORDER: Final = f"{ROOT}/{{secret}}"
_CARD_ERROR: Final = 402
_NOT_PAYABLE: Final = "order_unexpected_state"


def routes(engine: Engine) -> list[Route]:
    """Every page of the checkout; refusals leave it as Problem (see `pages.Pages`)."""
    checkout = Checkout(engine)
    return [
        _file(STYLE, "style.css", "text/css; charset=utf-8"),
        _file(ICON, "icon.svg", "image/svg+xml"),
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
        draft = pay_page.fresh(here, query.get("result"), query.get("method"))
        return answer(pay_page.pay_page(here, draft))

    async def pay(self, request: Request) -> Response:
        """Takes a payment form: pays, or leads to the bank that has to be asked first."""
        form = await form_of(request)
        here = await self._visit(request, form)
        given = entries.read(form, here.today)
        if not here.payable:
            return redirect(here.address.url(COMPLETE))
        if given.method not in here.order["methods"]:
            problem = invalid("method_not_offered", "method", "The order does not offer it.")
            return await self._again(request, form, given, problem)
        if methods.kind(given.method) == "redirect":
            return redirect(here.address.url(BANK, method=given.method))
        absent = entries.absent(given)
        if absent:
            return answer(pay_page.pay_page(here, pay_page.incomplete(here, given, absent)), 400)
        fields = entries.payment_fields(given)
        if attempt.needs_challenge(fields, here.today):
            return redirect(_challenge_url(here, given))
        result = await self._attempt(here, form, fields)
        if isinstance(result, Problem):
            return await self._again(request, form, given, result)
        return redirect(here.address.url(COMPLETE))

    async def challenge(self, request: Request) -> Response:
        """Shows the stand-in for the page of the card's bank."""
        here, query = await self._visit(request), request.query_params
        card = trials.challenged_card(query.get("card", ""))
        if card is None or not here.payable:
            return redirect(here.address.url())
        expiry, save = query.get("expiry", ""), query.get("save_card")
        return answer(stand_ins.challenge_page(here, card, expiry, save))

    async def meet_challenge(self, request: Request) -> Response:
        """Takes the shopper's answer to the card's bank."""
        form = await form_of(request)
        here = await self._visit(request, form)
        card = trials.challenged_card(form.get("card", ""))
        if card is None:
            return redirect(here.address.url())
        given = entries.filled(entries.read(form, here.today), card, form.get("expiry", ""))
        fields = {**entries.payment_fields(given), "three_ds": form.get("answer", "abandon")}
        return _returned(here, methods.CARD, await self._attempt(here, form, fields))

    async def bank(self, request: Request) -> Response:
        """Shows the stand-in for the page that a redirect method leads to."""
        here = await self._visit(request)
        method = request.query_params.get("method", "")
        offered = method in here.order["methods"] and methods.kind(method) == "redirect"
        if not offered or not here.payable:
            return redirect(here.address.url())
        return answer(stand_ins.bank_page(here, method))

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
            return redirect(here.address.url(result=pay_page.FAILED))
        return answer(end_page(here))

    async def _visit(self, request: Request, form: Form | None = None) -> Visit:
        """Looks at the order; a form says itself with which key its page was mounted."""
        query = request.query_params
        address = Address(request.path_params["secret"], query.get("lang"), query.get("key"))
        return await visit(self._engine, address, (form or {}).get("key"))

    async def _attempt(self, here: Visit, form: Form, fields: dict[str, Any]) -> Doc | Problem:
        return await attempt.attempt(self._engine, here, form.get("total", ""), fields)

    async def _again(
        self, request: Request, form: Form, given: Entries, problem: Problem
    ) -> Response:
        """Shows the forms as they were sent, on the order as it is now."""
        here = await self._visit(request, form)
        if not here.payable:  # paid meanwhile: the button was pressed twice, for instance
            return redirect(here.address.url(COMPLETE))
        return answer(
            pay_page.pay_page(here, pay_page.declined(here, given, problem)), problem.status
        )


def _challenge_url(here: Visit, given: Entries) -> str:
    """The challenge's address. Only test cards have one, so none shows a shopper's number."""
    card = trials.card_of_number(given.plain_number)
    save = "on" if given.save_card else None
    return here.address.url(
        CHALLENGE, card=card.tag if card else None, expiry=given.expiry, save_card=save
    )


def _returned(here: Visit, method: str, result: Doc | Problem) -> Response:
    """Leads on from a bank's page."""
    if not isinstance(result, Problem):
        left = result["order"]["status"] == "requires_payment"
        word = pay_page.ABANDONED if left else None
    elif result.code == attempt.TOTAL_CHANGED:
        word = pay_page.CHANGED
    elif result.status == _CARD_ERROR:
        word = pay_page.FAILED
    elif result.code == _NOT_PAYABLE:
        word = None
    else:
        raise result
    if word is None:
        return redirect(here.address.url(COMPLETE))
    return redirect(here.address.url(result=word, method=method))


def _file(path: str, name: str, media_type: str) -> Route:
    content = files(__package__).joinpath(name).read_bytes()

    async def endpoint(_: Request) -> Response:
        return Response(content, headers=HEADERS, media_type=media_type)

    return Route(path, endpoint, methods=["GET"])
