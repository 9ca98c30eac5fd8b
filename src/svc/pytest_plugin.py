"""Fixtures for the user's own tests with pytest: a sandbox, and a receiver of its webhooks.

pytest loads this module as a plugin wherever svc is installed. `svc_sandbox` starts one sandbox for
the test run and empties it before each test; `svc_webhooks` verifies and collects what it delivers.
Until a test asks for one of them, nothing but pytest is imported.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from datetime import timedelta
    from queue import Queue

    from svc.sandbox.process.records import RunRecord


class SandboxFixture:
    """The whole service for one test.

    Attributes:
        url: its address, without /v1.
        api_key: a secret test key, which is public.
        publishable_key: the same for a checkout.
        env: what a program needs to use it: SVC_BASE_URL and SVC_API_KEY.
    """

    def __init__(self, url: str) -> None:
        from svc.service.facts import SANDBOX_KEYS

        self.url = url
        self.api_key = SANDBOX_KEYS["secret_test"]
        self.publishable_key = SANDBOX_KEYS["publishable_test"]
        self.env = {"SVC_BASE_URL": url, "SVC_API_KEY": self.api_key}

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """Sends a request of the API or a control below `/_sandbox`; returns its JSON.

        Raises:
            AssertionError: the sandbox refused the request.
        """
        from http import HTTPStatus
        from http.client import HTTPConnection

        from svc.base_url import BaseUrl
        from svc.service.facts import SANDBOX_HEADER

        given = {"Authorization": f"Bearer {self.api_key}", SANDBOX_HEADER: "1", **headers}
        payload = None if body is None else json.dumps(body)
        given |= {} if payload is None else {"Content-Type": "application/json"}
        connection = HTTPConnection("127.0.0.1", BaseUrl.parse(self.url).port, timeout=60)
        try:
            connection.request(method, path, payload, given)
            answer = connection.getresponse()
            data = json.loads(answer.read() or b"null")
        finally:
            connection.close()
        assert answer.status < HTTPStatus.BAD_REQUEST, f"{method} {path}: {data}"
        return data

    def reset(self) -> None:
        """Empties the sandbox, so that no test sees the objects of another."""
        self.call("POST", "/_sandbox/reset", {})

    def advance(self, seconds: "int | timedelta") -> Any:
        """Turns the sandbox's clock forward; what falls due meanwhile happens, webhooks too."""
        number = seconds if isinstance(seconds, int) else int(seconds.total_seconds())
        return self.call("POST", "/_sandbox/clock/advance", {"seconds": number})

    def pay(self, order: Mapping[str, Any] | str, number: str | None = None) -> Any:
        """Pays an order (an object or its id) with the test card `number`, else one that works."""
        from svc.sandbox.reference import cards

        of = order if isinstance(order, str) else order["id"]
        secret = self.call("GET", f"/_sandbox/orders/{of}/checkout_url")["client_secret"]

        card = {"number": number or cards.APPROVED["visa"], "exp_month": 12, "exp_year": 2099}
        body = {"client_secret": secret, "method": "card"}
        return self.call(
            "POST",
            "/_sandbox/checkout/pay",
            {**body, "card": {**card, "cvc": "123"}},
            Authorization=f"Bearer {self.publishable_key}",
        )

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The last 100 events of the sandbox, newest first; `kind` leaves those of one type."""
        found = self.call("GET", "/_sandbox/events?limit=100")["data"]
        return [one for one in found if kind in (None, one["type"])]

    def fault(self, *, times: int = 1, match: Mapping[str, Any], effect: Mapping[str, Any]) -> Any:
        """Makes requests fail on purpose: `effect={"status": 500}`; see `svc help faults`."""
        rule = {"match": dict(match), "times": times, "effect": dict(effect)}
        return self.call("POST", "/_sandbox/faults", rule)


class WebhooksFixture:
    """A receiver of a sandbox's webhooks, which verifies each over its raw bytes.

    Attributes:
        url: where it listens.
        secret: the signing secret of its endpoint.
        received: the events that have come, the oldest first.
    """

    def __init__(self, sandbox: SandboxFixture, url: str, come: "Queue[tuple[str, bytes]]") -> None:
        from svc.service.facts import EVENT_TYPES

        self.url = url
        endpoint = {"url": url, "events": list(EVENT_TYPES)}
        self.secret = str(sandbox.call("POST", "/v1/webhook_endpoints", endpoint)["secret"])
        self.received: list[dict[str, Any]] = []
        self._come = come

    def wait(self, kind: str, seconds: float = 10.0) -> dict[str, Any]:
        """Returns the first event of a type, once it has come.

        Raises:
            AssertionError: it has not come in time.
            SignatureError: a delivery is not authentic.
        """
        import time

        end = time.monotonic() + seconds
        while True:
            found = next((one for one in self.received if one["type"] == kind), None)
            if found is not None:
                return found
            assert self._take(end - time.monotonic()), f"no {kind} in {seconds} s"

    def _take(self, seconds: float) -> bool:
        import time
        from queue import Empty

        from svc.signature import verify

        try:
            header, body = self._come.get(timeout=max(seconds, 0.001))
        except Empty:
            return False
        verify(body, [header], [self.secret], int(time.time()))
        self.received.append(json.loads(body))
        return True


@pytest.fixture(scope="session")
def _svc_sandbox_process(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[RunRecord]":
    """One process for a run, or for each worker of it."""
    import os

    from svc.clock import SystemClock
    from svc.sandbox.options import LaunchOptions
    from svc.sandbox.process.launch import start, stop

    folder = tmp_path_factory.mktemp("svc-sandbox")
    options = LaunchOptions(state_dir=str(folder))
    record = start(options, os.environ, SystemClock())
    yield record
    stop(folder, record, SystemClock())


@pytest.fixture
def svc_sandbox(_svc_sandbox_process: "RunRecord") -> SandboxFixture:
    """The whole service on this machine, empty at the beginning of each test."""
    sandbox = SandboxFixture(_svc_sandbox_process.url)
    sandbox.reset()
    return sandbox


@pytest.fixture
def svc_webhooks(svc_sandbox: SandboxFixture) -> Iterator[WebhooksFixture]:
    """A receiver that is registered at the sandbox for every type of event."""
    from http import HTTPStatus
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from queue import Queue
    from threading import Thread

    from svc.service.facts import SIGNATURE_HEADER

    come: Queue[tuple[str, bytes]] = Queue()

    class FixtureReceiver(BaseHTTPRequestHandler):
        """Takes every delivery; the test says what of it is authentic."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            come.put((self.headers.get(SIGNATURE_HEADER, ""), body))
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keeps quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), FixtureReceiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/webhooks"
        yield WebhooksFixture(svc_sandbox, url, come)
        server.shutdown()
