"""Which host names mean this machine and nothing else (assumptions: Webhook endpoint)."""

from ipaddress import ip_address
from typing import Final

_USUAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})  # spares nearly every request a parse


def is_loopback(host: str) -> bool:
    """Says whether a host, without port or brackets, is a loopback address or name."""
    if host.lower() in _USUAL:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The host in a Host header, without its port and brackets; empty if it is malformed."""
    if header.startswith("["):
        host, bracket, port = header[1:].partition("]")
        return host if bracket and (not port or _is_port(port)) else ""
    host, colon, port = header.partition(":")
    return host if not colon or _is_port(":" + port) else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and (text[1:].isdigit() or len(text) == 1)
