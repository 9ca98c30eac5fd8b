"""The program with a real Secret Service, with none that works, and with hostile ones."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.absence import files_in
from support.running import Sandbox, Svc, run_to_end
from support.servers.service import StandIn
from support.suite.patience import patient
from svc.keys.places import KeyPlace
from svc.keys.store import KeyStore

URL = "https://api.example.com"
KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"


@pytest.fixture
def no_key(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The sandbox's address and no key in the environment."""
    monkeypatch.delenv("SVC_API_KEY")
    return sandbox


def read_from_the_keyring() -> str | None:
    store = KeyStore.of_system(os.environ, allowed=(), platform="linux", person=False)
    place = KeyPlace(os.environ["SVC_BASE_URL"], "default", "test")
    found = store.get(place.user)
    assert store.load_left_over(place.user) is None
    return None if found is None else found.secret


@pytest.mark.usefixtures("gnome_keyring")
def test_a_keys_whole_life_in_a_real_keyring(svc: Svc, no_key: Sandbox) -> None:
    """R36, R37: added, used, rolled, used, removed; each time the keyring itself is looked into."""
    made = no_key.control("POST", "/keys", {"type": "secret"})
    added = svc.ok("keys", "add", "--stdin", stdin=made["secret"])
    assert added["keyring"] == "Secret Service"
    assert read_from_the_keyring() == made["secret"]
    assert svc("orders", "list").code == 0
    fresh = no_key.control("POST", f"/keys/{made['id']}/roll", {})["secret"]
    assert svc("orders", "list").code == 4
    rolled = svc.ok("keys", "roll", "--stdin", stdin=fresh)
    assert (rolled["keyring"], rolled["old_key_works"]) == ("Secret Service", False)
    assert read_from_the_keyring() == fresh
    assert svc("orders", "list").code == 0
    svc.ok("keys", "remove")
    assert read_from_the_keyring() is None
    assert svc("orders", "list").code == 4


@pytest.fixture
def stand_in(session_bus: None) -> Iterator[Callable[[str], StandIn]]:
    """Puts a stand-in for a Secret Service on a real bus."""
    made: list[StandIn] = []

    def make(manner: str) -> StandIn:
        made.append(StandIn(manner))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize(
    ("manner", "code", "words", "asked"),
    [
        ("dismissed", "keyring_dismissed", "window was closed", 1),
        pytest.param(
            "silent", "keyring_locked", "its window was not answered", 1, marks=pytest.mark.slow
        ),
        ("denied", "keyring_denied", "does not allow svc", 0),
        pytest.param(
            "hung", "keyring_timeout", "did not answer within 3 s", 0, marks=pytest.mark.slow
        ),
    ],
)
def test_each_no_has_its_own_words(
    svc: Svc,
    stand_in: Callable[[str], StandIn],
    manner: str,
    code: str,
    words: str,
    asked: int,
) -> None:
    """R35, R38: exit 4 within 4 s, the way out named, one prompt at the most, no loop."""
    service = stand_in(manner)
    started = time.monotonic()
    refused = svc("orders", "list", "--base-url", URL)
    assert time.monotonic() - started < patient(4.5)  # a start of the program included
    assert (refused.code, refused.error["code"]) == (4, code)
    assert words in refused.error["message"]
    assert service.calls.count("Prompt") == asked
    assert service.calls.count("GetSecret") == 1 - asked


def test_a_person_who_unlocks_it_is_served(
    svc: Svc, no_key: Sandbox, stand_in: Callable[[str], StandIn]
) -> None:
    """The answer of its window is heard, also where the service tells everybody on the bus."""
    service = stand_in("unlocked")
    assert svc("orders", "list").code == 0
    assert service.calls.count("Prompt") == 1


def test_each_no_names_the_way_out(svc: Svc, stand_in: Callable[[str], StandIn]) -> None:
    """R34: SVC_API_KEY, for a person as well."""
    stand_in("dismissed")
    shown = svc("keys", "add", "--stdin", "--base-url", URL, "-o", "human", stdin=KEY)
    assert shown.code == 4
    assert "SVC_API_KEY" in shown.err
    assert "4eC39" not in shown.err


EVIL = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n"


@pytest.mark.usefixtures("gnome_keyring")
@pytest.mark.parametrize("source", ["variable", "file"])
def test_a_hostile_keyring_is_refused_and_never_imported(
    svc: Svc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """R33: named by the environment or the library's file; a real keyring is there too."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "evil_ring.py").write_text(EVIL)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    if source == "variable":
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "evil_ring.Keyring")
    else:
        config = Path(os.environ["HOME"]) / ".config" / "python_keyring" / "keyringrc.cfg"
        config.parent.mkdir(parents=True)
        config.write_text("[backend]\ndefault-keyring=evil_ring.Keyring\n")
    for argv in (("keys", "add", "--stdin"), ("orders", "list"), ("keys", "roll", "--stdin")):
        refused = svc(*argv, "--base-url", URL, stdin=KEY)
        assert (refused.code, refused.error["code"]) == (4, "keyring_refused"), argv
        assert "evil_ring.Keyring" in refused.error["message"]
    imported = folder / "imported"
    assert not imported.exists()
    subprocess.run([sys.executable, "-c", "import evil_ring"], check=True)
    assert imported.exists()  # as it would have been


@pytest.mark.slow
@pytest.mark.parametrize("bus", ["absent", "real"])
def test_the_real_keyrings_alt_is_never_used(
    svc: Svc, tmp_path: Path, request: pytest.FixtureRequest, bus: str
) -> None:
    """Installed, it keeps keys in a plain file wherever the D-Bus is sick; here it is refused."""
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    packages = ("keyrings.alt", "jaraco.classes", "jaraco.context", "more-itertools")
    done = run_to_end([*install, *packages])
    if done.returncode:
        pytest.skip(f"keyrings.alt cannot be installed here: {done.stderr.strip()[-200:]}")
    if bus == "real":
        request.getfixturevalue("gnome_keyring")
    env: dict[str, Any] = {"PYTHONPATH": str(site), "PYTHON_KEYRING_BACKEND": ""}
    if bus == "absent":
        env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
    added = svc("keys", "add", "--stdin", "--no-check", "--base-url", URL, stdin=KEY, env=env)
    if bus == "real":
        assert added.json["keyring"] == "Secret Service"
    else:
        assert (added.code, added.error["code"]) == (4, "keyring_absent")
        assert "keyrings.alt.file" in added.error["message"]
    plain = {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring"}
    named = svc("orders", "list", "--base-url", URL, env={**env, **plain})
    assert (named.code, named.error["code"]) == (4, "keyring_refused")
    assert_nothing_is_kept_plainly({**os.environ, **env})


def assert_nothing_is_kept_plainly(env: dict[str, str]) -> None:
    """No file of keyrings.alt by its name, and no file with the key."""
    name = "from keyrings.alt.file import PlaintextKeyring; print(PlaintextKeyring.filename)"
    told = subprocess.run([sys.executable, "-c", name], env=env, check=True, capture_output=True)
    assert told.stdout == b"keyring_pass.cfg\n"
    found = files_in(Path(os.environ["HOME"]))
    assert "keyring_pass.cfg" not in {path.name for path in found}
    for path in found:
        if path.suffix != ".keyring":  # GNOME Keyring's own, encrypted
            assert b"4eC39" not in path.read_bytes(), path
