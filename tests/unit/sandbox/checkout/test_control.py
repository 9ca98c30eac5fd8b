"""The control that tells where an order's checkout is."""

from typing import Any

from unit.sandbox.checkout.shop import Shop


def test_control_tells_the_path_of_an_orders_page(shop: Shop, path: Any) -> None:
    """The client secret was shown only once; the dashboard can still open the page."""
    order = shop.order()
    assert shop.control("GET", f"/orders/{order['id']}/checkout_url") == {
        "object": "checkout_url",
        "order": order["id"],
        "client_secret": order["client_secret"],
        "path": path(order),
    }


def test_control_knows_the_modes_apart(shop: Shop) -> None:
    """A live order is asked for with mode=live."""
    order = shop.order(key="sk_live_sandbox")
    where = f"/orders/{order['id']}/checkout_url"
    assert shop.control("GET", where)["code"] == "resource_missing"
    assert shop.control("GET", f"{where}?mode=live")["order"] == order["id"]
