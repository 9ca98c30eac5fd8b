"""The `/_sandbox/` surface: guarded, then routed to controls of the engine and of the service."""

import logging
from collections.abc import Callable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from svc.sandbox.api.memory import KEPT, RequestLog, RunMemory
from svc.sandbox.checkout.visit import Address
from svc.sandbox.control import engine as controls_of_engine
from svc.sandbox.control import faults, lint, resources
from svc.sandbox.control.call import ControlCall, ControlEndpoint, json_response, route
from svc.sandbox.engine import Engine
from svc.sandbox.faults import METHODS
from svc.sandbox.http import auth
from svc.sandbox.http.auth import ERROR_TYPE, check_control
from svc.sandbox.http.exchange import BODY, CallerGoneError, HttpReply, failure, read_body, refusal
from svc.sandbox.parameters.bodies import decode_body
from svc.sandbox.parameters.kinds import Choice, Integer, Text, Timestamp
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import Fields, Parameter, Params, check, coerce, refuse_unknown
from svc.sandbox.resources import orders, shopper
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import LIMIT_DEFAULT, REQUEST_ID_HEADER, SANDBOX_ROOT

_ROOT: Final = SANDBOX_ROOT + "/checkout"
ControlAct = Callable[[Transaction, Params], Doc | Problem]


def routes(engine: Engine) -> list[Route]:
    """Looking at a checkout, and paying."""
    return [
        _route(engine, "/view", shopper.view, shopper.VIEW),
        _route(engine, "/pay", shopper.pay, shopper.PAY),
    ]


def _route(engine: Engine, path: str, act: ControlAct, fields: Fields) -> Route:
    async def endpoint(request: Request) -> Response:
        text = auth.key_text(request.headers.get("authorization"))
        mode = auth.mode_of(text)
        kind = await engine.read(mode, lambda tx: auth.authenticate(tx, text)["type"])
        given = decode_body(
            request.headers.get("content-type"),
            await read_body(request.scope, request.receive, BODY),
        )
        tree = coerce(fields, given)
        _check_key(kind, by_id="order" in tree)
        refuse_unknown(fields, tree)
        params = check(fields, tree, engine.settings)
        result = await engine.run(mode, lambda tx: act(tx, params))
        if isinstance(result, Problem):
            raise result
        return json_response(engine, result)

    return Route(_ROOT + path, endpoint, methods=["POST"])


def _check_key(kind: str, *, by_id: bool) -> None:
    if by_id and kind != "secret":
        message = "Only a secret key may name the order; a page gives its client_secret."
        raise Problem(403, "secret_key_required", message, param="order")
    if not by_id and kind != "publishable":
        message = "The checkout takes a publishable key; secret keys stay on the server."
        raise Problem(403, "publishable_key_required", message)


def controls(log: RequestLog) -> tuple[ControlEndpoint, ...]:
    """The controls over one log."""

    async def show(call: ControlCall) -> Doc:
        return log.page(int(call.params.get("limit", LIMIT_DEFAULT)), call.params)

    async def clear(call: ControlCall) -> Doc:  # noqa: ARG001  a control takes its call
        removed = len(log.found({}))
        log.clear()
        return {"object": "request", "deleted": removed}

    async def verify(call: ControlCall) -> Doc:
        """Counts what fits, against the number that a test expects."""
        found, wanted = len(log.found(call.params)), call.params["count"]
        return {"object": "verification", "wanted": wanted, "found": found, "ok": found == wanted}

    limit = Parameter("limit", Integer(1, KEPT))
    count = Parameter("count", Integer(0, KEPT), required=True)
    return (
        ControlEndpoint("GET", "/requests", show, (limit, *_WHICH)),
        ControlEndpoint("DELETE", "/requests", clear),
        ControlEndpoint("POST", "/requests/verify", verify, (count, *_WHICH)),
    )


_WHICH: Final = (
    Parameter("method", Choice(METHODS)),
    Parameter("path", Text()),
    Parameter("status", Integer(100, 599)),
    Parameter("since", Timestamp(up=True)),
    Parameter("until", Timestamp()),
    Parameter("body", Text()),
)


async def checkout_url(call: ControlCall) -> Doc:
    """The path of an order's checkout page; its origin is that of this call."""
    order = await call.read(lambda tx: tx.named(orders.KIND, call.id))
    secret = order["_client_secret"]
    shown = {"object": "checkout_url", "order": order["id"], "client_secret": secret}
    return {**shown, "path": Address(secret).url()}


CONTROLS: Final = (ControlEndpoint("GET", "/orders/{id}/checkout_url", checkout_url),)


_log: Final = logging.getLogger(__name__)
_CODES: Final = {404: "endpoint_unknown", 405: "method_not_allowed"}


class ControlApi:
    """An ASGI application; its errors have the shape of the API's and a type of their own."""

    def __init__(self, engine: Engine, memory: RunMemory) -> None:
        self._engine = engine
        own = (
            *controls_of_engine.CONTROLS,
            *resources.CONTROLS,
            *faults.controls(memory.faults, memory.webhook_faults),
            *controls(memory.log),
            *lint.controls(memory.log),
            *CONTROLS,
        )
        self._router = Router(
            [
                *(route(engine, control) for control in own),
                *routes(engine),
            ],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            check_control(scope)
            await self._router(scope, receive, send)
        except Problem as problem:
            await self._refused(problem).send(send)
        except HTTPException as error:
            await self._refused(_unrouted(error, scope["path"])).send(send)
        except CallerGoneError:
            return
        except Exception as error:  # noqa: BLE001  an answer in the error shape, whatever broke
            _log.exception("%s %s broke", scope["method"], scope["path"])
            await self._refused(failure(error)).send(send)

    def _refused(self, problem: Problem) -> HttpReply:
        if problem.status != 402:  # noqa: PLR2004  card results keep their type
            problem.type = ERROR_TYPE
        identity = self._engine.request_id()
        return refusal(problem, identity).with_headers((REQUEST_ID_HEADER, identity))


def _unrouted(error: HTTPException, path: str) -> Problem:
    code = _CODES.get(error.status_code, "request_invalid")
    return Problem(error.status_code, code, f"{error.detail}: {path}", headers=error.headers)
