"""Which keyrings may keep keys: decided without importing any."""

import importlib
import sys
from pathlib import Path

import pytest

from svc.errors import ExitCode, KeyStoreError
from svc.keys.keyrings.choice import backends, list_refused_modules
from svc.keys.keyrings.library import LibraryBackend
from svc.keys.places import KWALLET, MACOS, SECRET_SERVICE, WINDOWS
from svc.keys.store import KeyStore

EVIL = "evil_ring.PlantedKeyring"
USER = "https://api.example.com|default|test"

STAND_IN = """
from pathlib import Path
from keyring.backend import KeyringBackend
from keyring.compat import properties
Path(__file__).with_name("imported").touch()


class PlantedKeyring(KeyringBackend):
    items = {}

    @properties.classproperty
    def priority(cls):
        return 99

    def get_password(self, service, username):
        return self.items.get((service, username))

    def set_password(self, service, username, password):
        self.items[service, username] = password

    def delete_password(self, service, username):
        del self.items[service, username]


class BrokenKeyring(PlantedKeyring):
    @properties.classproperty
    def priority(cls):
        raise RuntimeError("not here")
"""


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for keyrings.alt: installed, eager to serve, and leaving a mark when imported."""
    folder = tmp_path / "site"
    info = folder / "evil_ring-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "evil_ring.py").write_text(STAND_IN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil-ring\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[keyring.backends]\nevil = evil_ring\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "evil_ring", raising=False)
    return folder / "imported"


def names(env: dict[str, str], *allowed: str, platform: str = "linux") -> list[str]:
    return [each.name for each in backends(env, allowed, platform)]


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("linux", [SECRET_SERVICE, KWALLET]), ("darwin", [MACOS]), ("win32", [WINDOWS])],
)
def test_each_platform_has_its_keyrings(platform: str, expected: list[str]) -> None:
    """R33: the allow list."""
    assert names({}, platform=platform) == expected


def test_what_the_user_allows_comes_first() -> None:
    """The setting `keyring_backends` is a choice, and it is not repeated."""
    assert names({}, "corp.Vault", KWALLET) == ["corp.Vault", KWALLET, SECRET_SERVICE]


def test_the_library_may_name_one_that_is_allowed() -> None:
    """Then it is the only one."""
    assert names({"PYTHON_KEYRING_BACKEND": KWALLET}) == [KWALLET]
    assert names({"PYTHON_KEYRING_BACKEND": "corp.Vault"}, "corp.Vault") == ["corp.Vault"]
    assert names({"PYTHON_KEYRING_BACKEND": ""}) == [SECRET_SERVICE, KWALLET]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (EVIL, "not allowed to keep keys"),
        ("keyrings.alt.file.PlaintextKeyring", "not allowed to keep keys"),
        ("keyring.backends.libsecret.Keyring", "not allowed to keep keys"),
        ("keyring.backends.null.Keyring", "keeps no keys"),
        ("keyring.backends.fail.Keyring", "keeps no keys"),
        ("keyring.backends.chainer.ChainerBackend", "keeps no keys"),
    ],
)
def test_any_other_is_refused_by_name(planted: Path, name: str, words: str) -> None:
    """R33: exit 4, the name and where it was found, and nothing of it imported."""
    with pytest.raises(KeyStoreError) as caught:
        names({"PYTHON_KEYRING_BACKEND": name})
    assert caught.value.exit_code == ExitCode.AUTH
    assert f"PYTHON_KEYRING_BACKEND names the keyring '{name}'" in caught.value.message
    assert words in caught.value.message
    assert "SVC_API_KEY" in str(caught.value.hint)
    assert not planted.exists()
    assert name.rpartition(".")[0] not in sys.modules or name.startswith("keyring.")


def test_a_refusal_says_how_to_allow_it() -> None:
    """The command that is offered keeps what is allowed already."""
    with pytest.raises(KeyStoreError) as caught:
        names({"PYTHON_KEYRING_BACKEND": EVIL}, "corp.Vault")
    assert f"svc config set keyring_backends corp.Vault,{EVIL}" in str(caught.value.hint)


def test_what_keeps_nothing_cannot_be_allowed() -> None:
    """R33: a setting does not turn the null keyring into one."""
    with pytest.raises(KeyStoreError, match="keeps no keys"):
        names({}, "keyring.backends.null.Keyring")


@pytest.mark.parametrize("place", ["XDG_CONFIG_HOME", "HOME"])
def test_the_library_s_own_file_is_heard(planted: Path, tmp_path: Path, place: str) -> None:
    """R33: keyringrc.cfg chooses no keyring that is not allowed, and its path is not searched."""
    folder = tmp_path / "x" / ("" if place == "XDG_CONFIG_HOME" else ".config") / "python_keyring"
    folder.mkdir(parents=True)
    rc = folder / "keyringrc.cfg"
    rc.write_text(f"[backend]\ndefault-keyring = {EVIL}\nkeyring-path = {planted.parent}\n")
    before = list(sys.path)
    with pytest.raises(KeyStoreError) as caught:
        names({place: str(tmp_path / "x")})
    assert f"{rc} names the keyring '{EVIL}'" in caught.value.message
    assert not planted.exists()
    assert sys.path == before
    rc.write_text("[backend]\n")
    assert names({place: str(tmp_path / "x")}) == [SECRET_SERVICE, KWALLET]
    rc.write_text("not an ini file")
    with pytest.raises(KeyStoreError, match="cannot be read"):
        names({place: str(tmp_path / "x")})


def test_an_installed_keyring_is_not_found_by_itself(planted: Path) -> None:
    """R33: the library would have picked it silently; here it is only named in the error."""
    store = KeyStore.of_system({}, allowed=(), platform="linux", person=False)
    with pytest.raises(KeyStoreError) as caught:
        store.get(USER)
    assert "installed, but not allowed: evil_ring" in caught.value.message
    assert "SVC_API_KEY" in str(caught.value.hint)
    assert not planted.exists()


def test_an_allowed_keyring_serves(planted: Path) -> None:
    """The user's word is enough, also for a keyring that we do not know."""
    store = KeyStore.of_system({}, allowed=(EVIL,), platform="linux", person=False)
    assert store.put(USER, "sk_test_a") == EVIL
    assert planted.exists()
    assert store.put(USER, "sk_test_b") == EVIL
    found = store.get(USER)
    assert found is not None
    assert found.secret == "sk_test_b"
    assert list_refused_modules((EVIL,)) == []
    assert store.remove(USER)
    assert store.get(USER) is None


