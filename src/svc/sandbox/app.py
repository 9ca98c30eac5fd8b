"""The whole HTTP surface of the sandbox: the documented API and, beside it, the controls."""

from typing import Final

from starlette.types import Receive, Scope, Send

from svc.clock import Clock, SystemClock
from svc.sandbox import (
    disputes,
    endpoints,
    orders,
    payments,
    payouts,
    quotes,
    refunds,
)
from svc.sandbox.api import Api
from svc.sandbox.checkout.address import ROOT as CHECKOUT_ROOT
from svc.sandbox.checkout.pages import Pages
from svc.sandbox.control_api import ControlApi
from svc.sandbox.engine import Engine
from svc.sandbox.exchange import Reply, refusal
from svc.sandbox.guard import check_framing, check_host, check_page
from svc.sandbox.memory import Memory
from svc.sandbox.openapi import serving
from svc.sandbox.operations import Routes, act, create, listing, retrieve
from svc.sandbox.problems import Problem
from svc.sandbox.rate_limit import RateLimit
from svc.spec import API_ROOT, REQUEST_ID_HEADER, SANDBOX_ROOT, VERSION_HEADER, VERSIONS

# In the specification's order; the resource is what a restricted key needs.
OPERATIONS: Final = (
    create("/v1/orders", orders.create, orders.CREATE, "orders", orders.created_view),
    retrieve("/v1/orders/:id", "orders", orders.KIND),
    act("/v1/orders/:id", orders.update, orders.CREATE, "orders", orders.KIND, partial=True),
    act("/v1/orders/:id/cancel", orders.cancel, orders.CANCEL, "orders", orders.KIND),
    listing("/v1/orders", "orders", orders.KIND, orders.FILTERS),
    act("/v1/orders/:id/capture", payments.capture, payments.CAPTURE, "payments", orders.KIND),
    retrieve("/v1/payments/:id", "payments", payments.KIND),
    listing("/v1/payments", "payments", payments.KIND, payments.FILTERS),
    create("/v1/refunds", refunds.create, refunds.CREATE, "refunds"),
    retrieve("/v1/refunds/:id", "refunds", refunds.KIND),
    listing("/v1/refunds", "refunds", refunds.KIND, refunds.FILTERS),
    create("/v1/payouts", payouts.create, payouts.CREATE, "payouts"),
    retrieve("/v1/payouts/:id", "payouts", payouts.KIND),
    listing("/v1/payouts", "payouts", payouts.KIND, payouts.FILTERS),
    create("/v1/landed-cost/quotes", quotes.create, quotes.CREATE, "landed_cost"),
    retrieve("/v1/landed-cost/quotes/:id", "landed_cost", quotes.KIND),
    create(
        "/v1/webhook_endpoints",
        endpoints.create,
        endpoints.CREATE,
        "webhook_endpoints",
        endpoints.created_view,
    ),
    retrieve("/v1/events/:id", "events", "event"),
    act(
        "/v1/disputes/:id",
        disputes.update,
        disputes.UPDATE,
        "disputes",
        disputes.KIND,
        partial=True,
    ),
    retrieve("/v1/disputes/:id", "disputes", disputes.KIND),
    listing("/v1/disputes", "disputes", disputes.KIND, disputes.FILTERS),
    act("/v1/disputes/:id/accept", disputes.accept, (), "disputes", disputes.KIND),
)


def build_app(
    engine: Engine,
    *,
    memory: Memory | None = None,
    real_clock: Clock | None = None,
    strict_https: bool = False,
) -> "Front":
    """Puts the surface on an engine; `real_clock` measures the rate limit."""
    memory = memory or Memory()
    limit = RateLimit(real_clock or SystemClock())
    api = Api(engine, Routes(OPERATIONS), memory, limit, strict_https=strict_https)
    described = serving.Described(engine, OPERATIONS)
    return Front(engine, api, ControlApi(engine, memory), Pages(engine), described)


class Front:
    """An ASGI application: sends a request to API, controls or checkout, by the scope's path."""

    def __init__(
        self,
        engine: Engine,
        api: Api,
        controls: ControlApi,
        pages: Pages,
        described: serving.Described,
    ) -> None:
        self._engine = engine
        self._described = described
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
            if isinstance(room, Api | ControlApi):  # the other two are made for browsers
                check_page(scope)
        except Problem as problem:
            await self.refused(problem).send(send)
        else:
            await room(scope, receive, send)

    def refused(self, problem: Problem) -> Reply:
        """The answer to what reaches no room, with the headers of every answer."""
        identity = self._engine.request_id()
        version = self._engine.settings["pinned_version"] or VERSIONS[-1]
        return refusal(problem, identity).with_headers(
            (REQUEST_ID_HEADER, identity), (VERSION_HEADER, str(version))
        )

    def _room(self, path: str) -> Api | ControlApi | Pages | serving.Described:
        if path == serving.PATH:
            return self._described
        for prefix, room in self._rooms:
            if path.startswith(prefix):
                return room
        raise Problem(404, "endpoint_unknown", f"There is no endpoint {path}.")
