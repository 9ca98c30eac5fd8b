"""Which source of a setting wins: option, environment, profile, setting, default."""

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from svc.base_url import BaseUrl
from svc.config import Config, Profile
from svc.config.settings import Settings, resolve
from svc.errors import ConfigError, ExitCode, UsageError


@dataclass
class Given:
    """The options of a command line; nothing is given unless said."""

    profile: str | None = None
    live: bool | None = None
    base_url: str | None = None
    api_version: str | None = None
    output: str | None = None
    max_time: float | None = None
    proxy: str | None = None
    ca_bundle: str | None = None
    color: str | None = None


SHOP = Profile(
    "shop",
    base_url=BaseUrl.parse("https://profile.example"),
    api_version="2026-03-01",
    auth="basic",
    proxy="http://profile.proxy:1",
    ca_bundle="/profile.pem",
)
SANDBOX = Profile("sandbox", base_url=BaseUrl.parse("http://127.0.0.1:4242"), sandbox=True)

CONFIG = Config(
    Path("/nowhere/config.toml"),
    active_profile="shop",
    profiles=MappingProxyType({"shop": SHOP, "sandbox": SANDBOX}),
    output="csv",
    color="always",
    max_time=7.0,
)
EMPTY = Config(Path("/nowhere/config.toml"))

ENV = {
    "SVC_PROFILE": "sandbox",
    "SVC_MODE": "live",
    "SVC_BASE_URL": "https://env.example",
    "SVC_API_VERSION": "2026-09-01",
    "SVC_OUTPUT": "ndjson",
    "SVC_MAX_TIME": "8",
    "SVC_PROXY": "http://env.proxy:1",
    "SVC_CA_BUNDLE": "/env.pem",
}
OPTIONS = Given(
    profile="shop",
    live=False,
    base_url="https://option.example",
    api_version="2026-10-01",
    output="human",
    max_time=9.0,
    proxy="http://option.proxy:1",
    ca_bundle="/option.pem",
    color="never",
)


def seen(settings: Settings) -> tuple[Any, ...]:
    return (
        settings.profile,
        settings.mode,
        str(settings.address) if settings.address else None,
        settings.api_version,
        settings.output,
        settings.max_time,
        settings.proxy,
        settings.ca_bundle,
    )


def test_defaults_hold_where_nothing_is_said() -> None:
    """R9: test mode, 60 seconds, bearer, the profile named default, and no address."""
    settings = resolve(Given(), {}, EMPTY)
    assert seen(settings) == ("default", "test", None, None, None, 60.0, None, None)
    assert (settings.color, settings.auth, settings.mode_given) == ("auto", "bearer", False)


def test_the_profile_wins_over_defaults() -> None:
    """What an account needs is written once."""
    settings = resolve(Given(), {}, CONFIG)
    assert seen(settings) == (
        "shop",
        "test",
        "https://profile.example",
        "2026-03-01",
        "csv",
        7.0,
        "http://profile.proxy:1",
        "/profile.pem",
    )
    assert (settings.color, settings.auth) == ("always", "basic")


def test_the_environment_wins_over_the_profile() -> None:
    """Each variable of the interface is heard."""
    settings = resolve(Given(), ENV, CONFIG)
    assert seen(settings) == (
        "sandbox",
        "live",
        "https://env.example",
        "2026-09-01",
        "ndjson",
        8.0,
        "http://env.proxy:1",
        "/env.pem",
    )
    assert settings.mode_given


def test_an_option_wins_over_everything() -> None:
    """--test wins over SVC_MODE=live as well."""
    settings = resolve(OPTIONS, ENV, CONFIG)
    assert seen(settings) == (
        "shop",
        "test",
        "https://option.example",
        "2026-10-01",
        "human",
        9.0,
        "http://option.proxy:1",
        "/option.pem",
    )
    assert (settings.color, settings.mode_given) == ("never", True)


def test_an_empty_variable_counts_as_not_set() -> None:
    """CI systems set variables to nothing."""
    assert resolve(Given(), dict.fromkeys(ENV, ""), CONFIG) == resolve(Given(), {}, CONFIG)


