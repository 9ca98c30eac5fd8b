"""`svc profiles`, `svc config` and `svc whoami` through the real program."""

import fcntl
import os
import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.on_terminal import AtTerminal
from support.ring_file import FakeRing
from support.running import Sandbox, Svc
from svc.config import editing

URL = "https://api.example.com"
ASKED = "[y/N] "


def config_file() -> Path:
    return Path(os.environ["SVC_CONFIG_DIR"], "config.toml")


# --- profiles -------------------------------------------------------------------------------


@pytest.mark.effect_of("profiles create", "--auth")
def test_profiles_are_created_listed_used_and_removed(svc: Svc) -> None:
    """The first becomes active; switching and removing are said to do what they do."""
    created = svc.ok("profiles", "create", "shop", "--base-url", f"{URL}/eu", "--auth", "basic")
    assert created == {
        "object": "profile",
        "name": "shop",
        "active": True,
        "base_url": f"{URL}/eu",
        "sandbox": False,
        "auth": "basic",
        "api_version": None,
        "proxy": None,
        "ca_bundle": None,
        "key_command": None,
    }
    svc.ok("profiles", "create", "outlet", "--base-url", URL, "--api-version", "2026-03-01")
    assert [each["name"] for each in svc.ok("profiles", "list")] == ["shop", "outlet"]
    shown = svc("profiles", "list", "-o", "human").out
    assert [word in shown for word in ("AUTH", "basic", "2026-03-01")] == [True] * 3
    assert svc.ok("profiles", "use", "outlet")["active"]
    assert svc.ok("config", "get", "active_profile") == "outlet"
    removed = svc("profiles", "remove", "outlet", "--yes")
    assert removed.json == {"object": "profile", "name": "outlet", "removed": True}
    assert "svc profiles use NAME" in removed.err
    assert [each["active"] for each in svc.ok("profiles", "list")] == [False]


def test_no_profiles_say_how_to_make_one(svc: Svc) -> None:
    """An empty list is no dead end."""
    empty = svc("profiles", "list")
    assert (empty.code, empty.json) == (0, [])
    assert "svc sandbox start" in empty.err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["use", "nope"], "There is no profile 'nope' (known: shop)."),
        (["remove", "nope"], "There is no profile 'nope'."),
        (["create", "shop", "--base-url", URL], "a profile 'shop' already"),
        (
            ["create", "new"],
            "svc profiles create needs --base-url. Next: svc profiles create new --base-url ",
        ),
        (["create", "new", "--base-url", "http://x:y@h.example"], "user name"),
        (
            ["create", "new", "--base-url", "http://api.example.com"],
            "would carry API keys in clear",
        ),
        (["create", "a b", "--base-url", URL], "is not a profile name"),
        (
            ["create", "new", "--base-url", URL, "--auth", "digest"],
            "--auth is 'digest'. Use one of: bearer, basic",
        ),
    ],
)
def test_a_wrong_change_of_profiles_is_refused(svc: Svc, argv: list[str], words: str) -> None:
    """Exit 2, and the file is as it was."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    before = config_file().read_bytes()
    refused = svc("profiles", *argv)
    assert (refused.code, refused.out) == (2, "")
    assert words in refused.error["message"]
    assert config_file().read_bytes() == before


@pytest.mark.parametrize(
    ("answer", "argv", "code", "left"),
    [
        ("n\n", (), 2, ["shop"]),
        ("y\n", (), 0, []),
        (None, ("-y",), 0, []),
        (None, ("--no-input",), 2, ["shop"]),
    ],
)
def test_a_person_is_asked_before_the_active_profile_goes(
    at_terminal: AtTerminal,
    svc: Svc,
    answer: str | None,
    argv: tuple[str, ...],
    code: int,
    left: list[str],
) -> None:
    """Only yes removes it; -y goes on without asking, and --no-input is no yes (R76)."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    done = at_terminal(answer or "", "profiles", "remove", "shop", *argv, prompt=ASKED)
    assert done.code == code
    assert ("Go ahead?" in done.out) == (answer is not None)
    assert [each["name"] for each in svc.ok("profiles", "list")] == left


