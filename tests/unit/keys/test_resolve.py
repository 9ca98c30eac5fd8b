"""Which key a command gets, and which keys are refused before anything is sent."""

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pytest

from svc.api_keys import parse
from svc.base_url import BaseUrl
from svc.cli.framework.options import GlobalOptions
from svc.config import Config, Profile
from svc.config.settings import Settings, resolve
from svc.errors import AuthError, ConfigError, ExitCode, KeyStoreError, UsageError
from svc.keys.facts import KeyFacts
from svc.keys.places import KeyPlace
from svc.keys.resolve import ResolvedKey, publishable_key, resolve_key
from svc.keys.store import KeyStore
from unit.keys.fake_keyring import FakeKeyring

SHOP = "https://api.example.com"
SANDBOX = "http://127.0.0.1:4242"
TEST_KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
LIVE_KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"

CONFIG = Config(
    Path("/nowhere/config.toml"),
    active_profile="shop",
    profiles=MappingProxyType(
        {
            "shop": Profile("shop", base_url=BaseUrl.parse(SHOP)),
            "sandbox": Profile("sandbox", base_url=BaseUrl.parse(SANDBOX), sandbox=True),
        }
    ),
)

Resolve = Callable[..., ResolvedKey]


def settings(mode: Literal["test", "live"] = "test", **given: str) -> Settings:
    options = GlobalOptions()
    vars(options).update(given)
    return resolve(options, {}, CONFIG)._replace(mode=mode)


@pytest.fixture
def key_of(store: KeyStore, facts: KeyFacts) -> Resolve:
    """Resolves the key of some settings, over the fake keyring."""

    def resolved(settings: Settings, env: dict[str, str] | None = None) -> ResolvedKey:
        return resolve_key(settings, env or {}, store=lambda: store, facts=lambda: facts)

    return resolved


def stored(fake: FakeKeyring, facts: KeyFacts, place: KeyPlace, secret: str) -> None:
    fake.items[place.user] = secret
    facts.remember(place, parse(secret, "a test"), fake.name, checked=False)


def test_the_environment_wins(key_of: Resolve, fake: FakeKeyring) -> None:
    """In CI there is no keyring, and none is asked."""
    key = key_of(settings(), {"SVC_API_KEY": TEST_KEY})
    assert (key.secret, key.source) == (TEST_KEY, "SVC_API_KEY")
    assert (key.kind, key.mode, key.fingerprint) == ("secret", "test", "sk_test_…p7dc")
    assert fake.calls == []


def test_the_environment_needs_neither_keyring_nor_database() -> None:
    """Start-up: neither is even made."""

    def never() -> KeyStore:
        raise AssertionError

    key = resolve_key(settings(), {"SVC_API_KEY": TEST_KEY}, store=never, facts=never)  # type: ignore[arg-type]
    assert key.secret == TEST_KEY


