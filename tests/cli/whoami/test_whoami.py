"""`svc whoami` through the real program: what a command would use, and whether it is taken."""

import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.ring_file import FakeRing
from support.running import Sandbox, Svc

URL = "https://api.example.com"


def test_whoami_says_what_a_command_would_use(svc: Svc, sandbox: Sandbox) -> None:
    """Profile, origin, mode, key and its source, and that the service takes it."""
    found = svc.ok("whoami")
    told = datetime.fromisoformat(found.pop("service_time"))
    assert abs((told - datetime.now(UTC)).total_seconds()) < 60
    assert found == {
        "object": "whoami",
        "profile": "default",
        "origin": sandbox.url,
        "mode": "test",
        "sandbox": False,
        "key": "sk_test_…",
        "key_kind": "secret",
        "key_source": "SVC_API_KEY",
        "key_added": None,
        "key_age_days": None,
        "proxy": None,
        "reachable": True,
        "key_accepted": True,
        "limits": [],
    }
    shown = svc("whoami", "-o", "human").out
    assert sandbox.url in shown
    assert re.search(r"^ *Mode  +test$", shown, re.MULTILINE)
    assert "SVC_API_KEY" in shown


def test_whoami_knows_the_sandbox_and_its_constants(
    svc: Svc, own_sandbox: Sandbox, isolated: Path
) -> None:
    """From the profile that starting the sandbox makes."""
    file = isolated / "config" / "config.toml"
    file.parent.mkdir(mode=0o700)
    file.write_text(
        f'active_profile = "sandbox"\n[profiles.sandbox]\nbase_url = "{own_sandbox.url}"\nsandbox = true\n'
    )
    env = {"SVC_API_KEY": "", "SVC_BASE_URL": ""}
    shown = svc.ok("whoami", env=env)
    assert (shown["profile"], shown["sandbox"]) == ("sandbox", True)
    assert (shown["key_source"], shown["key_accepted"]) == ("sandbox constant", True)
    assert svc.ok("whoami", "--live", env=env)["mode"] == "live"


def test_whoami_tells_a_stored_key_s_age(
    svc: Svc, sandbox: Sandbox, fake_ring: FakeRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the day that it was added."""
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    added = svc.ok("keys", "add", "--stdin", stdin="sk_test_sandbox")
    shown = svc.ok("whoami")
    assert shown["key_source"] == "keyring (profile default)"
    assert (shown["key_added"], shown["key_age_days"]) == (added["added"], 0)


def test_whoami_ends_with_4_without_a_key(svc: Svc) -> None:
    """What is known is printed all the same, and nothing is sent."""
    ended = svc("whoami", "--base-url", URL)
    assert ended.code == 4
    assert ended.json["origin"] == URL
    assert (ended.json["key"], ended.json["reachable"]) == (None, None)


def test_whoami_ends_with_4_if_the_key_is_refused(svc: Svc, sandbox: Sandbox) -> None:
    """The service is there, but does not know the key."""
    ended = svc("whoami", env={"SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc"})
    assert ended.code == 4
    assert (ended.json["reachable"], ended.json["key_accepted"]) == (True, False)
    assert ended.json["key"] == "sk_test_…p7dc"
    shown = svc("whoami", "-o", "human", env={"SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc"})
    assert "svc keys add" in shown.err
    assert "svc whoami" not in shown.err


def test_whoami_shows_a_key_of_the_other_mode(svc: Svc) -> None:
    """It is not sent, but whose it is can be seen: exit 4 with fingerprint and source."""
    env = {"SVC_API_KEY": "sk_live_4eC39HqLyjWDarjtT1zdp7dc"}
    ended = svc("whoami", "--base-url", URL, env=env)
    assert (ended.code, ended.error["code"]) == (4, "mode_mismatch")
    assert (ended.json["key"], ended.json["key_source"]) == ("sk_live_…p7dc", "SVC_API_KEY")
    assert (ended.json["key_kind"], ended.json["reachable"]) == ("secret", None)


def test_whoami_ends_with_8_if_nobody_answers(svc: Svc) -> None:
    """The key may still be right."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    argv = ("--base-url", f"http://127.0.0.1:{port}", "--max-time", "1")
    ended = svc("whoami", *argv, env={"SVC_API_KEY": "sk_test_sandbox"})
    assert ended.code == 8
    assert (ended.json["reachable"], ended.json["key_accepted"]) == (False, None)


def test_whoami_with_a_proxy_that_cannot_be_used_asks_nobody(svc: Svc) -> None:
    """What is known is printed all the same."""
    env = {"SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "SVC_PROXY": "socks5://x:1"}
    ended = svc("whoami", "--base-url", URL, env=env)
    assert (ended.code, ended.json["key"]) == (2, "sk_test_…p7dc")
    assert (ended.json["reachable"], ended.json["proxy"]) == (None, None)
