"""Parses the address of the service once, strictly, to a `BaseUrl` (promise R23).

`config` parses the address of a profile with it, `cli` those of options; `client` connects to it,
`keys` binds stored keys to its origin, `delivery` compares it as the place of a request. Whether it
is this machine decides about plain HTTP and about a live key.
"""

import re
from typing import NamedTuple

from svc.errors import ConfigError
from svc.system import PORT_MAX
from svc.system.hosts import is_ipv4, is_loopback

DEFAULT_PORTS = {"http": 80, "https": 443}
# One shape for everything that is allowed; whatever urlsplit might read in two ways is not in it.
_SHAPE = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<prefix>(?:/[A-Za-z0-9._~-]+)*)/?",
)


class BaseUrl(NamedTuple):
    """The API root without `/v1`: where requests go and what a stored key is bound to."""

    scheme: str
    host: str
    port: int
    prefix: str

    @classmethod
    def parse(cls, text: str) -> "BaseUrl":
        """Reads an address such as `https://api.example.com` or `http://127.0.0.1:4242`.

        Raises:
            ConfigError: on user info, query, fragment, backslash, control characters, a host that
                is not plain ASCII, or percent signs (promise R23).
        """
        match = _SHAPE.fullmatch(text)
        if match is None:
            raise ConfigError(
                f"The base URL {_show_url(text)} is not usable: {_complaint(text)}.",
                hint="Give scheme, host and port only, such as https://api.example.com",
            )
        scheme, host = match["scheme"], _check_host(match["host"].strip("[]").lower(), text)
        port = int(match["port"] or DEFAULT_PORTS[scheme])
        prefix = match["prefix"]
        if not 0 < port <= PORT_MAX or {".", ".."} & set(prefix.split("/")):
            raise ConfigError(f"The base URL {_show_url(text)} has an impossible port or path.")
        return cls(scheme, host, port, prefix)

    @property
    def host_header(self) -> str:
        """Host and, where it is not the scheme's own, port: the value of the `Host` header."""
        return authority(self.scheme, self.host, self.port)

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a stored key is bound to (promise R22)."""
        return f"{self.scheme}://{self.host_header}"

    @property
    def is_loopback(self) -> bool:
        """True for a literal loopback address or `localhost`, by name alone (promise R21)."""
        return is_loopback(self.host)

    @property
    def is_clear(self) -> bool:
        """True where a key would leave this machine in clear (promise R21)."""
        return self.scheme != "https" and not self.is_loopback

    @property
    def may_be_sandbox(self) -> bool:
        """True on this machine, and by plain HTTP elsewhere: that carries a sandbox's keys only."""
        return self.is_loopback or self.is_clear

    def url(self, path: str) -> str:
        """The whole address of an API path such as `/v1/orders`."""
        return f"{self.origin}{self.prefix}{path}"

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}"


def authority(scheme: str, host: str, port: int) -> str:
    """Host and, where it is not the scheme's own, port; an IPv6 address stands in brackets."""
    host = f"[{host}]" if ":" in host else host
    return host if port == DEFAULT_PORTS[scheme] else f"{host}:{port}"


def _show_url(text: str) -> str:
    """Quotes an address without the user name and password that it may hold (promise R39)."""
    return repr(re.sub(r"//.*@", "//...@", text))


def _complaint(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        return "it holds control or non-ASCII characters"
    if not text.startswith(("http://", "https://")):
        return "it does not begin with https:// (or http:// on this machine)"
    for mark, name in (("@", "a user name"), ("?", "a query"), ("#", "a fragment")):
        if mark in text:
            return f"it holds {name}"
    return "its host, port or path is malformed"


def _check_host(host: str, text: str) -> str:
    """Refuses number forms that only some resolvers take for addresses (promise R23, R53)."""
    if ":" in host:
        from ipaddress import IPv6Address

        try:
            return str(IPv6Address(host))
        except ValueError:
            raise ConfigError(f"The base URL {_show_url(text)} has a malformed address.") from None
    if (host.replace(".", "").isdigit() or host.startswith("0x")) and not is_ipv4(host):
        raise ConfigError(f"The base URL {_show_url(text)} has a malformed address.")
    if ".." in host:
        raise ConfigError(f"The base URL {_show_url(text)} has a malformed host.")
    return host
