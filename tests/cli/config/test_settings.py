"""`svc config` through the real program."""

import fcntl
import os
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.running import Svc
from svc.config import editing

URL = "https://api.example.com"


def config_file() -> Path:
    return Path(os.environ["SVC_CONFIG_DIR"], "config.toml")


def test_settings_are_set_read_and_unset(svc: Svc) -> None:
    """A setting changes what the program does, and its default comes back."""
    assert svc.ok("config", "set", "output", "ndjson") == {"object": "config", "output": "ndjson"}
    assert svc.ok("config", "get", "output") == "ndjson"
    assert svc("config", "get", "cache").out == "true\n"
    assert svc.ok("config", "unset", "output") == {"object": "config", "output": None}
    assert svc.ok("config", "get", "output") is None
    svc.ok("config", "set", "output", "json")
    unset = svc("config", "unset", "output", "-o", "human")
    assert unset.out == "output is not set any more.\n"
    assert svc("config", "get", "max_time", "-o", "human").out == "60\n"
    assert svc("config", "get", "output", "-o", "human").out == "none\n"


def test_everything_is_shown_at_once(svc: Svc) -> None:
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    shown = svc.ok("config", "get")
    assert shown["object"] == "config"
    assert (shown["active_profile"], shown["cache"], shown["output"]) == ("shop", True, None)
    assert (shown["max_time"], shown["color"]) == (60, "auto")
    assert shown["profiles"]["shop"]["base_url"] == URL
    assert "shop" in svc("config", "get", "-o", "human").out.lower()


def test_dotted_names_reach_profiles(svc: Svc) -> None:
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok("config", "set", "profiles.shop.auth", "basic")
    assert svc.ok("config", "get", "profiles.shop.auth") == "basic"


def test_an_address_that_no_call_may_use_is_not_set(svc: Svc) -> None:
    """R21: plain http is for this machine; what the file holds already can be mended."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    name = "profiles.shop.base_url"
    refused = svc("config", "set", name, "http://api.example.com", "-o", "human")
    assert refused.code == 2
    assert "Use https://api.example.com" in refused.err
    for local in ("http://127.0.0.1:4242", "http://localhost:8080", "http://[::1]:99"):
        assert svc.ok("config", "set", name, local) == {"object": "config", name: local}
    config_file().write_text('[profiles.shop]\nbase_url = "http://api.example.com"\n')
    assert svc.ok("config", "set", name, URL) == {"object": "config", name: URL}


def test_the_path_is_shown_also_where_there_is_no_file(svc: Svc) -> None:
    """For editors and dotfiles."""
    assert svc("config", "path").out == f"{config_file()}\n"
    assert svc.ok("config", "path", "-o", "json") == str(config_file())
    assert svc("config", "path", "-o", "human").out == f"{config_file()}\n"
    assert not config_file().exists()


def test_a_damaged_file_can_be_mended(svc: Svc) -> None:
    """Commands refuse it by line, exit 2; the path can still be asked for."""
    config_file().parent.mkdir(mode=0o700)
    config_file().write_text('output = "json"\nactive_profile: shop\n')
    for argv in (["orders", "list"], ["profiles", "list"], ["config", "set", "output", "csv"]):
        refused = svc(*argv)
        assert refused.code == 2
        assert f"{config_file()}, line 2" in refused.error["message"]
    assert svc("config", "path").out == f"{config_file()}\n"
    assert svc.ok("config", "path", "-o", "json") == str(config_file())
    assert "active_profile: shop" in config_file().read_text()


def test_an_active_profile_that_is_gone_can_be_mended(svc: Svc) -> None:
    """The commands that mend settings work while the settings are wrong."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    config_file().write_text(config_file().read_text().replace('"shop"', '"gone"'))
    assert svc("orders", "list").code == 2
    assert [each["name"] for each in svc.ok("profiles", "list")] == ["shop"]
    svc.ok("profiles", "use", "shop")
    assert svc("orders", "list").code == 4


def test_a_held_configuration_is_waited_for_ten_seconds(
    isolated: Path, svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the state database's lock: then words, and nothing was changed."""
    svc.ok("config", "set", "color", "never")
    clock, folder = ManualClock(), isolated / "config"
    monkeypatch.setattr(editing, "SystemClock", lambda: clock)
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        result = svc("config", "set", "color", "always")
    finally:
        os.close(handle)
    assert clock.monotonic() == pytest.approx(10, abs=0.1)
    assert result.code == 10
    assert f"Another svc process holds {folder} for too long" in result.error["message"]
    assert svc.ok("config", "get", "color") == "never"
