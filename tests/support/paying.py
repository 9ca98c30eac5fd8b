"""What tests of the listening commands share."""

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from support.listeners import Pay
from support.running import Sandbox

ORDER = {
    "amount": 12900,
    "currency": "EUR",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [{"name": "Linen jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900}],
}


@pytest.fixture
def pay(sandbox: Sandbox) -> Pay:
    """Has an order paid, which sends payment.captured and order.paid; gives the order's id."""

    def paid() -> str:
        connection = HTTPConnection("127.0.0.1", sandbox.port, timeout=10)
        headers = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}
        connection.request("POST", "/v1/orders", json.dumps(ORDER), headers)
        order = json.loads(connection.getresponse().read())
        connection.close()
        card = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2034, "cvc": "123"}
        body = {"client_secret": order["client_secret"], "method": "card", "card": card}
        sandbox.control("POST", "/checkout/pay", body, key="pk_test_sandbox")
        return str(order["id"])

    return paid


@pytest.fixture
def registered() -> list[dict[str, list[str]]]:
    """The forms that the service has received."""
    return []


@pytest.fixture
def service(registered: list[dict[str, list[str]]]) -> Iterator[str]:
    """A service on this machine that is no sandbox: it registers endpoints and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            registered.append(form)
            number = len(registered)
            self.answer(
                200,
                {
                    "id": f"we_{number}",
                    "object": "webhook_endpoint",
                    "livemode": False,
                    "url": form["url"][0],
                    "signing_secret": f"whsec_of_{number}",
                },
            )

        def do_GET(self) -> None:
            self.answer(
                404, {"type": "invalid_request_error", "code": "endpoint_unknown", "message": "No."}
            )

        def answer(self, status: int, data: object) -> None:
            body = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keeps quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
