"""The sandbox as one ASGI application: store, engine and surface, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from svc.clock import Clock, SystemClock
from svc.errors import LocalError
from svc.sandbox.app import Front, build_app
from svc.sandbox.delivery import Sender
from svc.sandbox.engine import Engine
from svc.sandbox.exchange import Reply
from svc.sandbox.fixture import FIXTURES, fill
from svc.sandbox.lifecycle import HANDLERS
from svc.sandbox.memory import Memory
from svc.sandbox.problems import Problem
from svc.sandbox.store import Store
from svc.sandbox.world import World


def create_app(
    db_path: str,
    *,
    seed: int | None = None,
    fixture: str | None = None,
    strict_https: bool = False,
    real_clock: Clock | None = None,
    sender: Sender | None = None,
) -> Starlette:
    """Opens the sandbox in `db_path` (or `:memory:`); a new one is filled with its fixture.

    The engine runs while the application's lifespan does; after its end the application is spent.
    `strict_https` refuses plain HTTP on `/v1`, as the real service does.

    Raises:
        LocalError: no such fixture; and from the lifespan: the file cannot be opened, is in use,
            damaged or not ours.
    """
    if fixture is not None and fixture not in FIXTURES:
        raise LocalError(f"There is no fixture {fixture}; there is: {', '.join(FIXTURES)}.")
    clock, memory = real_clock or SystemClock(), Memory()

    place = _Place()

    def refill(test: World, live: World, name: str | None) -> None:
        memory.forget()
        fill(test, live, name)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # Opened here and not before: SQLite binds a connection to its thread, and this is the
        # loop's.
        store = Store.open(db_path)
        engine = Engine(
            store,
            handlers=HANDLERS,
            fixture=refill,
            seed=seed,
            clock=clock,
            sender=sender,
            webhook_faults=memory.webhook_faults,
        )
        place.app = build_app(engine, memory=memory, real_clock=clock, strict_https=strict_https)
        try:
            if engine.is_new:
                await engine.reset(seed=seed, fixture=fixture)
            await engine.start()
            yield
        finally:
            await engine.stop()

    app = Starlette(lifespan=lifespan)
    # Not mounted as a route: a route's pattern does not match a path with a line break in it.
    app.router.default = place
    app.state.refuse = place.refuse
    return app


class _Place:
    """Where the surface stands once the lifespan has begun."""

    app: Front

    def refuse(self, problem: Problem) -> Reply:
        return self.app.refused(problem)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)
