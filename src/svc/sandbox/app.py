"""The sandbox as one ASGI application: store, engine and surface, put together."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from svc.clock import Clock, SystemClock
from svc.errors import LocalError
from svc.sandbox.api.memory import RunMemory
from svc.sandbox.api.requests import Api, RateLimit
from svc.sandbox.checkout.app import CheckoutApp
from svc.sandbox.checkout.home import HOME, HomePage
from svc.sandbox.checkout.visit import ROOT as CHECKOUT_ROOT
from svc.sandbox.control.app import ControlApi
from svc.sandbox.control.fixtures import FIXTURES, fill
from svc.sandbox.engine import Engine
from svc.sandbox.http.auth import check_framing, check_host, check_page
from svc.sandbox.http.exchange import HttpReply, refusal
from svc.sandbox.jobs.handlers import HANDLERS
from svc.sandbox.openapi import document
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources.operation import ApiOperation, ApiRoutes
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.sender import WebhookSender
from svc.service.facts import API_ROOT, REQUEST_ID_HEADER, SANDBOX_ROOT, VERSION_HEADER, VERSIONS


def build_app(
    engine: Engine,
    *,
    memory: RunMemory,
    real_clock: Clock,
    strict_https: bool,
    operations: Iterable[ApiOperation],
) -> "Front":
    """Puts the surface on an engine; `real_clock` measures the rate limit."""
    limit = RateLimit(real_clock)
    api = Api(engine, ApiRoutes(operations), memory, limit, strict_https=strict_https)
    described = document.Described(engine)
    home = HomePage(document.PATH)
    return Front(engine, api, ControlApi(engine, memory), CheckoutApp(engine), described, home)


_Room: TypeAlias = Api | ControlApi | CheckoutApp | document.Described | HomePage
_FOR_ANY_PAGE: Final = (CheckoutApp, document.Described)


class Front:
    """An ASGI application: sends a request to API, controls or checkout, by the scope's path."""

    def __init__(
        self,
        engine: Engine,
        api: Api,
        controls: ControlApi,
        pages: CheckoutApp,
        described: document.Described,
        home: HomePage,
    ) -> None:
        self._engine = engine
        self._alone: dict[str, _Room] = {document.PATH: described, HOME: home}
        self._rooms = (
            (API_ROOT + "/", api),
            (SANDBOX_ROOT + "/", controls),
            (CHECKOUT_ROOT + "/", pages),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            check_framing(scope)
            check_host(scope)
            room = self._room(scope["path"])
            if not isinstance(room, _FOR_ANY_PAGE):
                check_page(scope, from_own=isinstance(room, HomePage))
            await room(scope, receive, send)
        except Problem as problem:
            await self.refused(problem).send(send)

    def refused(self, problem: Problem) -> HttpReply:
        """The answer to what reaches no room, with the headers of every answer."""
        identity = self._engine.request_id()
        version = self._engine.settings["pinned_version"] or VERSIONS[-1]
        return refusal(problem, identity).with_headers(
            (REQUEST_ID_HEADER, identity), (VERSION_HEADER, str(version))
        )

    def _room(self, path: str) -> "_Room":
        alone = self._alone.get(path)
        if alone is not None:
            return alone
        for prefix, room in self._rooms:
            if path.startswith(prefix):
                return room
        raise Problem(404, "endpoint_unknown", f"There is no endpoint {path}.")


def create_app(
    db_path: str,
    *,
    seed: int | None = None,
    fixture: str | None = None,
    strict_https: bool = False,
    real_clock: Clock | None = None,
    sender: WebhookSender | None = None,
    operations: Iterable[ApiOperation] = document.OPERATIONS,
) -> Starlette:
    """Opens the sandbox in `db_path` (or `:memory:`); a new one is filled with its fixture.

    The engine runs while the application's lifespan does; after its end the application is spent.
    `strict_https` refuses plain HTTP on `/v1`, as the real service does; `operations` are what
    there is below it.

    Raises:
        LocalError: no such fixture; and from the lifespan: the file cannot be opened, is in use,
            damaged or not ours.
    """
    if fixture is not None and fixture not in FIXTURES:
        raise LocalError(f"There is no fixture {fixture}; there is: {', '.join(FIXTURES)}.")
    clock, memory = real_clock or SystemClock(), RunMemory()
    place = StartedSurface()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # Opened here and not before: SQLite binds a connection to its thread, and this is the
        # loop's.
        engine = _open_engine(db_path, memory, seed, clock, sender, place.begun)
        place.app = build_app(
            engine,
            memory=memory,
            real_clock=clock,
            strict_https=strict_https,
            operations=operations,
        )
        async with _running(engine, seed, fixture):
            yield

    app = _Application(lifespan=lifespan)
    app.state.surface = place
    return app


def _open_engine(
    db_path: str,
    memory: RunMemory,
    seed: int | None,
    clock: Clock,
    sender: WebhookSender | None,
    under_way: Callable[[], int],
) -> Engine:
    """The engine over a store; where it is filled anew, the memory of the run is empty."""

    def refill(test: Transaction, live: Transaction, name: str | None) -> None:
        fill(test, live, name)
        memory.forget()  # last: a name that there is not changes nothing

    return Engine(
        Store.open(db_path),
        handlers=HANDLERS,
        fixture=refill,
        seed=seed,
        clock=clock,
        sender=sender,
        webhook_faults=memory.webhook_faults,
        under_way=under_way,
    )


@asynccontextmanager
async def _running(engine: Engine, seed: int | None, fixture: str | None) -> AsyncIterator[None]:
    try:
        if engine.is_new:
            await engine.reset(seed=seed, fixture=fixture)
        await engine.start()
        yield
    finally:
        await engine.stop()


class _Application(Starlette):
    """What is served, by the server and by tests alike: of Starlette the lifespan alone.

    Its routes match no path with a line break in it. What breaks is answered with 500 and logged by
    the server, as its middlewares would, and every request is quicker.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["app"] = self  # or the routers inside would answer in their own words
            await self.state.surface(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class StartedSurface:
    """Where the surface stands once the lifespan has begun.

    `under_way` is what a server has begun to answer; without one nobody knows of others.
    """

    app: Front
    under_way: Collection[object] = ()

    def refuse(self, problem: Problem) -> HttpReply:
        return self.app.refused(problem)

    def begun(self) -> int:
        """How many requests have begun and are not answered."""
        return len(self.under_way)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)
