"""The client of a log, over a library that does not always keep its word."""

import asyncio
from contextlib import suppress

import pytest

from svc.listen.log.address import LogAddress
from svc.listen.log.client import LogClient
from svc.listen.log.credentials import Credentials
from svc.listen.log.troubles import LogDown


def test_limit_holds_where_a_fake_opening_swallows_its_cancellation() -> None:
    """nats-py does so when a server hangs up in that very moment: it was waited for without end."""

    class Swallowing(LogClient):
        async def _open(self, seconds: float) -> None:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(seconds + 0.01)

    address = LogAddress.parse("nats://127.0.0.1:1/shop", "--from")
    client = Swallowing(address, Credentials.parse("anna:pw", "test"), None)
    with pytest.raises(LogDown):
        asyncio.run(asyncio.wait_for(client.get_ready(0.1), 20))
