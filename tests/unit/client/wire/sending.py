"""Calls that the wire's tests send, and how they end."""

import pytest

from support.calls import refunds
from svc.client.call import Call
from svc.client.client import Client
from svc.errors import SvcError

POST = refunds.create({"payment": "pay_1", "amount": 100})


def ended(client: Client, call: Call) -> SvcError:
    with pytest.raises(SvcError) as caught:
        client.send(call)
    return caught.value
