"""Sending a kept delivery again: the same body, signed now or as it was."""

import asyncio
from collections.abc import Sequence
from typing import Final

from svc.listen.forward import Sender
from svc.listen.link import Reply, exchange_once
from svc.signature import header_value
from svc.spec import SIGNATURE_HEADER

_NAME: Final = SIGNATURE_HEADER.lower().encode() + b":"


def signed_anew(headers: bytes, body: bytes, secrets: Sequence[str], now: float) -> bytes:
    """Gives the header lines with a signature of `now` (unix seconds) in place of the old one."""
    lines = headers.splitlines(keepends=True)
    kept = [line for line in lines if not line.lower().startswith(_NAME)]
    value = header_value(body, secrets, int(now))
    return b"".join([*kept, f"{SIGNATURE_HEADER}: {value}\r\n".encode()])


def send(sender: Sender, headers: bytes, body: bytes, seconds: float) -> Reply:
    """Sends one delivery and waits for its answer, at most so many seconds."""
    request = sender.request(headers, body)

    async def exchange() -> Reply:
        return await exchange_once(sender.link(), request, seconds)

    return asyncio.run(exchange())