def test_a_profile_in_the_background_goes_without_a_question(
    at_terminal: AtTerminal, svc: Svc
) -> None:
    """Nothing is lost that is in use."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok("profiles", "create", "outlet", "--base-url", URL)
    assert at_terminal("", "profiles", "remove", "outlet").code == 0


@pytest.mark.parametrize(("answer", "orders"), [("n\n", 1), ("y\n", 0), (None, 0)])
def test_a_person_is_asked_before_a_sandbox_is_emptied(
    at_terminal: AtTerminal, svc: Svc, sandbox: Sandbox, answer: str | None, orders: int
) -> None:
    """Only yes empties it; -y goes on without asking."""
    order = ("--currency", "EUR", "--country", "DE", "--postal-code", "10115")
    item = "name=Jacket,hs_code=620339,quantity=1,unit_amount=12900"
    svc.ok("orders", "create", "--amount", "12900", *order, "--item", item)
    more = () if answer else ("-y",)
    done = at_terminal(answer or "", "sandbox", "reset", *more, prompt=ASKED)
    assert done.code == (2 if orders else 0)
    assert (f"This empties the sandbox at {sandbox.url}" in done.out) == (answer is not None)
    assert len(svc.ok("orders", "list")["data"]) == orders


def test_names_stand_for_ids_of_our_own_things(svc: Svc, fake_ring: FakeRing) -> None:
    """`-o id` prints what other commands take, and no warning."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok("keys", "add", "--stdin", "--no-check", stdin="sk_live_4eC39HqLyjWDarjtT1zdp7dc")
    add = ("keys", "add", "--stdin", "--no-check")
    for line in (
        "profiles list",
        "profiles use shop",
        "keys list",
        " ".join(add),
        "keys remove --live",
    ):
        given = "sk_live_4eC39HqLyjWDarjtT1zdp7dc" * (line.split()[:2] == ["keys", "add"])
        shown = svc(*line.split(), "-o", "id", stdin=given)
        assert (shown.out, shown.err) == ("shop\n", "")
    assert svc("whoami", "-o", "id").out == "shop\n"
    for line in (f"create new --base-url {URL}", "remove new"):
        assert svc("profiles", *line.split(), "-o", "id").out == "new\n"


def test_a_profile_with_keys_is_not_removed(svc: Svc, fake_ring: FakeRing) -> None:
    """Otherwise the key would stay in the keyring with no way to name it."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok("keys", "add", "--stdin", "--no-check", stdin="sk_live_4eC39HqLyjWDarjtT1zdp7dc")
    refused = svc("profiles", "remove", "shop")
    assert refused.code == 2
    assert "still has keys: sk_live_…p7dc" in refused.error["message"]
    assert refused.error["code"] == "profile_has_keys"
    svc.ok("keys", "remove", "--profile", "shop", "--live", "--base-url", URL)
    svc.ok("profiles", "remove", "shop", "--yes")


def test_a_profile_without_an_address_has_none(svc: Svc) -> None:
    """`svc profiles use default` printed the text None for an address."""
    assert svc.ok("profiles", "use", "default")["base_url"] is None


def test_a_profile_named_by_the_environment_is_mentioned(svc: Svc) -> None:
    """`profiles use` has no effect while SVC_PROFILE is set."""
    svc.ok("profiles", "create", "a", "--base-url", URL)
    svc.ok("profiles", "create", "b", "--base-url", URL)
    used = svc("profiles", "use", "a", env={"SVC_PROFILE": "b"})
    assert used.code == 0
    assert "SVC_PROFILE is 'b' and wins" in used.err


def test_a_proxy_s_password_is_not_listed(svc: Svc) -> None:
    """R39: user info is masked, in the human form as well."""
    argv = ("--base-url", URL, "--proxy", "http://joe:hunter2@proxy.example:3128")
    for shown in (
        svc("profiles", "create", "shop", *argv),
        svc("profiles", "list", "-o", "human"),
        svc("config", "get"),
        svc("config", "get", "profiles.shop.proxy"),
    ):
        assert shown.code == 0
        assert "hunter2" not in shown.out + shown.err


def test_a_profile_keeps_an_absolute_path_of_its_bundle(svc: Svc) -> None:
    """It is found from any folder later."""
    created = svc.ok("profiles", "create", "shop", "--base-url", URL, "--ca-bundle", "corp.pem")
    assert created["ca_bundle"] == str(Path("corp.pem").absolute())


# --- config ---------------------------------------------------------------------------------


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
    assert svc("config", "get", "otput").code == 2


def test_everything_is_shown_at_once(svc: Svc) -> None:
    """Without a name, with defaults and profiles."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    shown = svc.ok("config", "get")
    assert shown["object"] == "config"
    assert (shown["active_profile"], shown["cache"], shown["output"]) == ("shop", True, None)
    assert (shown["max_time"], shown["color"]) == (60, "auto")
    assert shown["profiles"]["shop"]["base_url"] == URL
    assert "shop" in svc("config", "get", "-o", "human").out.lower()


def test_dotted_names_reach_profiles(svc: Svc) -> None:
    """A profile's field is read and changed by its dotted name."""
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok("config", "set", "profiles.shop.auth", "basic")
    assert svc.ok("config", "get", "profiles.shop.auth") == "basic"
    assert svc("config", "get", "profiles.nope.auth").code == 2
    wrong = svc("config", "set", "profiles.shop.atuh", "basic", "-o", "human")
    assert "Did you mean 'profiles.shop.auth'?" in " ".join(wrong.err.split())


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


# --- whoami ---------------------------------------------------------------------------------


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


def test_whoami_knows_the_sandbox_and_its_constants(svc: Svc, own_sandbox: Sandbox) -> None:
    """From the profile that starting the sandbox makes."""
    config_file().parent.mkdir(mode=0o700)
    config_file().write_text(
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


def test_whoami_without_an_address_says_how_to_begin(svc: Svc) -> None:
    """Exit 2 with the first steps."""
    ended = svc("whoami", "-o", "human")
    assert (ended.code, ended.out) == (2, "")
    assert "svc sandbox start" in ended.err


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
