"""A sandbox in this process, the calls that tests make at it, and one that is served by HTTP."""

import asyncio
import json
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote, urlencode

from support.clocks import ManualClock
from support.orders import JACKET, ORDER
from support.serving import Hook, Postman
from support.suite.shapes import hold
from svc.clock import Clock
from svc.sandbox.app import SandboxApp
from svc.sandbox.clock import parse
from svc.sandbox.options import LaunchOptions
from svc.sandbox.webhooks.sender import WebhookSender

START = "2026-10-01T09:00:00Z"
Doc = dict[str, Any]
PAYOUT: Doc = {
    "amount": 10000,
    "currency": "EUR",
    "destination": {
        "country": "DE",
        "account_holder_name": "Muster GmbH",
        "iban": "DE89370400440532013000",
    },
}
QUOTE: Doc = {"currency": "EUR", "shipping": {"country": "DE"}, "items": [JACKET]}


@dataclass
class SandboxAnswer:
    """One HTTP answer, with its body as bytes and as JSON."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> Any:
        return self.json.get("code")

    @property
    def param(self) -> Any:
        return self.json.get("param")


class AsgiSandbox:
    """A running sandbox and the calls that tests make at it."""

    secret, publishable = "sk_test_sandbox", "pk_test_sandbox"
    live, live_publishable = "sk_live_sandbox", "pk_live_sandbox"
    order_params, payout_params, quote_params = ORDER, PAYOUT, QUOTE

    def __init__(
        self,
        path: str = ":memory:",
        *,
        real_clock: Clock | None = None,
        sender: WebhookSender | None = None,
        under_way: Collection[object] = (),
        **options: Any,
    ) -> None:
        self.clock = ManualClock(parse(START).timestamp())
        self.postman = Postman()
        self.app = SandboxApp(
            LaunchOptions(path, **{"seed": 7, **options}),
            real_clock or self.clock,
            sender or self.postman,
            under_way,
        )
        self._closed = False
        self._runner = asyncio.Runner()
        # Not the runner's own `run`: it takes Ctrl-C for itself, at each call anew.
        self._run = self._runner.get_loop().run_until_complete
        self._stack = AsyncExitStack()
        self._run(self._enter())

    def close(self) -> None:
        """Ends the sandbox; a second time does nothing."""
        if not self._closed:
            self._closed = True
            try:
                self._run(self._stack.aclose())
            finally:
                self._runner.close()

    # --- calls ----------------------------------------------------------------------------------

    def call(self, method: str, path: str, **options: Any) -> SandboxAnswer:
        """One request; see `exchange` for the options."""
        return self._run(self.exchange(method, path, **options))

    def get(self, path: str, **query: Any) -> SandboxAnswer:
        """A GET with the secret test key."""
        return self.call("GET", path, query=urlencode(query))

    def post(self, path: str, body: Any = None, **options: Any) -> SandboxAnswer:
        """A JSON POST with the secret test key; no body if it is None."""
        return self.call("POST", path, **({} if body is None else {"json": body}), **options)

    def form(self, path: str, text: str, **options: Any) -> SandboxAnswer:
        """A form POST with the secret test key."""
        return self.call("POST", path, form=text, **options)

    def control(
        self, path: str, body: Any = None, method: str = "POST", **options: Any
    ) -> SandboxAnswer:
        """A control call."""
        options = options if body is None else {"json": body, **options}
        headers = {"svc-sandbox": "1", **options.pop("headers", {})}
        return self.call(method, f"/_sandbox{path}", headers=headers, **options)

    def together(self, *requests: tuple[str, str, Doc]) -> list[SandboxAnswer]:
        """Requests that are in flight at the same time."""

        async def all_of_them() -> list[SandboxAnswer]:
            waiting = (self.exchange(method, path, **more) for method, path, more in requests)
            return list(await asyncio.gather(*waiting))

        return self._run(all_of_them())

    async def exchange(
        self,
        method: str,
        path: str,
        *,
        key: str | None = secret,
        json: Any = ...,
        form: str | None = None,
        body: bytes = b"",
        query: str = "",
        headers: Mapping[str, str] | None = None,
        idem: str | None = None,
        scheme: str = "http",
    ) -> SandboxAnswer:
        lines = {"host": "127.0.0.1:4242", **(headers or {})}
        if key is not None:
            lines.setdefault("authorization", f"Bearer {key}")
        if idem is not None:
            lines["idempotency-key"] = idem
        if json is not ...:
            body = _dumped(json)
            lines.setdefault("content-type", "application/json")
        if form is not None:
            body = form.encode()
            lines.setdefault("content-type", "application/x-www-form-urlencoded")
        path, _, more = path.partition("?")
        return await self._send(method, path, query or more, lines, body, scheme)

    # --- stories --------------------------------------------------------------------------------

    def order(self, **changes: Any) -> Doc:
        """A new order; the answer of its creation."""
        answer = self.post("/v1/orders", {**ORDER, **changes})
        assert answer.status == 200, answer.body
        created: Doc = answer.json
        return created

    def pay(self, order: Doc, number: str = "4242424242424242", **params: Any) -> SandboxAnswer:
        """Pays an order at the checkout, by card unless another method is given."""
        if "method" not in params and "payment_method" not in params:
            card = {"number": number, "exp_month": 12, "exp_year": 2030, "cvc": "123"}
            params["card"] = {**card, **params.get("card", {})}
        key, headers = params.pop("key", self.publishable), params.pop("headers", {})
        body = {"client_secret": order["client_secret"], **params}
        return self.control("/checkout/pay", body, key=key, headers=headers)

    def paid(self, number: str = "4242424242424242", **changes: Any) -> Doc:
        """The payment of a new order that was paid by card."""
        answer = self.pay(self.order(**changes), number)
        assert answer.status == 200, answer.body
        payment: Doc = answer.json["payment"]
        return payment

    def advance(self, seconds: int) -> None:
        assert self.control("/clock/advance", {"seconds": seconds}).status == 200

    def settings(self, **changes: Any) -> None:
        assert self.control("/settings", changes).status == 200

    def balance(self, currency: str) -> int:
        shown = self.control("/balances", method="GET").json["data"]
        return next(int(b["amount"]) for b in shown if b["currency"] == currency)

    def events(self) -> list[Doc]:
        """All events of test mode, oldest first."""
        found = self.control("/events?limit=100", method="GET").json["data"]
        return list(reversed(found))

    def event_types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def path_of(self, doc: Doc) -> str:
        """Where an object is retrieved."""
        paths = {"landed_cost_quote": "landed-cost/quotes"}
        return f"/v1/{paths.get(doc['object'], doc['object'] + 's')}/{doc['id']}"

    def again(self, doc: Doc) -> Doc:
        """The object as a GET shows it now."""
        found: Doc = self.get(self.path_of(doc)).json
        return found

    # --- ASGI -----------------------------------------------------------------------------------

    async def _enter(self) -> None:
        await self._stack.enter_async_context(self.app.run())

    async def _send(
        self,
        method: str,
        path: str,
        query: str,
        headers: Mapping[str, str],
        body: bytes,
        scheme: str,
    ) -> SandboxAnswer:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": quote(path).encode(),
            "root_path": "",
            "query_string": query.encode("latin-1"),
            "scheme": scheme,
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
            "server": ("127.0.0.1", 4242),
            "client": ("127.0.0.1", 50000),
        }
        chunks = [body[i : i + 65536] for i in range(0, len(body), 65536)] or [b""]
        incoming = iter(chunks)
        sent: list[Doc] = []

        async def receive() -> Doc:
            part = next(incoming, None)
            if part is None:
                await asyncio.Event().wait()  # the caller stays until it has its answer
            return {"type": "http.request", "body": part, "more_body": part is not chunks[-1]}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        raw = {k.decode(): v.decode("latin-1") for k, v in sent[0]["headers"]}
        answer = b"".join(m.get("body", b"") for m in sent[1:])
        if path.startswith("/_sandbox/") and sent[0]["status"] == 200:
            hold(answer.decode())
        return SandboxAnswer(sent[0]["status"], raw, answer)


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


@dataclass
class Served:
    """A sandbox behind a real port, and a receiver for its webhooks."""

    port: int
    hooks: "SimpleQueue[Hook]"
    hook_url: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> SandboxAnswer:
        """One JSON call with the secret test key, and the controls' header."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        lines = {"Authorization": "Bearer sk_test_sandbox", "Svc-Sandbox": "1", **headers}
        sent = None if body is None else json.dumps(body)
        if sent is not None:
            lines["Content-Type"] = "application/json"
        try:
            connection.request(method, path, sent, lines)
            reply = connection.getresponse()
            shown = {name.lower(): text for name, text in reply.getheaders()}
            return SandboxAnswer(reply.status, shown, reply.read())
        finally:
            connection.close()
