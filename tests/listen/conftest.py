"""What tests of the listening commands share."""

import json
from http.client import HTTPConnection

import pytest

from listen.processes import Pay
from running import Sandbox

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
