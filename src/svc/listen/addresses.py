"""Which addresses are never forwarded to: where clouds hand out a machine's credentials (R53)."""

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


def is_never_allowed(address: Address) -> bool:
    """Says whether an address is a metadata service, in whatever form it is written.

    An IPv6 address that carries such an IPv4 address anywhere in its bytes is one too: mapped,
    compatible, NAT64, 6to4, Teredo and ISATAP are only the ways that are common.
    """
    return any(form in _NEVER for form in _forms(address))


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
