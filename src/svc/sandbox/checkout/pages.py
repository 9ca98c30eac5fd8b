"""The checkout as one ASGI application: its routes, and a page for everything that goes wrong."""

import logging
from typing import Final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from svc.sandbox.checkout.developer import key_note
from svc.sandbox.checkout.languages import ENGLISH, Language, named
from svc.sandbox.checkout.page import answer, plain_page
from svc.sandbox.checkout.routes import routes
from svc.sandbox.engine import Engine
from svc.sandbox.problems import Problem
from svc.sandbox.reading import CallerGoneError

_log: Final = logging.getLogger(__name__)
_NOT_FOUND: Final = 404
_KEY_CODES: Final = frozenset(
    {"api_key_expired", "api_key_invalid", "api_key_missing", "publishable_key_required"}
)


class Pages:
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
        except Exception:  # noqa: BLE001  a page in the shopper's language, whatever broke
            _log.exception("a %s of the checkout broke", scope["method"])
            page = answer(plain_page(_language(scope), "broken"), 500)
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
