"""The shop's own tests: the service, its clock and its webhooks are fixtures of svc."""

from datetime import timedelta
from typing import Any
from urllib.error import HTTPError

import pytest
from shop import SmallShop  # type: ignore[import-not-found]  # beside this file


@pytest.fixture
def shop(svc_sandbox: Any) -> SmallShop:
    return SmallShop(svc_sandbox.url, svc_sandbox.api_key)


def test_a_paid_order_is_fulfilled(svc_sandbox: Any, svc_webhooks: Any, shop: SmallShop) -> None:
    order = shop.order("Jacket", 12900, "cart-1")
    svc_sandbox.pay(order)
    shop.handle(svc_webhooks.wait("order.paid"))
    assert shop.fulfilled == {order["id"]}


def test_a_cart_that_is_sent_twice_is_one_order(svc_sandbox: Any, shop: SmallShop) -> None:
    assert shop.order("Jacket", 100, "cart-1") == shop.order("Jacket", 100, "cart-1")
    assert svc_sandbox.call("GET", "/v1/payments")["data"] == []


def test_a_refund_settles_in_time(svc_sandbox: Any, svc_webhooks: Any, shop: SmallShop) -> None:
    svc_sandbox.pay(shop.order("Jacket", 12900, "cart-1")["id"])
    payment = svc_webhooks.wait("payment.captured")["data"]["object"]["id"]
    shop.refund(payment, 4900, "refund-1")
    svc_sandbox.advance(timedelta(days=10))
    assert svc_webhooks.wait("refund.succeeded")["data"]["object"]["amount"] == 4900
    assert [one["type"] for one in svc_sandbox.events("refund.succeeded")] == ["refund.succeeded"]


def test_a_service_that_fails_is_noticed(svc_sandbox: Any, shop: SmallShop) -> None:
    svc_sandbox.fault(match={"path": "/v1/orders"}, effect={"status": 500})
    with pytest.raises(HTTPError, match="500"):
        shop.order("Jacket", 100, "cart-1")
    assert shop.order("Jacket", 100, "cart-2")["status"] == "requires_payment"
