"""The `/v1` surface: every request through its checks (assumptions: Order of checks)."""

import logging
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Scope, Send

from svc.sandbox import auth, execution, idempotency, keys, times
from svc.sandbox.breakage import send_broken
from svc.sandbox.engine import Engine
from svc.sandbox.exchange import Reply, Request, read_request, refusal
from svc.sandbox.execution import POST, Execution
from svc.sandbox.guard import SITE
from svc.sandbox.idempotency import InFlight
from svc.sandbox.memory import Memory
from svc.sandbox.operations import Operation, Routes
from svc.sandbox.params import Settings
from svc.sandbox.problems import Problem, internal
from svc.sandbox.rate_limit import RateLimit
from svc.sandbox.requests_log import PARAMS_MAX, Entry
from svc.sandbox.world import World
from svc.spec import (
    IDEMPOTENCY_HEADER,
    REPLAYED_HEADER,
    REQUEST_ID_HEADER,
    SANDBOX_WORLD_HEADER,
    VERSION_HEADER,
    VERSIONS,
)

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Passage:
    """A request on its way through the checks, and what was found out about it so far."""

    request: Request
    id: str
    settings: Settings
    entry: Entry
    mode: str = "test"

    @property
    def idempotency_key(self) -> str | None:
        """The header of a POST; on a GET it is ignored."""
        return self.request.header(IDEMPOTENCY_HEADER) if self.request.method == POST else None

    @property
    def version(self) -> str:
        """The version in use: the header's if it is one, else the account's."""
        wanted = self.request.header(VERSION_HEADER)
        return wanted if wanted in VERSIONS else self.settings["pinned_version"] or VERSIONS[-1]


class Api:
    """An ASGI application; with `strict_https` no setting lets plain HTTP pass."""

    def __init__(
        self,
        engine: Engine,
        routes: Routes,
        memory: Memory,
        limit: RateLimit,
        *,
        strict_https: bool,
    ) -> None:
        self._engine = engine
        self._routes = routes
        self._memory = memory
        self._limit = limit
        self._strict_https = strict_https
        self._in_flight = InFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await read_request(scope, receive)
        if request is None:
            return
        reply = await self.answer(request)
        if reply.connection is None:
            await reply.send(send)
        else:
            await send_broken(reply, receive, send)

    async def answer(self, request: Request) -> Reply:
        """The answer to a request, whatever happens on the way."""
        passage = self._passage(request)
        try:
            reply = await self._pass(passage)
        except Problem as problem:
            reply = self._refused(passage, problem)
        except Exception:  # noqa: BLE001  an answer in the error shape, whatever broke
            _log.exception("request %s broke", passage.id)
            reply = self._refused(passage, internal())
        self._note(passage, reply)
        if SITE in request.headers:
            reply = reply.without_header(auth.CHALLENGE)  # a browser would ask for a password
        return reply.with_headers(
            (REQUEST_ID_HEADER, passage.id),
            (VERSION_HEADER, passage.version),
            (SANDBOX_WORLD_HEADER, self._engine.world),
        )

    async def _pass(self, passage: Passage) -> Reply:
        operation, identity = await self._admit(passage)
        request, key = passage.request, passage.idempotency_key
        fault = self._memory.faults.pick(request, key)
        with self._in_flight.claim(passage.mode, key, finished=self._is_finished(passage)) as mine:
            spoilt = await self._memory.faults.spoil(fault, "before", None)
            if spoilt is not None:
                return spoilt
            with self._memory.faults.unless_refused(fault):
                _check_version(request)
                work = execution.decode(request, operation, identity, passage.settings)
                self._note_params(passage, work)
                reply = await self._carry_out(passage, work, mine=mine)
            return await self._memory.faults.spoil(fault, "after", reply) or reply

    async def _admit(self, passage: Passage) -> tuple[Operation, str]:
        """Steps 1 to 6: who asks for what, and whether that is allowed now."""
        request, settings = passage.request, passage.settings
        strict = self._strict_https or settings["insecure_http"] == "reject"
        if strict and not request.secure:
            raise auth.https_required()
        text = auth.key_text(request.header("authorization"))
        passage.entry.key = keys.masked(text)
        passage.mode = auth.mode_of(text)
        key = self._engine.peek(passage.mode, lambda world: auth.authenticate(world, text))
        passage.entry.mode = passage.mode
        if settings["pinned_version"] is None:
            await self._engine.run(passage.mode, _pin)
        operation, identity = self._routes.find(request.method, request.path)
        auth.permit(key, operation.resource, operation.level)
        if settings["rate_limit"] == "on":
            self._limit.take(passage.mode)
        return operation, identity

    def _is_finished(self, passage: Passage) -> bool:
        key = passage.idempotency_key
        return key is not None and self._engine.peek(
            passage.mode, lambda world: world.get_result(key) is not None
        )

    async def _carry_out(self, passage: Passage, work: Execution, *, mine: bool) -> Reply:
        """Steps 10 to 15; returns when everything is on disk."""
        if work.operation.method != POST:
            return await self._engine.read(passage.mode, work.run)
        key = idempotency.checked_key(passage.idempotency_key)
        if key is None:
            return await self._engine.run(passage.mode, work.run)
        return await self._engine.run(
            passage.mode, lambda world: work.run_once(world, key, mine=mine)
        )

    def _passage(self, request: Request) -> Passage:
        identity = self._engine.request_id()
        now = times.text(times.moment(self._engine.clock.now()))
        entry = Entry(
            identity, now, request.method, request.path, request.header(IDEMPOTENCY_HEADER)
        )
        return Passage(request, identity, self._engine.settings, entry)

    def _refused(self, passage: Passage, problem: Problem) -> Reply:
        passage.entry.code = problem.code
        nested = passage.settings["error_envelope"] == "nested"
        return refusal(problem, passage.id, nested=nested)

    def _note_params(self, passage: Passage, work: Execution) -> None:
        body = passage.request.body
        if isinstance(body, bytes) and len(body) <= PARAMS_MAX:
            passage.entry.params = work.tree

    def _note(self, passage: Passage, reply: Reply) -> None:
        entry = passage.entry
        entry.status = reply.status
        entry.replayed = any(name == REPLAYED_HEADER for name, _ in reply.headers)
        self._memory.log.add(entry)


def _check_version(request: Request) -> None:
    wanted = request.header(VERSION_HEADER)
    if wanted is not None and wanted not in VERSIONS:
        message = f"{VERSION_HEADER} must be one of: {', '.join(VERSIONS)}."
        raise Problem(400, "version_invalid", message)


def _pin(world: World) -> None:
    """Pins the account to the newest version at its first request (spec: Versioning)."""
    if world.settings["pinned_version"] is None:
        world.update_settings({"pinned_version": VERSIONS[-1]})
