"""Answers the `/_sandbox/` requests: guards them, finds the control, and carries it out.

`svc.sandbox.app` passes them. They come from `svc sandbox ...`, from other commands against a
sandbox (`svc events listen`, `svc keys roll`) and from pytest fixtures. The controls of the log of
requests and of the checkout are declared here, the others in `routes`.
"""

from collections.abc import Callable
from typing import Final

from svc.sandbox.api.memory import KEPT, RequestLog, RunMemory
from svc.sandbox.checkout.visit import Address
from svc.sandbox.control.call import ControlCall, ControlEndpoint, carry_out
from svc.sandbox.control.routes import engine as controls_of_engine
from svc.sandbox.control.routes import faults, lint, resources
from svc.sandbox.engine import Engine
from svc.sandbox.faults import METHODS
from svc.sandbox.http import auth
from svc.sandbox.http.auth import ERROR_TYPE
from svc.sandbox.http.exchange import AsgiRequest, HttpReply, refusal
from svc.sandbox.http.routes import RouteTable
from svc.sandbox.parameters.kinds import Choice, Integer, Text, Timestamp
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import Fields, Parameter, Params
from svc.sandbox.resources import orders, shopper
from svc.sandbox.resources.operation import find_named
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import LIMIT_DEFAULT, REQUEST_ID_HEADER, SANDBOX_KEYS, SANDBOX_ROOT

_DESCRIBED: Final = "/openapi.json"
ControlAct = Callable[[Transaction, Params], Doc | Problem]


def _of_shopper(path: str, act: ControlAct, fields: Fields) -> ControlEndpoint:
    """A control with a key: of a page the publishable one, which decides the mode."""

    async def done(call: ControlCall) -> Doc:
        text = auth.key_text(call.authorization)
        mode = auth.mode_of(text)
        kind = call.engine.read(mode, lambda tx: auth.authenticate(tx, text)["type"])
        _check_key(kind, by_id="order" in call.params)
        result = await call.engine.run(mode, lambda tx: act(tx, call.params))
        if isinstance(result, Problem):
            raise result
        return result

    return ControlEndpoint("POST", path, done, fields, own_mode=True)


def _check_key(kind: str, *, by_id: bool) -> None:
    if by_id and kind != "secret":
        message = "Only a secret key may name the order; a page gives its client_secret."
        raise Problem(403, "secret_key_required", message, param="order")
    if not by_id:
        auth.permit_checkout(kind)


def controls(log: RequestLog) -> tuple[ControlEndpoint, ...]:
    """The controls that list, clear and count the entries of a log of requests."""

    async def show(call: ControlCall) -> Doc:
        return log.page(int(call.params.get("limit", LIMIT_DEFAULT)), call.params)

    async def clear(call: ControlCall) -> Doc:  # noqa: ARG001  a control takes its call
        removed = len(log.search({}))
        log.clear()
        return {"object": "request", "deleted": removed}

    async def verify(call: ControlCall) -> Doc:
        """Counts what fits, against the number that a test expects."""
        found, wanted = len(log.search(call.params)), call.params["count"]
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
    order = call.read(lambda tx: find_named(tx, orders.KIND, call.id))
    secret, key = order["_client_secret"], SANDBOX_KEYS[f"publishable_{call.mode}"]
    shown = {"object": "checkout_url", "order": order["id"], "client_secret": secret}
    return {**shown, "path": Address(secret, key, **call.params).url()}


CONTROLS: Final = (
    ControlEndpoint(
        "GET", "/orders/:id/checkout_url", checkout_url, (Parameter("return_url", Text()),)
    ),
    _of_shopper("/checkout/view", shopper.view, shopper.VIEW),
    _of_shopper("/checkout/pay", shopper.pay, shopper.PAY),
)
_CARD_ERROR: Final = 402


class ControlApi:
    """Answers requests below `/_sandbox/`; errors look like the API's, with a type of their own.

    `described` returns the OpenAPI document of the API. It is the same for every caller, and asking
    for it changes nothing: a web page may do so as well.
    """

    def __init__(
        self, engine: Engine, memory: RunMemory, described: Callable[[], Doc] = dict
    ) -> None:
        async def describe(call: ControlCall) -> Doc:  # noqa: ARG001  a control takes its call
            return described()

        every = (
            *controls_of_engine.CONTROLS,
            *resources.CONTROLS,
            *faults.controls(memory.faults, memory.webhook_faults),
            *controls(memory.log),
            *lint.controls(memory.log),
            *CONTROLS,
            ControlEndpoint("GET", _DESCRIBED, describe),
        )
        self._engine = engine
        self._routes = RouteTable((each.method, SANDBOX_ROOT + each.path, each) for each in every)

    async def answer(self, request: AsgiRequest) -> HttpReply:
        """What a control answers."""
        if request.path != SANDBOX_ROOT + _DESCRIBED:
            auth.check_page(request, from_own=False)
            auth.check_control(request)
        control, identity = self._routes.find(request.method, request.path)
        await request.read(control.limit)
        return await carry_out(self._engine, control, request, identity)

    def refuse(self, problem: Problem, _: AsgiRequest) -> HttpReply:
        if problem.status != _CARD_ERROR:  # which keeps its type
            problem.type = ERROR_TYPE
        identity = self._engine.request_id()
        return refusal(problem, identity).with_headers((REQUEST_ID_HEADER, identity))
