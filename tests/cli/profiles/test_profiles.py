"""`svc profiles` through the real program, and the question before what is lost."""

from pathlib import Path

import pytest

from support.on_terminal import AtTerminal
from support.ring_file import FakeRing
from support.running import Svc

URL = "https://api.example.com"
ASKED = "[y/N] "


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
    ("line", "words"),
    [
        ("use nope", "There is no profile 'nope' (known: shop)."),
        (f"create shop --base-url {URL}", "a profile 'shop' already"),
    ],
)
def test_a_wrong_change_of_profiles_is_refused(
    svc: Svc, isolated: Path, line: str, words: str
) -> None:
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    file = isolated / "config" / "config.toml"
    before = file.read_bytes()
    refused = svc("profiles", *line.split())
    assert (refused.code, refused.out) == (2, "")
    assert words in refused.error["message"]
    assert file.read_bytes() == before


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
