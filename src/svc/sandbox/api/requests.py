"""Answers every `/v1` request: key, route, limits, parameters, then the noun (see Order of checks).

`svc.sandbox.app` calls `Api.answer` with each request below `/v1/`. `Api` finds the operation,
takes the request through the checks (`svc help assumptions`: Order of checks), applies fault rules,
and runs the noun's step of `resources` in a transaction of the engine. Each request is logged.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from svc.clock import Clock
from svc.sandbox.api import idempotency
from svc.sandbox.api.idempotency import ClaimedKey, KeyClaim
from svc.sandbox.api.memory import PARAMS_MAX, LoggedRequest, RunMemory
from svc.sandbox.engine import Engine
from svc.sandbox.faults import chaos
from svc.sandbox.http import auth
from svc.sandbox.http.auth import SITE
from svc.sandbox.http.exchange import AsgiRequest, HttpReply, failure, refusal
from svc.sandbox.http.routes import RouteTable
from svc.sandbox.parameters import tables
from svc.sandbox.parameters.bodies import (
    FORM_TYPE,
    JSON_TYPE,
    DecodedInput,
    DecodedTree,
    decode_body,
    decode_query,
)
from svc.sandbox.parameters.problems import Problem, build_unknown
from svc.sandbox.parameters.tables import SandboxSettings
from svc.sandbox.resources import api_keys
from svc.sandbox.resources.operation import ApiOperation, target_of
from svc.sandbox.store.documents import KnownDoc, compact
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import (
    IDEMPOTENCY_HEADER,
    NEWEST_VERSION,
    NOUNS,
    REPLAYED_HEADER,
    REQUEST_ID_HEADER,
    SANDBOX_TIME_HEADER,
    SANDBOX_WORLD_HEADER,
    VERSION_HEADER,
    VERSIONS,
)

POST: Final = "POST"


class Execution(NamedTuple):
    """A decoded request; `stray` are query parameters of a POST, `key` the caller's API key."""

    operation: ApiOperation
    identity: str
    path: str
    tree: DecodedTree
    stray: DecodedTree
    settings: tables.SandboxSettings
    key: KnownDoc

    def run(self, tx: Transaction) -> HttpReply:
        """Checks the parameters against the object and the state, and carries the request out."""
        tx.act_for(self.key["id"], self.identity)
        target = target_of(tx, self.operation, self.identity)
        if (also := self.operation.reveals(target)) is not None:
            auth.permit(self.key, also, "read")
        fields = self.operation.fields
        if self.settings["unknown_parameters"] == "reject":
            if self.stray:  # an amount in the address must not silently become "all of it"
                raise build_unknown(min(self.stray), " A POST takes its parameters in the body.")
            tables.refuse_unknown(fields, self.tree)
        clean = tables.check(fields, self.tree, self.settings, partial=self.operation.partial)
        return HttpReply(200, compact(self.operation.run(tx, target, clean)))

    def run_once(self, tx: Transaction, key: str, claim: KeyClaim) -> HttpReply:
        """Replays the result stored under an idempotency key, or runs and stores the result."""
        print_ = idempotency.fingerprint(self.operation.method, self.path, self.tree)
        reply = idempotency.replay(tx, key, print_, claim)
        if reply is None:
            reply = self.run(tx)
            tx.put_result(key, print_, reply.status, reply.body)
        return reply


def decode(
    request: AsgiRequest,
    operation: ApiOperation,
    identity: str,
    settings: tables.SandboxSettings,
    key: KnownDoc,
) -> Execution:
    """Decodes body and query; raises Problem for what cannot be read."""
    query = decode_query(request.query)
    given, stray = query, {}
    if operation.method == POST:
        documented = settings["encodings"] == "documented"
        given, stray = _body(request, operation.encoding if documented else None), query.tree
    tree = tables.coerce(operation.fields, given)
    return Execution(operation, identity, request.path, tree, stray, settings, key)


def _body(request: AsgiRequest, only: str | None) -> DecodedInput:
    given = decode_body(request.header("content-type"), request.content)
    if request.body and only is not None and given.textual is not (only == "form"):
        wanted = FORM_TYPE if only == "form" else JSON_TYPE
        message = f"This operation takes only {wanted} while the setting encodings is documented."
        raise Problem(415, "unsupported_media_type", message)
    return given


