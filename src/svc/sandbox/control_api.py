"""The `/_sandbox/` surface: guarded, then routed to controls of the engine and of the service."""

import logging
from typing import Final

from starlette.exceptions import HTTPException
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from svc.sandbox import (
    checkout_routes,
    control_faults,
    control_objects,
    control_requests,
)
from svc.sandbox.checkout import control as checkout_control
from svc.sandbox.control_call import route
from svc.sandbox.control_engine import routes as engine_routes
from svc.sandbox.engine import Engine
from svc.sandbox.exchange import Reply, refusal
from svc.sandbox.guard import ERROR_TYPE, check_control
from svc.sandbox.memory import Memory
from svc.sandbox.problems import Problem, internal
from svc.sandbox.reading import CallerGoneError
from svc.spec import REQUEST_ID_HEADER

_log: Final = logging.getLogger(__name__)
_CODES: Final = {404: "endpoint_unknown", 405: "method_not_allowed"}


class ControlApi:
    """An ASGI application; its errors have the shape of the API's and a type of their own."""

    def __init__(self, engine: Engine, memory: Memory) -> None:
        self._engine = engine
        own = (
            *control_objects.CONTROLS,
            *control_faults.controls(memory.faults, memory.webhook_faults),
            *control_requests.controls(memory.log),
            *checkout_control.CONTROLS,
        )
        self._router = Router(
            [
                *engine_routes(engine),
                *(route(engine, control) for control in own),
                *checkout_routes.routes(engine),
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
        except Exception:  # noqa: BLE001  an answer in the error shape, whatever broke
            _log.exception("%s %s broke", scope["method"], scope["path"])
            await self._refused(internal()).send(send)

    def _refused(self, problem: Problem) -> Reply:
        if problem.status != 402:  # noqa: PLR2004  card results keep their type
            problem.type = ERROR_TYPE
        identity = self._engine.request_id()
        return refusal(problem, identity).with_headers((REQUEST_ID_HEADER, identity))


def _unrouted(error: HTTPException, path: str) -> Problem:
    code = _CODES.get(error.status_code, "request_invalid")
    return Problem(error.status_code, code, f"{error.detail}: {path}", headers=error.headers)
