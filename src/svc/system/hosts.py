"""Tells whether a host name or address is this machine's own, without a resolver.

`base_url` calls `is_loopback` to decide which keys may be sent to an address (promise R21); the
sandbox checks by it the Host header of requests and the URLs of webhook endpoints (promise R89).
"""

from functools import lru_cache

_BYTES, _BYTE_MAX, _BYTE_DIGITS = 4, 255, 3


@lru_cache
def is_loopback(host: str) -> bool:
    """Whether a host, without port or brackets, is `localhost` or a loopback address (R21)."""
    host = host.lower()
    if ":" not in host:
        return host == "localhost" or (host.startswith("127.") and is_ipv4(host))
    from ipaddress import IPv6Address

    try:
        address = IPv6Address(host)
    except ValueError:
        return False
    # Python's releases answer differently for an IPv4 address that is written as an IPv6 one.
    return (address.ipv4_mapped or address).is_loopback


def is_ipv4(host: str) -> bool:
    """Whether a host is four decimal numbers: `ipaddress` would say the same, but takes a while."""
    parts = host.split(".")
    return len(parts) == _BYTES and all(map(_is_byte, parts))


def _is_byte(text: str) -> bool:
    short = text.isdigit() and len(text) <= _BYTE_DIGITS
    return short and text == str(min(int(text), _BYTE_MAX))  # 010 is octal to some


def host_of(header: str) -> str:
    """The host in a Host header, without its port and brackets; empty if it is malformed."""
    if header.startswith("["):
        host, bracket, port = header[1:].partition("]")
        return host if bracket and (not port or _is_port(port)) else ""
    host, colon, port = header.partition(":")
    return host if not colon or _is_port(":" + port) else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and (text[1:].isdigit() or len(text) == 1)