def test_the_keyring_is_asked_for_one_item(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """R38: that of the origin, profile and mode in use; and an empty variable counts as unset."""
    stored(fake, facts, KeyPlace(SHOP, "shop", "test"), TEST_KEY)
    stored(fake, facts, KeyPlace(SHOP, "shop", "live"), LIVE_KEY)
    key = key_of(settings(), {"SVC_API_KEY": ""})
    assert (key.secret, key.source) == (TEST_KEY, "keyring (profile shop)")
    assert fake.calls == [f"read {SHOP}|shop|test"]
    assert key_of(settings("live")).secret == LIVE_KEY


def test_a_sandbox_needs_no_key(key_of: Resolve, fake: FakeKeyring) -> None:
    """Its keys are public; from its profile, or from any other at its address."""
    for each in (settings(profile="sandbox"), settings(base_url=SANDBOX)):
        key = key_of(each)
        assert (key.secret, key.source) == ("sk_test_sandbox", "sandbox constant")
    assert key_of(settings("live", profile="sandbox")).secret == "sk_live_sandbox"
    assert fake.calls == []


def test_a_vaults_command_is_asked_at_a_sandbox_too(key_of: Resolve, tmp_path: Path) -> None:
    """It is what the user chose; the public key is for those who chose nothing."""
    vault = tmp_path / "vault"
    vault.write_text("#!/bin/sh\necho rk_test_readonly\n")
    vault.chmod(0o755)
    key = key_of(settings(profile="sandbox")._replace(key_command=str(vault)))
    assert (key.secret, key.source) == ("rk_test_readonly", "key command (profile sandbox)")


def test_a_key_added_for_a_sandbox_is_used_there(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """Such as a restricted one made with `svc sandbox keys create`."""
    stored(fake, facts, KeyPlace(SANDBOX, "sandbox", "test"), "rk_test_readonly")
    key = key_of(settings(profile="sandbox"))
    assert (key.secret, key.kind) == ("rk_test_readonly", "restricted")
    assert key.source == "keyring (profile sandbox)"


def test_another_port_of_this_machine_is_no_sandbox(key_of: Resolve) -> None:
    """What listens there is not known."""
    with pytest.raises(AuthError, match="no test key for http://127"):
        key_of(settings(base_url="http://127.0.0.1:9"))


def test_a_key_found_only_in_the_keyring_it_was_put_into(
    fake: FakeKeyring, make_fake: Callable[..., FakeKeyring], facts: KeyFacts
) -> None:
    """The keyring that was there when the key was added is remembered."""
    other = make_fake("other.Keyring")
    place = KeyPlace(SHOP, "shop", "test")
    stored(other, facts, place, TEST_KEY)
    store = KeyStore([fake, other])
    key = resolve_key(settings(), {}, store=lambda: store, facts=lambda: facts)
    assert key.secret == TEST_KEY


def refused(key_of: Resolve, settings: Settings, env: dict[str, str] | None = None) -> AuthError:
    with pytest.raises(AuthError) as caught:
        key_of(settings, env)
    assert caught.value.exit_code == ExitCode.AUTH
    assert caught.value.outcome == "not_sent"
    assert TEST_KEY[8:-4] not in f"{caught.value.message}{caught.value.hint}"
    return caught.value


def test_no_key_says_how_to_add_one(key_of: Resolve) -> None:
    """R34: exit 4, with the command and the variable."""
    error = refused(key_of, settings())
    assert error.message == f"There is no test key for {SHOP} (profile shop)."
    assert error.code == "api_key_missing"
    assert error.hint == "Add one: svc keys add --profile shop, or set SVC_API_KEY"
    live = refused(key_of, settings("live"))
    assert "svc keys add --profile shop --live" in str(live.hint)
    usual = refused(key_of, settings()._replace(profile="default"))
    assert usual.hint == "Add one: svc keys add, or set SVC_API_KEY"


def test_a_key_of_another_origin_is_not_given_out(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """R22: a stored key goes only to the origin that it was added for; the error names both."""
    stored(fake, facts, KeyPlace(SHOP, "shop", "test"), TEST_KEY)
    error = refused(key_of, settings(base_url="https://evil.example"))
    assert f"was added for {SHOP} and is not given to https://evil.example" in error.message
    assert error.code == "api_key_missing"
    assert fake.calls == [
        "read https://evil.example|shop|test",
        "read https://evil.example|shop|test|new",
    ]


def test_a_path_below_the_origin_does_not_change_the_key(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """R22: keys are bound to scheme, host and port."""
    stored(fake, facts, KeyPlace(SHOP, "shop", "test"), TEST_KEY)
    assert key_of(settings(base_url=f"{SHOP}/eu")).secret == TEST_KEY


def test_a_key_of_the_other_mode_is_mentioned(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """A forgotten --live is the likeliest mistake."""
    stored(fake, facts, KeyPlace(SHOP, "shop", "live"), LIVE_KEY)
    assert "a key of the other mode is stored" in str(refused(key_of, settings()).hint)
    elsewhere = refused(key_of, settings(base_url="https://other.example"))
    assert "other mode" not in str(elsewhere.hint)
    assert elsewhere.message == "There is no test key for https://other.example (profile shop)."


def test_a_key_that_vanished_from_the_keyring_is_named(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """Somebody removed the item with another program."""
    stored(fake, facts, KeyPlace(SHOP, "shop", "test"), TEST_KEY)
    fake.items.clear()
    error = refused(key_of, settings())
    assert isinstance(error, KeyStoreError)
    assert "sk_test_…p7dc of profile shop is no longer in the keyring" in error.message
    assert (error.code, error.outcome) == ("api_key_missing", "not_sent")


def test_a_key_in_a_keyring_that_is_no_longer_allowed_is_named(
    store: KeyStore, make_fake: Callable[..., FakeKeyring], facts: KeyFacts
) -> None:
    """R33: it is there still, and the way to it is another setting or to add it again."""
    other = make_fake("other.Keyring")
    stored(other, facts, KeyPlace(SHOP, "shop", "test"), TEST_KEY)
    with pytest.raises(KeyStoreError, match="in a keyring that svc may not use now") as caught:
        resolve_key(settings(), {}, store=lambda: store, facts=lambda: facts)
    assert "other.Keyring" in caught.value.message
    assert caught.value.hint == ("Add it again: svc keys add --profile shop, or set SVC_API_KEY")


@pytest.mark.parametrize(
    ("mode", "key", "way"),
    [("live", TEST_KEY, "leave out --live"), ("test", LIVE_KEY, "add --live")],
)
def test_a_key_of_the_other_mode_is_refused(
    key_of: Resolve, mode: Literal["test", "live"], key: str, way: str
) -> None:
    """The prefix decides, not the option; source and fix are named."""
    error = refused(key_of, settings(mode), {"SVC_API_KEY": key})
    assert error.message.startswith(f"SVC_API_KEY is a {key[3:7]} key ({key[:8]}…p7dc)")
    assert error.code == "mode_mismatch"
    assert way in str(error.hint)


def test_a_test_key_in_the_live_slot_is_refused(
    key_of: Resolve, fake: FakeKeyring, facts: KeyFacts
) -> None:
    """R37: also where another program put it there."""
    fake.items[KeyPlace(SHOP, "shop", "live").user] = TEST_KEY
    error = refused(key_of, settings("live"))
    assert error.message.startswith("keyring (profile shop) is a test key")


@pytest.mark.parametrize("key", ["pk_test_4eC39HqLyjWDarjtT1zdp7dc", "pk_test_sandbox"])
def test_a_publishable_key_is_refused(key_of: Resolve, key: str) -> None:
    """R30: for the sandbox as well."""
    for each in (settings(), settings(profile="sandbox")):
        error = refused(key_of, each, {"SVC_API_KEY": key})
        assert error.code == "secret_key_required"
        assert "SVC_API_KEY is a publishable key" in error.message


def test_a_live_key_is_not_sent_to_this_machine(key_of: Resolve) -> None:
    """R21: neither to a sandbox nor to anything else on loopback."""
    for each in (
        settings("live", profile="sandbox"),
        settings("live", base_url="https://localhost:8443"),
        settings("live", base_url="http://[::1]:80"),
    ):
        error = refused(key_of, each, {"SVC_API_KEY": LIVE_KEY})
        assert error.code == "live_key_refused"
    public = key_of(settings("live", profile="sandbox"), {"SVC_API_KEY": "sk_live_sandbox"})
    assert public.secret == "sk_live_sandbox"


def test_plain_http_to_another_machine_is_refused(key_of: Resolve, fake: FakeKeyring) -> None:
    """R21: before the keyring is asked, with any key."""
    for env in ({}, {"SVC_API_KEY": TEST_KEY}, {"SVC_API_KEY": "sk_test_sandbox1"}):
        with pytest.raises(UsageError, match="would carry the key in clear") as caught:
            key_of(settings(base_url="http://api.example.com"), env)
        assert caught.value.exit_code == ExitCode.USAGE
        assert "svc help sandbox" in (caught.value.hint or "")
    assert fake.calls == []
    public = {"SVC_API_KEY": "sk_test_sandbox"}
    assert key_of(settings(base_url="http://svc:4242"), public).source == "SVC_API_KEY"


@pytest.mark.parametrize(
    "value", [f"{TEST_KEY}\n\n", f" {TEST_KEY}", "sk_test_", "hunter2", f'"{TEST_KEY}"']
)
def test_a_malformed_variable_is_a_usage_error(key_of: Resolve, value: str) -> None:
    """R44: exit 2; pasted quotes and line ends are the usual cause."""
    with pytest.raises(UsageError, match="SVC_API_KEY") as caught:
        key_of(settings(), {"SVC_API_KEY": value})
    assert "hunter2" not in caught.value.message


def test_line_end_behind_a_key_is_no_part_of_it(key_of: Resolve) -> None:
    """As `export SVC_API_KEY="$(cat key)"` without the shell, or a secret mounted as a file."""
    found = key_of(settings(), {"SVC_API_KEY": f"{TEST_KEY}\n"})
    assert found.secret == TEST_KEY


def test_no_address_is_said_first(key_of: Resolve) -> None:
    """Without it there is nothing to choose a key for."""
    with pytest.raises(ConfigError, match="No base URL"):
        key_of(settings()._replace(address=None), {"SVC_API_KEY": TEST_KEY})


def test_a_resolved_key_never_shows_itself(key_of: Resolve) -> None:
    """R39."""
    key = key_of(settings(), {"SVC_API_KEY": TEST_KEY})
    assert TEST_KEY[8:-4] not in f"{key} {key!r}"
    assert "SVC_API_KEY" in repr(key)


def test_the_checkout_gets_the_stored_key_then_the_variable_then_the_constant(
    store: KeyStore, facts: KeyFacts, fake: "FakeKeyring"
) -> None:
    """A publishable key that was rolled in the sandbox has somebody who reads it."""

    def key_of(env: dict[str, str]) -> str:
        chosen = settings(profile="sandbox")
        return publishable_key(chosen, env, store=lambda: store, facts=lambda: facts)

    env = {"SVC_PUBLISHABLE_KEY": "pk_test_4eC39HqLyjWDarjtT1zdp7dc"}
    assert key_of({}) == "pk_test_sandbox"
    assert key_of(env) == "pk_test_4eC39HqLyjWDarjtT1zdp7dc"
    place = KeyPlace(SANDBOX, "sandbox", "test", "publishable")
    stored(fake, facts, place, "pk_test_9zdp7dc4eC39HqLyjWDarjtT")
    assert key_of(env) == "pk_test_9zdp7dc4eC39HqLyjWDarjtT"


@pytest.mark.parametrize(
    ("text", "code"),
    [(TEST_KEY, "publishable_key_required"), ("pk_live_sandbox", "mode_mismatch")],
)
def test_no_other_key_is_taken_for_the_checkout(
    store: KeyStore, facts: KeyFacts, text: str, code: str
) -> None:
    """A secret key stays on the server, and modes are kept apart."""
    env = {"SVC_PUBLISHABLE_KEY": text}
    chosen = settings(profile="sandbox")
    with pytest.raises(AuthError) as caught:
        publishable_key(chosen, env, store=lambda: store, facts=lambda: facts)
    assert caught.value.code == code
    assert text not in caught.value.message
