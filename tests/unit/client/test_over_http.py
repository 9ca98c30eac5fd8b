"""The client against the service's stand-in, whose answers are lost on the way; over real HTTP.

What each operation does is told by its command, in `cli/test_resource_commands.py`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from support.calls import orders
from support.orders import ORDER
from svc.base_url import BaseUrl
from svc.client.client import Client
from svc.client.sandbox import SandboxClient, control_call

if TYPE_CHECKING:
    from support.running import Sandbox


@pytest.fixture
def client(sandbox: "Sandbox") -> Iterator[Client]:
    with Client(BaseUrl.parse(sandbox.url), "sk_test_sandbox", mode="test") as made:
        yield made


@pytest.fixture
def control(sandbox: "Sandbox") -> Iterator[SandboxClient]:
    with SandboxClient(BaseUrl.parse(sandbox.url)) as made:
        yield made


@pytest.mark.parametrize(
    "effect",
    [
        *({"connection": "close"}, {"connection": "reset"}, {"connection": "truncate"}),
        *({"connection": "garbage"}, {"status": 500}, {"status": 503}),
    ],
    ids=lambda effect: str(*effect.values()),
)
def test_one_order_is_made_whatever_happens_to_its_answer(
    effect: dict[str, Any], client: Client, control: SandboxClient
) -> None:
    """R1: committed, then the answer is lost; the retry is replayed, one object."""
    rule = {"match": {"method": "POST", "path": "/v1/orders"}, "phase": "after", "effect": effect}
    control.send(control_call("POST", "faults", body=rule))
    reply = client.send(orders.create(ORDER))
    assert (reply.replayed, reply.attempts) == (True, 2)
    assert len(client.send(orders.list()).data["data"]) == 1
