"""Checks `--bind` and `--allow-host` of `svc sandbox start`, and warns who can then reach it.

`process` calls `reach_of` before the sandbox starts: typed address and host names in, an `Exposure`
out; `warn_of_reach` prints the warning once the sandbox is ready.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.sandbox.options import LOOPBACK
from svc.sandbox.process.records import EVERYWHERE, RunRecord

_NAME: Final = r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?"


BIND: Final = option(
    "ADDRESS", "Listen on this address too; 0.0.0.0 is all. Others then reach it.", default=LOOPBACK
)
ALLOW_HOST: Final[list[str] | None] = option(
    "NAME", "Answer to this host name too, as others call it; repeatable."
)


class Exposure(NamedTuple):
    """The address that a sandbox listens on, and names beside those of loopback, in lower case."""

    bind: str
    hosts: list[str]


def reach_of(bind: str, names: Sequence[str], *, tls: bool) -> Exposure:
    """Checks the address to bind and the host names; the bound address counts as a name.

    Raises:
        UsageError: the address or a name is invalid (patterns are, since a hostile page's name
            could match), or --tls would make a certificate that does not hold for them.
    """
    address = _as_address(bind)
    if address is None:
        raise UsageError(
            f"--bind takes an IP address, and {bind!r} is none.",
            param="--bind",
            hint="--bind 0.0.0.0 listens on every address of this machine",
        )
    found = dict.fromkeys(map(_check_host, names))
    if address not in (LOOPBACK, *EVERYWHERE):
        found[address] = None
    if tls and (found or address != LOOPBACK):
        raise UsageError(
            "--tls makes a certificate for this machine's names alone.",
            param="--tls",
            hint="With --bind or --allow-host: --certificate FILE --private-key FILE",
        )
    return Exposure(address, list(found))


def _check_host(text: str) -> str:
    name = text.lower()
    address = _as_address(name.strip("[]"))
    if address is None and not re.fullmatch(_NAME, name):
        raise UsageError(
            f"--allow-host takes one host name without scheme and port, and {text!r} is none.",
            param="--allow-host",
            hint="As others call this machine: --allow-host svc",
        )
    return address or name


def _as_address(text: str) -> str | None:
    from ipaddress import ip_address

    try:
        return None if "%" in text else str(ip_address(text))
    except ValueError:
        return None


def warn_of_reach(session: Session, record: RunRecord, hosts: Sequence[str]) -> None:
    """Warns who can reach a sandbox that listens on more than loopback, and by which names."""
    where = "any address of this machine" if record.bind in EVERYWHERE else str(record.bind)
    names = ", ".join((*hosts, "localhost"))
    session.out.warn(
        f"Anyone who can connect to {where}, port {record.port}, can read, change and export all "
        f"that is in this sandbox: its keys are public. It answers to the names {names}."
    )
