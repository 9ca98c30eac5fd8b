"""What `--tunnel` and `--public-url` may say, and what `auto` makes of a machine."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from support.servers.tunnels import stand_in
from svc.base_url import BaseUrl
from svc.cli.events.link import ChosenTunnel, choose
from svc.cli.events.options import ListenOptions, TunnelOption
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.listen.tunnels.program import environment

AWAY = "https://api.example.invalid"


def chosen(
    tunnel: str,
    folder: Path,
    *programs: str,
    public_url: str | None = None,
    base_url: str = AWAY,
    secrets: tuple[str, ...] = (),
) -> ChosenTunnel | None:
    """What is chosen on a machine that has these programs."""
    for program in programs:
        stand_in(folder, program, "exit 1")
    env = {"PATH": str(folder), "SVC_BASE_URL": base_url}
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    asked = SimpleNamespace(
        tunnel=TunnelOption.parse(tunnel),
        public_url=BaseUrl.parse(public_url) if public_url else None,
        secrets=secrets,
    )
    with Session((), env, streams) as session:
        return choose(session, cast("ListenOptions", asked), sandbox=False)


@pytest.mark.parametrize(
    ("programs", "name"), [(("cloudflared", "ngrok"), "cloudflared"), (("ngrok", "ssh"), "ngrok")]
)
def test_auto_takes_what_is_installed(programs: tuple[str, ...], name: str, tmp_path: Path) -> None:
    """Cloudflared, which needs no account, before ngrok; by its absolute path."""
    found = chosen("auto", tmp_path, *programs)
    assert found is not None
    assert (found.provider.name, found.path) == (name, str(tmp_path / name))


@pytest.mark.parametrize(
    ("base_url", "public_url", "secrets"),
    [
        ("http://127.0.0.1:4242", None, ()),
        (AWAY, "https://mine.example", ()),
        (AWAY, None, ("whsec_x",)),
    ],
    ids=["a service on this machine", "a tunnel of one's own", "an endpoint of one's own"],
)
def test_auto_starts_nothing_where_nothing_is_needed(
    base_url: str, public_url: str | None, secrets: tuple[str, ...], tmp_path: Path
) -> None:
    """Who is reached already needs no tunnel, whatever is installed."""
    found = chosen(
        "auto", tmp_path, "cloudflared", base_url=base_url, public_url=public_url, secrets=secrets
    )
    assert found is None


def test_a_tunnel_program_has_everything_of_the_environment_but_what_is_svcs() -> None:
    """R43: no key and no secret; it finds its own settings."""
    env = {"PATH": "/bin", "SVC_API_KEY": "sk_test_1", "NGROK_AUTHTOKEN": "x", "SVC_PROFILE": "a"}
    assert environment(env) == {"PATH": "/bin", "NGROK_AUTHTOKEN": "x"}


@pytest.mark.parametrize(
    ("text", "login", "port", "address"),
    [
        ("ssh:shop.example", "shop.example", 4243, "https://shop.example"),
        ("ssh:me@shop.example:9000", "me@shop.example", 9000, "https://shop.example"),
        ("ssh:shop_1.example", "shop_1.example", 4243, None),
    ],
)
def test_ssh_leads_to_the_server_itself_unless_told_otherwise(
    text: str, login: str, port: int, address: str | None, tmp_path: Path
) -> None:
    """The default is https at the same name; any other address is --public-url's to say."""
    given = None if address else "https://hooks.example/in"
    found = chosen(text, tmp_path, "ssh", public_url=given)
    assert found is not None
    assert str(found.address) == (address or given)
    arguments = found.provider.arguments(4000)
    assert arguments[-2:] == ["--", login]
    assert arguments[arguments.index("-R") + 1] == f"127.0.0.1:{port}:127.0.0.1:4000"
    for option in ("ExitOnForwardFailure=yes", "ServerAliveInterval=15", "BatchMode=yes"):
        assert arguments[arguments.index(option) - 1] == "-o"


def test_an_address_of_ones_own_goes_to_ngrok_or_needs_no_program(tmp_path: Path) -> None:
    """Ngrok takes one that the account owns; with --tunnel none nothing is started."""
    mine = "https://mine.example"
    found = chosen("ngrok", tmp_path, "ngrok", "cloudflared", public_url=mine)
    assert found is not None
    assert found.provider.arguments(1)[-2:] == ["--url", mine]
    assert chosen("none", tmp_path, public_url=mine) is None
