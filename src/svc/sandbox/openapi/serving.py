"""Serving the document at `/_sandbox/openapi.json`, without a key and without a header."""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from starlette.types import Receive, Scope, Send

from svc.sandbox.documents import compact
from svc.sandbox.engine import Engine
from svc.sandbox.exchange import Reply, refusal
from svc.sandbox.guard import ERROR_TYPE
from svc.sandbox.openapi.document import document
from svc.sandbox.operations import Operation
from svc.sandbox.problems import Problem
from svc.spec import REQUEST_ID_HEADER, SANDBOX_ROOT

PATH: Final = f"{SANDBOX_ROOT}/openapi.json"


class Described:
    """An ASGI application that answers GET with the document.

    It says the same to everybody and changes nothing, so a web page may ask for it as well.
    """

    def __init__(self, engine: Engine, operations: Iterable[Operation]) -> None:
        self._engine = engine
        self._operations = tuple(operations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  no body
        identity = self._engine.request_id()
        reply = self._shown if scope["method"] == "GET" else refusal(_wrong_method(), identity)
        await reply.with_headers((REQUEST_ID_HEADER, identity)).send(send)

    @cached_property
    def _shown(self) -> Reply:
        return Reply(200, compact(document(self._operations)))


def _wrong_method() -> Problem:
    message = "GET the document; it takes no other method."
    return Problem(405, "method_not_allowed", message, type=ERROR_TYPE)
