"""Where to forward to, looked up before anything is opened (promise R53)."""

import ipaddress
import socket
from collections.abc import Iterable

from svc.errors import UsageError
from svc.listen.targets import Address, Target


def check_targets(targets: Iterable[Target]) -> None:
    """Refuses names that lead elsewhere; the address is checked once more at every connection.

    Raises:
        UsageError: a name is not known, or leads to another machine without the option for it.
    """
    for target in targets:
        addresses = _addresses(target)
        if not addresses and not target.allow_remote:
            raise _refusal(target, "its host name is not known here, so it is not this machine")
        for address in addresses:
            if not target.allows(address):
                where = "which must never be reached" if target.allow_remote else "not this machine"
                raise _refusal(target, f"{target.host} leads to {address}, {where}")


def _addresses(target: Target) -> list[Address]:
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [ipaddress.ip_address(info[4][0]) for info in found]


def _refusal(target: Target, why: str) -> UsageError:
    hint = None
    if not target.allow_remote:
        hint = "Forward to this machine, or add --allow-remote-forward if it is yours."
    return UsageError(f"Cannot forward to {target}: {why}.", param="--forward-to", hint=hint)
