"""Which addresses are never forwarded to: those of no host, of links, and of clouds' keys (R53)."""

import ipaddress
from collections.abc import Iterator
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

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


def is_never_allowed(address: Address) -> bool:
    """Says whether an address is unspecified, link-local or a metadata service, however written.

    The unspecified one is this machine, unchecked; on links wait services that ask nobody who he
    is, metadata services for one. An IPv6 address that carries such a service's IPv4 address
    anywhere in its bytes is one too: mapped, compatible, NAT64, 6to4, Teredo and ISATAP are only
    the ways that are common.
    """
    nowhere = any(each.is_unspecified or each.is_link_local for each in _meant(address))
    return nowhere or any(form in _NEVER for form in _forms(address))


def _meant(address: Address) -> Iterator[Address]:
    """The address, and the IPv4 address that it stands for, if it does so in a usual way."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address in _TRANSLATED or address in _COMPATIBLE:
        yield ipaddress.IPv4Address(address.packed[-_V4:])
    teredo = address.teredo[1] if address.teredo else None
    yield from filter(None, (address.ipv4_mapped, address.sixtofour, teredo))


def _forms(address: Address) -> Iterator[bytes]:
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
