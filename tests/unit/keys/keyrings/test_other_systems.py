"""macOS and Windows by stand-ins: the keyring library's own code over a system that is not there.

Each stand-in plays the system's calls, nothing of the library; a real machine of either kind was
not at hand.
"""

import platform
from types import SimpleNamespace
from typing import Any

import pytest

from svc.errors import KeyStoreError
from svc.keys.places import MACOS, WINDOWS
from svc.keys.store import KeyStore

USER = "https://api.example.com|default|test"
OLD, NEW = "sk_test_old", "sk_test_new"


class StandInKeychain:
    """Stands in for the macOS Security API: setting is deleting and adding, as there."""

    class Error(Exception):
        pass

    class NotFound(Error):  # noqa: N818  the system's name
        pass

    class KeychainDenied(Error):  # noqa: N818  the system's name
        pass

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], str] = {}
        self.denies = False
        self.reads = 0

    def find_generic_password(self, _: object, service: str, user: str) -> str:
        self.reads += 1
        if self.denies:
            raise self.KeychainDenied
        if (service, user) not in self.items:
            raise self.NotFound
        return self.items[service, user]

    def set_generic_password(self, _: object, service: str, user: str, secret: str) -> None:
        if self.denies:
            raise self.KeychainDenied
        self.items.pop((service, user), None)
        self.items[service, user] = secret

    def delete_generic_password(self, _: object, service: str, user: str) -> None:
        if (service, user) not in self.items:
            raise self.NotFound
        del self.items[service, user]


@pytest.fixture
def keychain(monkeypatch: pytest.MonkeyPatch) -> StandInKeychain:
    from importlib import import_module

    library = import_module("keyring.backends.macOS")
    stand_in = StandInKeychain()
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(library, "api", stand_in, raising=False)
    return stand_in


class StandInWindowsError(Exception):
    def __init__(self, winerror: int, funcname: str) -> None:
        super().__init__(winerror, funcname)
        self.winerror = winerror
        self.funcname = funcname


class StandInCredentials:
    """Stands in for Windows' credential manager: one credential for each target."""

    CRED_TYPE_GENERIC = 1
    CRED_PERSIST_ENTERPRISE = 3

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    def CredRead(self, Type: int, TargetName: str) -> dict[str, Any]:  # noqa: N802, N803
        if TargetName not in self.kept:
            raise StandInWindowsError(1168, "CredRead")
        return self.kept[TargetName]

    def CredWrite(self, credential: dict[str, Any], flags: int) -> None:  # noqa: N802
        blob = credential["CredentialBlob"].encode("utf-16-le")
        self.kept[credential["TargetName"]] = {**credential, "CredentialBlob": blob}

    def CredDelete(self, Type: int, TargetName: str) -> None:  # noqa: N802, N803
        if self.kept.pop(TargetName, None) is None:
            raise StandInWindowsError(1168, "CredDelete")


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> StandInCredentials:
    from importlib import import_module

    library = import_module("keyring.backends.Windows")
    stand_in = StandInCredentials()
    monkeypatch.setattr(library, "win32cred", stand_in, raising=False)
    errors = SimpleNamespace(error=StandInWindowsError)
    monkeypatch.setattr(library, "pywintypes", errors, raising=False)
    monkeypatch.setattr(library, "missing_deps", False)
    return stand_in


@pytest.fixture(params=["darwin", "win32"])
def store(request: pytest.FixtureRequest) -> KeyStore:
    request.getfixturevalue({"darwin": "keychain", "win32": "credentials"}[request.param])
    return KeyStore.of_system({}, allowed=(), platform=request.param, person=True)


def test_keys_live_on_the_other_systems_as_here(store: KeyStore) -> None:
    """R36, R37: added, replaced by way of a second item, removed; each mode has its own."""
    live = USER.replace("test", "live")
    assert store.get(USER) is None
    assert store.put(USER, OLD) in (MACOS, WINDOWS)
    store.put(live, "sk_live_old")
    store.put(USER, NEW)
    for user, secret in ((USER, NEW), (live, "sk_live_old")):
        found = store.get(user)
        assert found is not None
        assert found.secret == secret
    assert store.load_left_over(USER) is None
    assert store.remove(USER)
    assert store.get(USER) is None
    assert store.get(live) is not None
    assert store.remove(live)
    assert not store.remove(live)


@pytest.mark.parametrize("person", [True, False])
def test_only_a_person_is_given_time_to_answer_the_systems_window(person: bool) -> None:
    """R35: a script that nobody watches is not held up by a window that nobody sees."""
    store = KeyStore.of_system({}, allowed=(), platform="linux", person=person)
    assert (store._person_seconds > 0) is person


def test_a_person_who_denies_access_is_asked_once(keychain: StandInKeychain) -> None:
    """R38: macOS asks for each item; a no is exit 4, in words, and no second try."""
    keychain.items["svc", USER] = OLD
    keychain.denies = True
    store = KeyStore.of_system({}, allowed=(), platform="darwin", person=True)
    with pytest.raises(KeyStoreError, match="stayed locked, or access was denied") as caught:
        store.get(USER)
    assert (caught.value.code, keychain.reads) == ("keyring_locked", 1)
    assert "SVC_API_KEY" in str(caught.value.hint)


def test_what_windows_refuses_for_another_reason_is_named(
    credentials: StandInCredentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as no logon session: a failure with its name, not a bug of svc."""

    def refuse(**_: object) -> None:
        raise StandInWindowsError(1312, "CredRead")

    monkeypatch.setattr(credentials, "CredRead", refuse)
    store = KeyStore.of_system({}, allowed=(), platform="win32", person=True)
    with pytest.raises(KeyStoreError, match="Windows Credential Manager") as caught:
        store.get(USER)
    assert caught.value.code == "keyring_failed"
