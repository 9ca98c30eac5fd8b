"""How a control is declared (`ControlEndpoint`), how a request to it is read and answered.

A control is an endpoint below `/_sandbox/`. `app` and the modules of `routes` declare controls, as
functions of a `ControlCall`; `app` runs them by `carry_out`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from svc.sandbox.engine import Engine
from svc.sandbox.http.exchange import BODY, AsgiRequest, HttpReply, Limit, Receive
from svc.sandbox.parameters.bodies import DecodedInput, decode_body, decode_query
from svc.sandbox.parameters.kinds import Choice, Integer, Text
from svc.sandbox.parameters.problems import resource_missing
from svc.sandbox.parameters.schema import Schema
from svc.sandbox.parameters.tables import (
    Fields,
    Parameter,
    ParameterKind,
    Params,
    SandboxSettings,
    check,
    coerce,
    refuse_unknown,
)
from svc.sandbox.resources.operation import find_named
from svc.sandbox.store.documents import Doc, compact, public
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import LIMIT_DEFAULT, LIMIT_MAX, MODES, SANDBOX_TIME_HEADER

T = TypeVar("T")
_MODE: Final = Parameter("mode", Choice(MODES))
PAGING: Final[Fields] = (
    Parameter("limit", Integer(1, LIMIT_MAX)),
    Parameter("starting_after", Text()),
)


@dataclass(frozen=True, slots=True)
class ControlCall:
    """One control request, read and checked; `id` is the one in the path.

    `gone` is set when the caller has closed the connection. `authorization` is the header, which
    only the checkout's controls look at.
    """

    engine: Engine
    mode: str
    params: dict[str, Any]
    id: str
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    authorization: str | None = None

    def read(self, find: Callable[[Transaction], T]) -> T:
        """Runs a function that reads, in the call's mode."""
        return self.engine.read(self.mode, find)

    async def run(self, act: Callable[[Transaction], T]) -> T:
        """Changes something in the call's mode."""
        return await self.engine.run(self.mode, act)

    async def change(self, kind: str, act: Callable[[Transaction, Doc, Params], Doc | None]) -> Doc:
        """Runs an action with the document in the path; shows its result, else the document."""

        def change(tx: Transaction) -> Doc:
            doc = find_named(tx, kind, self.id)
            return public(act(tx, doc, self.params) or doc)

        return await self.run(change)

    async def page(
        self, kind: str, find: Callable[[Transaction, int, str | None], tuple[list[Doc], bool]]
    ) -> Doc:
        """One page of a list (assumptions: Lists); `find` gets limit and last id seen."""
        limit = int(self.params.get("limit", LIMIT_DEFAULT))
        after = self.params.get("starting_after")
        try:
            docs, more = self.read(lambda tx: find(tx, limit, after))
        except KeyError:
            raise resource_missing(kind, after or "", "starting_after", 400) from None
        return {"object": "list", "data": docs, "has_more": more}


@dataclass(frozen=True, slots=True)
class ControlEndpoint:
    """One control endpoint: its parameters beside `mode`, and what it does.

    `own_mode` says that a parameter of its own is called `mode`; `limit` is for its body;
    `is_long` that the caller may hang up before it is done.
    """

    method: str
    path: str
    act: Callable[[ControlCall], Awaitable[Doc | HttpReply]]
    fields: Fields = ()
    own_mode: bool = False
    limit: Limit = BODY
    is_long: bool = False


@asynccontextmanager
async def _watch_caller(receive: Receive, gone: asyncio.Event) -> AsyncIterator[None]:
    """Sets `gone` when the caller hangs up: nothing else can come, for its body has been read."""

    async def watch() -> None:
        await receive()
        gone.set()

    watcher = asyncio.create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()


def build_list(data: list[Doc]) -> Doc:
    """Builds a list object of all items."""
    return {"object": "list", "data": data, "has_more": False}


class Unchecked(ParameterKind):
    """A parameter that is not checked here, but by the function that the control calls."""

    def check(self, value: Any, name: str, settings: SandboxSettings) -> Any:  # noqa: ARG002
        return value

    def schema(self, empty: Schema) -> Schema:  # noqa: ARG002
        return {}


async def carry_out(
    engine: Engine, control: ControlEndpoint, request: AsgiRequest, identity: str
) -> HttpReply:
    """The answer of a control, with the time by which its moments are to be read."""
    call = _read(engine, control, request, identity)
    async with _watch_caller(request.receive, call.gone) if control.is_long else nullcontext():
        answer = await control.act(call)
    reply = answer if isinstance(answer, HttpReply) else HttpReply(200, compact(answer))
    return reply.with_headers((SANDBOX_TIME_HEADER, engine.clock.now_text()))


def _read(
    engine: Engine, control: ControlEndpoint, request: AsgiRequest, identity: str
) -> ControlCall:
    fields = control.fields if control.own_mode else (*control.fields, _MODE)
    query = decode_query(request.query)
    given = query
    if request.method == "POST":
        given = decode_body(request.header("content-type"), request.content)
    tree = coerce(fields, given)
    if given is not query:
        tree = {**coerce(fields, DecodedInput(query.tree, textual=True)), **tree}
    refuse_unknown(fields, tree)
    params = check(fields, tree, engine.settings.current)
    mode = "test" if control.own_mode else params.pop("mode", "test")
    return ControlCall(
        engine, mode, params, identity, authorization=request.header("authorization")
    )
