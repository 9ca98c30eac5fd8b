"""What tests of the listening commands share."""

import json
from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest

from support.listeners import Pay
from support.orders import ORDER
from support.running import Sandbox, api
from support.serving import QuietHandler, serving


@pytest.fixture
def pay(sandbox: Sandbox) -> Pay:
    """Has an order paid, which sends payment.captured and order.paid; gives the order's id."""

    def paid() -> str:
        order = api(sandbox.port, "POST", "/v1/orders", ORDER)
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
    """A service on this machine that is not a sandbox: it registers endpoints and nothing else."""

    class Registering(QuietHandler):
        def post(self) -> None:
            form = parse_qs(self.body().decode())
            registered.append(form)
            number = len(registered)
            self.say(
                200,
                {
                    "id": f"we_{number}",
                    "object": "webhook_endpoint",
                    "livemode": False,
                    "url": form["url"][0],
                    "signing_secret": f"whsec_of_{number}",
                },
            )

        def get(self) -> None:
            self.say(
                404, {"type": "invalid_request_error", "code": "endpoint_unknown", "message": "No."}
            )

        def say(self, status: int, data: object) -> None:
            self.answer(status, json.dumps(data).encode())

    with serving(Registering) as origin:
        yield origin