RATES: Final = {"live": 100, "test": 25}  # requests per second; the burst is as large


class RateLimit:
    """Limits the rate of requests; the account has one token bucket in each mode."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens, and when they were counted

    def take(self, mode: str) -> None:
        """Takes a token; raises Problem 429 with `Retry-After` if there is none."""
        rate, now = RATES[mode], self._clock.monotonic()
        tokens, counted = self._buckets.get(mode, (float(rate), now))
        tokens = min(rate, tokens + (now - counted) * rate)
        if tokens < 1:
            self._buckets[mode] = (tokens, now)
            message = "Too many requests; wait a moment."  # for less than a second
            raise Problem(429, "rate_limit", message, headers={"Retry-After": "1"})
        self._buckets[mode] = (tokens - 1, now)


_OF_ORDERS: Final = {NOUNS[kind].prefix: kind for kind in ("order", "payment", "refund", "dispute")}
_IDS: Final = re.compile(rf"({'|'.join(_OF_ORDERS)})([0-9A-Za-z]{{24}})")


@dataclass(slots=True)
class RequestContext:
    """A request on its way through the checks, and what they have found so far."""

    request: AsgiRequest
    id: str
    settings: SandboxSettings
    entry: LoggedRequest
    idempotency_key: str | None  # the header of a POST; on a GET it is ignored
    write: Callable[[LoggedRequest], None]
    world: str  # in which it came: a reset may come before the answer does
    mode: str = field(init=False)  # that of its key

    @property
    def version(self) -> str:
        """The version in use: the header's if it is one, else the account's."""
        wanted = self.entry.version
        return wanted if wanted in VERSIONS else self.settings["pinned_version"] or NEWEST_VERSION


@dataclass(slots=True)
class Api:
    """Answers requests below `/v1/`; with `strict_https` no setting lets plain HTTP pass."""

    engine: Engine
    routes: RouteTable[ApiOperation]
    memory: RunMemory
    limit: RateLimit
    strict_https: bool
    _in_flight: set[ClaimedKey] = field(default_factory=set, init=False)

    async def answer(self, request: AsgiRequest) -> HttpReply:
        """The answer to a request: the noun's, an error, or what a fault rule makes of it."""
        auth.check_page(request, from_own=False)
        await request.read()
        context = self._context(request)
        try:
            reply = await self._pass(context)
        except Exception as error:  # noqa: BLE001  an answer in the error shape, whatever broke
            reply = self._answer_problem(context, failure(error, f"request {context.id}"))
        entry = context.entry
        entry.status = reply.status
        entry.lost = reply.connection is not None
        entry.replayed = any(name == REPLAYED_HEADER for name, _ in reply.headers)
        context.write(entry)
        return reply.with_headers(
            (REQUEST_ID_HEADER, context.id),
            (VERSION_HEADER, context.version),
            (SANDBOX_WORLD_HEADER, context.world),
            (SANDBOX_TIME_HEADER, self.engine.clock.now_text()),
        )

    def refuse(self, problem: Problem, _: AsgiRequest | None = None) -> HttpReply:
        """The answer to a request that fails before the API's checks, with the usual headers."""
        identity = self.engine.request_id()
        version = self.engine.settings.current["pinned_version"] or NEWEST_VERSION
        return refusal(problem, identity).with_headers(
            (REQUEST_ID_HEADER, identity), (VERSION_HEADER, str(version))
        )

    async def _pass(self, context: RequestContext) -> HttpReply:
        operation, identity, caller = await self._admit(context)
        request, key = context.request, context.idempotency_key
        fault = self.memory.faults.pick(
            request, key, lambda order: order in self._find_orders(context)
        )
        # Only a rule makes a pause in which others come between the claim and what is done with it.
        finished = fault is not None and self._is_finished(context)
        space = (context.world, context.mode)
        with KeyClaim(self._in_flight, space, key, finished=finished) as claim:
            if fault and (broken := await self.memory.faults.apply(fault, "before", None)):
                return broken
            try:
                _check_version(context.entry.version)
                work = decode(request, operation, identity, context.settings, caller)
                if isinstance(request.body, bytes) and len(request.body) <= PARAMS_MAX:
                    context.entry.params = work.tree
                reply = await self._carry_out(context, work, claim)
            except Problem:
                self.memory.faults.refund(fault)
                raise
            if operation.method == POST and chaos.loses(context.settings["chaos"], context.id):
                return reply._replace(connection="close")
            return (fault and await self.memory.faults.apply(fault, "after", reply)) or reply

    async def _admit(self, context: RequestContext) -> tuple[ApiOperation, str, KnownDoc]:
        """Steps 1 to 6: who asks for what, and whether that is allowed now."""
        request, settings = context.request, context.settings
        strict = self.strict_https or settings["insecure_http"] == "reject"
        if strict and request.scheme != "https":
            raise auth.https_required()
        text = auth.key_text(request.header("authorization"))
        context.entry.key = api_keys.mask(text)
        context.mode = auth.mode_of(text)
        key = self.engine.read(context.mode, lambda tx: auth.authenticate(tx, text))
        context.entry.mode = context.mode
        if settings["pinned_version"] is None:
            await self.engine.run(context.mode, _pin)
        operation, identity = self.routes.find(request.method, request.path)
        auth.permit(key, operation.permission, operation.level)
        orders = self._find_orders(context) if self.engine.settings.has_own else []
        context.settings = settings = self.engine.settings.of(key["id"], *orders)
        if settings["rate_limit"] == "on":
            self.limit.take(context.mode)
        return operation, identity, key

    def _find_orders(self, context: RequestContext) -> list[str]:
        """The orders that a request is about: it names them, or a payment, refund or dispute."""
        request = context.request
        body = request.body if isinstance(request.body, bytes) else b""
        text = b" ".join((request.path.encode(), request.query, body)).decode(errors="replace")

        def find(tx: Transaction) -> set[str]:
            named = (
                tx.get(_OF_ORDERS[prefix], prefix + rest) for prefix, rest in _IDS.findall(text)
            )
            return {str(doc.get("order") or doc["id"]) for doc in named if doc is not None}

        return sorted(self.engine.read(context.mode, find))

    def _is_finished(self, context: RequestContext) -> bool:
        key = context.idempotency_key
        return key is not None and self.engine.read(
            context.mode, lambda tx: tx.get_result(key) is not None
        )

    async def _carry_out(
        self, context: RequestContext, work: Execution, claim: KeyClaim
    ) -> HttpReply:
        """Steps 10 to 15; returns when everything is on disk.

        What a fault rule has held back until after a reset is refused: it would be done to what it
        was not meant for.
        """
        self.engine.refuse_past(context.world)
        if work.operation.method != POST:
            return self.engine.read(context.mode, work.run)
        required = context.settings["require_idempotency_key"]
        key = idempotency.check_key(context.idempotency_key, required=required)
        if key is None:
            return await self.engine.run(context.mode, work.run)
        return await self.engine.run(context.mode, lambda tx: work.run_once(tx, key, claim))

    def _context(self, request: AsgiRequest) -> RequestContext:
        identity = self.engine.request_id()
        now, world = self.engine.clock.now_text(), self.engine.world
        key = request.header(IDEMPOTENCY_HEADER)
        entry = LoggedRequest(identity, now, request.method, request.path, key)
        entry.version = request.header(VERSION_HEADER)
        counts = key if request.method == POST else None
        write = self.memory.log.begin()
        return RequestContext(
            request, identity, self.engine.settings.current, entry, counts, write, world
        )

    def _answer_problem(self, context: RequestContext, problem: Problem) -> HttpReply:
        context.entry.code = problem.code
        if SITE in context.request.headers:
            problem.headers.pop(auth.CHALLENGE, None)  # a browser would ask for a password
        nested = context.settings["error_envelope"] == "nested"
        return refusal(problem, context.id, nested=nested)


def _check_version(wanted: str | None) -> None:
    if wanted is not None and wanted not in VERSIONS:
        message = f"{VERSION_HEADER} must be one of: {', '.join(VERSIONS)}."
        raise Problem(400, "version_invalid", message)


def _pin(tx: Transaction) -> None:
    """Pins the account to the newest version at its first request (spec: Versioning)."""
    if tx.settings["pinned_version"] is None:
        tx.update_settings({"pinned_version": NEWEST_VERSION})
