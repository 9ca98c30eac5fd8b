"""Parses the URLs that events are forwarded to, and checks that they are on this machine (R53).

`routes` parses `--forward-to` by `Target`; `http.dial` checks the address again at each connection.
"""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from svc.base_url import DEFAULT_PORTS, authority
from svc.errors import UsageError, name_failure
from svc.system import PORT_MAX

if TYPE_CHECKING:
    import ssl

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_NEVER: Final = frozenset(
    ipaddress.ip_address(text).packed
    for text in (
        "169.254.169.254",  # nearly every cloud
        "169.254.170.2",  # the credentials of an ECS task
        "169.254.170.23",  # those of an EKS pod
        "169.254.0.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
_V4: Final = 4
_RESERVED_OCTET: Final = 8  # RFC 6052 puts it in the midst of an embedded IPv4 address
_TEREDO: Final = ipaddress.ip_network("2001::/32")
_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE: Final = ipaddress.ip_network("::/96")


def is_never_allowed(address: IpAddress) -> bool:
    """Returns whether an address is unspecified, link-local or a cloud's metadata service.

    The unspecified one is this machine, unchecked; link-local services, such as
    metadata services, ask for no key. An IPv6 address that carries such a service's IPv4 address
    anywhere in its bytes is one too: mapped, compatible, NAT64, 6to4, Teredo and ISATAP are only
    the ways that are common.
    """
    nowhere = any(each.is_unspecified or each.is_link_local for each in _suggest_host(address))
    return nowhere or any(form in _NEVER for form in _forms(address))


def _suggest_host(address: IpAddress) -> Iterator[IpAddress]:
    """The address, and the IPv4 address that it stands for, if it does so in a usual way."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address in _TRANSLATED or address in _COMPATIBLE:
        yield ipaddress.IPv4Address(address.packed[-_V4:])
    teredo = address.teredo[1] if address.teredo else None
    yield from filter(None, (address.ipv4_mapped, address.sixtofour, teredo))


def _forms(address: IpAddress) -> Iterator[bytes]:
    packed = address.packed
    yield packed
    if len(packed) == _V4:
        return
    yield from _windows(packed)
    yield from _windows(packed[:_RESERVED_OCTET] + packed[_RESERVED_OCTET + 1 :])
    if address in _TEREDO:
        yield bytes(byte ^ 0xFF for byte in packed[-_V4:])


def _windows(packed: bytes) -> Iterator[bytes]:
    for start in range(len(packed) - _V4 + 1):
        yield packed[start : start + _V4]


_SHAPE: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)?"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[!-~]*)?"
)
_BARE_PORT: Final = re.compile(r"[0-9]{1,5}(?:/.*)?")
_NUMERIC: Final = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+))*")


@dataclass(frozen=True, slots=True)
class Target:
    """One place to forward to; `path` holds the query too."""

    scheme: str
    host: str
    port: int
    path: str
    allow_remote: bool
    _hash: int = field(init=False, repr=False, compare=False)
    _text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Works out once what is asked for with each event."""
        facts = (self.scheme, self.host, self.port, self.path, self.allow_remote)
        object.__setattr__(self, "_hash", hash(facts))
        path = "" if self.path == "/" else self.path
        object.__setattr__(self, "_text", f"{self.scheme}://{self.authority}{path}")

    def __hash__(self) -> int:
        return self._hash

    @classmethod
    def parse(cls, text: str, *, allow_remote: bool = False) -> "Target":
        """Reads `3000`, `:3000/x`, `localhost:3000/x` or a whole URL.

        Raises:
            UsageError: it is malformed, or not on this machine and `allow_remote` is off (R53).
        """
        match = _SHAPE.fullmatch(f":{text}" if _BARE_PORT.fullmatch(text) else text)
        if match is None or "#" in text or (match["scheme"] and not match["host"]):
            raise _refusal(text, "it is not an address")
        scheme, host = match["scheme"] or "http", (match["host"] or "localhost").strip("[]").lower()
        if match["scheme"] is None and match["port"] is None and "." not in host:
            raise _refusal(text, "it has no port")
        port = int(match["port"] or DEFAULT_PORTS[scheme])
        if not 0 < port <= PORT_MAX:
            raise _refusal(text, "its port is impossible")
        target = cls(scheme, host, port, match["path"] or "/", allow_remote)
        target.check_host(text)
        return target

    def check_host(self, text: str) -> None:
        """Refuses addresses that are plainly elsewhere or written in a misleading way."""
        address = _literal(self.host)
        if address is not None and is_never_allowed(address):
            raise _refusal(text, "nothing goes to unspecified, link-local or metadata addresses")
        if address is not None and not self.allows(address):
            raise _refusal(text, "it is not on this machine", remote=True)
        if address is None and _NUMERIC.fullmatch(self.host):
            raise _refusal(text, "its host is an address in an unusual form")

    def allows(self, address: IpAddress) -> bool:
        """Returns whether a connection to this address may be made (promise R53).

        Without `allow_remote` only to this machine; to what `is_never_allowed` names never.
        """
        if is_never_allowed(address):
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return self.allow_remote or (address.is_loopback and mapped is None)

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        return authority(self.scheme, self.host, self.port)

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True, slots=True)
class TargetTrust:
    """Which certificates of targets are good: those by the file `ca_bundle`, else by the system's.

    With `insecure` any certificate of a target on this machine or in a private network is good.
    """

    ca_bundle: str | None = None
    insecure: bool = False

    def context(self, target: Target) -> "ssl.SSLContext | None":
        """Returns what a target's certificate is checked with; None for one without TLS.

        Raises:
            UsageError: the file holds no certificates.
        """
        if target.scheme != "https":
            return None
        import ssl

        what = f"The CA bundle {self.ca_bundle} cannot be read"
        with name_failure(what, UsageError, param="--ca-bundle"):
            context = ssl.create_default_context(cafile=self.ca_bundle)
        # Since 3.13 Python refuses a private authority that earlier ones trust: on all alike.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


AS_USUAL: Final = TargetTrust()


def _literal(host: str) -> IpAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _refusal(text: str, why: str, *, remote: bool = False) -> UsageError:
    hint = "Give a port, host:port/path or a URL, such as 3000 or http://localhost:3000/webhooks"
    if remote:
        hint = "Forward to this machine, or add --allow-remote-forward if it is yours."
    return UsageError(f"Cannot forward to {text!r}: {why}.", hint=hint)
