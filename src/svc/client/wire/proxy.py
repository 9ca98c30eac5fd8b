"""Chooses the proxy of a request: CONNECT for https, none for this machine (promise R26).

`cli.framework.session` chooses the address when it makes the client, `svc doctor` for its check,
and `svc whoami` to show it; `sockets` connects through it.
"""

from binascii import b2a_base64
from collections.abc import Mapping
from typing import NamedTuple

from svc.base_url import BaseUrl
from svc.errors import ConfigError


class Proxy(NamedTuple):
    """An HTTP proxy, used by CONNECT.

    Attributes:
        authorization: the value of `Proxy-Authorization`, or None.
    """

    host: str
    port: int
    authorization: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"Proxy({self})"


def choose_proxy(
    base_url: BaseUrl, option: str | None, environment: Mapping[str, str]
) -> str | None:
    """Chooses the proxy's address: the user's own, else `HTTPS_PROXY` unless `NO_PROXY` applies.

    `option` is `--proxy`, `SVC_PROXY` or the profile's `proxy`. `HTTP_PROXY` and `ALL_PROXY` are
    ignored.
    """
    if base_url.scheme != "https" or base_url.is_loopback:
        return None
    if option:
        return option
    excepted = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if any(_matches(rule.strip().lower(), base_url) for rule in excepted.split(",")):
        return None
    return environment.get("https_proxy") or environment.get("HTTPS_PROXY") or None


def proxy_for(base_url: BaseUrl, address: str | None) -> Proxy | None:
    """Parses the address of a proxy such as `http://user:password@proxy.example:3128`.

    None for plain http and for this machine, whose requests no proxy may see.

    Raises:
        ConfigError: the address is not that of an http:// proxy.
    """
    if address is None or base_url.scheme != "https" or base_url.is_loopback:
        return None
    scheme, mark, rest = address.rpartition("://")
    if (scheme or "http").lower() != "http":
        raise ConfigError(
            "The proxy must be reached by http:// (it is asked to CONNECT; TLS runs inside).",
            code="proxy_invalid",
            param="proxy",
            hint="Give it as http://HOST:PORT.",
        )
    login, at, place = (rest if mark else address).rpartition("@")
    try:
        parsed = BaseUrl.parse(f"http://{place}")
    except ConfigError:
        raise ConfigError(
            "The proxy's address is malformed.",
            code="proxy_invalid",
            param="proxy",
            hint="Give it as http://HOST:PORT.",
        ) from None
    return Proxy(parsed.host, parsed.port, _basic(login) if at else None)


def _basic(login: str) -> str:
    from urllib.parse import unquote

    user, _, password = login.partition(":")
    plain = f"{unquote(user)}:{unquote(password)}".encode()
    return "Basic " + b2a_base64(plain, newline=False).decode("ascii")


def _matches(rule: str, base_url: BaseUrl) -> bool:
    if rule == "*":
        return True
    if rule == f"{base_url.host}:{base_url.port}":
        return True
    name = rule.removeprefix("*").removeprefix(".").strip("[]")
    return bool(name) and (base_url.host == name or base_url.host.endswith(f".{name}"))
