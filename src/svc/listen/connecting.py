"""Opening a connection to an address that was checked, not to a name that could change (R53)."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, Literal

from svc.listen.addresses import Address
from svc.listen.targets import Target
from svc.listen.wire import Wire

_V4: Final = 4


class CannotConnect(Exception):  # noqa: N818  it says what is the matter
    """There is no connection; `forbidden`: there must not be one."""

    def __init__(self, text: str, trouble: Literal["unreachable", "forbidden"]) -> None:
        super().__init__(text)
        self.trouble = trouble


Connect = Callable[[Target, ssl.SSLContext | None], Awaitable[Wire]]


async def open_wire(target: Target, context: ssl.SSLContext | None) -> Wire:
    """Connects to the first address of a target that answers.

    Raises:
        CannotConnect: none does, or the name leads to an address that is not allowed.
    """
    last: OSError = OSError("its host name has no address")
    for address in await resolve(target):
        try:
            return await _open(address, target, context)
        except OSError as error:
            last = error
    raise CannotConnect(_words(last), "unreachable") from None


async def resolve(target: Target) -> list[Address]:
    """Gives the addresses of a target, all of them allowed.

    Raises:
        CannotConnect: the name is not known, or leads to an address that is not allowed (R53).
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CannotConnect(_words(error), "unreachable") from None
    addresses = list(dict.fromkeys(ipaddress.ip_address(info[4][0]) for info in found))
    for address in addresses:
        if not target.allows(address):
            why = "never allowed" if target.allow_remote else "not on this machine"
            text = f"{target.host} leads to {address}, which is {why}"
            raise CannotConnect(text, "forbidden")
    return addresses


async def _open(address: Address, target: Target, context: ssl.SSLContext | None) -> Wire:
    loop = asyncio.get_running_loop()
    name = target.host if context else None
    family = socket.AF_INET if address.version == _V4 else socket.AF_INET6
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.setblocking(False)
        await loop.sock_connect(connected, (str(address), target.port))
        _, wire = await loop.create_connection(
            lambda: Wire(connected), sock=connected, ssl=context, server_hostname=name
        )
    except BaseException:
        connected.close()
        raise
    return wire


def _words(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.gaierror):
        return "its host name is not known"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}".lower()
    return (error.strerror or str(error)).lower()
