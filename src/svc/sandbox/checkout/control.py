"""The control that tells where an order's checkout is: its client secret was shown only once."""

from typing import Final

from svc.sandbox import orders
from svc.sandbox.checkout.address import Address
from svc.sandbox.control_call import Call, Control
from svc.sandbox.documents import Doc
from svc.sandbox.problems import resource_missing
from svc.sandbox.world import World


async def checkout_url(call: Call) -> Doc:
    """The path of an order's checkout page; its origin is that of this call."""

    def find(world: World) -> Doc:
        order = world.get(orders.KIND, call.id)
        if order is None:
            raise resource_missing(orders.KIND, call.id, "id")
        secret = order["_client_secret"]
        path = Address(secret).url()
        return {
            "object": "checkout_url",
            "order": order["id"],
            "client_secret": secret,
            "path": path,
        }

    return await call.engine.read(call.mode, find)


CONTROLS: Final = (Control("GET", "/orders/{id}/checkout_url", checkout_url),)
