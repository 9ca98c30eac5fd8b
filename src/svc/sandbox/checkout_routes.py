"""The browser's side of an order over HTTP: with its client secret and a publishable key.

Who has a secret key may name the order instead: the client secret is told once, and who writes a
test may have lost it. A page has neither, there as here.
"""

from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from svc.sandbox import auth, checkout_pay
from svc.sandbox.bodies import decode_body
from svc.sandbox.documents import Doc, compact
from svc.sandbox.engine import Engine
from svc.sandbox.params import Fields, Params, check, coerce, refuse_unknown
from svc.sandbox.problems import Problem
from svc.sandbox.reading import BODY, read_body
from svc.sandbox.world import World
from svc.spec import SANDBOX_ROOT

_ROOT: Final = SANDBOX_ROOT + "/checkout"
Act = Callable[[World, Params], Doc | Problem]


def routes(engine: Engine) -> list[Route]:
    """Looking at a checkout, and paying."""
    return [
        _route(engine, "/view", checkout_pay.view, checkout_pay.VIEW),
        _route(engine, "/pay", checkout_pay.pay, checkout_pay.PAY),
    ]


def _route(engine: Engine, path: str, act: Act, fields: Fields) -> Route:
    async def endpoint(request: Request) -> Response:
        text = auth.key_text(request.headers.get("authorization"))
        mode = auth.mode_of(text)
        kind = await engine.read(mode, lambda world: auth.authenticate(world, text)["type"])
        given = decode_body(
            request.headers.get("content-type"),
            await read_body(request.scope, request.receive, BODY),
        )
        tree = coerce(fields, given)
        _check_key(kind, by_id="order" in tree)
        refuse_unknown(fields, tree)
        params = check(fields, tree, engine.settings)
        result = await engine.run(mode, lambda world: act(world, params))
        if isinstance(result, Problem):
            raise result
        return Response(compact(result), media_type="application/json; charset=utf-8")

    return Route(_ROOT + path, endpoint, methods=["POST"])


def _check_key(kind: str, *, by_id: bool) -> None:
    if by_id and kind != "secret":
        message = "Only a secret key may name the order; a page gives its client_secret."
        raise Problem(403, "secret_key_required", message, param="order")
    if not by_id and kind != "publishable":
        message = "The checkout takes a publishable key; secret keys stay on the server."
        raise Problem(403, "publishable_key_required", message)