@pytest.mark.parametrize(
    "name", ["evil_ring.BrokenKeyring", "evil_ring.Nothing", "no_such_ring.Keyring"]
)
def test_a_keyring_that_cannot_work_is_passed_over(planted: Path, name: str) -> None:
    """Not installed, or it says itself that this machine is not for it."""
    allowed = (name, EVIL)
    store = KeyStore.of_system({}, allowed=allowed, platform="linux", person=False)
    assert store.put(USER, "sk_test_a") == EVIL
    store.remove(USER)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("KeyringLocked", "keyring_locked"),
        ("InitError", "keyring_failed"),
        ("PasswordSetError", "keyring_denied"),
    ],
)
def test_the_library_s_errors_are_sorted(
    planted: Path, monkeypatch: pytest.MonkeyPatch, error: str, code: str
) -> None:
    """The text of the library is not shown, it could hold anything."""
    import keyring.errors

    def fail(*_: object) -> None:
        raise getattr(keyring.errors, error)("sk_test_leak")

    ring = importlib.import_module("evil_ring")
    monkeypatch.setattr(ring.PlantedKeyring, "get_password", fail)
    backend = LibraryBackend(EVIL)
    with pytest.raises(KeyStoreError) as caught:
        KeyStore([backend]).get(USER)
    assert caught.value.code == code
    assert "leak" not in caught.value.message


def test_kwallet_does_not_load_the_library_in_vain() -> None:
    """Without python-dbus it cannot work, which is known without the library's 60 ms."""
    (secret_service, kwallet) = backends({}, (), "linux")
    assert secret_service.name == SECRET_SERVICE
    assert isinstance(kwallet, LibraryBackend)
    assert kwallet._needs == "dbus"
