"""The requests that a sandbox has answered, for a person who watches it."""

import time
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svc.spec import SANDBOX_ROOT

_CONTROLS: Final = f"{SANDBOX_ROOT}/"


class ServedRequest(NamedTuple):
    """One request with its answer; `status` is None where none has left."""

    method: str
    path: str
    status: int | None
    milliseconds: float


OnServed: TypeAlias = Callable[[ServedRequest], None]


class Watched:
    """An app whose requests are told, each when it has ended.

    Reading controls are not: that is how svc itself looks at a sandbox, with every command.
    """

    def __init__(self, app: ASGIApp, on_served: OnServed) -> None:
        self._app = app
        self._on_served = on_served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_a_look(scope):
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), None

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            took = (time.perf_counter() - begun) * 1000
            self._on_served(ServedRequest(scope["method"], scope["path"], status, took))


def _is_a_look(scope: Scope) -> bool:
    return scope["method"] == "GET" and str(scope["path"]).startswith(_CONTROLS)
