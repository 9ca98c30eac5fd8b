"""The sandbox as one ASGI application: joins store, engine, API, controls and checkout.

`process.serve` serves a `SandboxApp` over HTTP; tests call it directly. Each request is passed by
its path to `api`, `control` or `checkout`, and its answer sent, or broken where a fault rule says
so.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from svc.clock import Clock, SystemClock
from svc.errors import LocalError
from svc.sandbox.api.memory import RunMemory
from svc.sandbox.api.requests import Api, RateLimit
from svc.sandbox.checkout.app import MOUNT, Checkout
from svc.sandbox.checkout.home import HOME
from svc.sandbox.checkout.visit import ROOT
from svc.sandbox.control.app import ControlApi
from svc.sandbox.control.fixtures import fill
from svc.sandbox.engine import Engine
from svc.sandbox.faults.api import send_broken
from svc.sandbox.http.auth import NOT_PUBLISHABLE, check_framing, check_host, check_page
from svc.sandbox.http.exchange import (
    AsgiRequest,
    AsgiScope,
    CallerGoneError,
    HttpReply,
    Receive,
    Send,
    failure,
)
from svc.sandbox.http.routes import RouteTable
from svc.sandbox.jobs.handlers import HANDLERS
from svc.sandbox.openapi import document
from svc.sandbox.options import LaunchOptions
from svc.sandbox.parameters.problems import Problem, build_endpoint_unknown
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.sender import HttpSender, WebhookSender
from svc.service.facts import API_ROOT, SANDBOX_ROOT

_CONTROLS: Final = f"{SANDBOX_ROOT}/"
_UNSENT: Final = ("close", "reset")  # faults that leave no answer at all


@dataclass
class SandboxApp:
    """An ASGI application: one run of the sandbox, which lasts as long as the block of `run`.

    Attributes:
        under_way: the requests that the server has begun to answer.
        on_served: called after each request with method, path, status and milliseconds; the status
            is None if no answer was sent.
        api: while it runs, what answers `/v1`, and refuses what is no request.
    """

    options: LaunchOptions
    real_clock: Clock = field(default_factory=SystemClock)
    sender: WebhookSender | None = None
    under_way: Collection[object] = ()
    on_served: Callable[[str, str, int | None, float], None] | None = None
    api: Api = field(init=False)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        begun, reply, request = time.perf_counter(), None, AsgiRequest(scope, receive)
        try:
            reply = await self._reply(request)
            if reply is not None and reply.connection is not None:
                await send_broken(reply, receive, send)
            elif reply is not None:
                await reply.send(send)
        finally:
            # A control that is only read is how svc itself looks at a sandbox each time.
            is_look = request.method == "GET" and request.path.startswith(_CONTROLS)
            if self.on_served is not None and not is_look:
                took = (time.perf_counter() - begun) * 1000
                status = None if reply is None or reply.connection in _UNSENT else reply.status
                self.on_served(request.method, request.path, status, took)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Opens the store and runs the engine until the block ends.

        Raises:
            LocalError: there is no such fixture, the file of the state is none, or the database
                cannot be opened, is in use, damaged or of another program.
        """
        memory = RunMemory()

        def refill(test: Transaction, live: Transaction, name: str | None) -> None:
            fill(test, live, name)
            memory.forget()  # last: a name that there is not changes nothing

        engine = Engine(
            # Opened here and not before: SQLite binds a connection to its thread, the loop's.
            Store.open(self.options.db),
            handlers=HANDLERS,
            fixture=refill,
            seed=self.options.seed,
            clock=self.real_clock,
            sender=self.sender or HttpSender(ca_bundle=self.options.ca_bundle),
            webhook_faults=memory.webhook_faults,
            under_way=lambda: len(self.under_way),
        )
        routes = RouteTable((each.method, each.path, each) for each in document.OPERATIONS)
        strict = self.options.strict_https or self.options.tls
        self.api = Api(engine, routes, memory, RateLimit(self.real_clock), strict_https=strict)
        pages = Checkout(engine)
        self._rooms: Mapping[str, Api | ControlApi | Checkout] = {
            f"{API_ROOT}/": self.api,
            _CONTROLS: ControlApi(engine, memory, cache(document.document)),
            f"{ROOT}/": pages,
            HOME: pages,
            MOUNT: pages,
        }
        try:
            if engine.is_new:
                await self._begin(engine)
            await engine.start()
            if self.options.settings:
                await engine.run("test", lambda tx: tx.update_settings(self.options.settings))
            yield
        finally:
            await engine.stop()

    async def _begin(self, engine: Engine) -> None:
        """Fills a new sandbox: with an exported state, or by its seed and fixture."""
        options = self.options
        try:
            if options.state is None:
                await engine.reset(seed=options.seed, fixture=options.fixture)
            else:
                state = Path(options.state).read_bytes()  # noqa: ASYNC240  nothing else runs yet
                await engine.restore(json.loads(state))
        except Problem as problem:
            raise LocalError(problem.message) from problem
        except (OSError, ValueError) as error:  # a state that is invalid is one of the second
            raise LocalError(f"--import: {error}", code="state_invalid") from error

    async def _reply(self, request: AsgiRequest) -> HttpReply | None:
        """Returns the answer of the room that has the path; None if the client has gone.

        A room raises Problem for a refused request, and builds the answer to it by `refuse`.
        """
        refuse: Callable[[Problem, AsgiRequest], HttpReply] = self.api.refuse
        path = request.path
        try:
            check_framing(request)
            check_host(request, self.options.hosts)
            if path == HOME:
                check_page(request, from_own=True)
            room = self._rooms.get(path[: path.find("/", 1) + 1] or path)
            if room is None:
                return refuse(build_endpoint_unknown(path), request)
            refuse = room.refuse
            return await room.answer(request)
        except CallerGoneError:
            return None
        except asyncio.CancelledError:  # by a stop, which waits for no request
            message = "The sandbox is stopping. Send the request again with the same key."
            problem = Problem(503, "service_unavailable", message)
        except Exception as error:  # noqa: BLE001  an answer in the room's shape, whatever broke
            # Not the path: a shopper's has the client secret in it.
            problem = failure(error, f"a {request.method}")
        if problem.code == NOT_PUBLISHABLE:
            self.api.memory.log.leaked.append(path.partition(ROOT)[0] + ROOT)
        return refuse(problem, request)
