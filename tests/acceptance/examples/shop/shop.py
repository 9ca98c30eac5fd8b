"""A small shop's backend: it takes orders, fulfils what is paid, and pays back."""

import json
from typing import Any
from urllib.request import Request, urlopen


class SmallShop:
    """The shop's side of the service, and what it has sent to its customers."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self.fulfilled: set[str] = set()

    def order(self, name: str, amount: int, key: str) -> Any:
        """Creates an order; the same `key` again is the same order."""
        item = {"name": name, "quantity": 1, "unit_amount": amount}
        body = {"amount": amount, "currency": "EUR", "items": [item]}
        return self._post("/v1/orders", {**body, "shipping": {"country": "DE"}}, key)

    def refund(self, payment: str, amount: int, key: str) -> Any:
        """Pays a part back."""
        return self._post("/v1/refunds", {"payment": payment, "amount": amount}, key)

    def handle(self, event: dict[str, Any]) -> None:
        """Fulfils an order when it is paid, once, however often it is told."""
        if event["type"] == "order.paid":
            self.fulfilled.add(event["data"]["object"]["id"])

    def _post(self, path: str, body: dict[str, Any], key: str) -> Any:
        headers = {
            "Authorization": f"Bearer {self._api_key}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        request = Request(self._base_url + path, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=10) as answer:
            return json.load(answer)