@pytest.mark.parametrize(
    ("option", "env", "color"),
    [
        (None, {}, "always"),
        (None, {"NO_COLOR": "1"}, "never"),
        (None, {"NO_COLOR": ""}, "always"),
        ("always", {"NO_COLOR": "1"}, "always"),
    ],
)
def test_no_color_wins_over_the_file_but_not_over_the_option(
    option: str | None, env: dict[str, str], color: str
) -> None:
    """R75, with the same order of sources as everything else."""
    assert resolve(Given(color=option), env, CONFIG).color == color


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"SVC_MODE": "production"}, "SVC_MODE is 'production'"),
        ({"SVC_OUTPUT": "xml"}, "SVC_OUTPUT is 'xml'"),
        ({"SVC_MAX_TIME": "soon"}, "SVC_MAX_TIME is 'soon'"),
        ({"SVC_MAX_TIME": "-1"}, "SVC_MAX_TIME is -1"),
        ({"SVC_MAX_TIME": "86401"}, "SVC_MAX_TIME is 86401.0: it must be a number of seconds"),
        ({"SVC_API_VERSION": "latest"}, "SVC_API_VERSION is 'latest'"),
        ({"SVC_BASE_URL": "https://joe:pw@h.example"}, "SVC_BASE_URL: "),
        ({"SVC_PROFILE": "shpo"}, "no profile 'shpo'"),
    ],
)
def test_a_wrong_variable_is_named(env: dict[str, str], words: str) -> None:
    """R71: exit 2, and the message says which variable it was."""
    with pytest.raises(UsageError) as caught:
        resolve(Given(), env, CONFIG)
    assert words in caught.value.message
    assert caught.value.exit_code == ExitCode.USAGE
    assert "pw" not in caught.value.message


@pytest.mark.parametrize(
    ("options", "param"),
    [
        (Given(max_time=0.0), "--max-time"),
        (Given(max_time=float("nan")), "--max-time"),
        (Given(max_time=86400.5), "--max-time"),
        (Given(api_version="2026"), "--api-version"),
        (Given(output="xml"), "-o"),
        (Given(color="red"), "--color"),
        (Given(base_url="http:/x"), None),
        (Given(profile="gone"), "profile"),
    ],
)
def test_a_wrong_option_is_refused(options: Given, param: str | None) -> None:
    """Values that the option parser cannot judge are judged here, and named by their option."""
    with pytest.raises(UsageError) as caught:
        resolve(options, {}, CONFIG)
    assert caught.value.param == param
    assert param in (None, "profile") or caught.value.message.startswith(f"{param} is ")


def test_a_right_option_hides_a_wrong_variable() -> None:
    """What is not used is not complained about."""
    env = {"SVC_BASE_URL": "nonsense", "SVC_OUTPUT": "xml", "SVC_PROFILE": "gone"}
    settings = resolve(OPTIONS, env, CONFIG)
    assert settings.output == "human"


def test_no_address_anywhere_says_how_to_give_one() -> None:
    """The first thing that a new user meets: exit 2 with four ways on."""
    settings = resolve(Given(), {}, EMPTY)
    with pytest.raises(ConfigError) as caught:
        _ = settings.base_url
    assert caught.value.exit_code == ExitCode.USAGE
    for way in ("svc sandbox start", "--base-url", "SVC_BASE_URL", "svc profiles create"):
        assert way in str(caught.value.hint)


@pytest.mark.parametrize(
    ("options", "sandbox"),
    [
        (Given(profile="sandbox"), True),
        (Given(base_url="http://127.0.0.1:4242"), True),
        (Given(profile="sandbox", base_url="https://api.example.com"), False),
        (Given(), False),
    ],
)
def test_a_sandbox_is_known_by_address_not_by_profile(options: Given, sandbox: bool) -> None:
    """Its public keys are offered to the sandbox only, from whichever profile it is reached."""
    assert resolve(options, {}, CONFIG).sandbox is sandbox
