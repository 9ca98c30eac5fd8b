"""Chooses a listener's tunnel program (cloudflared, ngrok, ssh), by `--tunnel` or as installed.

A tunnel leads from a public address to the listener's local port. `run` calls `choose`: options in,
a `ChosenTunnel` out, or None where the service is on this machine or the user runs a tunnel. `link`
starts the program.
"""

from dataclasses import dataclass
from typing import Final

from svc.base_url import BaseUrl
from svc.cli.events.options import ListenOptions, TunnelOption
from svc.cli.framework.session import Session
from svc.errors import LocalError, UsageError
from svc.listen.tunnels.cloudflared import Cloudflared
from svc.listen.tunnels.ngrok import Ngrok
from svc.listen.tunnels.program import find_installed
from svc.listen.tunnels.provider import Provider
from svc.listen.tunnels.ssh import Ssh

_OWN: Final = "or run any tunnel and name it: --public-url https://... --port 4000"


@dataclass(frozen=True, slots=True)
class ChosenTunnel:
    """A tunnel program of this machine; `address` is None until the program announces it."""

    provider: Provider
    path: str
    address: BaseUrl | None

    @property
    def way(self) -> str:
        """Program and address as a text; listeners with different texts are told apart by it."""
        return f"{self.provider.name} {self.address or ''}".strip()


def choose(session: Session, options: ListenOptions, *, sandbox: bool) -> ChosenTunnel | None:
    """Returns the tunnel to start; None where the service needs none, or the user runs one.

    Raises:
        UsageError: the service cannot reach this machine, or the options contradict each other.
        LocalError: the program is not installed.
    """
    if options.tunnel.kind == "auto":
        return _choose_automatic(session, options, sandbox=sandbox)
    if options.tunnel.kind == "none":
        if _is_reached(session, options, sandbox=sandbox):
            return None
        raise UsageError(
            f"{session.base_url.origin} cannot reach this machine.",
            code="public_url_missing",
            param="--public-url",
            hint="Run a tunnel to a port of your choice and give both: --public-url https://... "
            "--port 4000",
        )
    return _choose_explicit(session, options.tunnel, options.public_url)


def _choose_automatic(
    session: Session, options: ListenOptions, *, sandbox: bool
) -> ChosenTunnel | None:
    if _is_reached(session, options, sandbox=sandbox):
        return None
    if session.base_url.is_clear:
        raise UsageError(
            f"The sandbox at {session.base_url.origin} sends webhooks to its own machine only.",
            code="public_url_missing",
            param="--base-url",
            hint="Listen where it runs, as with network_mode: service:NAME, see: svc help ci",
        )
    for provider in (Cloudflared(), Ngrok()):
        path = find_installed(provider.program, session.env.get("PATH", ""))
        if path is not None:
            return ChosenTunnel(provider, path, None)
    raise UsageError(
        f"{session.base_url.origin} cannot reach this machine, and neither cloudflared nor ngrok "
        "is installed.",
        code="public_url_missing",
        param="--tunnel",
        hint=f"Install one of them, use --tunnel ssh:HOST, {_OWN}",
    )


def _choose_explicit(
    session: Session, wanted: TunnelOption, public_url: BaseUrl | None
) -> ChosenTunnel:
    provider, address = _provider(wanted, public_url)
    path = find_installed(provider.program, session.env.get("PATH", ""))
    if path is None:
        raise LocalError(
            f"{provider.program} is not installed: no folder of PATH holds it.",
            code="tunnel_program_missing",
            param="--tunnel",
            hint=f"Install {provider.program}, {_OWN}",
        )
    return ChosenTunnel(provider, path, address)


def _provider(wanted: TunnelOption, public_url: BaseUrl | None) -> tuple[Provider, BaseUrl | None]:
    server = wanted.destination
    if server is not None:
        if public_url is None and server.public_url is None:
            raise UsageError(
                f"{server.host} does not say under which address its web server is known.",
                code="public_url_missing",
                param="--public-url",
                hint=f"Name what leads to 127.0.0.1:{server.port} there: --public-url https://...",
            )
        address = public_url or BaseUrl.parse(server.public_url or "")
        return Ssh(server, str(address)), address
    if wanted.kind == "ngrok":
        return Ngrok(str(public_url) if public_url else None), public_url
    if public_url is not None:
        raise UsageError(
            "A tunnel by cloudflared has an address of Cloudflare's choice.",
            param="--public-url",
            hint="Run your own Cloudflare tunnel and use --tunnel none with --public-url",
        )
    return Cloudflared(), None


def _is_reached(session: Session, options: ListenOptions, *, sandbox: bool) -> bool:
    """A service of this machine reaches it; so does one that the user has shown the way."""
    local = sandbox or session.base_url.is_loopback
    return local or options.public_url is not None or bool(options.secrets)
